"""The scenarios of a policy: who might attack, what each of them knows, and which demands hold against each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor
from typing import Any

from tcdp_audit.plugin._internal import demanded, failing, observed, state_of
from tcdp_audit.plugin.report import Audit, Group, Paragraph, Rows
from tcdp_audit.plugin.sentences import (
    Outcome,
    column_of,
    count,
    percent_of,
    record_noun,
    say,
    sentence_case,
    visible,
)
from tcdp_audit_reports.charts.margin import is_share
from tcdp_audit_reports.policy_text import first_names
from tcdp_audit_reports.sections.findings import title_of_all
from tcdp_audit_reports.sections.grouped import groups_of

HEAD = ("Scenario", "Who", "Knows", "Wants to learn", "Is tried", "Finds a record, if tried", "People exposed")
NOTE = "Whom a met demand allows is counted only if a failing demand affects them, too."
TRIED = "Demands on the risk count the product of the two chances."
WRONG = ("error", "failed", "warning")
GRAVEST = ("error", "failed", "warning", "skipped", "measured", "passed")
FEW = 6  # scenarios, up to which each has a column in the table of demands
SYMBOLS = {"error": "✗", "failed": "✗", "warning": "!", "passed": "✓"}


def blocks(audit: Audit) -> Iterator[Paragraph | Rows | Group]:
    """The intruders with the people exposed to each, and a table of demands by scenario; nothing without scenarios."""
    if not audit.scenarios:
        return
    yield Paragraph(_summary(audit))
    scenarios = _in_tables(audit)
    if len(scenarios) > FEW:
        scenarios.sort(key=lambda one: _rank(audit, one))
    names = [one.name for one in scenarios]
    note = f"{NOTE} {TRIED}" if any(one.attempt != 1 for one in scenarios) else NOTE
    yield Rows(HEAD, [_row(audit, one) for one in scenarios], note=note, style="texts scenarios")
    judged = [one for one in _judged(audit) if one.scenario in names]
    rows = sorted(_by_demand(judged), key=lambda row: GRAVEST.index(_gravest(row.values())))
    if len(names) > max(len(rows), FEW):  # a table with a column for each would be too wide for a page
        table = _by_scenario(audit, rows, names)
        yield Group([table], folded=table.caption) if groups_of(audit) else table
        return
    yield Rows(
        ("Demand", *(_name(audit, name) for name in names)),
        [[_demand(next(iter(row.values()))), *(_cell(row.get(name)) for name in names)] for row in rows],
        caption="Each demand in each scenario",
        note="–: not asked.",
        states=[_gravest(row.values()) for row in rows],
        style="texts scenarios",
    )


def _in_tables(audit: Audit) -> list[Any]:
    """The policy's intruders, and the sets of columns against which a demand does not hold; all where none is named."""
    named = [one for one in audit.scenarios if not _is_unnamed(one.name)]
    wrong = [one for one in audit.scenarios if _is_unnamed(one.name) and _gravest(_of(audit, one.name)) in WRONG]
    return [*named, *wrong] if named else [*audit.scenarios]


def _rank(audit: Audit, one: Any) -> tuple[bool, int, int]:
    """The place of a scenario: the policy's own intruders first, then the gravest result, then the most exposed."""
    exposed = 0 if one.exposed is None else one.exposed.people or 0
    return _is_unnamed(one.name), GRAVEST.index(_gravest(_of(audit, one.name))), -exposed


def _by_scenario(audit: Audit, rows: Sequence[Mapping[str, Outcome]], names: Sequence[str]) -> Rows:
    """A row for each scenario, and a column for each demand."""
    demands = [_demand_in_line(next(iter(row.values()))) for row in rows]
    return Rows(
        ("Scenario", *demands),
        [[_name(audit, name), *(_cell(row.get(name)) for row in rows)] for name in names],
        caption="Each demand in each scenario",
        states=[_gravest(row[name] for row in rows if name in row) for name in names],
        style="texts scenarios",
    )


