"""A population of five skewed attributes, two of which depend on a third; drawn from a seed."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = (70, 60, 12, 8, 5)


def simulated_population(records: int = 100_000, seed: int = 0) -> list[Any]:
    """The codes of each attribute: age, place, work, school, status. School and status follow age half of the time."""
    rng = np.random.default_rng(seed)

    def category(values: int, skew: float) -> Any:
        weights = 1 / np.arange(1, values + 1) ** skew
        return rng.choice(values, size=records, p=weights / weights.sum())

    age, place, work = category(70, 0.3), category(60, 1.0), category(12, 0.8)
    school = np.where(rng.random(records) < 0.5, age % 8, category(8, 0.5))
    status = np.where(rng.random(records) < 0.6, age // 18, category(5, 0.5))
    return [age, place, work, school, status]
