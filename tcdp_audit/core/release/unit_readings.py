"""Cells as an intruder reads them in the rows of one unit: the common part of an attribute that is constant in it.

A household has one roof. If the roof of one member is suppressed and that of another is not, both are known; if one row
has `[20, 40)` and another `[30, 50)`, both are in `[30, 40)`. The unit's column joins the rows, so classes are formed
of the labels as read, not as written. See decision 076.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.keys import Codes, boundaries, occurrences, tally
from tcdp_audit.core.engines.base import Batch, BorrowedEngine, Engine, domain_as_typed, recode
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.common_parts import NO_PART, CommonParts, common_parts_of
from tcdp_audit.core.release.release import Release

if TYPE_CHECKING:
    from tcdp_audit.core.engines.base import Sampling

AGREEING = 100  # units with equal exact values required for each one whose labels exclude each other

Numbers = NDArray[np.int64]


def linking_unit(policy: Policy) -> str | None:
    """The column that joins the rows of a unit in the released table; None if it is dropped before release."""
    return None if policy.document.drops_unit else policy.document.unit


def as_read(release: Release, *, missing_is_open: bool = False) -> Release:
    """A release with the cells of each unit as an intruder reads them; the same object if nothing changes.

    An attribute counts as constant in the unit if no unit has labels that exclude each other, or at most one unit for
    every hundred in which two rows have the same exact value.

    Args:
        release: the table as written.
        missing_is_open: whether a missing quasi-identifier may be any value under every convention, because it is
            released as a suppressed one.

    Cost: O(distinct values) without a unit, with one row for each unit, or without a generalised cell; otherwise a scan
    and a sort of the records for each attribute with generalised cells.
    """
    unit = release.unit
    if unit is None or linking_unit(release.policy) is None or unit.size + unit.missing >= release.engine.records:
        return release
    readings = {one.attribute: one for one in _readings(release, unit, missing_is_open=missing_is_open)}
    if not readings:
        return release
    key = ("as read", Identity(release.engine, unit, *readings.values()))
    return replace(release, engine=release.cache.get(key, lambda: _EngineAsRead(release.engine, unit, readings)))


@dataclass(frozen=True)
class _Reading:
    """One attribute as read.

    Args:
        attribute: its name.
        raw: its distinct cells as read, with their counts.
        place: for each of the engine's cells, the missing one last, its position in `raw`. Shape (cells + 1,).
        of_unit: for each unit the position in `raw` of its rows' cell; -1 if they do not change. Shape (units + 1,).
    """

    attribute: str
    raw: RawDomain
    place: Numbers
    of_unit: Numbers

    def read(self, cells: Codes, units: Codes) -> Numbers:
        """The position in `raw` of each row's cell."""
        common = self.of_unit[units]
        return np.where(common >= 0, common, self.place[cells])

    def without_unread(self, counts: Numbers) -> _Reading:
        """This reading without cells of no record. `counts` has the records of each cell, the missing one last."""
        read = np.append(counts[:-1] > 0, True)
        number = np.where(read, np.cumsum(read) - 1, -1)
        raw = RawDomain(self.raw.values[read[:-1]], counts[:-1][read[:-1]], int(counts[-1]))
        of_unit = np.where(self.of_unit >= 0, number[self.of_unit], -1)
        return _Reading(self.attribute, raw, number[self.place], of_unit)


