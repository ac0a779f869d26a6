"""Coverage: Torra's map of what was checked, and the regulators' questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from tcdp_audit.plugin.check import Check, DisclosureType, LazyCheck
from tcdp_audit.plugin.report import Audit, Definitions
from tcdp_audit.plugin.sentences import Status, noun_form, say, visible
from tcdp_audit_reports.languages import once_per_report
from tcdp_audit_reports.people_exposed import alone_against, linking_keys
from tcdp_audit_reports.sections.findings import DemandRow, rows
from tcdp_audit_reports.sections.grouped import demand_rows
from tcdp_audit_reports.templating import fill_template

REGULATORS = "Article 29 Working Party, Opinion 05/2014 (WP216), section 2.2."
IDENTITY = (DisclosureType.IDENTITY_MODEL, DisclosureType.IDENTITY_DEGREE)
ATTRIBUTE = (DisclosureType.ATTRIBUTE_MODEL, DisclosureType.ATTRIBUTE_DEGREE)


@dataclass(frozen=True)
class RegulatorsQuestion:
    """A question of the regulators: its word, what it means, and what this audit answers."""

    word: str
    question: str
    titles: Sequence[str]  # of the checks that ask it
    is_compared: bool = True  # whether there is another table, where the question is about one
    has_records: bool = True  # whether there are any, where the question is about one of them
    intruders: Sequence[str] = ()  # against whom, where the policy names others
    matching: Sequence[str] = ()  # the keys that match it with another table, of which only a schema check warns
    others: Sequence[str] = ()  # intruders against whom it is not asked though people are alone, with their number

    @property
    def is_asked(self) -> bool:
        """Whether a check asks it."""
        return bool(self.titles)

    @property
    def answer(self) -> str:
        """The checks that ask it, in a sentence."""
        if not self.titles:
            return say(
                "Not asked by this policy[{keys?}; a schema check warns that {keys:names} {n:matches|match} everyone].",
                keys=[*self.matching],
                n=len(self.matching),
            )
        if not self.has_records:
            return say("There are no records to pick from. Asked by {titles:text}.", titles=[*self.titles])
        return say(
            "Asked by {titles:text}[{others?} against {intruders:names} only, not against {others:names}]"
            "[{compared?}|, as a chance: no other file was compared].",
            titles=[*self.titles],
            intruders=[*self.intruders],
            others=[*self.others],
            compared=self.is_compared,
        )


@once_per_report
def regulators(audit: Audit) -> Sequence[RegulatorsQuestion]:
    """Singling out, linkability, inference: what was asked about each."""
    checks = audit.plugins.checks
    run = (one.check for one in audit.expectations if one.status is not Status.SKIPPED)
    asked = {name: checks[name] for name in run if name in checks}
    alone = [one.title for one in asked.values() if one.disclosure_type in IDENTITY and _is_about_one_file(one)]
    linked = [one.title for one in asked.values() if one.disclosure_type in IDENTITY and not _is_about_one_file(one)]
    learned = [one.title for one in asked.values() if one.disclosure_type in ATTRIBUTE]
    return (
        _singling_out(audit, alone),
        RegulatorsQuestion(
            "Linkability",
            "Can records be matched with another file?",
            linked,
            is_compared=bool(audit.companions),
            matching=linking_keys(audit),
        ),
        RegulatorsQuestion("Inference", "Can something be learned about a person?", learned),
    )


def _singling_out(audit: Audit, titles: Sequence[str]) -> RegulatorsQuestion:
    """The first question; where the policy names intruders, against whom it is asked and who are alone otherwise."""
    others = [say("{name} ({n} {n:is|are} alone)", name=name, n=n) for name, n in alone_unlimited(audit).items()]
    named = [one.name for one in audit.scenarios if " " not in one.name]
    asked = [visible(name) for name in named if limits_being_alone(audit, name)]
    word = "Singling out"
    if not audit.has_records:
        return RegulatorsQuestion(
            word, "Is a figure of so few people that one may be recognised?", titles, has_records=False
        )
    question = "Can one person be picked out of the file?"
    return RegulatorsQuestion(word, question, titles, intruders=asked, others=others if asked else ())


def alone_unlimited(audit: Audit) -> dict[str, int]:
    """The policy's intruders for whom people are the only match while no demand limits that, with their number."""
    named = [one.name for one in audit.scenarios if " " not in one.name and not limits_being_alone(audit, one.name)]
    return {visible(name): alone for name in named if (alone := alone_against(audit, name))}


