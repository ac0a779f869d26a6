"""The histories of a release whose unit joins rows: seen as a table of units, or as rows with one more column.

Someone who holds the file joins a unit's rows by the unit's column. So classes are formed of the multisets of whole
rows: units with equal histories are one class. See decision 090.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.keys import Codes, occurrences
from tcdp_audit.core.engines.base import Batch, BorrowedEngine, Column, Engine, recode
from tcdp_audit.core.policy.model import AttributeDeclaration, Role, Scale
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.coding import CodedHistories
from tcdp_audit.core.units.members import Members

HISTORY = "\0history"  # no column of a table has this name
ROOT = "\0root"  # the unit of a row as a number: its code; no column of a table has this name
EXEMPT = "\0exempt"  # whether a row is of an exempt unit; no column of a table has this name
INCOMPLETE = "\0incomplete"  # missing where a unit's history has a missing cell; no column of a table has this name
Numbers = NDArray[np.int64]
Known = tuple[str, ...]  # sensitive attributes that are known in addition to the quasi-identifiers


@dataclass(frozen=True, eq=False)
class Histories:
    """Whole histories of the units of a release.

    Args:
        release: the table of rows under its policy.
        unit: the units, or the households; their codes index the arrays below, the missing one last.
        by: the histories by the quasi-identifiers, and by these and further known attributes. Owners are unit codes.
        present: which units have a row that counts, bool, shape (units + 1,).
        exempt: which units are exempt: every cell of all their rows that could be known is suppressed.
        constant: for each attribute that has one value in all rows of each unit, the code of each unit's value.
        varying: for each attribute that has not, how many units have several values.
        lacking: which units have a missing quasi-identifier in some row, bool, shape (units + 1,).
        per_row: the smallest number of units `k`, and the number of `classes`, where classes are formed of single rows;
            of several tables for each by its name.
        alone_at_depth: of several tables the number of units alone by what those down to each depth show.
        members: the people of households; None where units are judged.
        people: of several tables the histories of the people of households, each by itself; None otherwise.
    """

    release: Release
    unit: Domain
    by: Mapping[Known, CodedHistories]
    present: NDArray[np.bool_]
    exempt: NDArray[np.bool_]
    constant: Mapping[str, Numbers]
    varying: Mapping[str, int]
    lacking: NDArray[np.bool_]
    per_row: Mapping[str, Any]
    alone_at_depth: tuple[int, ...] = ()
    members: Members | None = None
    people: Histories | None = None
    _domains: dict[Known, Domain] = field(default_factory=dict, repr=False)
    _engines: dict[str, Engine] = field(default_factory=dict, repr=False)

    def under(self, release: Release) -> Self:
        """The same histories under another policy that reads the same columns in the same way.

        Engines are shared, so that what was counted of them is found again.
        """
        if release is self.release:
            return self
        return replace(self, release=release, people=None if self.people is None else self.people.under(release))

    @cached_property
    def sizes(self) -> Numbers:
        """The number of units with each history, in the order of the codes; 0 for one that only exempt units have."""
        whole = self.by[()]
        return occurrences(whole.codes[self.present], whole.distinct)

    @property
    def is_of_households(self) -> bool:
        """Whether the units are households."""
        return self.unit.attribute == self.release.policy.document.household

    @property
    def _is_root(self) -> bool:
        """Whether the units are what is judged as a whole, and not people of households."""
        document = self.release.policy.document
        return document.household not in self.release.columns or self.is_of_households

    @property
    def k(self) -> int:
        """The number of units in the smallest class of whole histories."""
        sizes = self.sizes[self.sizes > 0]
        return int(sizes.min()) if len(sizes) else 0

    @property
    def classes(self) -> int:
        """The number of different histories."""
        return int((self.sizes > 0).sum())

    @property
    def alone(self) -> int:
        """The number of units that no other one has the history of."""
        return int((self.sizes == 1).sum())

    @property
    def units(self) -> int:
        """The number of units with a row that counts."""
        return int(self.present.sum())

    @cached_property
    def units_release(self) -> Release:
        """A table with one row for each unit: its history as the only quasi-identifier, and what is constant in it."""
        declared = self.release.policy.attributes
        plain = {
            name: one.model_copy(update={"role": Role.INSENSITIVE}) if one.role is Role.QUASI_IDENTIFIER else one
            for name, one in declared.items()
        }
        known = AttributeDeclaration(role=Role.QUASI_IDENTIFIER, scale=Scale.NUMERIC)  # numbers are read fastest
        further = AttributeDeclaration(role=Role.INSENSITIVE, scale=Scale.NUMERIC)
        numbers = {self.name(one): further if one else known for one in self.by}
        numbers[ROOT] = further
        policy = declaring(self.release.policy, {**plain, **numbers}, ROOT)
        own = self.release.policy.document
        weighted = policy.document.model_copy(update={"weight": own.root_weight if self._is_root else own.weight})
        policy = replace(policy, document=weighted)
        if "units" not in self._engines:
            self._engines["units"] = self._engine_of_units()
        return Release(self._engines["units"], policy, self.release.original, self.release.cache)

    def _engine_of_units(self) -> Engine:
        chosen = np.flatnonzero(self.present)
        columns = {}
        for known, coded in self.by.items():
            codes = coded.codes[chosen]
            columns[self.name(known)] = (raw_numbers(codes, coded.distinct), codes)
        for name, codes in self.constant.items():
            if name != self.unit.attribute:
                columns[name] = self.own_column(name, codes[chosen])
        columns[ROOT] = (
            RawDomain(np.arange(self.unit.size), self.present[:-1].astype(np.int64), int(self.present[-1])),
            chosen,
        )
        columns |= self.columns_of_incomplete(chosen)
        return UnitsEngine(self.release.engine, columns)

    @cached_property
    def rows_release(self) -> Release:
        """The rows of the table, each with the history of its unit."""
        if "rows" not in self._engines:
            self._engines["rows"] = self._engine_of_rows()
        known = AttributeDeclaration(role=Role.INSENSITIVE, scale=Scale.NUMERIC)
        policy = declaring(self.release.policy, {**self.release.policy.attributes, ROOT: known}, ROOT)
        return replace(self.release, engine=self._engines["rows"], policy=policy)

    def _engine_of_rows(self) -> Engine:
        columns = {
            self.name(known): (raw_numbers(coded.codes, coded.distinct), coded.codes)
            for known, coded in self.by.items()
        }
        columns |= self.columns_of_exempt(np.arange(self.unit.size + 1))
        columns |= self.columns_of_incomplete(np.arange(self.unit.size + 1))
        numbers = np.arange(self.unit.size)
        columns[ROOT] = (RawDomain(numbers, self.unit.counts, self.unit.missing), np.append(numbers, self.unit.size))
        return HistoryEngine(self.release.engine, self.unit, columns)

    def unit_of_row(self) -> Numbers:
        """The position of each row's unit in the table of units, in the table's order; -1 for an exempt unit."""
        position = np.where(self.present, np.cumsum(self.present) - 1, -1)
        batches = self.release.engine.batches([self.unit])
        return np.concatenate([np.zeros(0, np.int64), *(position[batch[self.unit.attribute]] for batch in batches)])

    def column(self, known: Known = ()) -> Domain:
        """The column of histories by the quasi-identifiers and what else is known."""
        if known not in self._domains:
            coded = self.by[known]
            counts = occurrences(coded.codes, coded.distinct).astype(np.int64)
            numbers = np.arange(coded.distinct)
            named = {*known, *(one.attribute for one in self.release.quasi_identifiers)}
            determines = frozenset(named & self.constant.keys())  # all rows of a history have the same value
            self._domains[known] = Domain(self.name(known), numbers, counts, 0, numbers, determines=determines)
        return self._domains[known]

    def certain_in(self, known: Known, attribute: str) -> Domain:  # noqa: ARG002 - rows show who has a value
        """The column of histories, by which the units are counted that have a value in any row."""
        return self.column(known)

    @cached_property
    def exempt_column(self) -> tuple[Domain, ...]:
        """The column in which rows of exempt units are suppressed; none where no unit is exempt."""
        if not self.exempt.any():
            return ()
        two = np.arange(2)
        return (Domain(EXEMPT, two, np.ones(2, dtype=np.int64), 0, two, frozenset([1])),)

    @cached_property
    def incomplete_column(self) -> tuple[Domain, ...]:
        """The column that is missing where a unit's history has a missing cell; none where no history has one."""
        lacking = int(self.lacking.sum())
        one = np.array([self.units - lacking])
        return (Domain(INCOMPLETE, np.arange(1), one, lacking, np.arange(1)),) if lacking else ()

    def columns_of_incomplete(self, chosen: NDArray[np.integer]) -> dict[str, tuple[RawDomain, Numbers]]:
        """The raw column of `incomplete_column`, for some codes of units."""
        lacking = self.lacking[chosen].astype(np.int64)
        raw = RawDomain(np.arange(1), np.array([len(lacking) - lacking.sum()]), int(lacking.sum()))
        return {INCOMPLETE: (raw, lacking)} if self.incomplete_column else {}

    def columns_of_exempt(self, chosen: NDArray[np.integer]) -> dict[str, tuple[RawDomain, Numbers]]:
        """The raw column of `exempt_column`, for some codes of units; none where no unit is exempt."""
        codes = self.exempt[chosen].astype(np.int64)
        return {EXEMPT: (raw_numbers(codes, 2), codes)} if self.exempt.any() else {}

    @property
    def incomplete(self) -> tuple[Domain, ...]:
        """The quasi-identifiers with a missing cell."""
        return tuple(one for one in self.release.quasi_identifiers if one.missing)

    @property
    def records(self) -> int:
        """The number of rows of units that are not exempt."""
        return int(np.append(self.unit.counts, self.unit.missing)[self.present].sum())

    def having_rows(self, table: str) -> NDArray[np.bool_]:  # noqa: ARG002 - one table has rows of each
        """The units that count and have a row in a table. Shape (units + 1,)."""
        return self.present

    def records_of(self, units: NDArray[np.bool_]) -> int:
        """The number of rows of some units. Shape (units + 1,)."""
        return int(np.append(self.unit.counts, self.unit.missing)[units & self.present].sum())

    def name(self, known: Known) -> str:
        """The name of the column of histories by what is known."""
        return ":".join([HISTORY, *known])

    def own_column(self, name: str, codes: Numbers) -> tuple[RawDomain, Numbers]:
        """A column of the release for a table of units, as `UnitsEngine` has it: `codes` are those of its domain."""
        domain = self.release.domain(name)
        raw = self.release.engine.domain(name)
        place = np.full(domain.size + 1, len(raw.values), dtype=np.int64)
        place[domain.code_of_raw[::-1]] = np.arange(len(raw.values))[::-1]  # the first raw value of each code
        place[domain.size] = len(raw.values)
        position = place[codes]
        counts = np.bincount(position, minlength=len(raw.values) + 1)
        return RawDomain(raw.values, counts[:-1].astype(np.int64), int(counts[-1])), position


