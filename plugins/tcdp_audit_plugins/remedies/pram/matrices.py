"""Matrices of probabilities: with which one value is released in place of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats

Declared = Mapping[str, Mapping[str, Fraction]]


def retaining(retention: float, values: int) -> Floats:
    """Keep a value with one probability, and release all others equally likely.

    Args:
        retention: the probability.
        values: how many there are.

    Example:
        >>> retaining(0.9, 3).round(3).tolist()
        [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]
    """
    if values == 1:
        return np.ones((1, 1))
    matrix = np.full((values, values), (1 - retention) / (values - 1))
    np.fill_diagonal(matrix, retention)
    return matrix


def declared_matrix(lines: Declared, labels: Sequence[str]) -> Floats:
    """A declared matrix over values in an order of ours; one without a line stays as it is.

    Args:
        lines: for each value the probabilities of what is released; what is not named has none.
        labels: every value that has a line or is released, and perhaps others.

    Example:
        >>> declared_matrix({"a": {"a": Fraction(1, 2), "b": Fraction(1, 2)}}, ["a", "b"]).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
    """
    place = {label: position for position, label in enumerate(labels)}
    matrix = np.eye(len(labels))
    for label, line in lines.items():
        matrix[place[label]] = 0.0
        for released, probability in line.items():
            matrix[place[label], place[released]] = float(probability)
    return matrix


def drawn(matrix: Floats, codes: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """The value that is released for each of some values, each drawn by itself.

    Args:
        matrix: a line of probabilities for each value.
        codes: the value of each record.
        random: what draws.

    Cost: O(records log records + values^2).
    """
    chance = random.random(len(codes))
    released = codes.copy()
    order = np.argsort(codes, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        if len(part):
            line = np.cumsum(matrix[codes[part[0]]])
            released[part] = np.searchsorted(line / line[-1], chance[part], side="right")
    return released
