"""Sets of people behind small tables: whose counts, means, medians, least and largest values are those published.

A table of counts alone says how many people are in each leaf. Means and medians of a value, such as the age, exclude
most of the values that these people could have; in a small block often all sets of people but one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, floor, inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.cells.categories import parse_band
from tcdp_audit.core.cells.solutions import EffortError, tables_that_fit
from tcdp_audit.core.cells.system import INFINITE
from tcdp_audit.core.cells.table import UNBOUNDED, Figures, Nodes, PublishedTable

if TYPE_CHECKING:
    from tcdp_audit.core.cells.joint import JointFigures
    from tcdp_audit.core.cells.recovery import Recovery

MOST_PEOPLE = 60  # of a block whose people are searched
OFTEN = 4_000  # steps between two looks at the clock
KINDS = ("mean", "quantile", "minimum", "maximum")
Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class PeopleCount:
    """The number of sets of people that fit, and what all of them have in common.

    Attributes:
        number: of sets; at most the cap.
        is_exact: whether there are no more.
        finished: whether the effort sufficed; if not, `number` were seen.
        people: the most people of a set.
        column: the value that people have, such as `age`.
        in_leaves: people who are in the same leaf in every set that was seen.
        with_values: people who are in the same leaf with the same value in every set that was seen.
    """

    number: int
    is_exact: bool
    finished: bool
    people: int
    column: str
    in_leaves: int
    with_values: int


@dataclass(frozen=True)
class Statistic:
    """What is published of the values of a group.

    Args:
        kind: `mean`, `quantile` (the median), `minimum`, `maximum`, or `count` of people with a value in a band.
        leaves: the leaves of the group.
        ends: the least and the largest number that it can be.
        band: the values that are counted: from the first, up to and without the second.
    """

    kind: str
    leaves: frozenset[int]
    ends: Ends
    band: tuple[Fraction | float, Fraction | float] = (-inf, inf)

    def holds(self, values: Sequence[int]) -> bool:
        """Whether the values of a whole group have it; an empty group has only a count."""
        if self.kind == "count":
            return self.ends[0] <= sum(self.band[0] <= one < self.band[1] for one in values) <= self.ends[1]
        if not values:
            return False
        low, high = self.ends
        if self.kind == "mean":
            return low * len(values) <= sum(values) <= high * len(values)
        ordered = sorted(values)
        if self.kind == "quantile":  # of an even number, half-way between the two in the middle
            return 2 * low <= ordered[(len(values) - 1) // 2] + ordered[len(values) // 2] <= 2 * high
        return low <= ordered[0 if self.kind == "minimum" else -1] <= high

    def may_hold(self, values: Sequence[int], size: int) -> bool:
        """Whether so many values, some of which are known, can still have it."""
        low, high = self.ends
        if self.kind == "count":
            inside = sum(self.band[0] <= one < self.band[1] for one in values)
            return inside <= high and inside + size - len(values) >= low
        if self.kind == "quantile":
            below, above = sum(one < low for one in values), sum(one > high for one in values)
            return max(below, above) <= size // 2
        if self.kind == "minimum":
            return not values or min(values) >= low
        return self.kind != "maximum" or not values or max(values) <= high


@dataclass(frozen=True)
class Block:
    """A table whose leaves hold the people, and what is published of their values.

    Args:
        column: the value that people have.
        least: the least value; `largest` the largest, None for none.
        statistics: of groups of leaves.
    """

    column: str
    least: int
    largest: int | None
    statistics: Sequence[Statistic]

    def sets(self, sizes: Sequence[int], deadline: float) -> Iterator[list[list[int]]]:
        """All values that the people of leaves of such sizes can have: for each leaf a list in ascending order.

        One person after the other gets a value. Groups that are nearly complete come first, since a mean then leaves
        their last person one value.

        Raises:
            EffortError: the time was over.
        """
        groups = [(one, sum(sizes[leaf] for leaf in one.leaves)) for one in self.statistics]
        if any(not size and not one.holds([]) for one, size in groups):
            return
        order = _order(sizes, [one.leaves for one, _ in groups if one.kind == "mean"])
        by_leaf = {
            leaf: [(one, size) for one, size in groups if leaf in one.leaves] for leaf, size in enumerate(sizes) if size
        }
        values: list[list[int]] = [[] for _ in sizes]
        steps = 0

        def search(place: int) -> Iterator[list[list[int]]]:
            nonlocal steps
            if place == len(order):
                yield [list(own) for own in values]
                return
            leaf = order[place]
            low, high = self._ends_of_next(leaf, values, by_leaf[leaf])
            for value in range(low, high + 1):
                steps += 1
                if not steps % OFTEN:
                    checkpoint()
                    if monotonic() > deadline:
                        raise EffortError
                values[leaf].append(value)
                if all(_fits(one, size, values) for one, size in by_leaf[leaf]):
                    yield from search(place + 1)
                values[leaf].pop()

        yield from search(0)

    def _ends_of_next(
        self, leaf: int, values: Sequence[Sequence[int]], groups: Sequence[tuple[Statistic, int]]
    ) -> tuple[int, int]:
        """The least and the largest value of the next person of a leaf, by the sums that means say.

        Raises:
            EffortError: nothing bounds it.
        """
        low: int = values[leaf][-1] if values[leaf] else self.least
        high: float = inf if self.largest is None else self.largest
        for one, size in groups:
            if one.kind == "maximum":
                high = min(high, floor(one.ends[1]))
            if one.kind != "mean":
                continue
            known = [value for other in one.leaves for value in values[other]]
            least, most = self._sums_of_others(one.leaves, size, known)
            high = min(high, floor(one.ends[1] * size) - sum(known) - least)
            low = max(low, ceil(one.ends[0] * size) - sum(known) - int(most)) if most < inf else low
        if high == inf:
            raise EffortError
        return low, int(high)

    def _sums_of_others(self, leaves: frozenset[int], size: int, known: Sequence[int]) -> tuple[int, float]:
        """The least and the largest sum of the people of a group after the next one: half of all reach its median."""
        others, median = size - len(known) - 1, self._medians.get(leaves)
        largest: float = inf if self.largest is None else self.largest
        if median is None:
            return others * self.least, others * largest if others else 0
        half, (low, high) = (size + 1) // 2, (ceil(median[0]), floor(median[1]))
        above = max(half - 1 - sum(one >= low for one in known), 0)
        below = max(half - 1 - sum(one <= high for one in known), 0)
        rest = others - below
        return above * low + (others - above) * self.least, below * high + (rest * largest if rest else 0)

    @cached_property
    def _medians(self) -> dict[frozenset[int], Ends]:
        return {one.leaves: one.ends for one in self.statistics if one.kind == "quantile"}


def _fits(one: Statistic, size: int, values: Sequence[Sequence[int]]) -> bool:
    known = [value for leaf in one.leaves for value in values[leaf]]
    return one.holds(known) if len(known) == size else one.may_hold(known, size)


def _order(sizes: Sequence[int], groups: Sequence[frozenset[int]]) -> list[int]:
    """The leaf of each person in turn: first those of the group with the fewest people left, in the most others."""
    wider = {group: sum(group <= other for other in groups) for group in groups}
    left, order = {leaf: size for leaf, size in enumerate(sizes) if size}, list[int]()
    while left:
        open_groups = [group for group in groups if group & left.keys()]
        first = min(
            open_groups, key=lambda one: (sum(left.get(leaf, 0) for leaf in one), -wider[one]), default=left.keys()
        )
        leaf = min(first & left.keys(), key=lambda one: (left[one], one))
        order += [leaf] * left.pop(leaf)
    return order


def count_people(recovery: Recovery, joint: JointFigures, *, cap: int, effort: float) -> PeopleCount | None:
    """Count the sets of people that have all published counts, means, medians, least and largest values.

    The statistics are those of whole numbers (`integers: true`) of one column, in the table with the most leaves among
    those that publish any, and in tables about the same people that divide them no further. People are in its leaves.
    A dimension of bands that has the name of the column divides people by their value.

    Args:
        recovery: the counts of people, after `recover`.
        joint: their tables.
        cap: the number at which counting ends.
        effort: seconds after which it ends, too.

    Returns:
        The number; 0 is a contradiction. None where no such statistic is published, or of more than 60 people.

    Cost: O(sets of people x statistics), and partial sets that come to nothing.

    Source: Garfinkel, Abowd, Martindale, Understanding Database Reconstruction Attacks on Public Data, ACM Queue 16,
    2018.
    """
    table = _finest(joint)
    block = None if table is None else _block(table, joint)
    if table is None or block is None:
        return None
    measure = next(measure for name, measure in joint.variables if name == table.name)
    variables = joint.variables[table.name, measure][_leaf_cells(table)]
    remainder = recovery.remainder
    unbounded = (remainder.high >= INFINITE)[: len(remainder.cells)].any()
    if unbounded or int(recovery.narrowed.low[variables[variables >= 0]].sum()) > MOST_PEOPLE:
        return None
    seen = _Seen(block.column)
    deadline, tried = monotonic() + effort, set[tuple[int, ...]]()
    try:
        for tables in tables_that_fit(recovery, deadline):
            sizes = np.where(variables >= 0, tables[:, variables], 0)
            for own in map(tuple, np.unique(sizes, axis=0).tolist()):
                if own in tried:
                    continue
                tried.add(own)
                if sum(own) > MOST_PEOPLE:
                    return None
                for people in block.sets(own, deadline):
                    if seen.number == cap:
                        return seen.count(is_exact=False, finished=True)
                    seen.add(people)
    except EffortError:
        return seen.count(is_exact=False, finished=False)
    return seen.count(is_exact=True, finished=True)


@dataclass
class _Seen:
    """The sets of people that were seen, and what they have in common."""

    column: str
    number: int = 0
    people: int = 0
    in_leaves: Counter[int] | None = None
    with_values: Counter[tuple[int, int]] | None = None

    def add(self, people: Sequence[Sequence[int]]) -> None:
        self.number += 1
        sizes = Counter({leaf: len(own) for leaf, own in enumerate(people)})
        pairs = Counter((leaf, value) for leaf, own in enumerate(people) for value in own)
        self.people = max(self.people, sizes.total())
        self.in_leaves = sizes if self.in_leaves is None else self.in_leaves & sizes
        self.with_values = pairs if self.with_values is None else self.with_values & pairs

    def count(self, *, is_exact: bool, finished: bool) -> PeopleCount:
        common = [0 if one is None else one.total() for one in (self.in_leaves, self.with_values)]
        return PeopleCount(self.number, is_exact, finished, self.people, self.column, *common)


def _statistics_of(table: PublishedTable) -> dict[str, Figures]:
    """The measures of a table that say something of whole numbers of people."""
    return {
        name: figures
        for name, figures in table.figures.items()
        if figures.measure.integers
        and figures.measure.kind in KINDS
        and (figures.measure.quantile is None or figures.measure.at == Fraction(1, 2))
        and figures.shown.any()
    }


def _finest(joint: JointFigures) -> PublishedTable | None:
    """The table with statistics that has the most leaves."""
    tables = [one for one in joint.tables.values() if not one.declaration.subgroup and _statistics_of(one)]
    return max(tables, key=lambda one: len(_leaf_cells(one)), default=None)


def _leaf_cells(table: PublishedTable) -> Any:
    cells = np.arange(table.cells).reshape(table.shape)
    return cells[np.ix_(*[nodes.leaves for nodes in table.dimensions])].ravel()


def _block(table: PublishedTable, joint: JointFigures) -> Block | None:
    """The statistics of all tables that divide people as this one does, and by the value itself."""
    column = next(figures.measure.column for figures in _statistics_of(table).values())
    assert column is not None  # noqa: S101 - it is no count
    if column in (nodes.name for nodes in table.dimensions):
        return None
    groups = _Groups(table, column)
    least, largest, statistics = Fraction(0), None, list[Statistic]()
    for other in joint.tables.values():
        for figures in _statistics_of(other).values():
            if figures.measure.column == column:
                own = figures.measure
                least = Fraction(0) if own.at_least is None else own.at_least
                largest = own.at_most if largest is None or own.at_most is None else min(largest, own.at_most)
                statistics += groups.statistics(other, figures, own.kind)
        if any(nodes.name == column for nodes in other.dimensions):
            counts = (one for one in other.figures.values() if one.measure.counts == "people")
            statistics += [one for figures in counts for one in groups.statistics(other, figures, "count")]
    return Block(column, ceil(least), None if largest is None else floor(largest), statistics)


@dataclass(frozen=True)
class _Groups:
    """The groups of people that the cells of tables are, as leaves of one of them."""

    table: PublishedTable
    column: str

    @cached_property
    def _codes(self) -> list[tuple[int, ...]]:
        """The codes of each leaf in the dimensions of the table."""
        return list(product(*[nodes.leaves.tolist() for nodes in self.table.dimensions]))

    def statistics(self, other: PublishedTable, figures: Figures, kind: str) -> Iterator[Statistic]:
        """The statistics of the cells of a table that are groups of leaves."""
        informative = figures.shown if kind != "count" else (figures.shown | figures.hidden)
        for cell in np.flatnonzero(informative).tolist():
            named = {name: label for name, label in other.labels(cell).items() if label != other.total_of(name)}
            band = named.pop(self.column, None)
            leaves = self._leaves({**named, **other.declaration.subgroup})
            if leaves is None or (band is None) is (kind == "count"):  # statistics of people with some values are left
                continue
            high = int(figures.high[cell])
            ends = (
                Fraction(int(figures.low[cell]), figures.scale),
                Fraction(MOST_PEOPLE) if high >= UNBOUNDED else Fraction(high, figures.scale),
            )
            values = None if band is None else parse_band(band)
            if values is not None:
                yield Statistic(kind, leaves, ends, values)
            elif band is None:
                yield Statistic(kind, leaves, ends)

    def _leaves(self, named: Mapping[str, object]) -> frozenset[int] | None:
        """The leaves with some categories; None where the table does not have them."""
        own = {nodes.name: nodes for nodes in self.table.dimensions}
        below = {}
        for name, label in named.items():
            if name not in own or label not in own[name].labels:
                return None
            below[name] = _below(own[name], own[name].labels.index(str(label)))
        names = [nodes.name for nodes in self.table.dimensions]
        return frozenset(
            place
            for place, codes in enumerate(self._codes)
            if all(name not in below or code in below[name] for name, code in zip(names, codes, strict=True))
        )


def _below(nodes: Nodes, code: int) -> set[int]:
    """The leaves of a node, which may be one itself."""
    children = [child for node, own, _ in nodes.sums if node == code for child in own]
    return {code} if not children else {leaf for child in children for leaf in _below(nodes, child)}
