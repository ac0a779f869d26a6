"""What a sound policy tells by itself, before there is any data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tcdp_audit.api import Expectation, Policy, sentence, undemanded, vacuous
from tcdp_audit.cli.linting.implied import implied
from tcdp_audit.core.results.change_log import flow
from tcdp_audit.core.results.findings import POLICY, Level, Place, ToolFinding, name_in_repository
from tcdp_audit.plugin.sentences import Severity, listing

NOTHING = (
    "no demand of it that counts can fail, so every audit under it ends with exit code 3; "
    "demand something, or accept it with --measure-only"
)
WARNINGS_ONLY = (
    "every demand of it only warns, so no release fails it and every audit under it ends with exit code 3; "
    "let one demand have severity error, or accept it with --measure-only or --fail-on warning"
)


def policy_findings(policy: Policy) -> Iterator[ToolFinding]:
    """Demands that no release could fail, that none could keep, that others imply, or that are not made at all."""
    counts = warns = False
    for one in policy.expectations:
        demands = one.check.demands(one.parameters)
        names = vacuous(one.check, one.parameters)
        judged = len(names) < len(demands)
        counts |= judged and one.parameters.severity is Severity.ERROR
        warns |= judged
        if names:
            said = sentence(names, demands, judged=judged, whatever="by every release")
            yield finding(policy, one, Level.ERROR, said)
        for reason in one.check.impossible(one.parameters, policy.document):
            yield finding(policy, one, Level.ERROR, f"no release keeps this demand: {reason}")
    if not counts:
        title, said = ("Warnings only", WARNINGS_ONLY) if warns else ("Nothing to judge", NOTHING)
        yield finding(policy, None, Level.ERROR, said, title)
    secret = undemanded(policy)
    if secret and counts:
        yield finding(policy, None, Level.WARNING, _undemanded(secret), "Sensitive columns without a demand")
    weaker = list(implied(policy))
    yield from (finding(policy, weak, Level.WARNING, _why(strong)) for weak, strong in weaker)
    named = {id(one) for pair in weaker for one in pair}
    for one in policy.expectations:
        if one.check.class_size(one.parameters) is not None and id(one) not in named:
            for name, demanded in one.check.implies(one.parameters, policy.document):
                yield finding(policy, one, Level.NOTE, f"it demands the same as `{name}: {flow(demanded)}`")


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
