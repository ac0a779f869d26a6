"""The findings that matter most, as the first screen shows them: up to four, each with its number and a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tcdp_audit.plugin._internal import (
    bound,
    doublings,
    failing,
    observed,
    state_of,
)
from tcdp_audit.plugin.check import DisclosureType
from tcdp_audit.plugin.report import Audit
from tcdp_audit.plugin.sentences import (
    Comparison,
    Outcome,
    Status,
    allowance,
    column_of,
    percent,
    prose,
    record_noun,
    say,
    sentence_case,
    visible,
)
from tcdp_audit_reports.charts.margin import is_share, margin_words
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.languages import once_per_report
from tcdp_audit_reports.people_exposed import SurestGuess, affected

REASONS = 4
WRONG = ("failed", "error", "warning")
IDENTITY = (DisclosureType.IDENTITY_MODEL, DisclosureType.IDENTITY_DEGREE)
DEGREES = (DisclosureType.IDENTITY_DEGREE, DisclosureType.ATTRIBUTE_DEGREE)  # whose shares are of people
LONGEST = 300  # letters of a reason; the section that it links to has the rest


@dataclass(frozen=True)
class Reason:
    """A finding that matters: which demand it is of, a head with its number, a text, and where to read on.

    `which` is the number of a demand with its state, as `Demand 4 fails:`, or the kind of another check.
    """

    which: str
    head: str
    text: str
    target: str
    link: str
    state: str

    @property
    def is_cut(self) -> bool:
        """Whether the section has more of it."""
        return self.text.endswith("…")


@once_per_report
def reasons(audit: Audit) -> list[Reason]:
    """Up to four findings: what the columns lack, what fails most, what could not be checked, what is closest.

    Failures are never mixed with demands that hold. Of each kind of failure on a column the gravest comes before a
    second one of the same kind. A sentence that several findings have is used once.
    """
    targets = [(one, f"s{number}") for number, one in enumerate(audit.structure, 1) if one.status is not Status.PASSED]
    targets += [(one, f"e{number}") for number, one in enumerate(audit.expectations, 1)]
    ranked = sorted(targets, key=lambda target: _rank(target[0]))
    if any(state_of(one) in ("failed", "error") for one, _ in ranked):
        ranked = [each for each in ranked if state_of(each[0]) in WRONG]
    types = {name: check.disclosure_type for name, check in audit.plugins.announced_checks.items()}
    chosen, said = list[Reason](), set[str]()
    for one, target in _chosen(ranked, types):
        texts = [_sentence(text) for text in (one.individual_impact, one.message) if text]
        text = next((text for text in texts if text not in said), "")
        said.add(text)
        chosen.append(_reason(one, target, types.get(one.check), " ".join([text, *_surer(audit, one)])))
    return chosen


def _surer(audit: Audit, outcome: Outcome) -> Iterator[str]:
    """The sentence on another failing demand on the same column whose worst group makes a surer guess."""
    own = SurestGuess.of_demand(audit, outcome)
    if own is None:
        return
    others = [
        (guess.chance, -number, guess)
        for number, one in enumerate(audit.expectations, 1)
        if one.status is Status.FAILED and (one.attribute, one.scenario) == (outcome.attribute, outcome.scenario)
        if (guess := SurestGuess.of_demand(audit, one)) is not None
    ]
    chance, number, surest = max(others, key=lambda one: one[:2], default=(0.0, 0, own))
    if chance > own.chance:
        yield say(
            "Demand {number} has a group in which {have} of {of} do.", number=-number, have=surest.have, of=surest.of
        )


def _sentence(text: str) -> str:
    """A message or an impact as sentences with a full stop, which those of schema checks do not have."""
    sentence = sentence_case(quoted(prose(text)))
    return sentence if sentence.endswith((".", "!", "?", "…")) else say("{clause:text}.", clause=sentence)


def _chosen(ranked: Sequence[tuple[Outcome, str]], types: Mapping[str, DisclosureType]) -> list[tuple[Outcome, str]]:
    """The first of each kind of failure on a column, then others up to the number of reasons, in their order."""
    first: dict[object, str] = {}
    for one, target in ranked:
        is_failure = one.status is Status.FAILED and not one.is_structural and not one.is_warning
        kind = (types.get(one.check) in IDENTITY, one.attribute, one.scenario) if is_failure else target
        first.setdefault(kind, target)

    def preference(place: int) -> tuple[bool, bool, int]:
        one, target = ranked[place]
        return state_of(one) not in ("failed", "error"), target not in first.values(), place

    return [ranked[place] for place in sorted(sorted(range(len(ranked)), key=preference)[:REASONS])]


def demand_name(outcome: Outcome) -> str:
    """A demand in a few words, with its column."""
    title = visible(outcome.title or outcome.check)
    if outcome.attribute is None:
        return title
    against = f" against {outcome.scenario}" if outcome.scenario else ""
    return say(
        "{title:text} of {column}[{against?} against {against:text}]",
        title=title.removesuffix(against),
        column=visible(column_of(outcome)),
        against=visible(outcome.scenario or "") if against and title.endswith(against) else "",
    )


def _rank(outcome: Outcome) -> tuple[int, float]:
    """Columns first, then failures by the records or cells they hit, errors, and then what is closest."""
    fails, margin = failing(outcome), doublings(outcome)
    if outcome.is_structural and not outcome.is_warning:
        return (6 if outcome.status is Status.SKIPPED else 0), 0.0
    order = {"failed": 1, "error": 2, "warning": 3, "passed": 4, "measured": 5, "skipped": 6}[state_of(outcome)]
    if outcome.status is Status.FAILED:
        whom = affected(outcome)
        return order, float(-whom.number) if whom and fails else -float((outcome.cells and outcome.cells.failing) or 0)
    return order, margin if outcome.status is Status.PASSED and margin is not None else 0.0


def _reason(outcome: Outcome, target: str, disclosure_type: DisclosureType | None, text: str) -> Reason:
    return Reason(
        _which(outcome, target),
        _head(outcome, disclosure_type),
        text if len(text) <= LONGEST else text[: LONGEST - 1] + "…",
        target,
        demand_name(outcome),
        state_of(outcome),
    )


def _which(outcome: Outcome, target: str) -> str:
    """`Demand 4 fails:`, with the number that the demand has in every section."""
    state, number = state_of(outcome), int(target[1:])
    if outcome.is_structural:
        return "Schema check:" if outcome.cells is None else "Check of the tables:"
    return say(
        "Demand {number}[{fails?} fails|{warns?} warns|{met?} is met]:",
        number=number,
        fails=state == "failed",
        warns=state == "warning",
        met=state == "passed",
    )


def _head(outcome: Outcome, disclosure_type: DisclosureType | None) -> str:
    """The finding in a few words about people, with its number."""
    fails = failing(outcome)
    if outcome.is_structural:
        return _columns_at_fault(outcome)
    if outcome.cells is not None or outcome.details.get("microdata") is True:
        return _cells_at_fault(outcome)
    if outcome.is_question:
        answer = outcome.details.get("answer")
        return f"A person answered {answer}" if answer else "A person must answer"
    if outcome.status is Status.ERROR:
        return "Could not be decided" if outcome.is_estimated else "Could not be checked"
    if outcome.status is Status.SKIPPED:
        return "A person must answer"
    if outcome.status is Status.FAILED and fails is not None and fails[1]:
        return _people_at_risk(outcome, fails[1], disclosure_type)
    return _figures_in_words(outcome, disclosure_type)


def _figures_in_words(outcome: Outcome, disclosure_type: DisclosureType | None) -> str:
    """The finding with its figure and its demand, where it is about no number of people."""
    if outcome.is_judged and is_share(outcome):
        people, allowed = _share_of_people(outcome, disclosure_type), allowance(outcome)
        return say("{people:text}, where {allowed:text}", people=people, allowed=allowed)
    if outcome.is_judged and outcome.threshold is not None:
        chance = is_chance(outcome)
        return say(
            "[{risk?}Re-identification risk: ]{found:text}[{attempt<1?}, with the chance of an attempt], where "
            "{bound:text}",
            attempt=outcome.details.get("attempt", 1),
            risk=outcome.status is Status.FAILED and disclosure_type in IDENTITY,
            found=percent(outcome.observed, outcome.threshold) if chance else observed(outcome),
            bound=allowance(outcome) if chance else bound(outcome),
        )
    if outcome.status is Status.FAILED:
        return sentence_case(margin_words(outcome))
    return say("Measured: {found:text}", found=observed(outcome))


def is_chance(outcome: Outcome) -> bool:
    """Whether the observed figure is the chance that a guess at a person's record is right."""
    return "classes_are_of" in outcome.details and outcome.comparison is Comparison.AT_MOST


