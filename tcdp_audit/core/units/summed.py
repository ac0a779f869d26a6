"""Whole histories that are compared where the table is: the table with numbers in the place of its units' values.

A database or a cluster says how many units have each history, and no row and no unit's own value travels. Units are
numbered here, class after class: those with equal histories, and equal values of the secrets that are asked for, are
alike in every figure. So what judges units one by one judges these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.cache import Cache, Identity
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.encoding.counted import CountedCodes, UnitClasses
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.engines.base import Batch, BorrowedEngine, Column, Engine, Sampling
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.common_parts import common_parts_of
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.coding import CodedHistories
from tcdp_audit.core.units.histories import Histories

Numbers = NDArray[np.int64]
SEVERAL = 2  # rows
NOT_READ = "units are compared where the table is, so that no row has its unit here"


@dataclass(frozen=True)
class _Units:
    """Units that are alike, in the order of their histories.

    Args:
        history: the code of the history of each kind of unit, shape (kinds,).
        rows: of each unit of a kind, shape (kinds,).
        lacking: whether a known cell of the history is missing, shape (kinds,).
        named: the number of units of each kind, without that of the records that name none. Shape (kinds,).
        unnamed: the kind of the unit of the records that name none; None without such records.
        values: for each secret the values of each kind, shape (kinds,).
    """

    history: Numbers
    rows: Numbers
    lacking: NDArray[np.bool_]
    named: Numbers
    unnamed: int | None
    values: Mapping[str, pa.ChunkedArray]

    @classmethod
    def of_sizes(cls, sizes: pa.Table) -> _Units:
        """Those of which the number of classes of each size is known."""
        figures = {name: np.repeat(_numbers(sizes, name), _numbers(sizes, "classes")) for name in sizes.column_names}
        return cls._ordered({**figures, "class": np.arange(len(figures["rows"]))}, {})

    @classmethod
    def of_values(cls, table: pa.Table, secrets: Sequence[str]) -> _Units:
        """Those of which the values of some secrets are known."""
        figures = {name: _numbers(table, name) for name in table.column_names if name not in secrets}
        return cls._ordered(figures, {name: table[name] for name in secrets})

    @classmethod
    def _ordered(cls, figures: Mapping[str, Numbers], values: Mapping[str, pa.ChunkedArray]) -> _Units:
        order = np.lexsort((figures["class"], figures["rows"]))
        ordered = {name: column[order] for name, column in figures.items()}
        first = np.append(True, ordered["class"][1:] != ordered["class"][:-1])
        (unnamed,) = np.nonzero(ordered["unnamed"])
        return cls(
            history=np.cumsum(first),  # from 1: 0 is the history without rows
            rows=ordered["rows"],
            lacking=ordered["lacking"] > 0,
            named=ordered["units"] - (ordered["unnamed"] > 0),
            unnamed=int(unnamed[0]) if len(unnamed) else None,
            values={name: column.take(pa.array(order)) for name, column in values.items()},
        )

    @cached_property
    def kinds(self) -> Numbers:
        """The kind of each unit; -1 for that of the records without one, if there are none. Shape (units + 1,)."""
        named = np.repeat(np.arange(len(self.named)), self.named)
        return np.append(named, -1 if self.unnamed is None else self.unnamed)

    def spread(self, of_kind: NDArray[Any], otherwise: int | bool) -> NDArray[Any]:
        """A figure of each kind for each unit of it. Shape (units + 1,)."""
        return np.append(of_kind, np.array([otherwise], dtype=of_kind.dtype))[self.kinds]


class SummedUnits(BorrowedEngine):
    """A table whose units are numbers, and whose histories were compared where it is.

    Args:
        lender: the table; it is not closed.
        classes: compares histories there.
        unit: the column of units.
        units: how many are alike.
        joined: the columns that join rows as the unit does, with the number of units whose rows they join.
        tokens: texts that stand for missing units by the policy; no number is one.
    """

    def __init__(
        self,
        lender: Engine,
        classes: UnitClasses,
        unit: str,
        units: _Units,
        joined: Mapping[str, int],
        tokens: Sequence[str],
    ) -> None:
        super().__init__(lender)
        self.classes, self.joined, self._unit, self._units = classes, joined, unit, units
        rows = units.spread(units.rows, 0)
        first = 10 ** len(str(max([len(rows), *(int(one) for one in tokens if one.isdecimal())])))
        numbers = np.arange(first, first + len(rows) - 1)  # all with the same number of digits, so sorted as texts
        self._raw = RawDomain(numbers, rows[:-1].astype(np.int64), int(rows[-1]))

    @property
    def progress(self) -> Any:
        """What is called with the steps of reading."""
        return self._lender.progress

    @progress.setter
    def progress(self, called: Any) -> None:
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

    def histories(self, release: Release) -> Histories:
        """The histories of a release that is read from this table."""
        unit = release.unit
        assert unit is not None  # noqa: S101 - this table has numbers for them
        units = self._units
        coded = CodedHistories(
            units.spread(units.history, 0), units.spread(units.rows, 0), int(units.history.max(initial=0)) + 1
        )
        present = units.kinds >= 0
        k, classes = self.classes.per_row()
        return Histories(
            release,
            unit,
            by=FrozenDict({(): coded}),
            present=present,
            exempt=np.zeros(len(present), dtype=bool),
            constant=FrozenDict({name: self._secret(release, name) for name in units.values}),
            varying=FrozenDict(),
            lacking=units.spread(units.lacking, False),
            per_row=FrozenDict({"k": k, "classes": classes}),
        )

    def _secret(self, release: Release, name: str) -> Numbers:
        """The code of each unit's value of a secret that is constant in units."""
        domain, raw = release.domain(name), self._lender.domain(name)
        place = dict(zip(raw.values.tolist(), domain.code_of_raw.tolist(), strict=True))
        codes = [domain.size if one is None else place[one] for one in self._units.values[name].to_pylist()]
        return self._units.spread(np.array(codes, dtype=np.int64), domain.size).astype(np.int64)


