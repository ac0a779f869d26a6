"""The `wildcard` convention: a missing quasi-identifier matches every value.

A record's equivalence class is then the set of records compatible with it: they agree wherever both have a
value. These sets overlap, so figures are not summed over records but over the ordinary classes of equal
codes, pattern of missingness by pattern. Cost: O(patterns^2) passes over the classes; there are few patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.histogram import Counts, Histogram, add_up
from tcdp_audit.keys import KeyArray, fold


@dataclass(frozen=True)
class _Match:
    """Classes of one pattern, each with the group of classes of another pattern that it is compatible with."""

    classes: NDArray[np.intp]
    group: NDArray[np.intp]
    members: NDArray[np.intp]
    group_of_member: NDArray[np.intp]
    groups: int


@dataclass(frozen=True)
class Compatibility:
    """Which classes are compatible with which, itself included."""

    classes: int
    matches: tuple[_Match, ...]

    def sum(self, per_class: Counts) -> Counts:
        """A count per class, summed over all classes compatible with each."""
        total = np.zeros(self.classes, dtype=np.int64)
        for match in self.matches:
            groups = np.zeros(match.groups, dtype=np.int64)
            np.add.at(groups, match.group_of_member, per_class[match.members])
            total[match.classes] += groups[match.group]
        return total

    def merge(self, histogram: Histogram, radix: int) -> Histogram:
        """Each class with the values of all classes compatible with it."""
        rows, values, counts = [], [], []
        for match in self.matches:
            members = histogram.take(match.members)
            grouped = add_up(members.spread(match.group_of_member), members.values, members.counts, match.groups, radix)
            merged = grouped.take(match.group)
            rows.append(merged.spread(match.classes))
            values.append(merged.values)
            counts.append(merged.counts)
        joined = [np.concatenate(parts) for parts in (rows, values, counts)]
        return add_up(joined[0], joined[1], joined[2], self.classes, radix)


def compatibility(codes: Sequence[KeyArray], missing: Sequence[int]) -> Compatibility:
    """Match classes under the wildcard convention.

    Args:
        codes: for each quasi-identifier the code of every class.
        missing: for each quasi-identifier the code that stands for a missing value, its largest.
    """
    absent = np.stack([column == code for column, code in zip(codes, missing, strict=True)])
    patterns, pattern_of = np.unique(absent, axis=1, return_inverse=True)
    return Compatibility(absent.shape[1], tuple(_matches(codes, missing, patterns, pattern_of.reshape(-1))))


def _matches(
    codes: Sequence[KeyArray],
    missing: Sequence[int],
    patterns: NDArray[np.bool_],
    pattern_of: NDArray[np.intp],
) -> Iterator[_Match]:
    count = len(pattern_of)
    for one in range(patterns.shape[1]):
        for other in range(patterns.shape[1]):
            shared = np.flatnonzero(~(patterns[:, one] | patterns[:, other])).tolist()
            columns = [np.zeros(count, dtype=np.int64), *(codes[i] for i in shared)]
            key = fold(columns, [1, *(missing[i] + 1 for i in shared)]).values
            classes, members = np.flatnonzero(pattern_of == one), np.flatnonzero(pattern_of == other)
            groups, group_of_member = np.unique(key[members], return_inverse=True)
            group = np.searchsorted(groups, key[classes]).clip(max=len(groups) - 1)
            found = groups[group] == key[classes]
            yield _Match(classes[found], group[found], members, group_of_member, len(groups))