def _cells_at_fault(outcome: Outcome) -> str:
    """A finding on tables of figures: how many figures fail, or that it needs the records behind the tables."""
    cells = outcome.cells
    if cells is None:
        return "Not examined without the records"
    if outcome.status is Status.FAILED and cells.failing:
        return say("{n:figure} {n:fails|fail}", n=cells.failing)
    if outcome.status is Status.ERROR:
        return "Could not be decided"
    return f"{observed(outcome)}, where {bound(outcome)}" if outcome.is_judged else f"Measured: {observed(outcome)}"


def _share_of_people(outcome: Outcome, disclosure_type: DisclosureType | None) -> str:
    """`An intruder can identify 255 of 1,080 people`: a share as people, where it is one of records."""
    share = percent(outcome.observed, outcome.threshold)
    if outcome.records is None or outcome.observed is None or disclosure_type not in DEGREES:
        return share
    without = int(outcome.details.get("records_without_value", 0))  # nothing can be guessed of these
    number, noun = max(round(outcome.observed * outcome.records.total) - without, 0), record_noun(outcome)
    is_none = not number and outcome.observed > 0
    if is_none:
        people = say("{share:text} of all {noun:plural}", share=share, noun=noun)
    else:
        people = say("{n/total:{noun}}", n=number, total=outcome.records.total, noun=noun)
    if disclosure_type is DisclosureType.IDENTITY_DEGREE:
        return say(
            "An intruder can identify {people:text}[{attempt<1?}, with the chance of an attempt]",
            people=people,
            attempt=outcome.details.get("attempt", 1),
        )
    if outcome.attribute is None:
        return say("An intruder can guess a sensitive value of {people:text}", people=people)
    column = visible(column_of(outcome))
    return say("An intruder can guess the {column} of {people:text}", column=column, people=people)


