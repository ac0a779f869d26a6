"""The conditions under which a release that passes is fit, for whom, and what a reader must know.

A verdict is never "Fit for release" alone if an outcome below adds a condition. The words are composed from the
outcome's details, which hold names of columns and counts and no cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tcdp_audit.core.base.outcome import (
    DROPPED,
    HIDDEN_PEOPLE,
    KNOWN_ROWS,
    LEFT_OUT,
    LINKABLE_KEY,
    LINKABLE_ORDER,
    LINKABLE_ROWS,
    LINKED_ROWS,
    PROFILE,
    STAYS_INSIDE,
    STRUCTURE,
    UNDECLARED_IDENTIFIERS,
    UNDEMANDED_SENSITIVE,
    Status,
)
from tcdp_audit.core.base.words import agree, count, listing, plural, visible
from tcdp_audit.core.results.tally import DemandCount

SHOWN = 3  # columns that a verdict names


class Kind(StrEnum):
    """The change that a condition makes to a verdict."""

    ONCE = "once"  # the file is not fit as it is, but is after a step: "Fit once its key is dropped: id"
    INSIDE = "inside"  # the file must not be handed out: "Fit to stay inside: the key is in the file"
    FOR = "for"  # a narrower claim: "Fit for people of whom one row is known"
    BUT = "but"  # what a reader must know: "Fit, but 'email' looks like e-mail addresses"


@dataclass(frozen=True)
class Condition:
    """One addition to the words "Fit for release".

    Args:
        kind: how it changes them.
        words: the text after the kind's word, without a full stop: `its key is dropped: id`.
    """

    kind: Kind
    words: str


@dataclass(frozen=True)
class JudgedOutcome:
    """The source of a condition: an outcome, or the entry of a written result.

    Args:
        check: the check's name.
        source: the origin: the core's checks of columns, or a profile.
        status: its status.
        details: its details; names of columns and counts.
    """

    check: str
    source: str
    status: Status
    details: Mapping[str, Any]

    @property
    def columns(self) -> Sequence[str]:
        """The columns that it names."""
        names = self.details.get("columns")
        return [str(name) for name in names] if isinstance(names, Sequence) and not isinstance(names, str) else []


def conditions_of(findings: Iterable[JudgedOutcome]) -> tuple[Condition, ...]:
    """The conditions under which a release with these findings is fit, in their order."""
    listed = list(findings)
    applying = [
        _CONDITIONS[one.check](one)
        for one in listed
        if one.source == STRUCTURE and one.status in _OPEN and one.check in _CONDITIONS
    ]
    return (*(one for one in applying if one is not None), *_questions(listed))


def fit_sentence(conditions: Sequence[Condition]) -> str:
    """The verdict of a release that passes, in a few words; "Fit for release" only without a condition."""
    words = {kind: [one.words for one in conditions if one.kind is kind] for kind in Kind}
    parts = ["Fit"]
    if words[Kind.ONCE]:
        parts.append(f" once {' and '.join(words[Kind.ONCE])}")
    if words[Kind.INSIDE]:
        parts.append(f" to stay inside: {' and '.join(words[Kind.INSIDE])}")
    if words[Kind.FOR]:
        parts.append(f"{',' if len(parts) > 1 else ''} for {' and '.join(words[Kind.FOR])}")
    if words[Kind.BUT]:
        parts.append(f", but {listing(words[Kind.BUT])}")
    return "".join(parts) if len(parts) > 1 else "Fit for release"


def _questions(findings: Sequence[JudgedOutcome]) -> Sequence[Condition]:
    """The questions of profiles that no person has answered."""
    waiting = DemandCount(skipped=sum(one.source == PROFILE and one.status is Status.SKIPPED for one in findings))
    return [Condition(Kind.BUT, waiting.waiting)] if waiting.skipped else []


def _key(finding: JudgedOutcome) -> Condition | None:
    if not finding.columns:
        return None
    if finding.details.get(STAYS_INSIDE) is True:
        return Condition(Kind.INSIDE, "the key is in the file")
    return Condition(Kind.ONCE, f"its key is dropped: {visible(', '.join(finding.columns))}")


def _order(finding: JudgedOutcome) -> Condition:
    if finding.details.get(STAYS_INSIDE) is True:
        return Condition(Kind.INSIDE, "its records are in the original's order")
    return Condition(Kind.ONCE, "its records are shuffled")


def _unit(finding: JudgedOutcome) -> Condition | None:
    if finding.details.get(DROPPED) is True:
        return Condition(Kind.ONCE, f"{visible(', '.join(finding.columns))} is dropped")
    if finding.details.get(KNOWN_ROWS) == "one":
        return Condition(Kind.FOR, f"people of whom one row is known{_alone(finding)}")
    return None  # an identifier is an error, and a key has another condition


def _alone(finding: JudgedOutcome) -> str:
    """The clause on whole histories, which no demand judges; empty where they were not measured."""
    alone, units, least = (finding.details.get(one) for one in ("alone", "units", "least_alike"))
    if not (isinstance(alone, int) and isinstance(units, int) and isinstance(least, int) and finding.columns):
        return ""
    noun, joined = visible(str(finding.details.get("noun") or "person")), visible(", ".join(finding.columns))
    if alone:
        people = f"{alone:,} of {units:,} {plural(noun)} {agree(alone, 'is', 'are')} alone with all of theirs"
    else:
        people = f"with all of theirs as few as {count(least, noun)} are alike"
    return f": {joined} joins the rows, and {people}"


def _hidden(finding: JudgedOutcome) -> Condition | None:
    left_out, records = finding.details.get(LEFT_OUT), finding.details.get("records")
    parts = []
    if isinstance(left_out, int) and isinstance(records, int) and left_out:
        parts.append(f"{left_out:,} of {records:,} records are left out")
    if finding.columns:
        parts.append(f"written values of {_named(finding.columns)} count as missing")
    return Condition(Kind.BUT, " and ".join(parts)) if parts else None


def _undeclared(finding: JudgedOutcome) -> Condition | None:
    if finding.status is Status.SKIPPED:
        return Condition(Kind.BUT, "no column was looked at for identifiers")
    if not finding.columns:
        return None
    kinds = finding.details.get("kinds")
    known = {str(one) for one in kinds.values()} if isinstance(kinds, Mapping) else set()
    kind = visible(known.pop()) if len(known) == 1 else "identifiers"
    return Condition(Kind.BUT, f"{_named(finding.columns)} {agree(len(finding.columns), 'looks', 'look')} like {kind}")


def _undemanded(finding: JudgedOutcome) -> Condition | None:
    return Condition(Kind.BUT, f"nothing is demanded of {secret_columns(finding.columns)}") if finding.columns else None


def secret_columns(columns: Sequence[str]) -> str:
    """Sensitive columns in a verdict: the names of a few, the number of more."""
    return _named(columns) if len(columns) <= SHOWN else f"{count(len(columns), 'column')} that must stay secret"


def _joining(finding: JudgedOutcome) -> Condition | None:
    if not finding.columns:
        return None
    return Condition(Kind.BUT, f"{_named(finding.columns)} {agree(len(finding.columns), 'joins', 'join')} rows")


def _named(columns: Sequence[str]) -> str:
    """The first columns in quotes, and the number of further ones."""
    more = [f"{count(len(columns) - SHOWN, 'other column')}"] if len(columns) > SHOWN else []
    return listing([*(f"'{visible(name)}'" for name in columns[:SHOWN]), *more])


_OPEN = (Status.FAILED, Status.SKIPPED)
_CONDITIONS: Mapping[str, Callable[[JudgedOutcome], Condition | None]] = {  # by the schema check that fails
    LINKABLE_KEY: _key,
    LINKABLE_ORDER: _order,
    LINKED_ROWS: _unit,
    HIDDEN_PEOPLE: _hidden,
    UNDECLARED_IDENTIFIERS: _undeclared,
    UNDEMANDED_SENSITIVE: _undemanded,
    LINKABLE_ROWS: _joining,
}
