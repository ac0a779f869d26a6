"""Scenarios of a policy: intruders, each with what it knows, and their faults before there is any data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tcdp_audit.core.base.words import listing
from tcdp_audit.core.policy.faults import nearest
from tcdp_audit.core.policy.model import PolicyDocument, Role, Scenario

Place = tuple[str | int, ...]


def name_of_knowledge(knows: Iterable[str]) -> str:
    """The name of a scenario that only says what is known: `knows age and sex`."""
    return f"knows {listing([name if name.isidentifier() else repr(name) for name in sorted({*knows})])}"


def faults_of_knowledge(knows: Sequence[str], document: PolicyDocument) -> Iterator[str]:
    """The reasons why columns cannot be what an intruder knows."""
    purposes = {document.unit: "the unit", document.household: "the household", document.key: "the key"}
    for number, name in enumerate(knows):
        declared = document.attributes.get(name)
        if declared is None:
            yield f"the policy declares no attribute {name!r}{nearest(name, document.attributes)}"
        elif declared.role is Role.IDENTIFIER:
            yield f"{name!r} is an identifier, which no release may contain"
        elif name in purposes:
            yield f"{name!r} is {purposes[name]}; a scenario names what is known of a person"
        elif name in knows[:number]:
            yield f"{name!r} is named twice"


def faults_of_scenarios(document: PolicyDocument) -> Iterator[tuple[Place, str]]:
    """The faults of the scenarios that a policy declares, each with its location."""
    for name, one in (document.scenarios or {}).items():
        location = ("scenarios", name)
        yield from (((*location, "knows"), sentence) for sentence in faults_of_knowledge(one.knows, document))
        yield from (((*location, "at_stake"), sentence) for sentence in _faults_at_stake(one, document))
        if one.in_release == "unknown" and one.population is None and document.population is None:
            sentence = "who is in the release is looked for in a population; add `population:`, here or for the policy"
            yield (*location, "in_release"), sentence


def _faults_at_stake(scenario: Scenario, document: PolicyDocument) -> Iterator[str]:
    named = scenario.at_stake or ()
    for number, name in enumerate(named):
        declared = document.attributes.get(name)
        if declared is None:
            yield f"the policy declares no attribute {name!r}{nearest(name, document.attributes)}"
        elif declared.role is not Role.SENSITIVE:
            yield f"{name!r} is not sensitive: its role is {declared.role.value}"
        elif name in scenario.knows:
            yield f"{name!r} is known, so that it is not at stake; leave it out of `knows` or of `at_stake`"
        elif name in named[:number]:
            yield f"{name!r} is named twice"
