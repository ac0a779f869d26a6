"""Microaggregation in its plainest form: one attribute by itself, and several together by MDAV."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def by_rank(column: pd.Series[Any], k: int) -> NDArray[np.float64]:
    """Each value the mean of k neighbours; the last group takes what is left over."""
    values = column.to_numpy(np.float64)
    order = np.argsort(values, kind="stable")
    group = np.minimum(np.arange(len(values)) // k, len(values) // k - 1)
    masked = np.empty(len(values))
    masked[order] = (np.bincount(group, values[order]) / np.bincount(group))[group]
    return masked


def one_by_one(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """Each attribute by itself."""
    return pd.DataFrame({name: by_rank(table[name], k) for name in table})


def together(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """All attributes at once: each value the mean of its group."""
    values = table.to_numpy(np.float64)
    masked = np.empty_like(values)
    for group in _mdav((values - values.mean(axis=0)) / values.std(axis=0, ddof=1), k):
        masked[group] = values[group].mean(axis=0)
    return pd.DataFrame(masked, columns=table.columns)


def in_blocks(table: pd.DataFrame, sizes: list[int], k: int) -> tuple[pd.DataFrame, list[list[str]]]:
    """Consecutive attributes in blocks, each of them at once; and their names."""
    ends = np.cumsum([0, *sizes])
    blocks = [list(table.columns[start:end]) for start, end in pairwise(ends)]
    return pd.concat([together(table[block], k) for block in blocks], axis=1), blocks


def _mdav(points: NDArray[np.float64], k: int) -> list[NDArray[np.intp]]:
    """Groups around the point that is farthest from the mean, and around the one farthest from that, and again."""
    left, groups = np.arange(len(points)), []

    def squared(centre: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(((points[left] - centre) ** 2).sum(axis=1))

    def take(centre: NDArray[np.float64]) -> None:
        nonlocal left
        order = np.argsort(squared(centre), kind="stable")
        groups.append(left[order[:k]])
        left = np.delete(left, order[:k])

    while len(left) >= 3 * k:
        first = points[left[np.argmax(squared(points[left].mean(axis=0)))]]
        second = points[left[np.argmax(squared(first))]]
        take(first)
        take(second)
    if len(left) >= 2 * k:
        take(points[left[np.argmax(squared(points[left].mean(axis=0)))]])
    return [*groups, left]