def declaring(policy: Policy, attributes: Mapping[str, AttributeDeclaration], unit: str) -> Policy:
    """A policy with other attributes and another unit."""
    changes = {"attributes": attributes, "unit": unit, "unit_released": True}
    return replace(policy, document=policy.document.model_copy(update=changes))


class UnitsEngine(Engine):
    """A table with one row for each unit, whose columns are given as codes.

    Args:
        lender: the table whose units these are; it is not closed.
        columns: for each column its distinct values, and the position among them of each unit's value; their number
            for a missing one. Shape (units,) each.
        times: how many records each row is, where several rows of a unit are given as one; None for one.
    """

    def __init__(
        self, lender: Engine, columns: Mapping[str, tuple[RawDomain, Numbers]], times: Numbers | None = None
    ) -> None:
        self.name, self.uri = lender.name, lender.uri
        self._columns, self._times = dict(columns), times

    @property
    def columns(self) -> Sequence[Column]:
        """The columns, in the order in which they were given."""
        kinds = {name: "VARCHAR" if raw.is_text else "DOUBLE" for name, (raw, _) in self._columns.items()}
        return tuple(Column(name, kind) for name, kind in kinds.items())

    @property
    def records(self) -> int:
        """The number of units, or of their records."""
        return self.rows if self._times is None else int(self._times.sum())

    @property
    def rows(self) -> int:
        """The number of rows that `counted` gives."""
        return len(next(iter(self._columns.values()))[1])

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with the number of units that have each."""
        return self._columns[attribute][0]

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All units, or their records, as codes."""
        yield from (rows.take(np.repeat(np.arange(rows.rows), rows.each)).codes for rows in self.counted(domains))

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All rows as codes."""
        yield CountedCodes(
            {one.attribute: recode(self._columns[one.attribute][1], one) for one in domains}, self._times
        )

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:  # noqa: ARG002
        """None: a unit has no place in the file."""
        return None

    def table(self) -> pa.Table:
        """Raise an error: there is no such table for libraries to read."""
        raise NotImplementedError("units are no table of the release")

    def sha256(self) -> str | None:
        """None: the table that the units are of has the digest."""
        return None


class HistoryEngine(BorrowedEngine):
    """The rows of a table with the history of each row's unit as one more column.

    Args:
        lender: the table; it is not closed.
        unit: the units.
        columns: for each column of histories its domain and the code of each unit's, the missing unit's last.
    """

    def __init__(self, lender: Engine, unit: Domain, columns: Mapping[str, tuple[RawDomain, Numbers]]) -> None:
        super().__init__(lender)
        self._unit = unit
        narrowed = {
            name: (raw, codes.astype(np.min_scalar_type(len(raw.values)))) for name, (raw, codes) in columns.items()
        }
        self._histories = narrowed

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of the table, then those of histories."""
        return (*self._lender.columns, *(Column(name, "BIGINT") for name in self._histories))

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts."""
        return self._histories[attribute][0] if attribute in self._histories else self._lender.domain(attribute)

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the table's order."""
        return (self._joined(batch, domains) for batch in self._lender.batches(self._asked(domains)))

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes, equal ones counted where the table's engine can."""
        counted = self._lender.counted(self._asked(domains))
        return (CountedCodes(self._joined(rows, domains), rows.times) for rows in counted)

    def shards(self, domains: Sequence[Domain], by: Sequence[Domain], wanted: int) -> None:
        """None: a unit's history is known here."""

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records without a value of a column, and of values that occur in several records."""
        return Engine.repeats(self, attribute) if attribute in self._histories else self._lender.repeats(attribute)

    def _asked(self, domains: Sequence[Domain]) -> list[Domain]:
        """The domains to read from the table: those that it has, and the unit."""
        own = [one for one in domains if one.attribute not in self._histories and one.attribute != self._unit.attribute]
        return [*own, self._unit]

    def _joined(self, rows: Batch, domains: Sequence[Domain]) -> dict[str, Codes]:
        units = rows[self._unit.attribute]
        codes: dict[str, Codes] = {}
        for one in domains:
            if one.attribute in self._histories:
                codes[one.attribute] = self._histories[one.attribute][1].astype(one.dtype, copy=False)[units]
            else:
                codes[one.attribute] = rows[one.attribute]
        return codes


def raw_numbers(codes: Numbers, size: int) -> RawDomain:
    """The codes from 0 to `size` - 1 as values of a column, counted."""
    return RawDomain(np.arange(size), np.bincount(codes, minlength=size).astype(np.int64), 0)