def _by_demand(outcomes: Iterable[Outcome]) -> Iterator[Mapping[str, Outcome]]:
    """The outcomes of each demand by scenario. A demand is never joined with a second one in the same scenario."""
    demands: dict[tuple[object, ...], list[dict[str, Outcome]]] = {}
    for outcome in outcomes:
        key = (title_of_all(outcome), outcome.attribute, outcome.line, outcome.threshold, outcome.severity)
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
    about += [] if outcome.attribute is None else [say("{name}", name=visible(column_of(outcome)))]
    return "\n".join([visible(title_of_all(outcome)), *([", ".join(about)] if about else [])])


def _demand_in_line(outcome: Outcome) -> str:
    """The same on one line."""
    return say(
        "{title:text}[{bound?} {bound}][{column?}, {column}]",
        title=visible(title_of_all(outcome)),
        bound="" if outcome.threshold is None else demanded(outcome),
        column="" if outcome.attribute is None else visible(column_of(outcome)),
    )


def _summary(audit: Audit) -> str:
    """How many intruders there are, against whom demands fail or were not judged, and how many people in all."""
    named = [one.name for one in audit.scenarios if not _is_unnamed(one.name)]
    unnamed = len(audit.scenarios) - len(named)
    parts = [say("{n:intruder}", n=len(named))] if named else []
    parts += [say("{n:set} of columns that an intruder may know", n=unnamed)] if unnamed and not named else []
    sentences = [say("The policy names {parts:text}.", parts=parts)]
    if unnamed and named:
        sentences.append(_without_intruder(audit))
    judged = {one.name for one in audit.scenarios}
    left = [name for name in audit.policy.document.scenarios or {} if name not in judged]
    if left:
        sentences.append(say("Nothing is demanded against {names:names}.", names=_listed(left)))
    states = {one.name: _gravest(_of(audit, one.name)) for one in audit.scenarios}
    unjudged = [name for name, state in states.items() if state == "error"]
    if unjudged:
        sentences.append(say("Demands could not be judged against {names:names}.", names=_listed(unjudged)))
    failing = [one.name for one in audit.scenarios if one.exposed is not None]
    if failing:
        people = audit.exposed
        sentences.append(
            say(
                "Demands fail against {names:names}[{all?}; together they expose [{least?}at least ]{exposed:text}, "
                "each counted once].",
                names=_listed(failing),
                all=len(failing) > 1 and bool(_people(audit, people)),
                least=people is not None and people.is_least and people.people != people.people_of,
                exposed=_people(audit, people),
            )
        )
        held = [name for name in named if states[name] == "passed"]
        if held:
            sentences.append(
                say(
                    "Every demand against {names:names} holds. That is no leave to publish: the verdict is one, for "
                    "all intruders.",
                    names=_listed(held),
                )
            )
    elif not unjudged and {*states.values()} <= {"passed"}:
        sentences.append("Every demand holds against each of them.")
    return " ".join(sentences)


def _without_intruder(audit: Audit) -> str:
    """The sentence on demands that name a set of columns and no intruder."""
    unnamed = [(number, one) for number, one in enumerate(audit.expectations, 1) if _is_unnamed(one.scenario or "")]
    numbers = [str(number) for number, _ in unnamed]
    return say(
        "[{measured?}[{several?}Numbers|Number] {numbers:names} {n:is|are} only measured and {n:names|name} no intruder"
        "|[{several?}Demands|Demand] {numbers:names} {n:names|name} columns and no intruder].",
        measured=all(one.threshold is None for _, one in unnamed),
        several=len(numbers) > 1,
        numbers=first_names(numbers),
        n=len(numbers),
    )


def _listed(names: list[str]) -> list[str]:
    """Scenarios in a sentence: by name, or as an intruder who knows some columns."""
    return [say("an intruder who {name}", name=visible(name)) if _is_unnamed(name) else visible(name) for name in names]


def _is_unnamed(scenario: str) -> bool:
    """Whether a scenario is only a set of columns: its name is then a clause, and no name in a policy has a blank."""
    return " " in scenario


