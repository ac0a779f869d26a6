"""Whole histories that are compared where the table is: the table with numbers in the place of its units' values.

A database or a cluster says how many units have each history, and no row and no unit's own value travels. Units are
numbered here, class after class: those with equal histories, and equal values of the secrets that are asked for, are
alike in every figure. So what judges units one by one judges these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields as dataclass_fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.words import gibibytes
from tcdp_audit.core.classes.grouping import SummedClasses
from tcdp_audit.core.classes.histogram import Histogram
from tcdp_audit.core.encoding.counted import CountedCodes, UnitClasses
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.engines.base import Batch, BorrowedEngine, Engine, Sampling
from tcdp_audit.core.policy.model import AttributeDeclaration, Role, Scale
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.coding import CodedHistories
from tcdp_audit.core.units.histories import HISTORY, ROOT, Histories, Known, UnitsEngine, declaring, raw_numbers

Numbers = NDArray[np.int64]
ROW_BYTES = 96  # what a row of a view takes
LABEL = "\0label"  # the label of a row as a number; no column of a table has this name
NOT_READ = "units are compared where the table is, so that no row has its unit here"


@dataclass(frozen=True)
class Units:
    """Units that are alike, in the order of their histories.

    Args:
        history: the code of the history of each kind of unit, from 1, shape (kinds,).
        number: the number of this history where the table is, shape (kinds,).
        rows: of each unit of a kind, shape (kinds,).
        lacking: whether a known cell of the history is missing, shape (kinds,).
        named: the number of units of each kind, without that of the records that name none. Shape (kinds,).
        unnamed: the kind of the unit of the records that name none; None without such records.
        values: for each secret the position of each kind's value among those of the column, shape (kinds,).
    """

    history: Numbers
    number: Numbers
    rows: Numbers
    lacking: NDArray[np.bool_]
    named: Numbers
    unnamed: int | None
    values: Mapping[str, Numbers]

    @classmethod
    def of_sizes(cls, sizes: pa.Table) -> Units:
        """The units of a table of which the number of classes of each size is known."""
        figures = {
            name: np.repeat(numbers_of(sizes, name), numbers_of(sizes, "classes")) for name in sizes.column_names
        }
        return cls._ordered({**figures, "class": np.arange(len(figures["rows"]))}, {})

    @classmethod
    def of_values(cls, table: pa.Table, values: Mapping[str, Numbers]) -> Units:
        """The units of a table of which the values of some secrets are known."""
        names = ("class", "rows", "lacking", "unnamed", "units")
        return cls._ordered({name: numbers_of(table, name) for name in names}, values)

    @classmethod
    def _ordered(cls, figures: Mapping[str, Numbers], values: Mapping[str, Numbers]) -> Units:
        order = np.lexsort((figures["class"], figures["rows"]))
        ordered = {name: column[order] for name, column in figures.items()}
        first = np.append(True, ordered["class"][1:] != ordered["class"][:-1])
        (unnamed,) = np.nonzero(ordered["unnamed"])
        return cls(
            history=np.cumsum(first),  # from 1: 0 is the history without rows
            number=ordered["class"],
            rows=ordered["rows"],
            lacking=ordered["lacking"] > 0,
            named=ordered["units"] - (ordered["unnamed"] > 0),
            unnamed=int(unnamed[0]) if len(unnamed) else None,
            values={name: column[order] for name, column in values.items()},
        )

    @cached_property
    def kinds(self) -> Numbers:
        """The kind of each unit; -1 for that of the records without one, if there are none. Shape (units + 1,)."""
        named = np.repeat(np.arange(len(self.named)), self.named)
        return np.append(named, -1 if self.unnamed is None else self.unnamed)

    def spread(self, of_kind: NDArray[Any], otherwise: int) -> NDArray[Any]:
        """A figure of each kind for each unit of it. Shape (units + 1,)."""
        return np.append(of_kind, np.array([otherwise], dtype=of_kind.dtype))[self.kinds]

    @cached_property
    def histories(self) -> int:
        """A number above the codes of histories."""
        return int(self.history.max(initial=0)) + 1

    @cached_property
    def named_with(self) -> Numbers:
        """The number of named units with each history, which have consecutive numbers. Shape (histories,)."""
        return np.bincount(self.history, self.named, self.histories).astype(np.int64)

    @cached_property
    def with_history(self) -> Numbers:
        """The number of units with each history. Shape (histories,)."""
        more = np.zeros(self.histories, dtype=np.int64)
        if self.unnamed is not None:
            more[self.history[self.unnamed]] = 1
        return self.named_with + more

    def codes_of(self, numbers: Numbers) -> Numbers:
        """The code of the history of each class, by its number where the table is."""
        code = np.zeros(int(self.number.max(initial=0)) + 1, dtype=np.int64)
        code[self.number] = self.history
        return code[numbers]


class SummedUnits(BorrowedEngine):
    """A table whose units are numbers, and whose histories were compared where it is.

    Args:
        lender: the table; it is not closed.
        classes: compares histories there.
        unit: the column of units.
        units: how many are alike.
        joined: the columns that join rows as the unit does, with the number of units whose rows they join.
        varying: the secrets that differ within units, with the number of units in which each does.
        tokens: texts that mean a missing unit by the policy; no number is one.
    """

    def __init__(
        self,
        lender: Engine,
        classes: UnitClasses,
        unit: str,
        units: Units,
        joined: Mapping[str, int],
        varying: Mapping[str, int],
        tokens: Sequence[str],
    ) -> None:
        super().__init__(lender)
        self.classes, self.joined, self._unit, self._units = classes, joined, unit, units
        self._varying = varying
        self._shares: dict[tuple[str, bool], _Shares] = {}
        rows = units.spread(units.rows, 0)
        first = 10 ** len(str(max([len(rows), *(int(one) for one in tokens if one.isdecimal())])))
        numbers = np.arange(first, first + len(rows) - 1)  # all with the same number of digits, so sorted as texts
        self._raw = RawDomain(numbers, rows[:-1].astype(np.int64), int(rows[-1]))

    @property
    def progress(self) -> Any:
        """What is called with the steps of reading."""
        return self._lender.progress

    @progress.setter
    def progress(self, called: Any) -> None:  # pyright: ignore[reportIncompatibleVariableOverride] - it is like one
        self._lender.progress = called

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts; numbers of units."""
        return self._raw if attribute == self._unit else self._lender.domain(attribute)

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records without a value of a column, and of values that occur in several records."""
        return Engine.repeats(self, attribute) if attribute == self._unit else self._lender.repeats(attribute)

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, without their units."""
        self._require_no_unit([one.attribute for one in domains])
        return self._lender.batches(domains)

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes, without their units."""
        self._require_no_unit([one.attribute for one in domains])
        return self._lender.counted(domains)

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Some columns of the records that are drawn, without their units."""
        self._require_no_unit(attributes)
        return self._lender.sample(attributes, sampling)

    def _require_no_unit(self, attributes: Sequence[str]) -> None:
        if self._unit in attributes:
            raise NotImplementedError(NOT_READ)

    def histories(self, release: Release, memory: int) -> SummedHistories:
        """The histories of a release that is read from this table."""
        unit, units = release.unit, self._units
        assert unit is not None  # noqa: S101 - this table has numbers for them
        present = units.kinds >= 0
        k, classes = self.classes.per_row()
        constant = {
            name: np.append(release.domain(name).code_of_raw, release.domain(name).size) for name in units.values
        }
        return SummedHistories(
            release,
            unit,
            by=FrozenDict(
                {(): CodedHistories(units.spread(units.history, 0), units.spread(units.rows, 0), units.histories)}
            ),
            present=present,
            exempt=np.zeros(len(present), dtype=bool),
            constant=FrozenDict(
                {name: units.spread(of_raw[units.values[name]], len(of_raw) - 1) for name, of_raw in constant.items()}
            ),
            varying=FrozenDict(self._varying),
            lacking=units.spread(units.lacking, otherwise=False),
            per_row=FrozenDict({"k": k, "classes": classes}),
            memory=memory,
        )

    def shares(self, attribute: str, *, in_cells: bool) -> _Shares:
        """The units with each value of a secret that differs within units.

        Raises:
            DataError: the table changed meanwhile.
        """
        key = attribute, in_cells
        if key not in self._shares:
            pairs, members = (one(attribute, in_cells=in_cells) for one in (self.classes.shares, self.classes.members))
            value = positions_among(self._lender.domain(attribute), pairs[attribute])
            if value is None:
                raise DataError(f"{self.name}: column {attribute!r} has other values than before; start again")
            self._shares[key] = _Shares.of(self._units, pairs, members, value)
        return self._shares[key]


