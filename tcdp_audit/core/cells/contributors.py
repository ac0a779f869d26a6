"""The records behind released tables: the people of each cell, what they contribute, and whether the figures agree.

A record belongs to one node of each dimension, to all nodes above that, and so to many cells. Cells are processed in
levels: a level has at most one node of each dimension for a record, so that each of its cells gets a record once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.errors import CheckError, DataError, PolicyError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import CELLS_AGREE
from tcdp_audit.core.base.words import agree, count, visible
from tcdp_audit.core.cells.categories import parse_band, read_yaml
from tcdp_audit.core.cells.figures import LARGEST, noise_of, plain_number
from tcdp_audit.core.cells.reading import Texts, texts_of
from tcdp_audit.core.cells.table import UNBOUNDED, Band, CellState, Figures, Finding, Nodes, PublishedTable, true_limits
from tcdp_audit.core.encoding.keys import order_of
from tcdp_audit.core.policy.aggregates import Bands, ExceptCategory, Measure
from tcdp_audit.core.policy.policy import Policy

if TYPE_CHECKING:
    import pyarrow as pa

    from tcdp_audit.core.engines.base import Engine

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
YES, NO = ("1", "true", "yes", "y", "t"), ("0", "false", "no", "n", "f")
REMEMBERED = 4_000_000  # rows of levels that are remembered for further measures
PRODUCT = 2**62  # numbers are multiplied in 64 bits up to this, and as integers of any size beyond
DIFFER = (
    "the figures of {table!r} are not those of the records, so that nothing is judged from these; see the finding "
    "`cells_agree`"
)


@dataclass(frozen=True, repr=False)
class Contributions:
    """The people of each cell of a table and their contributions; all those of a person to a cell are added first.

    Args:
        people: how many people have a value, those who contribute 0 among them. Shape (cells,).
        total: the sum of their contributions in steps. Shape (cells,).
        size: the same of their absolute values, of which concentration is measured. Shape (cells,).
        largest: the largest absolute contributions in steps, the largest first; 0 where there are fewer people.
            Shape (cells, n).
        scale: the steps of one unit.
    """

    people: Integers
    total: Integers
    size: Integers
    largest: Integers
    scale: int


@dataclass(frozen=True, repr=False)
class Entries:
    """Every person of every cell of a table, once, with what the person contributes to it.

    Args:
        unit: the number of the person. Shape (entries,).
        cell: the number of the cell, likewise.
        value: the contribution in steps; 1 where people are counted, the person's records where rows are.
        scale: the steps of one unit.
    """

    unit: NDArray[np.intp]
    cell: NDArray[np.intp]
    value: Integers
    scale: int


@dataclass(frozen=True)
class Agreement:
    """Whether the figures of tables are those of the records.

    Args:
        findings: the figures that differ, and records outside every category.
        not_compared: sentences about figures that cannot be compared.
        compared: how many figures were compared.
    """

    findings: tuple[Finding, ...]
    not_compared: tuple[str, ...]
    compared: int


@dataclass(frozen=True, repr=False)
class _Column:
    """The numbers of a column in steps, 0 where a record has none, and whether it has one. Shape (records,)."""

    values: Integers
    has_value: Mask
    scale: int


@dataclass(frozen=True, repr=False)
class _People:
    """The people of the cells of one level, by cell; a person is once in each cell that has a record of theirs.

    Args:
        order: the records in the order of cells and people. Shape (rows,).
        starts: where the records of each person in a cell begin in `order`. Shape (people,).
        cell: the cell of each. Shape (people,).
    """

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    cell: NDArray[np.intp]

    def added(self, column: _Column) -> tuple[Integers, NDArray[np.intp]]:
        """The contribution and the cell of each person who has a value."""
        if not len(self.order):
            return np.zeros(0, np.int64), self.cell
        has_value = np.logical_or.reduceat(column.has_value[self.order], self.starts)
        values = np.add.reduceat(column.values[self.order], self.starts)
        return values[has_value], self.cell[has_value]


@dataclass(frozen=True, repr=False)
class Records:
    """The records behind the tables of a policy.

    Args:
        policy: the policy.
        place: what messages call the records.
        table: the records.
        unit: the number of the person of each record. Shape (records,).
    """

    policy: Policy
    place: str
    table: pa.Table
    unit: NDArray[np.intp]
    _results: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, policy: Policy, engine: Engine) -> Records:
        """The records of an open table.

        Raises:
            DataError: there is none, the column of the unit is missing, or a record has no unit.
        """
        table, declared = engine.table(), policy.document.microdata
        if not table.num_rows:
            raise DataError(f"{engine.name}: the microdata have no records, so that no figure can be theirs")
        if declared is None or declared.unit is None:
            return cls(policy, engine.name, table, np.arange(table.num_rows))
        if declared.unit not in table.column_names:
            raise DataError(f"{engine.name}: the microdata have no column {visible(declared.unit)!r}; correct `unit`")
        texts = texts_of(table.column(declared.unit))
        if "" in texts.texts:
            without = int((texts.codes == texts.texts.index("")).sum())
            raise DataError(f"{engine.name}: {count(without, 'record')} without {visible(declared.unit)!r}; fill it in")
        return cls(policy, engine.name, table, texts.codes)

    def contributions(
        self,
        table: PublishedTable,
        column: str,
        largest: int = 1,
        negative: Literal["refuse", "absolute"] = "refuse",
    ) -> Contributions:
        """The contributions of people to each cell.

        Args:
            table: the table.
            column: the column of the contributions.
            largest: how many of the largest contributions are needed.
            negative: whether negative contributions are an error, or count without their sign.

        Raises:
            CheckError: the figures of the table are not those of the records; the column is missing or has texts that
                are no numbers; or it has negative contributions that are refused.

        Cost: O(n log n) for each level, of which there are at most the product of the depths of the hierarchies.
        """
        if self.agreement({table.name: table}).findings:
            raise CheckError(DIFFER.format(table=table.name))
        key = (id(table), column)
        known = self._results.get(key)
        if known is None or known.largest.shape[1] < largest:
            known = self._results[key] = self._contributions(table, self._numbers(column), largest)
        if negative == "refuse" and (known.size != known.total).any():
            raise CheckError(
                f"{visible(column)!r} has negative contributions, of which concentration is not defined; declare "
                "`conventions: {negative: absolute}` to measure it of what they are without their sign"
            )
        return replace(known, largest=known.largest[:, :largest])

    def people(self, table: PublishedTable) -> Integers:
        """The number of people of each cell. Shape (cells,). Raises as `contributions` does."""
        if self.agreement({table.name: table}).findings:
            raise CheckError(DIFFER.format(table=table.name))
        return self._people(table)

    def rows(self, table: PublishedTable) -> Integers:
        """The number of records of each cell. Shape (cells,). Raises as `contributions` does."""
        if self.agreement({table.name: table}).findings:
            raise CheckError(DIFFER.format(table=table.name))
        return self._rows(table)

    def entries(self, table: PublishedTable, measure: Measure) -> Entries:
        """The people of each cell with their contributions to a count or a sum. Raises as `contributions` does.

        Cost: O(n log n) for each level, and memory for an entry a person and cell.
        """
        if self.agreement({table.name: table}).findings:
            raise CheckError(DIFFER.format(table=table.name))
        column = None if measure.counts is not None else self._numbers(str(measure.column))
        units, cells, values = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)], [np.zeros(0, np.int64)]
        for level in self._levels(table):
            unit, cell, rows = self.unit[level.order[level.starts]], level.cell, len(level.order)
            if column is not None:
                value, cell = level.added(column)
                unit = unit[np.logical_or.reduceat(column.has_value[level.order], level.starts)] if rows else unit
            else:
                lengths = np.diff(np.append(level.starts, rows))
                value = lengths if measure.counts == "rows" else np.ones(len(lengths), np.int64)
            units, cells, values = [*units, unit], [*cells, cell], [*values, value]
        scale = 1 if column is None else column.scale
        return Entries(np.concatenate(units), np.concatenate(cells), np.concatenate(values), scale)

    def _people(self, table: PublishedTable) -> Integers:
        people = np.zeros(table.cells, np.int64)
        for level in self._levels(table):
            people += np.bincount(level.cell, minlength=table.cells)
        return people

    def _contributions(self, table: PublishedTable, column: _Column, largest: int) -> Contributions:
        people, total, size = (np.zeros(table.cells, np.int64) for _ in range(3))
        top = np.zeros((table.cells, largest), np.int64)
        for level in self._levels(table):
            values, cell = level.added(column)
            sizes = np.abs(values)
            people += np.bincount(cell, minlength=table.cells)
            np.add.at(total, cell, values)
            np.add.at(size, cell, sizes)
            top[np.unique(cell)] = _largest(sizes, cell, largest)
        return Contributions(people, total, size, top, column.scale)

    # cells of records

    def _levels(self, table: PublishedTable) -> Iterable[_People]:
        """The people of the cells of each level; each cell is in one level."""
        levels = prod(self._slots(nodes).shape[1] for nodes in table.dimensions)
        if levels * len(self.unit) > REMEMBERED:
            return self._made_levels(table)
        return list(self._once(("levels", id(table)), lambda: (table, list(self._made_levels(table))))[1])

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """A result that is computed when it is first asked for."""
        if key not in self._results:
            self._results[key] = make()
        return self._results[key]

    def _made_levels(self, table: PublishedTable) -> Iterator[_People]:
        # A record has one column of slots for each dimension, each slot with a node or with none. Nodes share a slot
        # only if no record is in both, so that a choice of one slot a dimension gives each record at most one cell, and
        # a cell has its records in one choice. The total has a slot, every depth of a hierarchy has one, and a second
        # hierarchy takes further ones.
        inside = self._subgroup(table)
        slots = [self._slots(nodes)[self._texts(nodes.name).codes] for nodes in table.dimensions]
        for choice in product(*[range(one.shape[1]) for one in slots]):
            checkpoint()
            cell = np.zeros(len(inside), np.intp)
            there = inside.copy()
            for nodes, of_record, slot in zip(table.dimensions, slots, choice, strict=True):
                node = of_record[:, slot]
                there &= node >= 0
                cell = cell * len(nodes.labels) + node
            rows = self._by_unit[there[self._by_unit]]
            order = rows[order_of(cell[rows], table.cells)]  # stable, so that rows of a person stay together
            own, unit = cell[order], self.unit[order]
            begins = np.append(True, (own[1:] != own[:-1]) | (unit[1:] != unit[:-1]))[: len(own)]
            starts = np.flatnonzero(begins)
            yield _People(order, starts, own[starts])

    def _slots(self, nodes: Nodes) -> NDArray[np.intp]:
        """The nodes of each text of a dimension's column, by slots; -1 for none. Shape (texts, slots)."""
        return self._once(("slots", id(nodes)), lambda: (nodes, _slots_of(self._members(nodes))))[1]

    def _members(self, nodes: Nodes) -> list[frozenset[int]]:
        """The nodes that each text of a dimension's column belongs to, those above included."""
        code = {label: place for place, label in enumerate(nodes.labels) if place != nodes.total}
        leaves = [nodes.labels[leaf] for leaf in nodes.leaves if leaf != nodes.total]
        above: dict[int, set[int]] = {}
        for node, children, _ in nodes.sums:
            for child in children:
                above.setdefault(child, set()).add(node)
        partial = {node for node, _, complete in nodes.sums if not complete}
        members = []
        for labels in self._categories(nodes.name, list(code), leaves, banded=bool(nodes.bands)):
            own = _closure({code[one] for one in labels}, above)
            if not own and nodes.total in partial:
                own = {int(nodes.total or 0)}
            members.append(frozenset(own))
        return members

    def _categories(
        self, name: str, labels: Sequence[str], leaves: Sequence[str], *, banded: bool
    ) -> Iterator[frozenset[str]]:
        """The categories of each text of a dimension's column, by what `bands` lists, or by their labels."""
        mapping = self._bands(name)
        by_text: dict[str, set[str]] = {}
        ranges: list[tuple[Band, str]] = []
        for label in labels:
            for entry in [label] if mapping is None else mapping.get(label, []):
                by_text.setdefault(entry, set()).add(label)
                band = parse_band(entry) if mapping is not None or (banded and label in leaves) else None
                if band is not None:
                    ranges.append((band, label))
        for text in self._texts(name).texts:
            number = plain_number(text)
            own = by_text.get(text, set())
            if number is not None and not own:
                value = Fraction(number[0] * number[1], 10 ** number[2])
                own = {label for band, label in ranges if band[0] <= value < band[1]}
            yield frozenset(own)

    def _subgroup(self, table: PublishedTable) -> Mask:
        """Whether each record is of the group that a table is about. Shape (records,)."""
        inside = np.ones(len(self.unit), np.bool_)
        for name, one in table.declaration.subgroup.items():
            label = one.not_ if isinstance(one, ExceptCategory) else one
            texts = self._categories(name, [label], [label], banded=parse_band(label) is not None)
            own = np.array([bool(labels) for labels in texts])[self._texts(name).codes]
            inside &= ~own if isinstance(one, ExceptCategory) else own
        return inside

    def _bands(self, name: str) -> Mapping[str, Sequence[str]] | None:
        """The texts and ranges of each category of a dimension, as declared; None where labels are texts."""
        declared = self._declared(name)
        if not isinstance(declared, Bands) or declared.bands is None:
            return None
        if isinstance(declared.bands, Mapping):
            return declared.bands
        data = read_yaml(declared.bands, self.policy.directory / declared.bands)
        if not isinstance(data, Mapping) or not all(isinstance(one, list) for one in data.values()):
            raise PolicyError(f"{declared.bands}: it must be a mapping of each category to a list of values or ranges")
        return {str(label): [str(getattr(one, "text", one)) for one in values] for label, values in data.items()}

    def _declared(self, name: str) -> str | Bands:
        microdata = self.policy.document.microdata
        return name if microdata is None else microdata.of.get(name, name)

    def _texts(self, name: str) -> Texts:
        """The column of a dimension."""
        declared = self._declared(name)
        return self._texts_of(declared.column if isinstance(declared, Bands) else declared, f"the dimension {name!r}")

    def _texts_of(self, column: str, what: str) -> Texts:
        if column not in self.table.column_names:
            raise CheckError(
                f"{self.place}: the microdata have no column {visible(column)!r} for {what}; name it under "
                "`microdata: {of: …}`"
            )
        return self._once(("texts", column), lambda: texts_of(self.table.column(column)))

    @cached_property
    def _by_unit(self) -> NDArray[np.intp]:
        """The records in the order of their people."""
        return np.argsort(self.unit, kind="stable")

    @cached_property
    def _missing(self) -> frozenset[str]:
        return frozenset(["", *self.policy.conventions.missing_tokens])

    def _numbers(self, column: str) -> _Column:
        """A column of numbers in steps, exactly.

        Raises:
            CheckError: it has texts that are no numbers, or too many digits.
        """
        texts = self._texts_of(column, "a measure")
        parsed = [None if text in self._missing else plain_number(text.strip()) for text in texts.texts]
        strange = [
            place for place, text in enumerate(texts.texts) if parsed[place] is None and text not in self._missing
        ]
        if strange:
            first = int(np.flatnonzero(np.isin(texts.codes, strange))[0]) + 1
            raise CheckError(
                f"{self.place}: {visible(column)!r} has texts that are no plain numbers, first in record {first:,}; "
                "correct them, or declare them as `conventions: {missing_tokens: […]}`"
            )
        digits = max((one[2] for one in parsed if one is not None), default=0)
        steps = [0 if one is None else one[0] * one[1] * 10 ** (digits - one[2]) for one in parsed]
        if max(map(abs, steps), default=0) * len(self.unit) >= LARGEST:
            raise CheckError(
                f"{self.place}: {visible(column)!r} has too many digits to be added exactly in 64 bits; round it"
            )
        has_value = np.array([one is not None for one in parsed])[texts.codes]
        return _Column(np.array(steps, np.int64)[texts.codes], has_value, 10**digits)

    def _has(self, column: str) -> _Column:
        """A column of yes and no as 1 and 0."""
        texts = self._texts_of(column, "a measure")
        bare = [text.strip().lower() for text in texts.texts]
        if any(
            text not in (*YES, *NO) and own not in self._missing for text, own in zip(bare, texts.texts, strict=True)
        ):
            raise CheckError(
                f"{self.place}: a share is of a column of 1 and 0, true and false, or yes and no; {visible(column)!r} "
                "has other values"
            )
        has_value = np.array([own not in self._missing for own in texts.texts])[texts.codes]
        return _Column(np.array([text in YES for text in bare], np.int64)[texts.codes], has_value, 1)

    # agreement

    def agreement(self, tables: Mapping[str, PublishedTable]) -> Agreement:
        """Compare every figure with the records, up to its rounding and noise. All that differs is reported."""
        parts = [self._agreement_of(table) for table in tables.values()]
        return Agreement(
            tuple(finding for one in parts for finding in one.findings),
            tuple(sentence for one in parts for sentence in one.not_compared),
            sum(one.compared for one in parts),
        )

    def _agreement_of(self, table: PublishedTable) -> Agreement:
        # with the table, so that its number stays its own
        return self._once(("agreement", id(table)), lambda: (table, self._compared(table)))[1]

    def _compared(self, table: PublishedTable) -> Agreement:
        findings, left = list[Finding](), list[str]()
        try:
            findings += self._outside(table)
        except CheckError as error:
            findings.append(Finding(CELLS_AGREE, table.name, f"{table.place}: {error}."))
        if findings:
            return Agreement(tuple(findings), (), 0)
        compared = 0
        for name, figures in table.figures.items():
            reason = _incomparable(figures.measure, table)
            if reason:
                left.append(f"{table.place}: {visible(name)} was not compared with the records: {reason}.")
                continue
            try:
                wrong = self._wrong(table, name, figures)
            except CheckError as error:
                findings.append(Finding(CELLS_AGREE, table.name, f"{table.place}: {visible(name)}: {error}.", name))
                continue
            compared += int(figures.shown.sum())
            findings += _differing(table, name, figures, wrong)
        return Agreement(tuple(findings), tuple(left), compared)

    def _outside(self, table: PublishedTable) -> Iterator[Finding]:
        """Records of a table's group that are in no category of a dimension."""
        inside = self._subgroup(table)
        for nodes in table.dimensions:
            known = (self._slots(nodes).max(axis=1, initial=-1) >= 0)[self._texts(nodes.name).codes]
            strange = np.flatnonzero(inside & ~known)
            if len(strange):
                name, first = visible(nodes.name), int(strange[0]) + 1
                says = (
                    f"{self.place}: {count(len(strange), 'record')} {agree(len(strange), 'is', 'are')} in no category "
                    f"of {name} of {table.name!r}, first record {first:,}; list its values under "
                    f"`microdata: {{of: {{{name}: {{column: …, bands: …}}}}}}`, or correct them."
                )
                yield Finding(CELLS_AGREE, table.name, says, count=len(strange))

    def _wrong(self, table: PublishedTable, name: str, figures: Figures) -> Mask:
        """The cells whose figure, or what is published in its place, is not that of the records. Shape (cells,)."""
        measure, limits = figures.measure, true_limits(table, name)
        if measure.counts is not None:
            rows = measure.counts == "rows"
            return _excluded(limits, self._rows(table) if rows else self._people(table), 1, 1)
        if measure.kind in ("minimum", "maximum", "quantile"):
            return self._wrong_rank(table, figures, limits)
        if measure.deviation is not None:
            return self._wrong_deviation(table, figures, limits)
        column = self._has(str(measure.share)) if measure.share is not None else self._numbers(str(measure.column))
        people, total = self._added(table, column, once=measure.share is not None)
        if measure.sum is not None:
            return _excluded(limits, total, figures.scale, column.scale)
        percent = 100 if measure.share is not None and measure.as_ == "percent" else 1
        wrong = _excluded(limits, total, figures.scale * percent, column.scale, people)
        return np.where(people > 0, wrong, figures.shown)

    def _rows(self, table: PublishedTable) -> Integers:
        rows = np.zeros(table.cells, np.int64)
        for level in self._levels(table):
            lengths = np.diff(np.append(level.starts, len(level.order)))
            np.add.at(rows, level.cell, lengths)
        return rows

    def _added(self, table: PublishedTable, column: _Column, *, once: bool) -> tuple[Integers, Integers]:
        """The number of people with a value, and the sum of theirs; with `once` each person has at most 1."""
        people, total = np.zeros(table.cells, np.int64), np.zeros(table.cells, np.int64)
        for level in self._levels(table):
            values, cell = level.added(column)
            people += np.bincount(cell, minlength=table.cells)
            np.add.at(total, cell, np.minimum(values, 1) if once else values)
        return people, total

    def _wrong_rank(self, table: PublishedTable, figures: Figures, limits: tuple[Integers, Integers]) -> Mask:
        """The same of minima, maxima and quantiles by the nearest rank: of n values the one at place ceil(q n)."""
        column, wrong = self._numbers(str(figures.measure.column)), figures.shown.copy()
        for level in self._levels(table):
            values, cell = level.added(column)
            values = values[np.lexsort((values, cell))]
            cells, starts, people = np.unique(np.sort(cell), return_index=True, return_counts=True)
            rank = _rank(figures.measure, people)
            own = tuple(ends[cells] for ends in limits)
            wrong[cells] = _excluded((own[0], own[1]), values[starts + rank - 1], figures.scale, column.scale)
        return wrong

    def _wrong_deviation(self, table: PublishedTable, figures: Figures, limits: tuple[Integers, Integers]) -> Mask:
        """The same of standard deviations with n - 1, by their squares."""
        column = self._numbers(str(figures.measure.column))
        people, total = self._added(table, column, once=False)
        squares = np.zeros(table.cells, object)
        for level in self._levels(table):
            values, cell = level.added(column)
            np.add.at(squares, cell, values.astype(object) ** 2)
        pairs = people.astype(object) * (people - 1) * column.scale**2
        spread = (people * squares - total.astype(object) ** 2) * figures.scale**2
        low, high = (ends.astype(object) for ends in limits)
        wrong = ((low > 0) & (low**2 * pairs > spread)) | ((limits[1] < UNBOUNDED) & (high**2 * pairs < spread))
        return np.where(people > 1, wrong.astype(bool), figures.shown)


