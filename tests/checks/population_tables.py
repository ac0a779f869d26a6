"""A population, a release drawn from it, and audits of the one beside the other."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit import Outcome, audit

Row = tuple[Any, ...]
GENERATOR = Path(__file__).parents[2] / "benchmarks" / "simulated_population.py"
NAMES = ("a", "b", "c", "d", "e", "f", "g", "h", "i")


def table(rows: Sequence[Row], **further: Sequence[Any]) -> pa.Table:
    """Rows of quasi-identifiers a, b, c ... as text, and further columns."""
    columns = {name: [str(row[i]) for row in rows] for i, name in enumerate(NAMES[: len(rows[0])])}
    return pa.table({**columns, **further})


def outcome(
    check: str,
    release: pa.Table,
    population: pa.Table | None = None,
    policy: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Outcome:
    """One check on a release whose columns a, b, c ... are its quasi-identifiers."""
    attributes = {name: {"role": "quasi_identifier"} for name in release.column_names if name in NAMES}
    attributes |= {
        name: {"role": "insensitive", "scale": "numeric"} for name in release.column_names if name not in NAMES
    }
    document = {"version": 1, "attributes": attributes, "expect": [{check: parameters}], **(policy or {})}
    return audit(release, document, population=population).expectations[0]


def shuffled(one: pa.Table, seed: int = 0) -> pa.Table:
    """The same records in another order."""
    return one.take(np.random.default_rng(seed).permutation(one.num_rows))


def simulated() -> pa.Table:
    """The population of 100,000 that the benchmark measures bias on."""
    spec = importlib.util.spec_from_file_location("simulated_population", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    columns = zip(NAMES, module.simulated_population(), strict=False)
    return pa.table({name: pa.array(codes).cast(pa.string()) for name, codes in columns})


def sampled(population: pa.Table, fraction: float, seed: int = 0) -> pa.Table:
    """A simple random sample without replacement."""
    chosen = np.random.default_rng(seed).choice(
        population.num_rows, round(population.num_rows * fraction), replace=False
    )
    return population.take(chosen)