class _WithoutUnit(BorrowedEngine):
    """A table without the column of its units, whose values are not asked for."""

    def __init__(self, lender: Engine, unit: str) -> None:
        super().__init__(lender)
        self._unit = unit

    @property
    def columns(self) -> Sequence[Column]:
        """The other columns."""
        return tuple(one for one in self._lender.columns if one.name != self._unit)


def with_summed_units(policy: Policy, engine: Engine, secrets: Sequence[str], cache: Cache) -> Engine:
    """The table with its histories compared where it is.

    Args:
        policy: under which it is judged. Every demand judges whole histories.
        engine: the table.
        secrets: the sensitive attributes of demands.
        cache: keeps the answer for the next audit.

    Returns:
        The same engine where its rows have to be read: where it cannot compare histories, where no unit has several
        rows, where a secret differs within units, or where cells that are written differently may mean the same, which
        is known here only.
    """
    unit, known = policy.document.unit, policy.with_role(Role.QUASI_IDENTIFIER)
    names = {one.name for one in engine.columns}
    if unit is None or not known or not names.issuperset([unit, *known, *secrets]):
        return engine
    classes = engine.unit_classes(unit, known, policy.conventions.missing_tokens)
    if classes is None:
        return engine
    declared = tuple((name, one.reading, one.role, one.of) for name, one in policy.attributes.items())
    key = ("summed", unit, tuple(secrets), declared, policy.document.key, policy.conventions.model_dump_json())
    return cache.get((*key, Identity(engine)), lambda: _summed(policy, engine, classes, unit, secrets))


def _summed(policy: Policy, engine: Engine, classes: UnitClasses, unit: str, secrets: Sequence[str]) -> Engine:
    release = Release(_WithoutUnit(engine, unit), policy)
    plain = {*policy.with_role(Role.QUASI_IDENTIFIER), *secrets}
    constant = {name for name, one in policy.attributes.items() if one.of == "unit"}
    if not constant <= plain or not all(_is_plain(release, name) for name in sorted(plain)):
        return engine
    if secrets and any(classes.varying(secrets).values()):
        return engine
    table = classes.values(secrets) if secrets else classes.sizes()
    if _numbers(table, "doubtful").any() or _numbers(table, "rows").max(initial=0) < SEVERAL:
        return engine
    joined = _units_joined(release, classes, unit)
    if joined is None:
        return engine
    units = _Units.of_values(table, secrets) if secrets else _Units.of_sizes(table)
    return SummedUnits(engine, classes, unit, units, joined, policy.conventions.missing_tokens)


def _units_joined(release: Release, classes: UnitClasses, unit: str) -> Mapping[str, int] | None:
    """The columns that join rows as the unit does, with the number of units that they join; None if unknown here."""
    document, conventions = release.policy.document, release.policy.conventions
    absent = (*conventions.missing_tokens, *conventions.suppressed_tokens)
    joined = {}
    for name, one in sorted(release.policy.attributes.items()):
        if one.role not in (Role.SENSITIVE, Role.INSENSITIVE) or name in (unit, document.key) or release.obstacle(name):
            continue
        units = classes.units_joined(name, absent)
        if units is not None:
            if not _is_injective(release, name):
                return None
            joined[name] = units
    return joined


def _is_plain(release: Release, name: str) -> bool:
    """Whether different cells of a column mean different values, of which none stands for several."""
    if release.obstacle(name) or not _is_injective(release, name):
        return False
    declared, hierarchy = release.policy.attributes[name], release.hierarchies.get(name)
    return common_parts_of(release.domain(name), declared, hierarchy, missing_is_open=False) is None


def _is_injective(release: Release, name: str) -> bool:
    """Whether different cells of a column mean different values, and what is missing is a null or a missing token."""
    domain, raw = release.domain(name), release.engine.domain(name)
    is_value = domain.code_of_raw < domain.size
    if len(np.unique(domain.code_of_raw[is_value])) < is_value.sum():
        return False
    tokens = release.policy.conventions.missing_tokens
    return bool(is_value.all()) or (raw.is_text and {*raw.values[~is_value].tolist()} <= {*tokens})


def _numbers(table: pa.Table, name: str) -> Numbers:
    return np.asarray(table[name].to_numpy(), dtype=np.int64)
