"""Patterns: which attributes of a record are suppressed together, cheapest first."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, groupby
from math import comb

import numpy as np

from tcdp_audit_plugins.remedies.suppression.quasi_identifier_cells import Mask

MOST = 4096  # patterns that are tried: every subset of 12 attributes


def patterns(importance: Sequence[Fraction], sizes: Sequence[int]) -> list[list[Mask]]:
    """The subsets of attributes in the order of their total importance, equal ones together.

    Of more than 12 attributes the subsets of few are taken, as long as there are at most 4,096, and then a chain: the
    least important attributes first, of equal ones that with the most values, until all are in it.

    Args:
        importance: of each attribute, at least 0.
        sizes: how many values each attribute has.

    Returns:
        Levels of equal importance, each with one or more masks of shape (attributes,). The last pattern has all.

    Example:
        >>> [[one.tolist() for one in level] for level in patterns([Fraction(1), Fraction(2)], [9, 9])]
        [[[True, False]], [[False, True]], [[True, True]]]
    """
    subsets = {*_small_subsets(len(importance)), *_chain(importance, sizes)}

    def total(subset: tuple[int, ...]) -> Fraction:
        return sum((importance[one] for one in subset), Fraction())

    ranked = sorted(subsets, key=lambda subset: (total(subset), len(subset), subset))
    return [[_mask(subset, len(importance)) for subset in level] for _, level in groupby(ranked, key=total)]


def _small_subsets(attributes: int) -> list[tuple[int, ...]]:
    subsets: list[tuple[int, ...]] = []
    for size in range(1, attributes + 1):
        if len(subsets) + comb(attributes, size) >= MOST:
            break
        subsets += combinations(range(attributes), size)
    return subsets


def _chain(importance: Sequence[Fraction], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    order = sorted(range(len(importance)), key=lambda one: (importance[one], -sizes[one]))
    return [tuple(sorted(order[:length])) for length in range(1, len(order) + 1)]


def _mask(subset: tuple[int, ...], attributes: int) -> Mask:
    mask = np.zeros(attributes, dtype=bool)
    mask[list(subset)] = True
    return mask
