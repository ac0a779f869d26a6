"""The `wildcard` convention: a missing quasi-identifier matches every value.

A record's equivalence class is then the set of records compatible with it: they agree wherever both have a
value. These sets overlap. Figures are summed over the ordinary classes of equal codes, a few quasi-identifiers after
the others. Half way, a row represents the sources that are compatible with some targets' values in the
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
from tcdp_audit.core.classes.wildcard_rows import (
    BLOCK,
    Values,
    WildcardRows,
    WildcardStep,
    concatenated,
    first_rows,
    in_blocks,
)
from tcdp_audit.core.encoding.keys import Floats, KeyArray, fold, numbered, positions_of

Positions = NDArray[np.int64]
PAIRS = 2**17  # compatible combinations that are few, whatever the number of classes
MOST_COMPATIBLE = 256  # combinations compatible with a class, on average, that are few enough to be taken together
TARGETS, SOURCES = 64, 2**12  # how many of each are looked at to see how much work there is


@dataclass(frozen=True)
class WildcardBlock:
    """Some classes, each with what is compatible with it."""

    classes: Positions  # which they are, shape (classes,)
    sums: Sequence[Floats]  # for each figure asked for its sum over all compatible classes, shape (classes,) each
    histograms: Sequence[Histogram]  # for each histogram asked for the values of all compatible classes


@dataclass(frozen=True)
class Combination:
    """Some quasi-identifiers taken together: the combinations of codes that occur, numbered in ascending order."""

    columns: Sequence[tuple[Positions, int]]  # the codes of every class, and the code of a missing value
    codes: Positions  # the number of each class's combination, shape (classes,)
    count: int  # how many combinations occur
    upto: Positions  # where those compatible with each begin among `others`, and the end, shape (combinations + 1,)
    others: Positions  # the combinations compatible with each, itself included, in ascending order

    @staticmethod
    def of_nothing(classes: int) -> Combination:
        """The combination of no quasi-identifier, in which all classes agree."""
        return Combination([], np.zeros(classes, dtype=np.int64), 1, np.array([0, 1]), np.array([0]))

    def extended(self, column: Positions, missing: int) -> Combination | None:
        """The combination with one more quasi-identifier; None if too many would be compatible."""
        # A combination with a next code is compatible with those compatible so far that have the same next code or
        # none, and one without a next code with all of these. The keys are sorted, so each of these sets is a run, and
        # two binary searches find its ends. What is found is in order again.
        radix, classes = missing + 1, len(column)
        keys, codes = numbered(self.codes * radix + column, self.count * radix)
        before, code = np.divmod(keys.astype(np.int64), radix)
        degree, most = np.diff(self.upto)[before], max(2 * classes, PAIRS)
        if self.columns and degree.sum() > most:
            return None
        other = self.others[positions_of(self.upto[before], degree)] * radix
        code, end = np.repeat(code, degree), np.full(len(other), radix)
        whole = code == missing
        low = np.stack([np.where(whole, 0, code), np.where(whole, end, missing)], axis=1)
        begins, ends = (np.searchsorted(keys, other[:, None] + one) for one in (low, np.stack([code + 1, end], axis=1)))
        lengths = ends - begins
        upto = np.append(0, np.cumsum(lengths.sum(axis=1)))[np.append(0, np.cumsum(degree))]
        if self.columns and (upto[-1] > most or np.diff(upto)[codes].sum() > MOST_COMPATIBLE * classes):
            return None
        others = positions_of(begins.reshape(-1), lengths.reshape(-1))
        return Combination([*self.columns, (column, missing)], codes.astype(np.int64), len(keys), upto, others)

    @cached_property
    def runs(self) -> tuple[Positions, Positions, Positions]:
        """The compatible ones as runs: where those of each combination begin, and the first and the end of each run."""
        begins = np.ones(len(self.others), dtype=bool)
        begins[1:] = self.others[1:] != self.others[:-1] + 1
        begins[self.upto[:-1]] = True
        first = np.flatnonzero(begins)
        last = np.append(first[1:], len(begins)) - 1
        return np.searchsorted(first, self.upto), self.others[first], self.others[last] + 1


@dataclass(frozen=True)
class WildcardLevel:
    """One combination in the recursion: the targets before it and after it, the sources' codes from it on."""

    combination: Combination
    code: Positions  # the code of each node after it, a node being the targets that agree so far, shape (nodes after,)
    nodes: Positions  # where the nodes after it begin for each node before it, shape (nodes before + 1,)
    first: Positions  # for each suffix of codes the code of this combination, ascending, shape (suffixes,)
    rest: Positions  # for each suffix the number of what follows, shape (suffixes,)
    suffixes: int  # how many different things follow

    def steps(
        self, rows: WildcardRows, following: WildcardLevel | None, before: int, after: tuple[int, int], limit: int
    ) -> Iterator[WildcardStep]:
        """The steps from some rows to some nodes, which take at most so many runs together, or are a single node.

        Args:
            rows: the rows before it.
            following: the level after it, None if it is the last.
            before: the number of the first node of these rows.
            after: the first node, and the one behind the last.
            limit: the most runs.
        """
        # A node is a set of targets that agree in the quasi-identifiers seen so far, and its rows are the sources that
        # match them, by what they still have to match (their suffix). One step takes one more level: a target matches
        # the rows with a compatible code. Rows are sorted by node and next code, and compatible codes are a few runs,
        # so each target takes a few runs of rows. No pair of rows is compared: the cost is two look-ups for each run,
        # and later a sum over the rows in it.
        upto, first, end = self.combination.runs
        rank, code, radix = rows.rank(self), self.code[slice(*after)], self.combination.count
        parent = np.searchsorted(self.nodes, np.arange(*after), side="right") - 1 - before
        counts = np.diff(upto)[code]
        for start, stop in in_blocks(counts, limit):
            count = counts[start:stop]
            run = positions_of(upto[code[start:stop]], count)
            key = np.repeat(parent[start:stop] * radix, count)
            begins, ends = rank(key + first[run]), rank(key + end[run])
            some = np.flatnonzero(begins < ends)
            runs = np.searchsorted(some, np.append(0, np.cumsum(count)))
            yield WildcardStep(rows, self, following, after[0] + start, runs, begins[some], ends[some])


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
        for level, ends in zip(self._levels, self._ends[1:], strict=True):
            for codes, missing in level.combination.columns:
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
        for step, start, stop in _descended(levels, rows, (begin, end), self._ends, limit):
            yield WildcardBlock(order[step.first + start : step.first + stop], *step.totals(start, stop))

    # The classes in the order of the recursion

    @cached_property
    def _columns(self) -> list[tuple[Positions, int]]:
        """The quasi-identifiers as the recursion takes them: the complete ones as one, then what is least compatible.

        The fewer classes are compatible in the first ones, the fewer rows there are on the way.
        """
        absent = [(column == code).any() for column, code in zip(self.codes, self.missing, strict=True)]
        complete = [i for i, one in enumerate(absent) if not one]
        columns = []
        if complete:
            key = fold([self.codes[i] for i in complete], [self.missing[i] + 1 for i in complete])
            distinct, codes = np.unique(key.values, return_inverse=True)
            columns.append((codes.astype(np.int64), len(distinct)))
        incomplete = [(self.codes[i].astype(np.int64), self.missing[i]) for i, one in enumerate(absent) if one]
        return columns + sorted(incomplete, key=lambda one: _compatible(*one))

    @cached_property
    def _combinations(self) -> list[Combination]:
        """The quasi-identifiers in this order, as many of them together as have few compatible combinations."""
        nothing = Combination.of_nothing(self.classes)
        combinations = [nothing]
        for column in self._columns:
            more = combinations[-1].extended(*column)
            if more is None:
                combinations.append(nothing)
                more = nothing.extended(*column)
            assert more is not None  # noqa: S101 - a quasi-identifier by itself is always taken
            combinations[-1] = more
        return combinations

    @cached_property
    def _order(self) -> Positions:
        combinations = self._combinations
        return np.argsort(fold([one.codes for one in combinations], [one.count for one in combinations]).values)

    @cached_property
    def _ends(self) -> list[Positions]:
        """For each number of quasi-identifiers seen, where the targets of each node begin, and the end of the last."""
        changed = np.zeros(self.classes, dtype=bool)
        changed[0] = True
        starts = [np.array([0])]
        for one in self._combinations:
            ordered = one.codes[self._order]
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
        for one in reversed(self._combinations):
            span = int(ranks[-1].max()) + 1
            key = fold([one.codes[self._order], ranks[-1]], [one.count, span])
            ranks.append(numbered(key.values, key.span)[1].astype(np.int64))
        return ranks[::-1]

    @cached_property
    def _levels(self) -> list[WildcardLevel]:
        levels = []
        for depth, one in enumerate(self._combinations):
            ordered, here, after = one.codes[self._order], self._numbered[depth], self._numbered[depth + 1]
            before, starts = self._ends[depth], self._ends[depth + 1][:-1]
            count = int(here.max()) + 1
            first, rest = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
            first[here], rest[here] = ordered, after
            nodes = np.searchsorted(starts, before)
            levels.append(WildcardLevel(one, ordered[starts], nodes, first, rest, int(after.max()) + 1))
            _ = one.runs  # computed here, by one thread
        return levels


