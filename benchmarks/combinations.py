"""The number of distinct combinations of the synthetic release among some records: expected, and in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from math import erf, sqrt
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray
from synthetic import CATEGORIES

STEP = 1 / 128  # of the logarithm of a probability: combinations that are nearer to each other count as equally likely
FEW = 50_000_000  # combinations that are all counted


@cache
def shares() -> dict[str, NDArray[np.float64]]:
    """The probability of each value of each attribute."""
    ages = np.array([-np.inf, *range(20, 91, 5), np.inf])  # 17 to 19 is 15, and what is above 90 is 90
    incomes = np.log(np.arange(50, 100_000_000, 100))
    return {
        "age": np.diff(_normal((ages - 40) / 13)),
        **{name: _zipf(values, skew) for name, (_, values, skew) in CATEGORIES.items()},
        "income": np.diff(_normal((incomes - 10.5) / 0.8), prepend=0.0),
    }


def distinct(attributes: Iterable[str], records: float) -> float:
    """The expected number of distinct combinations of independent attributes among some records.

    It is the sum of 1 - (1 - p)^n over all combinations, p being the product of their values' probabilities. Those of
    nearly the same p are counted together: the counts by the logarithm of p are a convolution over the attributes.
    """
    counts = np.ones(1)
    for name in attributes:
        chances = shares()[name]
        steps = np.rint(-np.log(chances[chances > 0]) / STEP).astype(int)
        counts = np.convolve(counts, np.bincount(steps))
    likely = np.exp(-STEP * np.arange(len(counts)))
    return float(counts @ -np.expm1(-records * likely / (counts @ likely)))


def counted(path: Path, attributes: Sequence[str]) -> int:
    """The number of distinct combinations in a file; of more than 50 million, 16 times those of a sixteenth."""
    columns, relation = ", ".join(attributes), duckdb.read_parquet(str(path))
    parts = 16 if distinct(attributes, len(relation)) > FEW else 1  # their hash says which are in it
    chosen = relation.filter(f"hash({columns}) % {parts} = 0").project(columns).distinct()
    return parts * len(chosen)


def _zipf(values: int, skew: float) -> NDArray[np.float64]:
    weights = 1 / np.arange(1, values + 1) ** skew
    return weights / weights.sum()


def _normal(bounds: NDArray[Any]) -> NDArray[np.float64]:
    """The distribution function of the standard normal distribution."""
    return np.array([(1 + erf(bound / sqrt(2))) / 2 for bound in bounds.tolist()])
