"""Torra's map of disclosure: in each quarter, what was checked and which registered checks were not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tcdp_audit.plugin.check import DisclosureType
from tcdp_audit.plugin.report import Audit
from tcdp_audit.plugin.sentences import agree, count, noun_form
from tcdp_audit_reports.finding import Row

ROWS = (
    ("Identity", "can a person be found?", (DisclosureType.IDENTITY_MODEL, DisclosureType.IDENTITY_DEGREE)),
    ("Attribute", "can something be learned?", (DisclosureType.ATTRIBUTE_MODEL, DisclosureType.ATTRIBUTE_DEGREE)),
)
GRAVEST = ("error", "failed", "warning", "passed", "measured", "skipped")


@dataclass(frozen=True)
class Entry:
    """All expectations of one title: the state of the gravest, a link to it, and how many came out how."""

    state: str
    title: str
    target: str
    about: str


@dataclass(frozen=True)
class Quadrant:
    """One quarter of the map."""

    checked: Sequence[Entry]
    unchecked: str


def coverage(audit: Audit, findings: Sequence[Row]) -> list[tuple[str, str, list[Quadrant]]]:
    """The map by rows: name, question, and the two quarters."""
    return [
        (name, about, [_quadrant(audit, findings, one) for one in disclosure_types])
        for name, about, disclosure_types in ROWS
    ]


def _quadrant(audit: Audit, findings: Sequence[Row], disclosure_type: DisclosureType) -> Quadrant:
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


def _entries(findings: Sequence[Row]) -> list[Entry]:
    by_title: dict[str, list[Row]] = {}
    for one in findings:
        by_title.setdefault(one.title, []).append(one)
    return [_entry(title, same) for title, same in by_title.items()]


def _entry(title: str, same: Sequence[Row]) -> Entry:
    gravest = min(same, key=lambda one: GRAVEST.index(one.state))
    if len(same) == 1:
        return Entry(gravest.state, title, gravest.id, f"{gravest.attribute}, {gravest.state}")
    states = Counter(one.state for one in same)
    states_in_words = ", ".join(_state_in_words(state, states[state]) for state in GRAVEST if states[state])
    return Entry(gravest.state, title, gravest.id, f"{count(len(same), 'result')}: {states_in_words}")


def _state_in_words(state: str, number: int) -> str:
    return f"{number:,} {noun_form(state, number) if state in ('error', 'warning') else state}"