@dataclass(frozen=True)
class _Shares:
    """The number of units with each value, in each class or cell, in the order of these.

    Args:
        units: all of them.
        history: the code of each pair's history, shape (pairs,).
        label: the number of each pair's label, from 0, shape (pairs,).
        value: the position of each pair's value among those of the column; their number for a missing one.
        count: the units with the value, shape (pairs,).
        records: the records with the value, shape (pairs,).
        group: the number of the class or cell of each pair, from 0. Shape (pairs,).
        members: the units of each class or cell with any value, shape (groups,).
    """

    units: Units
    history: Numbers
    label: Numbers
    value: Numbers
    count: Numbers
    records: Numbers
    group: Numbers
    members: Numbers

    @classmethod
    def of(cls, units: Units, pairs: pa.Table, members: pa.Table, value: Numbers) -> _Shares:
        """What was counted where the table is, in order."""
        history, label = units.codes_of(numbers_of(pairs, "class")), numbers_of(pairs, "label")
        order = np.lexsort((value, label, history))
        history, label = history[order], label[order]
        group = np.cumsum(np.append(True, (history[1:] != history[:-1]) | (label[1:] != label[:-1]))) - 1
        place = np.lexsort((numbers_of(members, "label"), units.codes_of(numbers_of(members, "class"))))
        counted, records = (numbers_of(pairs, name)[order] for name in ("units", "records"))
        return cls(
            units, history, label - 1, value[order], counted, records, group, numbers_of(members, "units")[place]
        )

    def rows(self, missing: int) -> tuple[Numbers, Numbers, Numbers]:
        """Rows of units in which as many have each value, and as many have any.

        Which unit has which value is not known here, and no figure depends on it: units of a class or cell are counted
        by value, and those with any value. So the values of a class are given to its units in turn, one value after the
        other: to the first `members` of them, and the missing value to the others first.

        Args:
            missing: the position of the missing value.

        Returns:
            For each row the pair, the code of its unit, and the number of records that it is.
        """
        members, of_class = self.members[self.group], self.units.with_history[self.history]
        is_value = self.value != missing
        given = np.cumsum(np.where(is_value, self.count, 0)) - np.where(is_value, self.count, 0)
        first = np.append(True, self.group[1:] != self.group[:-1])
        given -= given[first][self.group]
        pair = np.repeat(np.arange(len(self.count)), self.count)
        within = np.arange(len(pair)) - np.repeat(np.cumsum(self.count) - self.count, self.count)
        start, turn = np.where(is_value, given, members), np.where(is_value, members, of_class)
        place = (start[pair] + within) % turn[pair]
        named = self.units.named_with
        unit = (np.cumsum(named) - named)[self.history][pair] + place
        unit = np.where(place < named[self.history][pair], unit, len(self.units.kinds) - 1)
        times = np.where(within == 0, (self.records - self.count + 1)[pair], 1)
        return pair, unit, times

    def recoded(self, codes: Numbers) -> _Shares:
        """The same with codes of a domain in the place of values, in the order of the codes. Shape (pairs,)."""
        order = np.lexsort((codes, self.group))
        figures = {name: getattr(self, name)[order] for name in ("history", "label", "count", "records", "group")}
        return replace(self, **figures, value=codes[order])

    def histogram(self, missing: int | None) -> Histogram:
        """The number of units with each value in each class of histories; `missing` is no value, unless it is None."""
        is_value = np.ones(len(self.value), dtype=bool) if missing is None else self.value != missing
        distinct = np.bincount(self.history[is_value], minlength=self.units.histories)
        members = np.zeros(self.units.histories, dtype=np.int64)
        members[self.history] = self.members[self.group]
        return Histogram(
            np.append(0, np.cumsum(distinct)),
            self.value[is_value],
            self.count[is_value],
            self.units.with_history if missing is None else members,
        )


