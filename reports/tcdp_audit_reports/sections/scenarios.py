"""The scenarios of a policy: who might attack, what each of them knows, and which demands hold against each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tcdp_audit.plugin._internal import demanded, observed, state_of
from tcdp_audit.plugin.report import Audit, Paragraph, Rows
from tcdp_audit.plugin.sentences import (
    Outcome,
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
NOTE = (
    "Exposed are the people in groups that fail a demand. What a demand allows, such as a small share, is not counted."
)
GRAVEST = ("error", "failed", "warning", "skipped", "measured", "passed")
SYMBOLS = {"error": "✗", "failed": "✗", "warning": "!", "passed": "✓"}


def blocks(audit: Audit) -> Iterator[Paragraph | Rows]:
    """The intruders with the people exposed to each, and a table of demands by scenario; nothing without scenarios."""
    if not audit.scenarios:
        return
    yield Paragraph(_summary(audit))
    names = [one.name for one in audit.scenarios]
    yield Rows(HEAD, [_row(audit, number) for number in range(len(names))], note=NOTE, style="texts scenarios")
    rows = list(_by_demand(_judged(audit)))
    yield Rows(
        ("Demand", *map(visible, names)),
        [[_demand(next(iter(row.values()))), *(_cell(row.get(name)) for name in names)] for row in rows],
        caption="Each demand in each scenario",
        states=[_gravest(row.values()) for row in rows],
        style="texts scenarios",
    )


def _by_demand(outcomes: Iterable[Outcome]) -> Iterator[Mapping[str, Outcome]]:
    """The outcomes of each demand by scenario. A demand is never joined with a second one in the same scenario."""
    demands: dict[tuple[object, ...], list[dict[str, Outcome]]] = {}
    for outcome in outcomes:
        key = (_title(outcome), outcome.attribute, outcome.line, outcome.threshold, outcome.severity)
        rows = demands.setdefault(key, [])
        row = next((one for one in rows if outcome.scenario not in one), None)
        if row is None:
            rows.append(row := {})
        row[outcome.scenario] = outcome
    for rows in demands.values():
        yield from rows


def _demand(outcome: Outcome) -> str:
    """The title of a demand, with the figure that it demands and its column as details."""
    about = [demanded(outcome)] if outcome.threshold is not None else []
    about += [] if outcome.attribute is None else [visible(column_of(outcome))]
    return "\n".join([visible(_title(outcome)), *([", ".join(about)] if about else [])])


def _title(outcome: Outcome) -> str:
    """The title of a demand without the scenario."""
    title = outcome.title or outcome.check
    return title.removesuffix(f" against {outcome.scenario}").removesuffix(f" if an intruder {outcome.scenario}")


def _summary(audit: Audit) -> str:
    """How many intruders there are, against whom demands fail or were not judged, and how many people in all."""
    named = [one.name for one in audit.scenarios if not _is_unnamed(one.name)]
    unnamed = len(audit.scenarios) - len(named)
    parts = [count(len(named), "intruder")] if named else []
    parts += [f"{count(unnamed, 'set')} of columns that an intruder may know"] if unnamed else []
    sentences = [f"The policy names {listing(parts)}."]
    judged = {one.name for one in audit.scenarios}
    left = [name for name in audit.policy.document.scenarios or {} if name not in judged]
    if left:
        sentences.append(f"Nothing is demanded against {_listed(left)}.")
    states = {one.name: _gravest(_of(audit, one.name)) for one in audit.scenarios}
    unjudged = [name for name, state in states.items() if state == "error"]
    if unjudged:
        sentences.append(f"Demands could not be judged against {_listed(unjudged)}.")
    failing = [one.name for one in audit.scenarios if one.exposed is not None]
    if failing:
        exposed = _people(audit, audit.exposed)
        least = "at least " if audit.exposed is not None and audit.exposed.is_least else ""
        whom = f"; together they expose {least}{exposed}, each counted once" if exposed and len(failing) > 1 else ""
        sentences.append(f"Demands fail against {_listed(failing)}{whom}.")
    elif not unjudged and {*states.values()} <= {"passed"}:
        sentences.append("Every demand holds against each of them.")
    return " ".join(sentences)


def _listed(names: list[str]) -> str:
    """Scenarios in a sentence: by name, or an intruder who knows some columns."""
    return listing([f"an intruder who {visible(name)}" if _is_unnamed(name) else visible(name) for name in names])


def _is_unnamed(scenario: str) -> bool:
    """Whether a scenario is only a set of columns: its name is then a clause, and no name in a policy has a blank."""
    return " " in scenario


def _judged(audit: Audit) -> list[Outcome]:
    """The outcomes that are of a scenario."""
    return [one for one in audit.expectations if one.scenario]


def _of(audit: Audit, scenario: str) -> list[Outcome]:
    """The outcomes of one scenario."""
    return [one for one in audit.expectations if one.scenario == scenario]


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
    after = listing([visible(column_of(example, name)) for name in one.at_stake] or ["the record alone"])
    who = visible(sentence_case(one.intruder or "an intruder"))
    attempt, exposed = percent_of(one.attempt), _exposed(audit, number)
    return visible(one.name), who, "\n".join(knows), after, attempt, exposed


def _exposed(audit: Audit, number: int) -> str:
    """The people exposed to one intruder; where none is, whether anything was demanded that could expose them."""
    one = audit.scenarios[number]
    if one.exposed is not None:
        return _people(audit, one.exposed) or "some, as the demands say"
    states = {state_of(outcome) for outcome in _of(audit, one.name)}
    if "error" in states:
        return "not known: a demand could not be judged"
    if "warning" in states:
        return "none but by warnings"
    return "none" if "passed" in states else "nothing was demanded"


def _cell(outcome: Outcome | None) -> str:
    """The state of a demand in a scenario, what was found, and the records of it."""
    if outcome is None:
        return "–"
    state, records = state_of(outcome), outcome.records
    lines = [f"{SYMBOLS.get(state, '○')} {sentence_case(state)}", observed(outcome)]
    if records is not None and records.failing:
        lines.append(count(records.failing, record_noun(outcome)))
    return "\n".join(lines)


def _gravest(outcomes: Iterable[Outcome]) -> str:
    """The gravest state of some outcomes."""
    return min((state_of(one) for one in outcomes), key=GRAVEST.index)
