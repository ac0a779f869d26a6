"""Findings in a valid policy, before there is any data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set as AbstractSet
from pathlib import Path
from typing import Any

import numpy as np

from tcdp_audit.api import (
    MOSTLY,
    AuditInputs,
    Expectation,
    Policy,
    PolicySource,
    PolicySourceError,
    Release,
    covers,
    implications,
    mostly_wildcards,
    parse_yaml,
    suppressed_in_all,
    undemanded,
    vacuous,
    vacuous_sentence,
)
from tcdp_audit.core.results.change_log import flow
from tcdp_audit.core.results.findings import POLICY, Level, Place, ToolFinding, name_in_repository
from tcdp_audit.plugin.check import DisclosureType, TableView
from tcdp_audit.plugin.engine import Engine
from tcdp_audit.plugin.sentences import Severity, listing, share


def implied(policy: Policy) -> Iterator[tuple[Expectation, Expectation]]:
    """Every expectation with one that implies it in each scenario; of two that imply each other, the later one.

    A profile's demands are not reported as implied by the policy's own: they stay when those change.
    """
    stronger: dict[int, list[Expectation | None]] = {}  # by the position of the weaker one, for each scenario
    for name, own in policy.scenarios.items():
        places = [place for place, one in enumerate(policy.expectations) if name in _scenarios_of(one, policy)]
        by_identity = {id(one): place for place, one in zip(places, own.expectations, strict=True)}
        strong_of = {id(weak): strong for weak, strong in _implied(own)}
        for one, place in zip(own.expectations, places, strict=True):
            strong = strong_of.get(id(one))
            original = None if strong is None else policy.expectations[by_identity[id(strong)]]
            stronger.setdefault(place, []).append(original)
    for place, strong_ones in sorted(stronger.items()):
        if strong_ones[0] is not None and None not in strong_ones:
            yield policy.expectations[place], strong_ones[0]


def _scenarios_of(expectation: Expectation, policy: Policy) -> Collection[str]:
    """The scenarios in which an expectation is judged; the empty name where it is judged in none."""
    return expectation.check.scenarios(expectation.parameters, policy.document) or ("",)


def _implied(policy: Policy) -> Iterator[tuple[Expectation, Expectation]]:
    """The same in one scenario."""
    stronger = [(one, implications(one, policy)) for one in policy.expectations]
    for number, weak in enumerate(policy.expectations):
        for place, (strong, demands) in enumerate(stronger):
            if strong is weak or not weak.check.demands(weak.parameters) or weak.profile:
                continue
            is_mutual = place > number and not strong.profile and covers(stronger[number][1], weak, strong)
            if covers(demands, strong, weak) and not is_mutual:
                yield weak, strong
                break


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
        for reason in _in_scenarios(policy, one, lambda check, own, document: check.impossible(own, document)):
            yield finding(policy, one, Level.ERROR, f"no release keeps this demand: {reason}")
    if not counts:
        title, said = ("Warnings only", WARNINGS_ONLY) if warns else ("Nothing to judge", NOTHING)
        yield finding(policy, None, Level.ERROR, said, title)
    secret = undemanded(policy)
    if secret and counts:
        yield finding(policy, None, Level.WARNING, _undemanded(secret), "Sensitive columns without a demand")
    if counts:
        yield from _unopposed(policy)
        yield from _joined_rows(policy)
    weaker = list(implied(policy))
    yield from (finding(policy, weak, Level.WARNING, _why(strong)) for weak, strong in weaker)
    named = {id(one) for pair in weaker for one in pair}
    for one in policy.expectations:
        if one.check.class_size(one.parameters) is not None and id(one) not in named:
            for same in _in_scenarios(policy, one, _same_demands):
                yield finding(policy, one, Level.NOTE, f"it demands the same as {same}")


def _unopposed(policy: Policy) -> Iterator[ToolFinding]:
    """The declared intruders against whom nothing is demanded that counts and can fail."""
    judging = [one for one in policy.expectations if one.parameters.severity is Severity.ERROR and _judging(one)]
    judged = {name for one in judging for name in _scenarios_of(one, policy)}
    for name in policy.document.scenarios or {}:
        if name not in judged:
            said = (
                f"nothing is demanded against {name}; demand something, such as `k_anonymity: {{k: 5}}`, or remove it"
            )
            yield _finding(policy, ["scenarios", name], "Scenario without a demand", said)


def _same_demands(check: Any, parameters: Any, document: Any) -> Iterator[str]:
    """The demands that follow from one, as a policy writes them."""
    return (f"`{name}: {flow(demanded)}`" for name, demanded in check.implies(parameters, document))


def _in_scenarios(
    policy: Policy, expectation: Expectation, ask: Callable[[Any, Any, Any], Iterable[str]]
) -> Iterator[str]:
    """What a check says of its parameters in each scenario, each sentence once, with the scenarios that it is of."""
    check, parameters = expectation.check, expectation.parameters
    documents = check.scenarios(parameters, policy.document) or {"": policy.document}
    said: dict[str, list[str]] = {}
    for name, document in documents.items():
        for sentence in ask(check, parameters.in_scenario(document), document):
            said.setdefault(sentence, []).append(name)
    for sentence, names in said.items():
        yield sentence if len(names) == len(documents) else f"{sentence} against {listing(names)}"


def _joined_rows(policy: Policy) -> Iterator[ToolFinding]:
    """Where a unit joins rows: whether a demand that counts judges more than one, and more than a mean over units.

    The rule is that of the schema check `linked_rows`, which knows the table: a demand on a secret alone limits no
    size, so where demands limit the size of classes of rows, one must limit that of histories.
    """
    document = policy.document
    joining = document.household or (None if document.drops_unit else document.unit)
    if joining is None:
        return
    judged = [one for one in policy.expectations if one.parameters.severity is Severity.ERROR and _judging(one)]
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


def _undemanded(secret: Sequence[str]) -> str:
    return (
        f"nothing is demanded of {listing([repr(name) for name in secret])}, which must stay secret: all members of a "
        "group may have the same value; demand l-diversity or t-closeness as well, for example"
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