def _slots_of(members: Sequence[frozenset[int]]) -> NDArray[np.intp]:
    """A slot for each node, no two nodes of one member in the same."""
    slot: dict[int, int] = {}
    together: dict[int, set[int]] = {}
    for own in set(members):
        for node in own:
            together.setdefault(node, set()).update(own)
    for node in sorted(together):
        taken = {slot[one] for one in together[node] if one in slot}
        slot[node] = next(number for number in range(len(taken) + 1) if number not in taken)
    table = np.full((len(members), max(slot.values(), default=0) + 1), -1, np.intp)
    for text, own in enumerate(members):
        for node in own:
            table[text, slot[node]] = node
    return table


def _closure(nodes: set[int], above: Mapping[int, set[int]]) -> set[int]:
    """The nodes and all above them."""
    reached, waiting = set(nodes), list(nodes)
    while waiting:
        for node in above.get(waiting.pop(), set()) - reached:
            reached.add(node)
            waiting.append(node)
    return reached


def _largest(sizes: Integers, cell: NDArray[np.intp], most: int) -> Integers:
    """The largest numbers of each cell, the largest first; entries of a cell are next to one another. O(n x most)."""
    begins = np.flatnonzero(np.append(True, cell[1:] != cell[:-1])[: len(cell)])
    segment = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(cell))))
    left, top = sizes.copy(), np.zeros((len(begins), most), np.int64)
    for place in range(most if len(begins) else 0):
        top[:, place] = np.maximum.reduceat(left, begins)
        equal = np.flatnonzero(left == top[segment, place])
        left[equal[np.append(True, np.diff(segment[equal]) > 0)]] = -1  # the first of them is taken
    return np.maximum(top, 0)


