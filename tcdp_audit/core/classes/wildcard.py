"""The `wildcard` convention: a missing quasi-identifier matches every value.

A record's equivalence class is then the set of records compatible with it: they agree wherever both have a
value. These sets overlap. Figures are summed over the ordinary classes of equal codes, one quasi-identifier after
the other. Half way, a row represents the sources that are compatible with some targets' values in the
quasi-identifiers seen so far and agree in all others. Rows that become the same are added up, so that the work grows
with what differs and not with the pairs of classes, and targets are taken in blocks, so that memory does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.classes.histogram import Counts, Histogram
from tcdp_audit.core.classes.wildcard_rows import BLOCK, Values, WildcardRows, concatenated, first_rows
from tcdp_audit.core.encoding.keys import Floats, KeyArray, fold, numbered

Positions = NDArray[np.int64]
_Visit = tuple[int, tuple[int, int], WildcardRows]  # quasi-identifiers seen, nodes from and to, their rows
TARGETS, SOURCES = 64, 2**12  # how many of each are looked at to see how much work there is


@dataclass(frozen=True)
class WildcardBlock:
    """Some classes, each with what is compatible with it."""

    classes: Positions  # which they are, shape (classes,)
    sums: Sequence[Floats]  # for each figure asked for its sum over all compatible classes, shape (classes,) each
    histograms: Sequence[Histogram]  # for each histogram asked for the values of all compatible classes


@dataclass(frozen=True)
class WildcardLevel:
    """One quasi-identifier in the recursion: the targets before it and after it, the sources' codes from it on."""

    missing: int  # the code of a missing value, its largest
    code: Positions  # the code of each node after it, a node being the targets that agree so far, shape (nodes after,)
    nodes: Positions  # where the nodes after it begin for each node before it, shape (nodes before + 1,)
    first: Positions  # for each suffix of codes the code of this quasi-identifier, ascending, shape (suffixes,)
    rest: Positions  # for each suffix the number of what follows, shape (suffixes,)
    suffixes: int  # how many different things follow


