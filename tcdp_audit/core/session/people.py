"""People whom an intruder finds who knows some columns: one, several, or other ones than the policy declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from math import ceil
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.core.auditor.evaluation import Evaluation, evaluation
from tcdp_audit.core.base.errors import CheckError, DataError, UsageError
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.guide_file import DisclosureType, Guide
from tcdp_audit.core.base.outcome import Comparison, Outcome, Status
from tcdp_audit.core.base.words import visible
from tcdp_audit.core.check.class_check import ClassCheck
from tcdp_audit.core.check.threshold import Parameters, Threshold
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import number_of
from tcdp_audit.core.engines.base import Column, Engine
from tcdp_audit.core.information_loss.columns import demanded_k
from tcdp_audit.core.policy.faults import nearest
from tcdp_audit.core.policy.loading import policy_without_checks
from tcdp_audit.core.policy.model import SEPARATOR, AttributeDeclaration, Role
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.session.inputs import AuditInputs

COMMONEST = 10  # values of a column, where values may be shown
Asking = Callable[[Policy], AuditInputs]  # the open tables under a policy


class _SizeParameters(Parameters):
    least: Annotated[int, Field(ge=1, description="The least size of a class.")]


SIZE = ClassCheck(  # of no plugin: what a question counts, in the way in which an audit counts
    name="size_of_classes",
    title="Size of classes",
    disclosure_type=DisclosureType.IDENTITY_MODEL,
    parameters=_SizeParameters,
    thresholds=(Threshold("least", Comparison.AT_LEAST, lambda evidence, _: evidence.size, "people", counts=True),),
    guide=Guide("The size of each class.", "size", "", "", "", ""),
)


@dataclass(frozen=True, kw_only=True)
class ColumnProfile:
    """One column of a release. Its representation holds no cell.

    Args:
        name: its name.
        type: its type, as the engine calls it.
        kind: what its values are: `number`, `date`, `text`, `empty` where it has none, `unknown` where it cannot be
            read. Numbers and dates may be written as text.
        role: what the policy declares; None where it does not declare the column.
        distinct: how many values it has, as the policy reads them; None where it cannot be read.
        missing: how many records have no value, likewise.
        alone: how many people no one agrees with in this column; None where they cannot be counted.
        note: why something is None, or why values are read as text; otherwise empty.
        commonest: the values of most records with their counts, only where the session shows values.
    """

    name: str
    type: str
    kind: str
    role: Role | None = None
    distinct: int | None = None
    missing: int | None = None
    alone: int | None = None
    note: str = ""
    commonest: tuple[tuple[str, int], ...] | None = field(default=None, repr=False)

    def as_row(self) -> dict[str, Any]:
        """The profile as a row of a table; `commonest` is in it only where the session shows values."""
        shown = {} if self.commonest is None else {"commonest": [list(one) for one in self.commonest]}
        role = None if self.role is None else self.role.value
        return {
            "name": self.name,
            "type": self.type,
            "kind": self.kind,
            "role": role,
            "distinct": self.distinct,
            "missing": self.missing,
            "alone": self.alone,
            "note": self.note,
            **shown,
        }


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """The finds of an intruder who knows some columns. People are entities where the policy names a unit, else records.

    Args:
        known: the columns that the intruder knows, by name.
        people: how many people the release has that no convention exempts.
        alone: how many of them agree with no one else in the known columns.
        k: the size of a group that `below` is about; None where the policy demands none and the call names none.
        below: how many people are in a group of fewer than `k`.
        exposed: how many people failing demands expose, each counted once; None where nothing that fails counts people,
            such as a released unit that joins rows.
        left_out: the demands that cannot be asked then, such as one on a column that is known: checks by name, with a
            colon and the attribute where the demand names one.
        sizes: pairs of a size of groups, ascending, and how many records are in groups of this size. Where an
            intruder knows whole histories, people are counted in place of records.
    """

    known: tuple[str, ...]
    people: int
    alone: int
    k: int | None
    below: int | None
    exposed: int | None
    left_out: tuple[str, ...] = ()
    sizes: tuple[tuple[int, int], ...] = ()

    def as_row(self) -> dict[str, Any]:
        """The answer as a row of a table."""
        lists = {"known": list(self.known), "left_out": list(self.left_out), "sizes": [list(one) for one in self.sizes]}
        return {**vars(self), **lists}


def undeclared() -> Policy:
    """A policy that declares no column."""
    return _declaring(policy_without_checks({"version": 1, "attributes": {"_": {"role": "insensitive"}}}), {})


def profiles(ask: Asking, policy: Policy, columns: Sequence[str] | None = None) -> tuple[ColumnProfile, ...]:
    """The profile of each column, in the table's order, or in that of `columns`.

    Raises:
        UsageError: the release has no such column.

    Cost: O(distinct values); with a unit, a count of the records for each column.
    """
    inputs = ask(policy)
    present = {one.name: one for one in inputs.engine.columns}
    names = [*present] if columns is None else _named(columns, inputs.engine)
    release = Release(inputs.engine, policy, cache=inputs.options.cache)
    return tuple(_profile(ask, inputs, release, present[name]) for name in names)


def _profile(ask: Asking, inputs: AuditInputs, release: Release, column: Column) -> ColumnProfile:
    policy, name = release.policy, column.name
    declared = policy.attributes.get(name)
    profile = ColumnProfile(
        name=name, type=column.type, kind="unknown", role=None if declared is None else declared.role
    )
    try:
        domain, note = release.domain(name), ""
        if name in release.misfits:
            note = f"{release.obstacle(name)}; read as text"
            policy = _knowing_only(policy, [name], as_text=True)
            domain = Release(inputs.engine, policy, cache=release.cache).domain(name)
    except DataError as error:
        return replace(profile, note=str(error))
    alone = None
    try:
        alone = _alone_by(ask, policy, domain)
    except CheckError as error:
        note = note or str(error)
    return replace(
        profile,
        kind=_kind(column, domain),
        distinct=int((domain.counts > 0).sum()),
        missing=domain.missing,
        alone=alone,
        note=note,
        commonest=_commonest(domain) if inputs.options.show_values else None,
    )


def _alone_by(ask: Asking, policy: Policy, domain: Domain) -> int:
    """The people alone by one column. Without a unit the counts of its values are enough."""
    conventions = policy.conventions
    matches_all = conventions.missing_quasi_identifier == "wildcard" and domain.missing
    if policy.document.unit is None and conventions.suppressed == "counted" and not matches_all:
        return int((domain.counts == 1).sum()) + (domain.missing == 1)
    return _below(ask, _knowing_only(policy, [domain.attribute]), 2)


def _kind(column: Column, domain: Domain) -> str:
    if not domain.size:
        return "empty"
    if domain.values.dtype != object:
        return "number"
    if column.type.upper().startswith(("DATE", "TIMESTAMP")):
        return "date"
    texts = [text for code, text in enumerate(domain.labels) if code not in domain.suppressed]
    if texts and all(number_of(text) is not None for text in texts):
        return "number"
    return "date" if texts and all(map(_is_date, texts)) else "text"


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _commonest(domain: Domain) -> tuple[tuple[str, int], ...]:
    order = sorted(range(domain.size), key=lambda code: -int(domain.counts[code]))[:COMMONEST]
    return tuple((domain.labels[code], int(domain.counts[code])) for code in order if domain.counts[code])


def people_alone(ask: Asking, policy: Policy, columns: Sequence[str]) -> int:
    """Count people who agree with no one else in some columns, as an audit under the policy's conventions does.

    Raises:
        UsageError: no column is named, or the release lacks one.
        CheckError: a column cannot be used, or every record is suppressed in all of them.
    """
    names = _named(columns, ask(policy).engine)
    if not names:
        raise UsageError("columns: names no column")
    return _below(ask, _knowing_only(policy, names), 2)


def what_if(
    ask: Asking, policy: Policy, add: Sequence[str] = (), drop: Sequence[str] = (), k: int | None = None
) -> WhatIf:
    """The finds of an intruder who knows some columns more, and some less, than the policy declares.

    Args:
        ask: opens the tables under a policy.
        policy: whose quasi-identifiers the intruder knows.
        add: further columns that the intruder knows.
        drop: quasi-identifiers that the intruder does not know.
        k: the size of a group, at least 1; by default the largest k that the policy demands.

    Raises:
        UsageError: a column is not there, or no column is left.
        CheckError: a column cannot be used, or every record is suppressed in all of them.
    """
    if k is not None and (type(k) is not int or k < 1):
        raise UsageError("k: must be a whole number, at least 1")
    asked = _knowing(policy, ask(policy).engine, add, drop)
    faulty = [any(one.check.faults(one.parameters, asked.document)) for one in asked.expectations]
    expectations = tuple(one for one, fault in zip(asked.expectations, faulty, strict=True) if not fault)
    left_out = [_name(one) for one, fault in zip(asked.expectations, faulty, strict=True) if fault]
    demanded = demanded_k(policy) if k is None else k
    least = None if demanded is None else ceil(demanded)
    asked = replace(asked, expectations=expectations)
    inputs = ask(asked)
    results = evaluated(inputs)
    exposed = results.exposed.among(results.outcomes)
    people, every = _in_groups_below(ask, asked, inputs.engine.records + 1)
    return WhatIf(
        known=tuple(asked.with_role(Role.QUASI_IDENTIFIER)),
        people=people,
        alone=_below(ask, asked, 2),
        k=least,
        below=None if least is None else _below(ask, asked, least),
        exposed=(0 if expectations else None) if exposed is None else exposed.people,
        left_out=tuple(dict.fromkeys(left_out)),
        sizes=tuple((int(size), int(records)) for size, _, records in every.details["distribution"]),
    )


def _name(expectation: Expectation) -> str:
    attribute = getattr(expectation.parameters, "attribute", None)
    return f"{expectation.check.name}:{attribute}" if attribute else str(expectation.check.name)


def _knowing(policy: Policy, engine: Engine, add: Sequence[str], drop: Sequence[str]) -> Policy:
    """The policy of an intruder who knows some columns more, and some less."""
    if policy.document.scenarios is not None and policy.document.scenario is None:
        raise UsageError("the policy has scenarios, each of which knows other columns; change one of them and audit")
    known = policy.with_role(Role.QUASI_IDENTIFIER)
    more, less = _named(add, engine, "add"), _listed(drop, "drop")
    for name in less:
        if name not in known or name in more:
            why = "is in `add`, too" if name in more else f"is no quasi-identifier of the policy{nearest(name, known)}"
            raise UsageError(f"drop: {visible(repr(name))} {why}")
    attributes = {**policy.attributes}
    for name in more:
        attributes[name] = _as(Role.QUASI_IDENTIFIER, attributes.get(name))
    for name in less:
        attributes[name] = _as(Role.INSENSITIVE, attributes[name])
    if not any(one.role is Role.QUASI_IDENTIFIER for one in attributes.values()):
        raise UsageError("drop: no column is left that an intruder knows; leave one")
    return _declaring(policy, attributes)


def evaluated(inputs: AuditInputs) -> Evaluation:
    """The evaluation of a release under its policy, without quality rules.

    Without detectors, too, unless a check on tables may ask for them: otherwise they only warn.
    """
    on_tables = any(not one.check.on_classes for one in inputs.policy.expectations)
    options = inputs.options if on_tables else replace(inputs.options, detectors=dict)
    return evaluation(inputs.policy, inputs.engine, options, inputs.companions)


def _below(ask: Asking, policy: Policy, least: int) -> int:
    """Count people in groups of fewer than a number. Cost: that of an audit with one demand."""
    return _in_groups_below(ask, policy, least)[0]


def _in_groups_below(ask: Asking, policy: Policy, least: int) -> tuple[int, Outcome]:
    """Count people in groups of fewer than a number, with the outcome that a demand of this size has."""
    asked = replace(policy, expectations=(Expectation(SIZE, _SizeParameters(least=least)),))
    if policy.conventions.missing_quasi_identifier == "fail":  # then a missing cell exposes, whatever the group's size
        asked = asked.with_conventions(missing_quasi_identifier="own_category")
    results = evaluated(ask(asked))
    outcome = results.outcomes[-1]
    if outcome.status is Status.ERROR:
        raise CheckError(outcome.message)
    people = results.exposed.people if outcome.status is Status.FAILED else None
    return 0 if people is None else people, outcome


def _knowing_only(policy: Policy, names: Sequence[str], *, as_text: bool = False) -> Policy:
    """The policy of an intruder who knows these columns alone.

    Args:
        policy: whose declarations and conventions count.
        names: of the columns.
        as_text: whether their declared scales are left out.
    """
    plain = [Role.QUASI_IDENTIFIER, Role.SENSITIVE]
    if policy.conventions.suppressed == "exempt":  # which looks at sensitive cells, too
        plain.remove(Role.SENSITIVE)
    attributes = {n: _as(Role.INSENSITIVE, one) if one.role in plain else one for n, one in policy.attributes.items()}
    for name in names:
        declared = policy.attributes.get(name)
        if declared is not None and as_text:
            declared = declared.model_copy(update={"scale": None, "order": None})
        attributes[name] = _as(Role.QUASI_IDENTIFIER, declared)
    return _with_known_tables(_declaring(policy, attributes), names)


def _with_known_tables(policy: Policy, names: Sequence[str]) -> Policy:
    """A policy of several tables without those of which nothing is known, not even how many rows someone has."""
    tables = policy.document.tables
    if tables is None:
        return policy
    known: set[str | None] = {name for name in tables if any(one.startswith(f"{name}{SEPARATOR}") for one in names)}
    while missing := {tables[str(name)].belongs_to for name in known} & tables.keys() - known:
        known |= missing
    known |= {name for name, one in tables.items() if one.belongs_to is None}
    left = {name: one for name, one in tables.items() if name in known}
    attributes = {n: one for n, one in policy.attributes.items() if n.partition(SEPARATOR)[0] in known}
    document = policy.document.model_copy(update={"tables": FrozenDict(left), "attributes": FrozenDict(attributes)})
    return replace(policy, document=document)


def _as(role: Role, declared: AttributeDeclaration | None) -> AttributeDeclaration:
    return AttributeDeclaration(role=role) if declared is None else declared.model_copy(update={"role": role})


def _declaring(policy: Policy, attributes: Mapping[str, AttributeDeclaration]) -> Policy:
    changes = {"attributes": attributes, "scenarios": None}
    return replace(policy, document=policy.document.model_copy(update=changes))


def _listed(names: Any, what: str) -> list[str]:
    listed: list[Any] = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else [None]
    if not all(isinstance(one, str) for one in listed):
        raise UsageError(f"{what}: must be names of columns")
    return list(dict.fromkeys(listed))


def _named(names: Any, engine: Engine, what: str = "columns") -> list[str]:
    """Names of columns that the table has.

    Raises:
        UsageError: it lacks one.
    """
    known = [one.name for one in engine.columns]
    for name in (listed := _listed(names, what)):
        if name not in known:
            raise UsageError(f"{what}: the release has no column {visible(repr(name))}{nearest(name, known)}")
    return listed