def _rank(measure: Measure, people: Integers) -> Integers:
    if measure.kind == "minimum":
        return np.ones_like(people)
    if measure.kind == "maximum":
        return people
    at = Fraction(measure.at or 0)
    return -(-people * at.numerator // at.denominator)


def _incomparable(measure: Measure, table: PublishedTable) -> str:
    """The reason against comparing a measure; nothing where it can be compared."""
    noise = noise_of(measure, table.declaration)
    if noise is not None and noise.kind != "bounded":
        return "its noise has no bound"
    return "of what its parts are, the policy says nothing" if measure.ratio is not None else ""


def _excluded(
    limits: tuple[Integers, Integers], total: Integers, factor: int, divisor: int, people: Integers | int = 1
) -> Mask:
    """Whether total * factor / (divisor * people) lies outside the limits; exactly."""
    weight = np.asarray(people) * divisor
    value = _times(total, factor)
    low, high = (_times(np.where(np.abs(ends) >= UNBOUNDED, 0, ends), weight) for ends in limits)
    under = (limits[0] > -UNBOUNDED) & (value < low)
    return np.asarray(under | ((limits[1] < UNBOUNDED) & (value > high)), np.bool_)


def _times(numbers: Integers, factor: Any) -> Any:
    """Products in 64 bits, or as integers of any size where they could be larger."""
    largest = int(np.abs(numbers).max(initial=0)) * int(
        np.abs(factor).max(initial=0) if np.ndim(factor) else abs(factor)
    )
    return numbers * factor if largest < PRODUCT else numbers.astype(object) * factor


def _differing(table: PublishedTable, name: str, figures: Figures, wrong: Mask) -> Iterator[Finding]:
    """A finding for what is shown, hidden, or has no row, and is not what the records give."""
    advice = "correct the table, its declaration, or `microdata`"
    hidden = figures.state == CellState.HIDDEN
    for cells, problem in (
        (wrong & figures.shown, "is not the figure of the records"),
        (wrong & hidden, "is hidden by a text that does not say what the records give"),
        (wrong & ~figures.shown & ~hidden, "has no row, but the records have people in it"),
    ):
        if cells.any():
            yield table.finding(CELLS_AGREE, np.flatnonzero(cells), problem, advice, name)