@dataclass(frozen=True, eq=False)
class SummedHistories(Histories):
    """Whole histories that were compared where the table is; see `Histories`.

    Args:
        memory: budget in bytes of the rows of a view.
    """

    memory: int = field(kw_only=True)
    _wholes: dict[Any, Histogram] = field(default_factory=dict, repr=False, kw_only=True)

    def part(self, attribute: str, reading: str) -> str:
        """The view in which a secret that differs within units is judged."""
        return f"{reading} {attribute}"

    def release_of(self, attribute: str, reading: str) -> Release:
        """Rows of units, with the history of each and a secret; where cells are judged, with a label."""
        key = self.part(attribute, reading)
        if key not in self._engines:
            self._engines[key] = self._engine_of(attribute, in_cells=reading == "cells")
        declared = self.release.policy.attributes[attribute]
        number = AttributeDeclaration(role=Role.INSENSITIVE, scale=Scale.NUMERIC)
        label = number.model_copy(update={"role": Role.QUASI_IDENTIFIER})
        attributes = {attribute: declared, ROOT: number, **({LABEL: label} if reading == "cells" else {})}
        return replace(self.release, engine=self._engines[key], policy=declaring(self.release.policy, attributes, ROOT))

    def _engine_of(self, attribute: str, *, in_cells: bool) -> Engine:
        """The rows of a view.

        Raises:
            DataError: they exceed the memory.
        """
        lender, raw = self._table, self._table.domain(attribute)
        shares = lender.shares(attribute, in_cells=in_cells)
        needed = int(shares.count.sum()) * ROW_BYTES
        if needed > self.memory:
            raise DataError(
                f"{lender.name}: the values of {attribute!r} in whole histories need about {gibibytes(needed)}, and "
                f"{gibibytes(self.memory)} may be used; give more with --memory"
            )
        pair, unit, times = shares.rows(len(raw.values))
        whole = self.by[()]
        numbers = RawDomain(np.arange(self.unit.size), self.unit.counts, self.unit.missing)
        columns = {
            HISTORY: (raw_numbers(whole.codes, whole.distinct), shares.history[pair]),
            attribute: (raw, shares.value[pair]),
            ROOT: (numbers, unit),
            **self.columns_of_incomplete(unit),
        }
        if in_cells:
            columns[LABEL] = (raw_numbers(shares.label, int(shares.label.max(initial=0)) + 1), shares.label[pair])
        return UnitsEngine(lender, columns, times)

    def certain_in(self, known: Known, attribute: str) -> Domain:
        """The column of histories, with the units that have each value of a secret."""
        column, domain = self.column(known), self.release.domain(attribute)
        missing_is_a_value = self.release.policy.conventions.missing_sensitive == "own_category"
        key = ("wholes", attribute, missing_is_a_value)
        if key not in self._wholes:
            shares = self._table.shares(attribute, in_cells=False)
            code = np.append(domain.code_of_raw, domain.size)[shares.value]
            self._wholes[key] = shares.recoded(code).histogram(None if missing_is_a_value else domain.size)
        fields = {one.name: getattr(column, one.name) for one in dataclass_fields(column)}
        return SummedClasses(**fields, wholes=self._wholes[key])

    @property
    def _table(self) -> SummedUnits:
        assert isinstance(self.release.engine, SummedUnits)  # noqa: S101 - histories are read from it
        return self.release.engine


def positions_among(raw: RawDomain, values: pa.ChunkedArray) -> Numbers | None:
    """The position of each value among those of a column, their number for a null; None if one is not among them."""
    coded = values.combine_chunks().dictionary_encode()
    place = {value: number for number, value in enumerate(raw.values.tolist())}
    known = np.array([*(place.get(one, -1) for one in coded.dictionary.to_pylist()), len(place)], dtype=np.int64)
    positions = known[coded.indices.fill_null(len(known) - 1).to_numpy()]
    return None if (positions < 0).any() else positions


def numbers_of(table: pa.Table, name: str) -> Numbers:
    """A column of whole numbers."""
    return np.asarray(table[name], dtype=np.int64)
