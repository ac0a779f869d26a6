"""Groups as segments of arrays: where they start, the rank of a member within its group, the first of each group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Indices = NDArray[np.intp]


def starts_of(lengths: Integers) -> Integers:
    """The position at which each of some segments begins that follow one another.

    Example:
        >>> starts_of(np.array([2, 0, 3])).tolist()
        [0, 2, 2]
    """
    return np.cumsum(lengths) - lengths


def inverse(order: Indices) -> Integers:
    """The place of each member in an order, which is the inverse of a permutation. O(members).

    Example:
        >>> inverse(np.array([2, 0, 1])).tolist()
        [1, 2, 0]
    """
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


def rank_within(groups: Integers, figures: NDArray[Any] | None = None) -> Integers:
    """The rank of each member in its group, from 0; equal ones in their given order.

    Members are ranked by ascending figures, without figures in their given order. Groups are numbered from 0. Return
    int64, shape (members,). O(members log members).

    Example:
        >>> rank_within(np.array([0, 1, 0, 1]), np.array([3.0, 5.0, 2.0, 7.0])).tolist()
        [1, 0, 0, 1]
    """
    order = np.argsort(groups, kind="stable") if figures is None else np.lexsort((figures, groups))
    lengths = np.bincount(groups)
    ranks = np.empty(len(groups), dtype=np.int64)
    ranks[order] = np.arange(len(groups)) - np.repeat(starts_of(lengths), lengths)
    return ranks


def first_of_each(groups: Integers, order: Indices) -> tuple[Integers, Indices]:
    """The groups that have a member, ascending, and the first member of each in an order.

    The order may leave out members.

    Cost: O(members log members).

    Example:
        >>> first_of_each(np.array([4, 4, 7]), np.array([2, 1, 0]))
        (array([4, 7]), array([1, 2]))
    """
    present, first = np.unique(groups[order], return_index=True)
    return present, order[first]