def _name(audit: Audit, scenario: str) -> str:
    """A scenario in a table: its name, or the numbers of the demands that name only columns."""
    if not _is_unnamed(scenario):
        return visible(scenario)
    numbers = [str(number) for number, one in enumerate(audit.expectations, 1) if one.scenario == scenario]
    return say("[{several?}demands|demand] {numbers:names}", several=len(numbers) > 1, numbers=first_names(numbers))


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
    return say("{n/total:{noun}}", n=exposed.people, total=exposed.people_of, noun=record_noun(_judged(audit)[0]))


def _row(audit: Audit, one: Any) -> tuple[str, ...]:
    example = _judged(audit)[0]
    knows = [say("{names:names}", names=[visible(column_of(example, name)) for name in one.knows])]
    if one.known_fraction != 1:
        knows.append(say("of {share} of all", share=percent_of(one.known_fraction)))
    if one.tables:
        knows.append(say("with a {names:names} that the others lack", names=[*one.tables]))
    if one.in_release == "unknown":
        knows.append("but not who is in the release")
    at_stake = [visible(column_of(example, name)) for name in one.at_stake]
    after = say("{names:names}", names=at_stake) if at_stake else "the record alone"
    who = visible(sentence_case(one.intruder or "an intruder"))
    if _is_unnamed(one.name):
        who = "no intruder of the policy"
    attempt, exposed = percent_of(one.attempt), "\n".join([_exposed(audit, one), *_allowed(audit, one)])
    return _name(audit, one.name), who, "\n".join(knows), after, attempt, _chance(audit, one), exposed


def _chance(audit: Audit, one: Any) -> str:
    """The chance that a guess at a person's record is right once the attack is tried, at worst and on average."""
    for outcome in _of(audit, one.name):
        tried = outcome.details.get("success", outcome.details)
        if {"highest", "average"} <= tried.keys() and "classes_are_of" in outcome.details:
            return say(
                "[{top=1?}for certain|{top:one in}] at worst, {mean:one in} on average[{searched?}, in the population]",
                searched=outcome.details["classes_are_of"] == "population",
                top=float(tried["highest"]),
                mean=float(tried["average"]),
            )
    return "not asked"


def _allowed(audit: Audit, one: Any) -> Iterator[str]:
    """The people whom demands that hold are about all the same."""
    for number, outcome in enumerate(audit.expectations, 1):
        counted = outcome.records
        if outcome.scenario == one.name and state_of(outcome) == "passed" and counted is not None and counted.failing:
            yield say(
                "[{most?}demand {number} allows {most} and finds {n}|{n} by demand {number}][{about?} ({about})]",
                number=number,
                n=counted.failing,
                most="" if not is_share(outcome) else say("{n}", n=floor((outcome.threshold or 0) * counted.total)),
                about="" if outcome.attribute is None else visible(column_of(outcome)),
            )


def _exposed(audit: Audit, one: Any) -> str:
    """The people exposed to one intruder; where none is, whether anything was demanded that could expose them."""
    if one.exposed is not None:
        people = _people(audit, one.exposed)
        uncounted = any(state_of(each) == "failed" and failing(each) is None for each in _of(audit, one.name))
        is_least = uncounted and one.exposed.people != one.exposed.people_of
        return (
            (say("at least {people:text}", people=people) if is_least else people)
            if people
            else "some, as the demands say"
        )
    states = {state_of(outcome) for outcome in _of(audit, one.name)}
    if "error" in states:
        return "not known: a demand could not be judged"
    if "warning" in states:
        return "none but by warnings"
    if "passed" not in states:
        return "nothing was demanded"
    return "no more than is allowed" if any(_allowed(audit, one)) else "none"


def _cell(outcome: Outcome | None) -> str:
    """The state of a demand in a scenario, what was found, and the records of it."""
    if outcome is None:
        return "–"
    state, records = state_of(outcome), outcome.records
    sign = SYMBOLS.get(state, "○")
    lines = [say("{sign} {state:text}", sign=sign, state=sentence_case(state)), observed(outcome)]
    if records is not None and records.failing:
        lines.append(count(records.failing, record_noun(outcome)))
    return "\n".join(lines)


def _gravest(outcomes: Iterable[Outcome]) -> str:
    """The gravest state of some outcomes."""
    return min((state_of(one) for one in outcomes), key=GRAVEST.index)