def _people_at_risk(outcome: Outcome, number: int, disclosure_type: DisclosureType | None) -> str:
    """The kind of risk, and in everyday words how many people run it."""
    noun, whom = record_noun(outcome), affected(outcome)
    if whom is not None and whom.of is not None:
        number, noun = whom.number, whom.noun
    if outcome.attribute is not None:
        without = int(outcome.details.get("records_without_value", 0))  # nothing can be learned of these
        return say(
            "Attribute disclosure risk: [{n>0?}an intruder can learn too much about the {column} of {n:{noun}}"
            "[{without>0?}; {without} more have none in their group]"
            "|no one in the group of {without:{noun}} has a value of {column}]",
            column=visible(column_of(outcome)),
            n=number - without,
            without=without,
            noun=noun,
        )
    if disclosure_type in IDENTITY:
        return say("Re-identification risk: {n:{noun}} can be identified too easily", n=number, noun=noun)
    return say("{n:{noun}} {n:is|are} at risk", n=number, noun=noun)


def _columns_at_fault(outcome: Outcome) -> str:
    columns = outcome.details.get("columns")
    if isinstance(columns, list | tuple) and columns:
        return (
            say("Column {column}", column=visible(column_of(outcome, str(columns[0]))))
            if len(columns) == 1
            else f"{len(columns)} columns"
        )
    return outcome.title or "Columns"  # the order of the records is in no column
