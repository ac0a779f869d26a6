"""Coverage: Torra's map, the regulators' questions, each risk that was not examined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tcdp_audit.plugin.check import Check, DisclosureType
from tcdp_audit.plugin.report import Audit, Definitions, Heading
from tcdp_audit.plugin.sentences import Status, agree, count, listing, noun_form, sentence_case, visible
from tcdp_audit_reports.sections.findings import DemandRow, rows
from tcdp_audit_reports.templating import fill_template

REGULATORS = (
    "Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216), section 2.2: singling out, "
    "linkability, inference. ISO/IEC 27559:2022, Privacy enhancing data de-identification framework: the data are one "
    "part of a release; its context and controls, which this audit does not see, are the other."
)
IDENTITY = (DisclosureType.IDENTITY_MODEL, DisclosureType.IDENTITY_DEGREE)
ATTRIBUTE = (DisclosureType.ATTRIBUTE_MODEL, DisclosureType.ATTRIBUTE_DEGREE)


@dataclass(frozen=True)
class RegulatorsQuestion:
    """A question of the regulators: its word, what it means, and what this audit answers."""

    word: str
    question: str
    answer: str


def regulators(audit: Audit) -> Sequence[RegulatorsQuestion]:
    """Singling out, linkability, inference: what was asked about each."""
    checks = audit.plugins.checks
    asked = {one.check: checks[one.check] for one in audit.expectations if one.check in checks}
    alone = [one.title for one in asked.values() if one.disclosure_type in IDENTITY and _is_about_one_file(one)]
    linked = [one.title for one in asked.values() if one.disclosure_type in IDENTITY and not _is_about_one_file(one)]
    learned = [one.title for one in asked.values() if one.disclosure_type in ATTRIBUTE]
    return (
        RegulatorsQuestion("Singling out", "Can one person be picked out of the file?", _answer(alone)),
        RegulatorsQuestion("Linkability", "Can records be matched with another file?", _answer(linked)),
        RegulatorsQuestion("Inference", "Can something be learned about a person?", _answer(learned)),
    )


def _is_about_one_file(check: Check) -> bool:
    """Whether a check asks who is unique in the release by itself; a hold-out may say what chance does."""
    return not check.requires - check.controls


def _answer(titles: Sequence[str]) -> str:
    return f"asked by {listing(titles)}." if titles else "not asked by this policy."


def open_risks(audit: Audit) -> list[tuple[str, str]]:
    """Each installed check that was not run, by its title, with what could still happen; those without a line last."""
    run = {one.check for one in audit.expectations if one.status is not Status.SKIPPED}
    lines = [
        (check.title, check.risk)
        for name, check in audit.plugins.announced_checks.items()
        if name not in run and check.risk
    ]
    silent = len(audit.plugins.checks) - len(run & audit.plugins.checks.keys()) - len(lines)
    if silent:
        lines.append(("Others", f"{count(silent, 'more check')} {agree(silent, 'was', 'were')} not run."))
    return lines


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
    return [
        (name, about, [_quadrant(audit, findings, one) for one in disclosure_types])
        for name, about, disclosure_types in ROWS
    ]


def _quadrant(audit: Audit, findings: Sequence[DemandRow], disclosure_type: DisclosureType) -> Quadrant:
    here = {
        name: check
        for name, check in audit.plugins.announced_checks.items()
        if check.disclosure_type is disclosure_type
    }
    checked_here = [one for one in findings if one.check in here]
    run = {one.check for one in checked_here}
    left = len(here.keys() - run)
    if left:
        unchecked = f"{count(left, 'more check')} of this quarter {agree(left, 'was', 'were')} not run."
    else:
        unchecked = (
            "Every installed check of this quarter was run." if here else "No check of this quarter is installed."
        )
    return Quadrant(_entries(checked_here), unchecked)


def _entries(findings: Sequence[DemandRow]) -> list[CoveredChecks]:
    by_title: dict[str, list[DemandRow]] = {}
    for one in findings:
        by_title.setdefault(one.title, []).append(one)
    return [_entry(title, same) for title, same in by_title.items()]


def _entry(title: str, same: Sequence[DemandRow]) -> CoveredChecks:
    gravest = min(same, key=lambda one: GRAVEST.index(one.state))
    if len(same) == 1:
        return CoveredChecks(gravest.state, title, gravest.id, f"{gravest.attribute}, {gravest.state}")
    states = Counter(one.state for one in same)
    states_in_words = ", ".join(_state_in_words(state, states[state]) for state in GRAVEST if states[state])
    return CoveredChecks(gravest.state, title, gravest.id, f"{count(len(same), 'result')}: {states_in_words}")


def _state_in_words(state: str, number: int) -> str:
    return f"{number:,} {noun_form(state, number) if state in ('error', 'warning') else state}"


def html(audit: Audit) -> str:
    """The map, the regulators' three questions, and the risks that nothing was asked about."""
    return fill_template(
        "coverage.html.j2",
        coverage=coverage(audit, rows(audit)),
        questions=regulators(audit),
        sources=REGULATORS,
        open_risks=[(visible(title), visible(risk)) for title, risk in open_risks(audit)],
    )


def blocks(audit: Audit) -> Iterator[Definitions | Heading]:
    """The regulators' questions, and the risks that were not examined."""
    yield Definitions([(one.word, f"{one.question} {sentence_case(one.answer)}") for one in regulators(audit)])
    if risks := open_risks(audit):
        yield Heading("Not examined")
        yield Definitions(risks)
