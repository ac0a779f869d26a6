"""The common part (intersection) of labels of an attribute: that of `[20, 40)`, `[30, 50)` and `*` is `[30, 40)`.

Ranges of numbers and ranks are compared by their ends. Values, sets of values and nodes of a hierarchy are compared as
sets of values, a bit for each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import Ranges, interval_label, members, number_text, set_label
from tcdp_audit.core.encoding.hierarchy import Hierarchy
from tcdp_audit.core.policy.model import AttributeDeclaration

NO_PART = -1  # the code for labels that exclude each other
BLOCK = 2**26  # bytes of the sets that are compared at a time

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class CommonParts(ABC):
    """The labels of one attribute, with their common parts and joins.

    Args:
        domain: the attribute's values.
        is_open: for each code, the missing one last, whether it may represent every value. Shape (size + 1,).
        new: labels of common parts that no record has; code `size + 1` is the first of them.
    """

    domain: Domain
    is_open: Mask
    new: list[str] = field(default_factory=list)

    @property
    @abstractmethod
    def is_exact(self) -> Mask:
        """For each code whether it represents one value. Shape (size + 1,)."""

    @abstractmethod
    def _keys(
        self, starts: NDArray[np.intp], codes: Numbers, *, joined: bool
    ) -> tuple[NDArray[np.void] | Numbers, Mask]:
        """A key that identifies the common part, or the join, of each group of codes, and whether it exists."""

    @abstractmethod
    def _known(self) -> dict[Any, int]:
        """The code of each label by its key."""

    @abstractmethod
    def _label(self, key: Any) -> str:
        """The label of a common part that has no code."""

    def common(self, starts: NDArray[np.intp], codes: Numbers) -> Numbers:
        """The common part of each group of labels.

        Args:
            starts: the position in `codes` at which each group begins.
            codes: the codes of the labels, group by group.

        Returns:
            A code, `size + 1` and more for those of `new`; -1 where the labels exclude each other. Shape (groups,).

        Cost: O(codes) by numbers, O(codes x values / 8) by sets, and O(distinct parts) in Python.
        """
        return self._combined(starts, codes, joined=False)

    def join(self, starts: NDArray[np.intp], codes: Numbers) -> Numbers:
        """The narrowest label that covers each group of labels: the range or the set of all of them; see `common`."""
        return self._combined(starts, codes, joined=True)

    def _combined(self, starts: NDArray[np.intp], codes: Numbers, *, joined: bool) -> Numbers:
        parts = np.full(len(starts), NO_PART, dtype=np.int64)
        if not len(starts):
            return parts
        keys, exists = self._keys(starts, codes, joined=joined)
        distinct, number = np.unique(keys[exists], return_inverse=True)
        known = self._known()
        parts[exists] = np.array([self._code(key, known) for key in distinct.tolist()], dtype=np.int64)[number]
        return parts

    def _code(self, key: Any, known: dict[Any, int]) -> int:
        if key not in known:
            label = self._label(key)
            if label not in self._codes:
                self.new.append(label)
                self._codes[label] = self.domain.size + len(self.new)
            known[key] = self._codes[label]
        return known[key]

    @cached_property
    def _codes(self) -> dict[str, int]:
        """The code of each label."""
        return {label: code for code, label in enumerate(self.domain.labels)}


def common_parts_of(
    domain: Domain, declared: AttributeDeclaration, hierarchy: Hierarchy | None, *, missing_is_open: bool
) -> CommonParts | None:
    """The `CommonParts` of an attribute; None if each of its labels represents one value.

    Args:
        domain: its values.
        declared: its declaration.
        hierarchy: its hierarchy, if it has one.
        missing_is_open: whether a missing value may be any value, so that other labels narrow it down.
    """
    is_open = domain.is_uninformative.copy()
    is_open[-1] = missing_is_open and domain.missing > 0
    parts: CommonParts
    if declared.is_ordered:
        parts = CommonRanges(domain, is_open, [], declared.order)
    else:
        parts = CommonSets(domain, is_open, [], hierarchy)
    takes_part = parts.is_exact | is_open
    return None if takes_part[:-1].all() and not is_open.any() else parts


@dataclass(frozen=True)
class CommonRanges(CommonParts):
    """Numbers, ranks, and ranges of them; `order` has the values of an ordinal attribute, None for a numeric one."""

    order: Sequence[str] | None = None

    @cached_property
    def _ranges(self) -> Ranges:
        """The range of each code, the missing one last; ranges of whole numbers have both ends closed."""
        domain = self.domain
        if domain.covers is not None:
            own = Ranges.of(domain.covers)
        else:
            own = Ranges.of_numbers(np.arange(domain.size) if self.order is not None else domain.values)
        low, high = np.append(own.low, -np.inf), np.append(own.high, np.inf)
        low[self.is_open], high[self.is_open] = -np.inf, np.inf
        low_open, high_open = np.append(own.low_open, False), np.append(own.high_open, False)
        if self._are_whole(low, high):
            return Ranges(low + low_open, high - high_open, np.zeros_like(low_open), np.zeros_like(high_open))
        return Ranges(low, high, low_open, high_open)

    def _are_whole(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
        """Whether all numbers are whole, including single ones, so that `[34, 35)` is 34."""
        ends = np.concatenate([low, high])
        ends = ends[np.isfinite(ends)]
        return bool((ends == np.floor(ends)).all() and (low == high).any())

    @property
    def is_exact(self) -> Mask:
        """Whether each code is a single number or rank; a missing value is not."""
        return np.asarray(self._ranges.low == self._ranges.high)

    @cached_property
    def _ends(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128], Numbers, Numbers]:
        """All lower and all upper ends, sorted, and the position among them of each code's ends."""
        ranges = self._ranges
        lows, low = np.unique(_ends(ranges.low, ranges.low_open), return_inverse=True)
        highs, high = np.unique(_ends(ranges.high, ~ranges.high_open), return_inverse=True)
        return lows, highs, low, high

    def _keys(self, starts: NDArray[np.intp], codes: Numbers, *, joined: bool) -> tuple[Numbers, Mask]:
        lows, highs, low, high = self._ends
        inner, outer = (np.minimum, np.maximum) if joined else (np.maximum, np.minimum)
        first, last = inner.reduceat(low[codes], starts), outer.reduceat(high[codes], starts)
        lower, upper = lows[first], highs[last]
        closed = (lower.imag == 0) & (upper.imag == 1)
        exists = (lower.real < upper.real) | ((lower.real == upper.real) & closed)
        return first * len(highs) + last, exists

    def _known(self) -> dict[Any, int]:
        _, highs, low, high = self._ends
        size = self.domain.size
        keys = (low * len(highs) + high).tolist()[: size + int(self.is_open[-1])]
        return {key: code for code, key in reversed(list(enumerate(keys)))}

    def _label(self, key: Any) -> str:
        lows, highs, _, _ = self._ends
        first, last = divmod(key, len(highs))
        low, high = lows[first], highs[last]
        if self.order is not None:
            return interval_label(self.order[int(low.real)], self.order[int(high.real)])
        if low.real == high.real:
            return number_text(float(low.real))
        brackets = "(" if low.imag else "[", "]" if high.imag else ")"
        return f"{brackets[0]}{number_text(float(low.real))}, {number_text(float(high.real))}{brackets[1]}"