def _compatible(codes: Positions, missing: int) -> float:
    """The share of the pairs of classes that are compatible in an incomplete quasi-identifier."""
    shares = np.bincount(numbered(codes, missing + 1)[1]) / len(codes)  # that of the missing value is last
    return float(np.square(shares[:-1]).sum() + 1 - (1 - shares[-1]) ** 2)


def _descended(
    levels: Sequence[WildcardLevel], rows: WildcardRows, part: tuple[int, int], ends: Sequence[Positions], limit: int
) -> Iterator[tuple[WildcardStep, int, int]]:
    """The last steps, each with its targets of a part in blocks: the first, the one behind the last. Depth first."""
    waiting = [_below(levels, 0, (0, 1), rows, part, ends, limit)]  # no recursion: there may be thousands of levels
    while waiting:
        step, start, stop = next(waiting[-1], (None, 0, 0))
        if step is None:
            waiting.pop()
        elif step.following is None:
            yield step, start, stop
        else:
            nodes = step.first + start, step.first + stop
            waiting.append(_below(levels, len(waiting), nodes, step.rows(start, stop), part, ends, limit))


def _below(
    levels: Sequence[WildcardLevel],
    depth: int,
    nodes: tuple[int, int],
    rows: WildcardRows,
    part: tuple[int, int],
    ends: Sequence[Positions],
    limit: int,
) -> Iterator[tuple[WildcardStep, int, int]]:
    """The steps to the nodes after one more level, in blocks, as far as they have targets of the part."""
    level, end = levels[depth], ends[depth + 1]
    first, last = int(level.nodes[nodes[0]]), int(level.nodes[nodes[1]])
    first = max(first, int(np.searchsorted(end, part[0], side="right")) - 1)
    last = min(last, int(np.searchsorted(end, part[1], side="left")))
    if first >= last:
        return
    following = levels[depth + 1] if depth + 1 < len(levels) else None
    for step in level.steps(rows, following, nodes[0], (first, last), limit):
        for start, stop in step.blocks(limit):
            yield step, start, stop
