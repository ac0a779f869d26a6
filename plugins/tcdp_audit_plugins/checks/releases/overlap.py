"""Values of an attribute in one release that may be the same person's as a value of it in another.

A release may be coarser than another: values overlap where their ranges do, where one is below the other in the
hierarchy, where one is of the other's set, or where they are equal. A missing value is a value of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, positions_of
from tcdp_audit.plugin.engine import Domain, Hierarchy
from tcdp_audit.plugin.remedy import members
from tcdp_audit_plugins.checks.releases.classes import Positions

Pairs = tuple[Positions, Positions]


@dataclass(frozen=True)
class Overlap:
    """The codes of two releases that overlap, as compressed rows in both directions."""

    one: Positions  # codes of the first, ascending
    other: Positions  # the code of the second next to each
    sizes: tuple[int, int]  # how many codes each has, the missing one among them

    @property
    def share(self) -> float:
        """The share of all pairs of codes that overlap."""
        return len(self.one) / (self.sizes[0] * self.sizes[1])

    @cached_property
    def offsets(self) -> Positions:
        """The position where the partners of each code of the first begin. Shape (codes + 1,)."""
        return np.searchsorted(self.one, np.arange(self.sizes[0] + 1))

    @property
    def number(self) -> Counts:
        """The number of partners that each code of the first has."""
        return np.diff(self.offsets)

    def turned(self) -> Overlap:
        """The same with the second release as the first."""
        order = np.lexsort((self.one, self.other))
        return Overlap(self.other[order], self.one[order], (self.sizes[1], self.sizes[0]))


def overlap_of(
    one: Domain, other: Domain, hierarchy: Hierarchy | None, *, ordered: bool, suppressed_is_anything: bool
) -> Overlap:
    """The values of an attribute in two releases that overlap.

    Args:
        one: its values in the first release.
        other: those in the second.
        hierarchy: its hierarchy, if one is declared.
        ordered: whether they are numbers, or ranks of a declared order.
        suppressed_is_anything: whether a suppressed cell overlaps with every other, and not only with suppressed ones.
            That of a column that is suppressed throughout always does.

    Cost: O(values log values + overlapping pairs).
    """
    own, theirs = (np.flatnonzero(~domain.is_uninformative[:-1]) for domain in (one, other))
    missing = np.array([one.size]), np.array([other.size])
    pairs = [_known(one, other, own, theirs, hierarchy, ordered=ordered), missing]
    hidden, hidden_there = (np.array(sorted(domain.suppressed), dtype=np.int64) for domain in (one, other))
    everything, everything_there = (np.arange(domain.size + 1) for domain in (one, other))
    pairs.append(_all(hidden, hidden_there))
    if suppressed_is_anything or not one.counts[own].sum():
        pairs.append(_all(hidden, everything_there))
    if suppressed_is_anything or not other.counts[theirs].sum():
        pairs.append(_all(everything, hidden_there))
    keys = np.unique(np.concatenate([a * (other.size + 1) + b for a, b in pairs]))
    return Overlap(keys // (other.size + 1), keys % (other.size + 1), (one.size + 1, other.size + 1))


def _all(one: Positions, other: Positions) -> Pairs:
    return np.repeat(one, len(other)), np.tile(other, len(one))


def _known(
    one: Domain, other: Domain, own: Positions, theirs: Positions, hierarchy: Hierarchy | None, *, ordered: bool
) -> Pairs:
    """The pairs of values that say something."""
    if not ordered:
        first, second = _of_labels(
            [one.labels[code] for code in own], [other.labels[code] for code in theirs], hierarchy
        )
    elif one.covers is None and other.covers is None:
        _, first, second = np.intersect1d(_numbers(one)[own], _numbers(other)[theirs], return_indices=True)
    else:
        first, second = _of_ranges(_ranges(one, own), _ranges(other, theirs))
    return own[first], theirs[second]


def _numbers(domain: Domain) -> NDArray[Any]:
    """Single values as numbers; those of a declared order are its ranks."""
    return np.arange(domain.size) if domain.values.dtype == object else domain.values


@dataclass(frozen=True)
class _Ranges:
    """Ends of ranges: the value, and 0 where it belongs to the range; 1 (lower) or -1 (upper) where it does not."""

    low: NDArray[np.complex128]
    high: NDArray[np.complex128]


def _ranges(domain: Domain, codes: Positions) -> _Ranges:
    if domain.covers is None:
        numbers = _numbers(domain)[codes].astype(np.complex128)
        return _Ranges(numbers, numbers)
    covers = [domain.covers[code] for code in codes]
    low = np.array([(one.low, float(one.low_open)) for one in covers]).reshape(-1, 2)
    high = np.array([(one.high, -float(one.high_open)) for one in covers]).reshape(-1, 2)
    return _Ranges(*(np.ascontiguousarray(ends).view(np.complex128)[:, 0] for ends in (low, high)))


def _of_ranges(one: _Ranges, other: _Ranges) -> Pairs:
    """Ranges that have a number in common: neither begins after the other has ended."""
    order = np.argsort(other.low, kind="stable")
    low, high = other.low[order], other.high[order]
    latest = _running_largest(high)
    begin, end = np.searchsorted(latest, one.low), np.searchsorted(low, one.high, side="right")
    lengths = np.maximum(end - begin, 0)
    first, second = np.repeat(np.arange(len(begin)), lengths), positions_of(begin, lengths)
    meets = high[second] >= one.low[first]
    return first[meets], order[second[meets]]


def _running_largest(ends: NDArray[np.complex128]) -> NDArray[np.complex128]:
    values, ranks = np.unique(ends, return_inverse=True)
    return values[np.maximum.accumulate(ranks)] if len(values) else ends


def _of_labels(one: Sequence[str], other: Sequence[str], hierarchy: Hierarchy | None) -> Pairs:
    """Pairs of labels with a common leaf."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - only where tables are measured

    leaves = _Leaves({*one, *other}, hierarchy)
    first, second = leaves.of(one), leaves.of(other)
    width = leaves.number
    shape = ((len(one), width), (len(other), width))
    tables = [csr_array((np.ones(len(codes), np.int64), (codes, leaf)), shape=size)
              for (codes, leaf), size in zip((first, second), shape, strict=True)]  # fmt: skip
    common = (tables[0] @ tables[1].T).nonzero()
    return common[0].astype(np.int64), common[1].astype(np.int64)


class _Leaves:
    """The leaves that labels cover: those below their node, those of a set's members, or themselves."""

    def __init__(self, labels: set[str], hierarchy: Hierarchy | None) -> None:
        self._below: dict[str, list[int]] = {}
        lineage: Mapping[str, Any] = {} if hierarchy is None else hierarchy.lineage
        branches = () if hierarchy is None else hierarchy.branches
        known = {*lineage, *labels}
        self._parts = {label: members(label, known, unknown=True) or [label] for label in labels}
        wanted = {part for parts in self._parts.values() for part in parts}
        for leaf, branch in enumerate(branches):
            for level, label in enumerate(branch):
                if label in wanted and lineage[label][0] == level:
                    self._below.setdefault(label, []).append(leaf)
        self.number = len(branches)
        for label in sorted(wanted - self._below.keys()):
            self._below[label] = [self.number]
            self.number += 1

    def of(self, labels: Sequence[str]) -> Pairs:
        """The position of each label next to each of its leaves."""
        leaves = [sorted({leaf for part in self._parts[label] for leaf in self._below[part]}) for label in labels]
        positions = np.repeat(np.arange(len(labels)), [len(one) for one in leaves])
        return positions, np.array([leaf for one in leaves for leaf in one], dtype=np.int64)