def _ends(numbers: NDArray[np.float64], beyond: Mask) -> NDArray[np.complex128]:
    """Sortable ends of ranges: of two at the same number, the one beyond it sorts later."""
    ends = np.empty(len(numbers), dtype=np.complex128)
    ends.real, ends.imag = numbers, beyond
    return ends


@dataclass(frozen=True)
class CommonSets(CommonParts):
    """Values, sets of values, and nodes of the attribute's hierarchy, if it has one."""

    hierarchy: Hierarchy | None = None

    @cached_property
    def _leaves(self) -> dict[str, list[str]]:
        """The values below each inner node of the hierarchy that is a label of the release."""
        labels, leaves = set(self.domain.labels), dict[str, list[str]]()
        for branch in () if self.hierarchy is None else self.hierarchy.branches:
            for label in labels.intersection(branch[1:]) - {branch[0]}:
                leaves.setdefault(label, []).append(branch[0])
        return leaves

    @cached_property
    def _values(self) -> list[list[str]]:
        """The values that each label represents; a single value represents itself."""
        known = {*self.domain.labels, *(() if self.hierarchy is None else self.hierarchy.lineage)}
        return [self._below(label, known) for label in self.domain.labels]

    def _below(self, label: str, known: set[str]) -> list[str]:
        if self.hierarchy is not None and label in self.hierarchy.lineage:
            return self._leaves.get(label, [label]) if self.hierarchy.lineage[label][0] else [label]
        parts = members(label, known - {label})
        if parts is None and label.startswith("{") and label.endswith("}") and ", " in label:
            parts = label[1:-1].split(", ")  # values that may occur in no record by themselves
        if parts is None:
            return [label]
        return [value for part in parts for value in self._leaves_of(part)]

    def _leaves_of(self, part: str) -> list[str]:
        if self.hierarchy is None or part not in self.hierarchy.lineage or not self.hierarchy.lineage[part][0]:
            return [part]
        return [branch[0] for branch in self.hierarchy.branches if part in branch]

    @cached_property
    def _place(self) -> dict[str, int]:
        """The bit of each value."""
        closed = (values for values, is_open in zip(self._values, self.is_open, strict=False) if not is_open)
        return {value: place for place, value in enumerate(dict.fromkeys(v for values in closed for v in values))}

    @property
    def is_exact(self) -> Mask:
        """Whether each code is one value; a missing one is not."""
        single = [len(values) == 1 for values in self._values]
        return np.array([*single, False], dtype=bool) & ~self.is_open

    def _bits(self, codes: Numbers) -> NDArray[np.uint8]:
        """The set of values of each code as bits. Shape (codes, bytes)."""
        distinct, number = np.unique(codes, return_inverse=True)
        return np.array([self._row(code) for code in distinct.tolist()], dtype=np.uint8)[number]

    def _row(self, code: int) -> NDArray[np.uint8]:
        bits = np.ones(
            len(self._place) + 1, dtype=bool
        )  # the last one is for values that no label of the release names
        if not self.is_open[code]:
            bits[:] = False
            bits[[self._place[value] for value in self._values[code]]] = True
        return np.packbits(bits)

    def _keys(self, starts: NDArray[np.intp], codes: Numbers, *, joined: bool) -> tuple[NDArray[np.void], Mask]:
        width = len(self._place) // 8 + 1
        combine = np.bitwise_or if joined else np.bitwise_and
        blocks = [combine.reduceat(self._bits(part), own, axis=0) for own, part in _blocks(starts, codes, width)]
        sets = np.ascontiguousarray(np.concatenate(blocks))
        return sets.view(np.dtype((np.void, sets.shape[1])))[:, 0], np.asarray(sets.any(axis=1), dtype=np.bool_)

    def _known(self) -> dict[Any, int]:
        several = np.flatnonzero(~self.is_exact[: self.domain.size + int(self.is_open[-1])])
        return {self._row(code).tobytes(): code for code in reversed(several.tolist())}

    def _label(self, key: Any) -> str:
        bits = np.unpackbits(np.frombuffer(key, dtype=np.uint8))[: len(self._place)]
        values = list(self._place)
        return set_label(sorted(values[place] for place in np.flatnonzero(bits).tolist()))


def _blocks(starts: NDArray[np.intp], codes: Numbers, width: int) -> Iterator[tuple[NDArray[np.intp], Numbers]]:
    """Split groups of codes into blocks whose sets fit into `BLOCK` bytes, or of one group each."""
    most, first = max(BLOCK // width, 1), 0
    ends = np.append(starts[1:], len(codes))
    while first < len(starts):
        last = max(int(np.searchsorted(ends, starts[first] + most, side="right")), first + 1)
        yield starts[first:last] - starts[first], codes[starts[first] : ends[last - 1]]
        first = last
