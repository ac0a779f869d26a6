"""Bias of the estimates of population uniqueness over seeded samples of a simulated population of 100,000.

    python benchmarks/uniqueness_bias.py [REPLICATIONS]

For each sampling fraction: the mean over replications of the true share of sample uniques that are population
uniques, and of the true probability of a correct match; then of each estimate the mean, the bias (mean of estimate
minus truth), the root of the mean squared error, and the standard error of the bias. Replication r uses the seed r.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from simulated_population import SIZES, simulated_population

from tcdp_audit.core.encoding.keys import fold
from tcdp_audit_plugins.checks._shared.pitman import (
    data_intrusion_simulation,
    fit_pitman,
    log_linear_match,
    log_linear_uniques,
    zayatz,
)

FRACTIONS = (0.01, 0.05, 0.2, 0.5)
TRUTH = {"match_probability_dis": "match_probability", "match_probability_log_linear": "match_probability"}


def replicate(keys: Any, in_population: Any, columns: list[Any], fraction: float, seed: int) -> Mapping[str, float]:
    """Truth and estimates for one sample."""
    chosen = np.random.default_rng(seed).choice(len(keys), round(len(keys) * fraction), replace=False)
    _, first, size = np.unique(keys[chosen], return_index=True, return_counts=True)
    lone = chosen[first[size == 1]]
    expected = np.full(len(lone), float(len(chosen)))
    for column, values in zip(columns, SIZES, strict=True):
        expected *= np.bincount(column[chosen], minlength=values)[column[lone]] / len(chosen)
    model = fit_pitman(size)
    assert model is not None  # noqa: S101 - these samples have pairs
    return {
        "exact": float((in_population[lone] == 1).mean()),
        "zayatz": zayatz(size, float(len(keys))),
        "pitman": min(model.uniques(float(len(keys))) * fraction / len(lone), 1.0),
        "log_linear": log_linear_uniques(expected, fraction),
        "match_probability": len(lone) / float(in_population[lone].sum()),
        "match_probability_dis": data_intrusion_simulation(size, fraction),
        "match_probability_log_linear": log_linear_match(expected, fraction),
    }


def report(fraction: float, outcome: list[Mapping[str, float]]) -> None:
    """A table of one fraction."""
    values = {name: np.array([one[name] for one in outcome]) for name in outcome[0]}
    exact, match = values["exact"].mean(), values["match_probability"].mean()
    print(f"\nfraction {fraction}: exact P(PU|SU) {exact:.4f}, match probability {match:.4f}")
    for name in ("zayatz", "pitman", "log_linear", *TRUTH):
        error = values[name] - values[TRUTH.get(name, "exact")]
        spread = error.std(ddof=1) / np.sqrt(len(error))
        root = np.sqrt((error**2).mean())
        print(f"  {name:30} mean {values[name].mean():.4f}  bias {error.mean():+.4f}  rmse {root:.4f}  se {spread:.4f}")


def study(columns: list[Any], fraction: float, replications: int) -> None:
    """All replications of one fraction."""
    keys = fold(columns, SIZES).values
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    report(fraction, [replicate(keys, counts[inverse], columns, fraction, seed) for seed in range(replications)])


def main() -> None:
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    start = time.perf_counter()
    columns = simulated_population()
    for fraction in FRACTIONS:
        study(columns, fraction, replications)
    print("\nthe same attributes, each permuted so that none depends on another:")
    rng = np.random.default_rng(1)
    study([rng.permutation(column) for column in columns], 0.05, replications)
    print(f"\n{replications} replications each, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