@dataclass(frozen=True)
class _UnitCells:
    """The distinct cells of each unit, in the order of the units. All shapes (pairs,).

    Args:
        units: codes of units.
        cells: positions among the engine's cells; their number for a missing one.
        records: the number of records of each pair.
    """

    units: Numbers
    cells: Numbers
    records: Numbers

    @classmethod
    def of(cls, engine: Engine, name: str, raw: RawDomain, unit: Domain) -> _UnitCells:
        """The cells of one attribute. One scan of the table."""
        radix, keys, times = len(raw.values) + 1, [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        span = radix * (unit.size + 1)
        for rows in engine.counted([domain_as_typed(name, raw), unit]):
            distinct, counts = tally(rows[unit.attribute].astype(np.int64) * radix + rows[name], span, rows.times)
            keys.append(distinct.astype(np.int64))
            times.append(counts)
        distinct, counts = tally(np.concatenate(keys), span, np.concatenate(times))
        units, cells = np.divmod(distinct.astype(np.int64), radix)
        return cls(units, cells, counts)

    def labels(self, codes: Numbers, chosen: NDArray[np.bool_]) -> _UnitCells:
        """The distinct labels of each unit: the chosen cells replaced by `codes`."""
        rows = chosen[codes[self.cells]]
        radix = int(codes.max(initial=0)) + 1
        keys = self.units[rows] * radix + codes[self.cells[rows]]
        distinct, counts = tally(keys, radix * (int(self.units.max(initial=0)) + 1), self.records[rows])
        return _UnitCells(*np.divmod(distinct.astype(np.int64), radix), counts)

    @property
    def starts(self) -> NDArray[np.intp]:
        """The position at which each unit begins."""
        return boundaries(self.units)


def _readings(release: Release, unit: Domain, *, missing_is_open: bool) -> Iterator[_Reading]:
    """The readings of the attributes with cells that are read differently than written."""
    wildcard = missing_is_open or release.policy.conventions.missing_quasi_identifier == "wildcard"
    for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        for name in release.policy.with_role(role):
            if name == unit.attribute or release.obstacle(name):
                continue
            domain, declared = release.domain(name), release.policy.attributes[name]
            known, hierarchy = role is Role.QUASI_IDENTIFIER, release.hierarchies.get(name)
            key = (
                "unit reading",
                wildcard and known,
                declared.reading,
                Identity(release.engine, domain, unit, hierarchy),
            )
            parts = partial(common_parts_of, domain, declared, hierarchy, missing_is_open=wildcard and known)
            reading = release.cache.get(key, partial(_reading, release.engine, domain, unit, parts))
            if reading is not None:
                yield reading


def _reading(
    engine: Engine, domain: Domain, unit: Domain, common_parts: Callable[[], CommonParts | None]
) -> _Reading | None:
    """The reading of one attribute; None if every cell is read as written."""
    parts = common_parts()
    if parts is None:
        return None
    raw = engine.domain(domain.attribute)
    codes = np.append(domain.code_of_raw, domain.size)
    cells = _UnitCells.of(engine, domain.attribute, raw, unit)
    common = common_labels(cells, codes, unit, parts)
    if common is None:
        return None
    texts, place, of_label = _read_cells(raw, codes, parts)
    of_unit = np.where(common >= 0, of_label[common], -1)
    reading = _Reading(domain.attribute, RawDomain(texts, np.zeros(len(texts), np.int64), 0), place, of_unit)
    return reading.without_unread(occurrences(reading.read(cells.cells, cells.units), len(texts) + 1, cells.records))


def common_labels(cells: _UnitCells, codes: Numbers, unit: Domain, parts: CommonParts) -> Numbers | None:
    """The common part of the labels of each unit whose rows are written differently.

    Args:
        cells: the cells of the units.
        codes: the label of each cell.
        unit: the units; a missing or suppressed one joins no rows.
        parts: computes common parts of labels.

    Returns:
        A code of `CommonParts.common`; -1 for a unit whose rows do not change. Shape (units + 1,). None if no unit
        changes, or if the attribute is not constant in the unit.
    """
    takes_part = parts.is_open.copy()
    takes_part[:-1] = True
    labels = cells.labels(codes, takes_part)
    joined = ~unit.is_uninformative[labels.units]
    labels = _UnitCells(labels.units[joined], labels.cells[joined], labels.records[joined])
    starts = labels.starts
    several = np.diff(np.append(starts, len(labels.units))) > 1
    if not several.any():
        return None
    rows = np.repeat(several, np.diff(np.append(starts, len(labels.units))))
    codes_of_several, units = labels.cells[rows], labels.units[rows]
    own_starts = boundaries(units)
    common = parts.common(own_starts, codes_of_several)
    excluded = int(np.count_nonzero(common == NO_PART))
    if excluded * AGREEING > _agreeing(labels, parts) or excluded == len(common):
        return None
    of_unit = np.full(unit.size + 1, NO_PART, dtype=np.int64)
    of_unit[units[own_starts]] = common
    return of_unit


def _agreeing(labels: _UnitCells, parts: CommonParts) -> int:
    """The number of units with two rows of the same exact value."""
    return len(np.unique(labels.units[parts.is_exact[labels.cells] & (labels.records > 1)]))


def _read_cells(raw: RawDomain, codes: Numbers, parts: CommonParts) -> tuple[NDArray[np.generic], Numbers, Numbers]:
    """The sorted distinct cells of an attribute as read.

    Args:
        raw: its cells as written.
        codes: the label of each cell, the missing one last.
        parts: has the labels of common parts that are in no cell.

    Returns:
        The cells; the position among them of each cell as written; and that of each code, new labels last.
    """
    values = raw.values
    if parts.new:
        values = np.array(sorted({*raw.values.tolist(), *parts.new}), dtype=object)
    position = {value: place for place, value in enumerate(values.tolist())} if parts.new else {}
    own = [position[value] for value in raw.values.tolist()] if parts.new else range(len(raw.values))
    place = np.array([*own, len(values)], dtype=np.int64)
    of_label = np.full(len(codes) + len(parts.new) + 1, len(values), dtype=np.int64)
    of_label[codes[::-1]] = place[::-1]
    first_new = parts.domain.size + 1
    of_label[first_new : first_new + len(parts.new)] = [position[label] for label in parts.new]
    return values, place, of_label


class _EngineAsRead(BorrowedEngine):
    """A table whose cells are read unit by unit.

    Args:
        lender: the table as written.
        unit: the units.
        readings: the attributes that are read differently than written.
    """

    def __init__(self, lender: Engine, unit: Domain, readings: Mapping[str, _Reading]) -> None:
        super().__init__(lender)
        self._unit, self._readings = unit, readings

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column as read."""
        reading = self._readings.get(attribute)
        return self._lender.domain(attribute) if reading is None else reading.raw

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the table's order."""
        if not self._readings.keys() & {one.attribute for one in domains}:
            return self._lender.batches(domains)
        return (self._read(batch, domains) for batch in self._lender.batches(self._asked(domains)))

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes, equal ones counted where the engine can."""
        if not self._readings.keys() & {one.attribute for one in domains}:
            return self._lender.counted(domains)
        counted = self._lender.counted(self._asked(domains))
        return (CountedCodes(self._read(rows, domains), rows.times) for rows in counted)

    def _asked(self, domains: Sequence[Domain]) -> list[Domain]:
        """The domains to read from the lender: cells as written, and the unit that joins them."""
        unit = self._unit.attribute
        others = [one for one in domains if one.attribute not in self._readings and one.attribute != unit]
        names = [one.attribute for one in domains if one.attribute in self._readings]
        return [*others, *(domain_as_typed(name, self._lender.domain(name)) for name in (*names, unit))]

    def _read(self, rows: Batch, domains: Sequence[Domain]) -> dict[str, Codes]:
        """Convert rows of written codes to codes as read."""
        unit = rows[self._unit.attribute]
        units = np.append(self._unit.code_of_raw, self._unit.size)[unit]
        codes = {}
        for one in domains:
            reading = self._readings.get(one.attribute)
            if reading is not None:
                codes[one.attribute] = recode(reading.read(rows[one.attribute], units), one)
            else:
                is_unit = one.attribute == self._unit.attribute
                codes[one.attribute] = recode(unit, one) if is_unit else rows[one.attribute]
        return codes

    def shards(self, domains: Sequence[Domain], by: Sequence[Domain], wanted: int) -> None:
        """None: units cross the shards of the table."""

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Some columns of the records that are drawn, as read."""
        return Engine.sample(self, attributes, sampling)

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records without a value of a column, and of values that occur in several records."""
        return Engine.repeats(self, attribute) if attribute in self._readings else self._lender.repeats(attribute)
