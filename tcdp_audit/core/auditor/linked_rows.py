"""Outcomes on units that join rows. Whole histories are always measured, also where no demand judges them.

Whether histories are compared where the table is, as a database can, is decided here as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from tcdp_audit.core.auditor.views import (
    ROWS,
    UNITS,
    View,
    Views,
    has_tables,
    known_rows_of,
    noun_of_root,
    targets_of,
)
from tcdp_audit.core.base.cache import Cache, Identity
from tcdp_audit.core.base.outcome import (
    DROPPED,
    KNOWN_ROWS,
    LINK_DEMANDS,
    ORPHAN_ROWS,
    REPEATED_UNIT,
    STRUCTURE,
    UNFAILABLE,
    Outcome,
    Severity,
    Status,
)
from tcdp_audit.core.base.words import agree, count, noun_form, plural
from tcdp_audit.core.check.evidence import Target
from tcdp_audit.core.encoding.counted import UnitClasses
from tcdp_audit.core.engines.base import BorrowedEngine, Column, Engine
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.release.common_parts import common_parts_of
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.summed import SummedUnits, Units, numbers_of, positions_among

if TYPE_CHECKING:
    from tcdp_audit.core.units.histories import Histories
    from tcdp_audit.core.units.members import Members

SEVERAL = 2  # rows
PER_ROW = "per_row"  # the detail of a demand on whole histories with what single rows show
TITLES = "Demands judge what the unit joins", "A column joins the records of a unit"
LINK_TITLES = {
    ORPHAN_ROWS: ("Every row belongs to one row of its parent", "Rows belong to no row, or to several"),
    REPEATED_UNIT: ("The table of units has one row for each", "The table of units repeats some"),
}
CORRECT = {
    ORPHAN_ROWS: "correct the links, or leave these rows out",
    REPEATED_UNIT: "leave one row of each, or declare the table as one of rows that belong to another",
}


def with_per_row(outcome: Outcome, view: View, *, on_classes: bool) -> Outcome:
    """An outcome on whole histories with what single rows show, and an outcome on classes with people of households.

    Args:
        outcome: of any demand.
        view: the table in which it was judged.
        on_classes: whether its check is on equivalence classes.
    """
    histories = view.histories
    if histories is None or outcome.status is Status.ERROR:
        return outcome
    if view.kind == UNITS:
        outcome = replace(outcome, details={**outcome.details, PER_ROW: histories.per_row})
    if histories.members is None or not on_classes or outcome.attribute is not None:
        return outcome
    if view.kind == UNITS:
        details, said = histories.members.as_details(), _of_people(histories.members)
    elif view.kind == ROWS:
        details, said = _of_one_alone(histories.members), ""
    else:
        return outcome
    return replace(
        outcome, details={**outcome.details, **details}, message=" ".join(filter(None, (outcome.message, said)))
    )


def _of_people(members: Members) -> str:
    """The sentence on people of households that no other one is like."""
    alone, people = members.in_households_alone, members.people
    if not alone:
        return f"Of {count(people, 'person')}, each is one of at least {members.least_alike:,} who could be meant."
    single = members.without_their_like
    whom = f", and {single:,} of them could be no one else" if single else ""
    are = agree(alone, "is", "are")
    return f"{alone:,} of {count(people, 'person')} {are} in a household that no other is like{whom}."


def _of_one_alone(members: Members) -> dict[str, int]:
    return {"people": members.people, "people_in_a_household_with_one_alone": members.with_one_alone}


def with_histories(outcome: Outcome, views: Views, judged: Sequence[Outcome]) -> Outcome:
    """The finding on a released unit that joins rows, with what whole histories show.

    It passes if a demand that counts judges more than one row. Otherwise it warns, and the verdict says for whom the
    release is fit.

    Args:
        outcome: the finding by the columns alone.
        views: in which demands are judged.
        judged: the outcomes of all demands, in the policy's order.
    """
    histories, details = views.histories, dict(outcome.details)
    if histories is None or details.get(DROPPED) is True:
        return outcome
    figures: dict[str, Any] = {
        "whole_histories": {"k": histories.k, "classes": histories.classes, "alone": histories.alone}
    }
    if histories.alone_at_depth:
        figures["alone_at_depth"] = list(histories.alone_at_depth)
    details |= {
        "units": histories.units,
        PER_ROW: histories.per_row,
        **figures,
        **({} if histories.members is None else histories.members.as_details()),
    }
    if judges_histories(views, judged):
        return replace(
            outcome, title=TITLES[0], status=Status.PASSED, observed=0.0, message="", details={**details, "columns": []}
        )
    return replace(
        outcome,
        title=TITLES[1],
        status=Status.FAILED,
        severity=Severity.WARNING,
        observed=1.0,
        message=_sentence(histories),
        details={
            **details,
            "columns": details["columns"] or [histories.unit.attribute],  # of several tables, the unit
            KNOWN_ROWS: "one",
            "alone": histories.alone,
            "least_alike": histories.k,
            "noun": noun_of_root(histories),
        },
    )


def link_outcomes(release: Release) -> Iterator[Outcome]:
    """The outcomes on the links between the tables of a release; none for a release of one table.

    Cost: O(distinct links).
    """
    if not has_tables(release):
        return
    from tcdp_audit.core.units.linked import LinkedTables  # noqa: PLC0415 - only for several tables

    assert isinstance(release.engine, LinkedTables)  # noqa: S101 - what a policy of tables is opened as
    for check in LINK_DEMANDS:
        faults = [one for one in release.engine.links.faults if one.check == check]
        columns = sorted({one.column for one in faults})
        rows = {one.column: one.rows for one in faults if one.rows is not None}
        yield Outcome(
            check=check,
            title=LINK_TITLES[check][bool(faults)],
            status=Status.FAILED if faults else Status.PASSED,
            severity=Severity.ERROR,
            observed=float(len(columns)),
            details={"columns": columns, **({"rows": rows} if rows else {})},
            message=f"{'; '.join(one.sentence for one in faults)}; {CORRECT[check]}" if faults else "",
            source=STRUCTURE,
        )


def judges_histories(views: Views, judged: Sequence[Outcome]) -> bool:
    """Whether demands that count, and can fail a release, judge more than one row of a unit.

    A demand that every release keeps is measured only, such as `k: 1`, and judges nothing. If single rows are judged by
    the size of their classes, histories are as well: a demand on a secret alone limits no size.
    """
    whole, single = set(), set()  # whether sizes are judged
    for (expectation, target), outcome in zip(targets_of(views.policy), judged, strict=True):
        check, parameters = expectation.check, expectation.parameters
        if parameters.severity is not Severity.ERROR or outcome.status in (Status.MEASURED, Status.SKIPPED):
            continue
        if views.of(expectation, target).is_whole or check.reading(parameters) == "events":
            whole.add(_judges_size(expectation, outcome))
        elif check.on_classes:
            single.add(_judges_size(expectation, outcome))
    return bool(whole) and (True in whole or True not in single)


def _judges_size(expectation: Expectation, outcome: Outcome) -> bool:
    """Whether a demand is not on a secret alone, but on the people of a class, such as a class size k."""
    check = expectation.check
    judging = check.demands(expectation.parameters).keys() - {*outcome.details.get(UNFAILABLE, ())}
    return "k" in judging or (outcome.attribute is None and check.headline.parameter in judging)


def _sentence(histories: Histories) -> str:
    noun, unit = noun_of_root(histories), histories.unit.attribute
    of = count(histories.units, noun)
    several, alone, least = _with_several_rows(histories), histories.alone, histories.k
    alike = (
        f"{alone:,} of {of} {agree(alone, 'is', 'are')} alone" if alone else f"as few as {count(least, noun)} are alike"
    )
    tables = histories.release.policy.document.tables
    if tables is not None:
        return (
            f"column {unit!r} joins the rows of each {noun} in {count(len(tables), 'table')}: with all of theirs "
            f"{alike}, which no demand judges; demand a group size, such as `k_anonymity: {{k: 5}}`"
        )
    return (
        f"column {unit!r} joins the rows of each {noun}: {several:,} of {of} {agree(several, 'has', 'have')} more than "
        f"one, and with all of theirs {alike}, which no demand judges; "
        f"leave out `known_rows: one`, demand `known_events`, or drop the column ({plural(noun)} are then counted in "
        f"classes of single {noun_form('row', 2)})"
    )


def _with_several_rows(histories: Histories) -> int:
    return int((histories.by[()].lengths[histories.present] > 1).sum())


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
    return cache.get((*key, Identity(engine)), lambda: _summed(policy, engine, classes, unit, secrets))


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
