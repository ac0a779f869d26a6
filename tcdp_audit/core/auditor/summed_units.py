"""Whether histories are compared where the table is, which reads no row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from tcdp_audit.core.auditor.views import known_rows_of, targets_of
from tcdp_audit.core.base.cache import Cache, Identity
from tcdp_audit.core.check.needs import Need
from tcdp_audit.core.check.threshold import Target
from tcdp_audit.core.encoding.counted import UnitClasses
from tcdp_audit.core.engines.base import BorrowedEngine, Column, Engine
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.release.common_parts import common_parts_of
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.summed import SummedUnits, Units, numbers_of, positions_among

SEVERAL = 2  # rows


def with_summed_units(policy: Policy, engine: Engine, cache: Cache) -> Engine:
    """The table with whole histories compared where it is, if demands ask for nothing else, as a database can."""
    document, conventions = policy.document, policy.conventions
    others = (document.household, document.tables, document.root_weight)
    if document.unit is None or document.drops_unit or document.unit == document.key or any(others):
        return engine
    declared, asked = policy.attributes.get(document.unit), list(targets_of(policy))
    is_plain = declared is None or (declared.role is Role.INSENSITIVE and not declared.is_ordered)
    by_convention = conventions.missing_quasi_identifier != "wildcard" and conventions.reference != "original"
    if not is_plain or not by_convention or not asked or not all(_is_of_histories(*one, policy) for one in asked):
        return engine

    secrets = sorted({name for _, target in asked for name in target.attributes})
    return _compared_there(policy, engine, secrets, cache)


def _is_of_histories(expectation: Expectation, target: Target, policy: Policy) -> bool:
    """Whether a demand is on whole histories by the quasi-identifiers, and on nothing else."""
    check, reading = expectation.check, expectation.check.reading(expectation.parameters)
    if reading not in ("units", "cells") or known_rows_of(expectation, policy) == "one" or target.known:
        return False
    if Need.ROWS in {*check.needs, *check.needs_if(expectation.parameters, policy.document)}:
        return False
    return not target.attributes or (check.on_classes and len(target.attributes) == 1)


class _WithoutUnit(BorrowedEngine):
    """A table without the column of its units, whose values are not asked for."""

    def __init__(self, lender: Engine, unit: str) -> None:
        super().__init__(lender)
        self._unit = unit

    @property
    def columns(self) -> Sequence[Column]:
        """The other columns."""
        return tuple(one for one in self._lender.columns if one.name != self._unit)


def _compared_there(policy: Policy, engine: Engine, secrets: Sequence[str], cache: Cache) -> Engine:
    """The table with its histories compared where it is.

    Args:
        policy: under which it is judged. Every demand judges whole histories.
        engine: the table.
        secrets: the sensitive attributes of demands.
        cache: keeps the answer for the next audit.

    Returns:
        The same engine where its rows have to be read: where it cannot compare histories, where no unit has several
        rows, or where cells that are written differently may mean the same, which
        is known here only.
    """
    unit, known = policy.document.unit, policy.with_role(Role.QUASI_IDENTIFIER)
    names = {one.name for one in engine.columns}
    if unit is None or not known or not names.issuperset([unit, *known, *secrets]):
        return engine
    classes = engine.unit_classes(unit, known, policy.conventions.missing_tokens)
    if classes is None:
        return engine
    declared = tuple(
        (name, one.reading, one.role, one.of, repr(one.hierarchy)) for name, one in policy.attributes.items()
    )
    key = ("summed", unit, tuple(secrets), declared, policy.document.key, policy.conventions.model_dump_json())
    (table,) = cache.get((*key, Identity(engine)), lambda: (_summed(policy, engine, classes, unit, secrets),))
    return table  # in a tuple, as a cache closes what it forgets, and the engine is the session's


def _summed(policy: Policy, engine: Engine, classes: UnitClasses, unit: str, secrets: Sequence[str]) -> Engine:
    release = Release(_WithoutUnit(engine, unit), policy)
    plain = {*policy.with_role(Role.QUASI_IDENTIFIER), *secrets}
    constant = {name for name, one in policy.attributes.items() if one.of == "unit"}
    if not constant <= plain or not all(_is_plain(release, name) for name in sorted(plain)) or classes.is_doubtful():
        return engine
    varying = {name: units for name, units in classes.varying(secrets).items() if units} if secrets else {}
    same = [name for name in secrets if name not in varying]
    table = classes.values(same) if secrets else classes.sizes()
    values = {name: positions_among(engine.domain(name), table[name]) for name in same}
    known = {name: one for name, one in values.items() if one is not None}
    if len(known) < len(same) or (varying and _is_mostly_alone(table)):
        return engine
    if numbers_of(table, "rows").max(initial=0) < SEVERAL:
        return engine
    joined = _units_joined(release, classes, unit)
    if joined is None:
        return engine
    units = Units.of_values(table, known) if secrets else Units.of_sizes(table)
    return SummedUnits(engine, classes, unit, units, joined, varying, policy.conventions.missing_tokens)


def _is_mostly_alone(classes: pa.Table) -> bool:
    """Whether there are more classes than half of the units: their cells are hardly fewer than the records."""
    return 2 * len(np.unique(numbers_of(classes, "class"))) > int(numbers_of(classes, "units").sum())


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
    """Whether different cells of a column mean different values, of which none represents several."""
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