@dataclass(frozen=True)
class Compatibility:
    """The classes that are compatible with each class, itself included."""

    codes: Sequence[KeyArray]  # for each quasi-identifier the code of every class; no two classes agree in all of them
    missing: Sequence[int]  # for each quasi-identifier the code of a missing value, its largest

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.codes[0])

    @cached_property
    def patterns(self) -> int:
        """The number of different sets of quasi-identifiers that are missing together."""
        absent = [column == code for column, code in zip(self.codes, self.missing, strict=True)]
        return len(np.unique(fold(absent, [2] * len(absent)).values))

    def prepare(self) -> None:
        """Do what all blocks share; then several threads may ask for blocks."""
        _ = self._levels, self._ends, self._order

    @cached_property
    def expected_rows(self) -> int:
        """About how many rows all steps have together, from some targets and some sources."""
        rng = np.random.default_rng(0)
        targets, sources = (rng.permutation(self.classes)[:most] for most in (TARGETS, SOURCES))
        agree, total = np.ones((len(targets), len(sources)), dtype=bool), 0.0
        for (codes, missing), level, ends in zip(self._columns, self._levels, self._ends[1:], strict=True):
            ordered = codes[self._order]
            target, source = ordered[targets][:, None], ordered[sources][None]
            agree &= (target == source) | (target == missing) | (source == missing)
            node = np.searchsorted(ends, targets, side="right") - 1
            once = 1 / (ends[node + 1] - ends[node])  # a node of many targets counts once
            compatible = float(np.average(agree.mean(axis=1), weights=once)) * self.classes
            total += (len(ends) - 1) * min(compatible, level.suffixes)
        return int(total)

    def sum(self, per_class: Counts) -> Counts:
        """A count per class, summed over all classes compatible with each."""
        return self.sums([per_class])[0].astype(np.int64)

    def sums(self, per_class: Sequence[NDArray[Any]]) -> list[Floats]:
        """Several figures per class, each summed over all classes compatible with each. float64."""
        totals = [np.zeros(self.classes) for _ in per_class]
        for block in self.blocks(per_class):
            for total, part in zip(totals, block.sums, strict=True):
                total[block.classes] = part
        return totals

    def distinct(self, histogram: Histogram, radix: int) -> Counts:
        """The number of different values that all classes compatible with each have together."""
        matches = np.zeros(self.classes, dtype=np.int64)
        for block in self.blocks([], [self.in_order(Values.of(histogram, radix))]):
            matches[block.classes] = block.histograms[0].distinct
        return matches

    def merge(self, histogram: Histogram, radix: int) -> Histogram:
        """Each class with the values of all classes compatible with it."""
        blocks = list(self.blocks([], [self.in_order(Values.of(histogram, radix))]))
        place = np.empty(self.classes, dtype=np.int64)
        place[np.concatenate([block.classes for block in blocks])] = np.arange(self.classes)
        return concatenated([block.histograms[0] for block in blocks]).take(place)

    def in_order(self, values: Values) -> Values:
        """The values of all classes as `blocks` takes them, once for all parts."""
        return values.taken(self._order)

    def blocks(
        self,
        figures: Sequence[NDArray[Any]],
        values: Sequence[Values] = (),
        part: tuple[int, int] = (0, 1),
        limit: int = BLOCK,
    ) -> Iterator[WildcardBlock]:
        """All classes in blocks, each with the sums and histograms over the classes compatible with it.

        Args:
            figures: counts or other figures of each class; sums of whole numbers are exact up to 2^53.
            values: sensitive values of each class, `in_order`.
            part: (i, n) for the i-th of n parts of the classes, so that several threads may share them.
            limit: rows, or values, that a step may take at a time; more where a single class needs them.

        Cost: rows that differ half way, and values merged for each attribute.
        """
        order, levels = self._order, self._levels
        begin, end = (self.classes * (part[0] + i) // part[1] for i in (0, 1))
        rows = first_rows(self._suffixes, order, figures, values)
        for start, stop, last in _descended(levels, rows, (begin, end), self._ends, limit):
            yield WildcardBlock(order[start:stop], last.sums, [one.histogram() for one in last.values])

    # The classes in the order of the recursion

    @cached_property
    def _columns(self) -> list[tuple[Positions, int]]:
        """The quasi-identifiers as the recursion takes them: the complete ones as one, then those that multiply least.

        Every row with a missing value meets all of the others' values, so these come late.
        """
        absent = [int((column == code).sum()) for column, code in zip(self.codes, self.missing, strict=True)]
        complete = [i for i, one in enumerate(absent) if not one]
        columns = []
        if complete:
            key = fold([self.codes[i] for i in complete], [self.missing[i] + 1 for i in complete])
            distinct, codes = np.unique(key.values, return_inverse=True)
            columns.append((codes.astype(np.int64), len(distinct)))
        incomplete = [i for i, one in enumerate(absent) if one]
        incomplete.sort(key=lambda i: (absent[i] * len(np.unique(self.codes[i])), i))
        return columns + [(self.codes[i].astype(np.int64), self.missing[i]) for i in incomplete]

    @cached_property
    def _order(self) -> Positions:
        columns = self._columns
        return np.argsort(fold([one for one, _ in columns], [missing + 1 for _, missing in columns]).values)

    @cached_property
    def _ends(self) -> list[Positions]:
        """For each number of quasi-identifiers seen, where the targets of each node begin, and the end of the last."""
        changed = np.zeros(self.classes, dtype=bool)
        changed[0] = True
        starts = [np.array([0])]
        for codes, _ in self._columns:
            ordered = codes[self._order]
            changed[1:] |= ordered[1:] != ordered[:-1]
            starts.append(np.flatnonzero(changed))
        return [np.append(one, self.classes) for one in starts]

    @cached_property
    def _suffixes(self) -> Positions:
        """The number of each class's codes, in the order of the recursion."""
        _ = self._levels
        return self._numbered[0]

    @cached_property
    def _numbered(self) -> list[Positions]:
        """For each number of quasi-identifiers seen, the rank of each class's codes in all others."""
        ranks = [np.zeros(self.classes, dtype=np.int64)]
        for codes, missing in reversed(self._columns):
            span = int(ranks[-1].max()) + 1
            key = fold([codes[self._order], ranks[-1]], [missing + 1, span])
            ranks.append(numbered(key.values, key.span)[1].astype(np.int64))
        return ranks[::-1]

    @cached_property
    def _levels(self) -> list[WildcardLevel]:
        levels = []
        for depth, (codes, missing) in enumerate(self._columns):
            ordered, here, after = codes[self._order], self._numbered[depth], self._numbered[depth + 1]
            before, starts = self._ends[depth], self._ends[depth + 1][:-1]
            count = int(here.max()) + 1
            first, rest = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
            first[here], rest[here] = ordered, after
            nodes = np.searchsorted(starts, before)
            levels.append(WildcardLevel(missing, ordered[starts], nodes, first, rest, int(after.max()) + 1))
        return levels


def _descended(
    levels: Sequence[WildcardLevel], rows: WildcardRows, part: tuple[int, int], ends: Sequence[Positions], limit: int
) -> Iterator[tuple[int, int, WildcardRows]]:
    """The targets of a part in blocks: the first, the one behind the last, and their rows. Depth first."""
    waiting: list[Iterator[_Visit]] = [iter([(0, (0, 1), rows)])]  # no recursion: there may be thousands of levels
    while waiting:
        visit = next(waiting[-1], None)
        if visit is None:
            waiting.pop()
        elif visit[0] == len(levels):
            yield *visit[1], visit[2]
        else:
            waiting.append(_below(levels, visit, part, ends, limit))


def _below(
    levels: Sequence[WildcardLevel], visit: _Visit, part: tuple[int, int], ends: Sequence[Positions], limit: int
) -> Iterator[_Visit]:
    """The nodes after one more quasi-identifier in blocks, as far as they have targets of the part."""
    depth, nodes, rows = visit
    level, end = levels[depth], ends[depth + 1]
    first, last = int(level.nodes[nodes[0]]), int(level.nodes[nodes[1]])
    first = max(first, int(np.searchsorted(end, part[0], side="right")) - 1)
    last = min(last, int(np.searchsorted(end, part[1], side="left")))
    if first >= last:
        return
    following = levels[depth + 1] if depth + 1 < len(levels) else None
    step = rows.step(level, following, nodes[0], (first, last))
    for start, stop in step.blocks(limit):
        yield depth + 1, (first + start, first + stop), step.rows(start, stop)
