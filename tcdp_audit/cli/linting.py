"""Findings in a valid policy, before there is any data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set as AbstractSet
from dataclasses import replace
from pathlib import Path

import numpy as np

from tcdp_audit.api import (
    MOSTLY,
    AuditInputs,
    Expectation,
    Policy,
    PolicySource,
    PolicySourceError,
    Release,
    implied,
    laxer_than,
    laxness_sentence,
    mostly_wildcards,
    parse_yaml,
    required_class_size,
    scenarios_of,
    sufficient_class_size,
    suppressed_in_all,
    undemanded,
    undemanded_sentence,
    undemanded_title,
    vacuous,
    vacuous_sentence,
)
from tcdp_audit.core.results.findings import POLICY, Level, Place, ToolFinding, name_in_repository
from tcdp_audit.plugin.check import Check, DisclosureType, TableView
from tcdp_audit.plugin.detector import PolicyDocument, Role
from tcdp_audit.plugin.engine import Engine
from tcdp_audit.plugin.sentences import Severity, listing, share

NOTHING = (
    "no demand of it that counts can fail, so every audit under it ends with exit code 3; "
    "demand something, or accept it with --allow-vacuous"
)
WARNINGS_ONLY = (
    "every demand of it only warns, so no release fails it and every audit under it ends with exit code 3; "
    "let one demand have severity error, or accept it with --allow-vacuous or --fail-on warning"
)


def policy_findings(policy: Policy) -> Iterator[ToolFinding]:
    """Demands that no release could fail, that none could keep, that others imply, or that are missing."""
    counts = warns = False
    for one in policy.expectations:
        demands = one.check.demands(one.parameters)
        names = vacuous(one.check, one.parameters)
        judged = len(names) < len(demands)
        counts |= judged and one.parameters.severity is Severity.ERROR
        warns |= judged
        if names:
            said = vacuous_sentence(names, demands, judged=judged, whatever="by every release")
            yield finding(policy, one, Level.ERROR, said)
        yield from _unmet(policy, one)
    if not counts:
        title, said = ("Warnings only", WARNINGS_ONLY) if warns else ("Nothing to judge", NOTHING)
        yield finding(policy, None, Level.ERROR, said, title)
    secret = undemanded(policy)
    if secret:
        said = undemanded_sentence(policy, secret)
        yield finding(policy, None, Level.WARNING, said, undemanded_title(policy, secret))
    if counts:
        yield from _unopposed(policy)
        yield from _unjudged(policy)
        yield from _joined_rows(policy)
    yield from _unknown_to_all(policy)
    weaker = list(implied(policy))
    yield from (finding(policy, weak, Level.WARNING, _why(strong)) for weak, strong in weaker)
    yield from _lax(policy, {id(weak) for weak, _ in weaker})
    named = {id(one) for pair in weaker for one in pair}
    for one in policy.expectations:
        if id(one) not in named:
            for said in _in_scenarios(policy, one, _as_class_size):
                yield finding(policy, one, Level.NOTE, said)


def _lax(policy: Policy, weaker: AbstractSet[int]) -> Iterator[ToolFinding]:
    """The demands that are laxer than usual, of those that some release fails and that no other one implies."""
    for one in policy.expectations:
        stricter = laxer_than(one) if id(one) not in weaker and _judging(one) else ()
        if said := laxness_sentence(stricter, one.check.demanded(one.parameters), one.check.headline.comparison):
            yield finding(policy, one, Level.NOTE, f"{said[0].lower()}{said[1:-1]}")


def _as_class_size(one: Expectation, document: PolicyDocument) -> Iterator[str]:
    """The class size that a demand which names none requires, or is kept by; nothing where none follows."""
    if one.check.judges_each_class:
        return
    required, sufficient = required_class_size(one, document), sufficient_class_size(one, document)
    if required is not None and required == sufficient:
        yield f"it demands the same as `k_anonymity: {{k: {required}}}`"
    elif sufficient is not None:
        yield f"it holds whenever `k_anonymity: {{k: {sufficient}}}` does, and may hold with smaller groups"
    elif required is not None:
        yield f"it needs `k_anonymity: {{k: {required}}}` at least"


def _unknown_to_all(policy: Policy) -> Iterator[ToolFinding]:
    """Quasi-identifiers that no scenario takes to be known, so that no demand is judged with them."""
    scenarios = policy.document.scenarios or {}
    known = {name for one in scenarios.values() for name in one.knows}
    left = [name for name in policy.with_role(Role.QUASI_IDENTIFIER) if name not in known]
    if scenarios and left:
        are = "is declared as a quasi-identifier and known" if len(left) == 1 else "are quasi-identifiers and known"
        said = (
            f"{listing([repr(name) for name in left])} {are} in no scenario: no demand is judged with what it says; "
            "name it in `knows` of one, or declare it insensitive"
        )
        yield _finding(policy, ["scenarios"], "Known in no scenario", said)


def _unjudged(policy: Policy) -> Iterator[ToolFinding]:
    """The kinds of what is released, next to others, of which nothing is demanded that counts and can fail."""
    document = policy.document
    released = {
        "records": document.has_records,
        "tables of figures": bool(document.aggregates),
        "output of models": bool(document.models),
    }
    judging = [one for one in policy.expectations if one.parameters.severity is Severity.ERROR and _judging(one)]
    judged = {_judged_kind(one.check) for one in judging}
    for kind, is_released in released.items():
        if document.has_figures and is_released and kind not in judged:
            said = (
                f"nothing is demanded of the {kind}, so a release passes whatever they tell; demand something of them"
            )
            yield _finding(policy, ["tables" if kind != "output of models" else "models"], f"No demand on {kind}", said)


def _judged_kind(check: Check) -> str:
    """The kind of release that a check judges."""
    return check.by_kind(
        lambda _: "records",
        lambda _: "records",
        lambda one: "output of models" if one.of_models else "tables of figures",
    )


def _unopposed(policy: Policy) -> Iterator[ToolFinding]:
    """The declared intruders against whom demands only warn, or cannot fail. Without a demand it is a fault."""
    judging = [one for one in policy.expectations if one.parameters.severity is Severity.ERROR and _judging(one)]
    judged = {name for one in judging for name in scenarios_of(one, policy)}
    for name in policy.document.scenarios or {}:
        if name not in judged:
            said = (
                f"nothing that counts is demanded against {name}; demand something, such as `k_anonymity: {{k: 5}}`, "
                "or remove it"
            )
            yield _finding(policy, ["scenarios", name], "Scenario without a demand", said)


def _in_scenarios(
    policy: Policy, expectation: Expectation, ask: Callable[[Expectation, PolicyDocument], Iterable[str]]
) -> Iterator[str]:
    """What a check says of its parameters in each scenario, each sentence once, with the scenarios that it is of."""
    check, parameters = expectation.check, expectation.parameters
    documents = check.parts(parameters, policy.document) or {"": policy.document}
    said: dict[str, list[str]] = {}
    for name, document in documents.items():
        for sentence in ask(replace(expectation, parameters=parameters.in_scenario(document)), document):
            said.setdefault(sentence, []).append(name)
    for sentence, names in said.items():
        yield sentence if len(names) == len(documents) else f"{sentence} against {listing(names)}"


def _unmet(policy: Policy, one: Expectation) -> Iterator[ToolFinding]:
    """Why no release keeps a demand, and what it needs that the policy leaves to the command."""
    for reason in _in_scenarios(policy, one, lambda own, document: own.check.impossible(own.parameters, document)):
        yield finding(policy, one, Level.ERROR, f"no release keeps this demand: {reason}")
    for said in _in_scenarios(policy, one, lambda own, document: own.check.missing_tables(own.parameters, document)):
        yield finding(policy, one, Level.WARNING, said)


def _joined_rows(policy: Policy) -> Iterator[ToolFinding]:
    """Where a unit joins rows: whether a demand that counts judges more than one, and more than a mean over units.

    The rule is that of the schema check `linked_rows`, which knows the table: a demand on a secret alone limits no
    size, so where demands limit the size of classes of rows, one must limit that of histories.
    """
    document = policy.document
    joining = document.household or (None if document.drops_unit else document.unit)
    if joining is None:
        return
    own = [one for one in policy.expectations if one.parameters.unit in (None, document.root)]
    judged = [one for one in own if one.parameters.severity is Severity.ERROR and _judging(one)]
    events = [one for one in judged if one.check.reading(one.parameters) == "events"]
    classes = [one for one in judged if one.check.on_classes and one not in events]
    single = [one for one in classes if (one.parameters.known_rows or policy.conventions.known_rows) == "one"]
    whole = [*events, *(one for one in classes if one not in single)]
    if not whole or (any(map(_limits_size, single)) and not any(map(_limits_size, whole))):
        said = _SINGLE_ROWS.format(repr(joining), _OF_SINGLE_ROWS if single else _OF_NO_SIZE)
        yield _finding(policy, ["conventions", "known_rows"], "Single rows", said)
    elif all(one.check.disclosure_type is DisclosureType.IDENTITY_DEGREE and one in events for one in whole):
        yield finding(policy, None, Level.NOTE, _ONLY_A_MEAN, "A mean over units")


def _judging(one: Expectation) -> AbstractSet[str]:
    """The parameters whose demand some release fails."""
    return one.check.demands(one.parameters).keys() - {*vacuous(one.check, one.parameters)}


def _limits_size(one: Expectation) -> bool:
    """Whether a demand is not on a secret alone, but on the people of a class."""
    judging = _judging(one)
    return "k" in judging or (not one.check.on_attribute and one.check.headline.parameter in judging)


_SINGLE_ROWS = (
    "no demand that counts judges more than one row of a unit, though {} joins them where it repeats: the release is "
    "fit for people of whom one row is known, and no others; {}"
)
_OF_SINGLE_ROWS = "leave out `known_rows: one`, or demand `known_events: {m: 3, k: 5}` as well"
_OF_NO_SIZE = "demand a group size as well, such as `k_anonymity: {k: 5}`"
_ONLY_A_MEAN = (
    "only a mean over units judges more than one row, and it may hold while some units are alone with theirs; demand "
    "`known_events: {m: 3, k: 5}` as well, which every unit must keep"
)


def _why(strong: Expectation) -> str:
    title = strong.check.titled(strong.parameters)
    if strong.profile:
        return f"laxer than, or the same as, what the profile {strong.profile} demands ({title}); drop it"
    where = f" of line {strong.line}" if strong.line else ""
    return f"holds whenever the demand {title}{where} holds, so it says nothing more; drop one of the two"


def finding(
    policy: Policy, expectation: Expectation | None, level: Level, message: str, title: str = ""
) -> ToolFinding:
    """A finding about an expectation, or about the whole policy."""
    name = name_in_repository(policy.path or Path(policy.name))
    if expectation is None:
        return ToolFinding(POLICY, level, title, message, Place(name), "")
    place = Place(name, expectation.line or 1, expectation.column)
    title = title or expectation.check.titled(expectation.parameters)
    return ToolFinding(expectation.check.name, level, title, message, place, "")


def release_findings(inputs: AuditInputs) -> Iterator[ToolFinding]:
    """Wildcards over columns that are mostly missing, and exemptions of most records. Cost: two passes at most."""
    policy, engine = inputs.policy, inputs.engine
    release = Release(engine, policy, cache=inputs.options.cache)
    for domain in mostly_wildcards(release):
        part = share(domain.missing, engine.records)
        said = (
            f"`missing_quasi_identifier: wildcard`: {domain.attribute!r} is missing in {part} of the records, "
            "and each of them matches every value of it, so classes look larger than an intruder finds them; "
            "take the column out, or let a missing value be its own_category"
        )
        yield _finding(policy, ["conventions", "missing_quasi_identifier"], "Wildcard", said)
    if policy.conventions.suppressed == "exempt":
        exempt = _exempt(policy, release, engine)
        if exempt > MOSTLY * engine.records:
            said = (
                f"`suppressed: exempt` leaves {share(exempt, engine.records)} of the records out of every demand; drop "
                "them from the release, or count them"
            )
            yield _finding(policy, ["conventions", "suppressed"], "Exempt records", said)


def _exempt(policy: Policy, release: Release, engine: Engine) -> int:
    """The number of records that are suppressed in every quasi-identifier and every sensitive attribute."""
    attributes = [*release.quasi_identifiers, *release.sensitive]
    if not attributes or not all(domain.suppressed for domain in attributes):
        return 0
    (table,) = TableView(policy, engine, {}).counted([domain.attribute for domain in attributes])
    domains = [table.domains[domain.attribute] for domain in attributes]
    return int(np.sum(table.rows.each[suppressed_in_all(table.rows, domains)]))


def _finding(policy: Policy, location: list[str | int], title: str, message: str) -> ToolFinding:
    try:
        source = parse_yaml(policy.text) if policy.path else PolicySource(None, None)
    except PolicySourceError:
        source = PolicySource(None, None)
    line, column = source.position(location)
    place = Place(name_in_repository(policy.path or Path(policy.name)), line or 1, column or None)
    return ToolFinding(POLICY, Level.WARNING, title, message, place, "")