def limits_being_alone(audit: Audit, scenario: str) -> bool:
    """Whether a demand against an intruder bounds the risk of those who are found most easily: one that is no mean."""
    checks = audit.plugins.announced_checks
    return any(
        one.scenario == scenario
        and one.threshold is not None
        and one.check in checks
        and checks[one.check].disclosure_type in IDENTITY
        and one.parameters.get("measure") != "average"
        for one in audit.expectations
    )


def _is_about_one_file(check: Check) -> bool:
    """Whether a check asks who is unique in the release by itself; a hold-out may say what chance does."""
    return not check.requires - check.controls


@once_per_report
def possible_checks(audit: Audit) -> dict[str, Check | LazyCheck]:
    """The installed checks that could judge the release: those on records, on figures, or both, by name."""
    of_figures = bool(audit.figures or audit.models)
    return {
        name: one
        for name, one in audit.plugins.announced_checks.items()
        if (audit.has_records if one.on_records else of_figures)
    }


ROWS = (
    ("Identity", "can a person be found?", (DisclosureType.IDENTITY_MODEL, DisclosureType.IDENTITY_DEGREE)),
    ("Attribute", "Can something be learned?", (DisclosureType.ATTRIBUTE_MODEL, DisclosureType.ATTRIBUTE_DEGREE)),
)
GRAVEST = ("error", "failed", "warning", "passed", "measured", "skipped")


@dataclass(frozen=True)
class CoveredChecks:
    """All expectations of one title: the state of the gravest, a link to it, and how many came out how."""

    state: str
    title: str
    target: str
    about: str


@dataclass(frozen=True)
class Quadrant:
    """One quarter of the map."""

    checked: Sequence[CoveredChecks]
    unchecked: str


def coverage(audit: Audit, findings: Sequence[DemandRow]) -> list[tuple[str, str, list[Quadrant]]]:
    """The map by rows: name, question, and the two quarters."""
    from tcdp_audit_reports.sections.unexamined import left  # noqa: PLC0415 - it needs this module

    possible, not_run = possible_checks(audit), left(audit)

    def quadrant(disclosure_type: DisclosureType) -> Quadrant:
        here = {name for name, one in possible.items() if one.disclosure_type is disclosure_type}
        checked = _entries([one for one in findings if one.check in here])
        return Quadrant(checked, _unchecked(audit, here if checked or audit.has_records else (), len(here & not_run)))

    return [(name, about, [*map(quadrant, disclosure_types)]) for name, about, disclosure_types in ROWS]


def _unchecked(audit: Audit, here: Collection[str], left: int) -> str:
    """The number of checks of a quarter that were not run, in a sentence."""
    if left:
        return say("{n} {n:more check was|more checks were} not run.", n=left)
    if here:
        return "Every check was run."
    if audit.has_records:
        return "No check of this quarter is installed."
    return "No check of this quarter can be asked of these tables."


def _entries(findings: Sequence[DemandRow]) -> list[CoveredChecks]:
    by_title: dict[str, list[DemandRow]] = {}
    for one in findings:
        by_title.setdefault(one.title_of_all, []).append(one)
    return [_entry(title, same) for title, same in by_title.items()]


def _entry(title: str, same: Sequence[DemandRow]) -> CoveredChecks:
    gravest = min(same, key=lambda one: GRAVEST.index(one.state))
    if len(same) == 1:
        return CoveredChecks(
            gravest.state,
            title,
            gravest.id,
            say(
                "[{column?}{column:text}, ]{state:text}",
                column="" if gravest.attribute == "–" else gravest.attribute,
                state=gravest.state,
            ),
        )
    states = Counter(one.state for one in same)
    states_in_words = ", ".join(_state_in_words(state, states[state]) for state in GRAVEST if states[state])
    results = say("{n:result}: {states:text}", n=len(same), states=states_in_words)
    return CoveredChecks(gravest.state, title, gravest.id, results)


def _state_in_words(state: str, number: int) -> str:
    return say("{n} {state:text}", n=number, state=noun_form(state, number) if state in ("error", "warning") else state)


def html(audit: Audit) -> str:
    """The map and the regulators' three questions."""
    return fill_template(
        "coverage.html.j2",
        coverage=coverage(audit, demand_rows(audit, rows(audit))),
        questions=regulators(audit),
        sources=REGULATORS,
    )


def blocks(audit: Audit) -> Iterator[Definitions]:
    """The regulators' questions."""
    yield Definitions([(one.word, f"{one.question} {one.answer}") for one in regulators(audit)])
