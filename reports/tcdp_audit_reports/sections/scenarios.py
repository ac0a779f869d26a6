"""The scenarios of a policy: who might attack, what each of them knows, and which demands hold against each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tcdp_audit.plugin._internal import observed, state_of
from tcdp_audit.plugin.report import Audit, Paragraph, Rows
from tcdp_audit.plugin.sentences import (
    Outcome,
    agree,
    column_of,
    count,
    listing,
    part_of,
    percent_of,
    record_noun,
    sentence_case,
    visible,
)

HEAD = ("Scenario", "Who", "Knows", "After", "Attempt", "People exposed")


def blocks(audit: Audit) -> Iterator[Paragraph | Rows]:
    """The intruders with the people exposed to each, and a table of demands by scenario; nothing without scenarios."""
    if not audit.scenarios:
        return
    yield Paragraph(_summary(audit))
    yield Rows(HEAD, [_row(audit, number) for number in range(len(audit.scenarios))])
    names = [one.name for one in audit.scenarios]
    demands: dict[tuple[str, str, int], dict[str, Outcome]] = {}
    for outcome in _judged(audit):
        title = (outcome.title or outcome.check).removesuffix(f" against {outcome.scenario}")
        attribute = "–" if outcome.attribute is None else column_of(outcome)
        demands.setdefault((title, attribute, outcome.line or 0), {})[outcome.scenario] = outcome
    body = [
        [visible(title), visible(attribute), *(_cell(found.get(name)) for name in names)]
        for (title, attribute, _), found in demands.items()
    ]
    head = ("Demand", "Column", *map(visible, names))
    yield Rows(head, body, caption="Each demand in each scenario", states=[_worst(found) for found in demands.values()])


def _summary(audit: Audit) -> str:
    """How many intruders there are, how many find someone, and how many people in all."""
    number = len(audit.scenarios)
    finding = [one for one in audit.scenarios if one.exposed is not None]
    several = f"The policy expects {count(number, 'intruder')}"
    if not finding:
        return f"{several}, and every demand holds against {agree(number, 'this one', 'each of them')}."
    exposed = _people(audit, audit.exposed)
    least = "at least " if audit.exposed is not None and audit.exposed.is_least else ""
    whom = f"; together they expose {least}{exposed}, each counted once" if exposed and len(finding) > 1 else ""
    return f"{several}. Demands fail against {listing([visible(one.name) for one in finding])}{whom}."


def _judged(audit: Audit) -> list[Outcome]:
    """The outcomes that are of a scenario."""
    return [one for one in audit.expectations if one.scenario]


def _people(audit: Audit, exposed: Any) -> str:
    """How many people are exposed, of how many; empty where that is not known."""
    if exposed is None or exposed.people is None:
        return ""
    return part_of(exposed.people, exposed.people_of, record_noun(_judged(audit)[0]))


def _row(audit: Audit, number: int) -> tuple[str, ...]:
    one, example = audit.scenarios[number], _judged(audit)[0]
    knows = [listing([visible(column_of(example, name)) for name in one.knows])]
    if one.known_fraction != 1:
        knows.append(f"of {percent_of(one.known_fraction)} of all")
    if one.tables:
        knows.append(f"with a {listing([*one.tables])} that the others lack")
    if one.in_release == "unknown":
        knows.append("but not who is in the release")
    after = listing([visible(column_of(example, name)) for name in one.at_stake])
    exposed = "none" if one.exposed is None else _people(audit, one.exposed) or "some, as the demands say"
    who = visible(sentence_case(one.intruder or "an intruder"))
    return visible(one.name), who, "\n".join(knows), after or "the record alone", percent_of(one.attempt), exposed


def _cell(outcome: Outcome | None) -> str:
    """The state of a demand in a scenario, what was found, and the records of it."""
    if outcome is None:
        return "–"
    records = outcome.records
    failing = "" if records is None or not records.failing else f", {count(records.failing, record_noun(outcome))}"
    return f"{sentence_case(state_of(outcome))}\n{observed(outcome)}{failing}"


def _worst(found: dict[str, Outcome]) -> str:
    """The gravest state of a demand."""
    order = ("error", "failed", "warning", "skipped", "measured", "passed")
    return min((state_of(one) for one in found.values()), key=order.index)
