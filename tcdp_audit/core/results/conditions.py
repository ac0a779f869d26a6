"""The conditions under which a release that passes is fit, for whom, and what a reader must know.

A verdict is never "Fit for release" alone if an outcome below adds a condition. The words are composed from the
outcome's details, which hold names of columns and counts and no cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import (
    CELLS_AGREE,
    CONTENTS,
    DIFFERING,
    DROPPED,
    FURTHER_CONTENT,
    HIDDEN_PEOPLE,
    KNOWN_ROWS,
    LEFT_OUT,
    LINKABLE_KEY,
    LINKABLE_ORDER,
    LINKABLE_ROWS,
    LINKED_ROWS,
    ONLY_WARNED,
    PROFILE,
    STAYS_INSIDE,
    STRUCTURE,
    UNDECLARED_IDENTIFIERS,
    UNDEMANDED_PARTS,
    UNDEMANDED_SENSITIVE,
    Status,
)
from tcdp_audit.core.base.words import agree, count, listing, plural, visible
from tcdp_audit.core.check.translation import say
from tcdp_audit.core.results.tally import DemandCount

SHOWN = 3  # columns that a verdict names


class Kind(StrEnum):
    """The change that a condition makes to a verdict."""

    ONCE = "once"  # the file is not fit as it is, but is after a step: "Fit once its key is dropped: id"
    INSIDE = "inside"  # the file must not be handed out: "Fit to stay inside: the key is in the file"
    FOR = "for"  # a narrower claim: "Fit for people of whom one row is known"
    BUT = "but"  # what a reader must know: "Fit, but 'email' looks like e-mail addresses"
    OPEN = "open"  # what only people can answer: "Fit as far as a program can tell, but 4 questions wait for an answer"


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
    if not conditions:
        return "Fit for release"
    known = [*words[Kind.BUT], *words[Kind.OPEN]]
    return say(
        "Fit[{open?} as far as a program can tell][{once?} once {once:text}][{inside?} to stay inside: {inside:text}]"
        "[{comma?},][{people?} for {people:text}][{but?}, but {but:text}]",
        open=bool(words[Kind.OPEN]),
        once=" and ".join(words[Kind.ONCE]),
        inside=" and ".join(words[Kind.INSIDE]),
        comma=bool(words[Kind.FOR] and (words[Kind.ONCE] or words[Kind.INSIDE])),
        people=" and ".join(words[Kind.FOR]),
        but=known,
    )


def _questions(findings: Sequence[JudgedOutcome]) -> Sequence[Condition]:
    """The questions of profiles that no person has answered."""
    waiting = DemandCount(skipped=sum(one.source == PROFILE and one.status is Status.SKIPPED for one in findings))
    return [Condition(Kind.OPEN, waiting.waiting)] if waiting.skipped else []


def _key(finding: JudgedOutcome) -> Condition | None:
    if not finding.columns:
        return None
    if finding.details.get(STAYS_INSIDE) is True:
        return Condition(Kind.INSIDE, "the key is in the file")
    return Condition(Kind.ONCE, say("its key is dropped: {columns}", columns=visible(", ".join(finding.columns))))


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
    kinds, shares, differing = (_mapping(finding, name) for name in ("kinds", "shares", DIFFERING))
    known = [name for name in finding.columns if name not in differing]
    some = [name for name in known if isinstance(share := shares.get(name), int | float) and share < 0.5]
    alike = [name for name in known if name not in some]
    parts = []
    if alike:
        parts.append(f"{_named(alike)} {agree(len(alike), 'looks', 'look')} like {_kind(alike, kinds)}")
    if some:
        parts.append(f"{_named(some)} {agree(len(some), 'has', 'have')} {_kind(some, kinds)}")
    if differing:
        parts.append(f"{_named([*differing])} {agree(len(differing), 'differs', 'differ')} in nearly every record")
    return Condition(Kind.BUT, " and ".join(parts))


def _mapping(finding: JudgedOutcome, name: str) -> Mapping[str, Any]:
    detail = finding.details.get(name)
    return detail if isinstance(detail, Mapping) else {}


def _kind(columns: Sequence[str], kinds: Mapping[str, Any]) -> str:
    """What columns hold, if it is of one kind."""
    known = {str(kinds[name]) for name in columns if name in kinds}
    return visible(known.pop()) if len(known) == 1 else "identifiers"


def _undemanded(finding: JudgedOutcome) -> Condition | None:
    return Condition(Kind.BUT, undemanded_clause(finding.columns, finding.details)) if finding.columns else None


def undemanded_clause(columns: Sequence[str], details: Mapping[str, Any]) -> str:
    """The clause on sensitive columns without a demand: nothing is demanded of them, or nothing that can fail."""
    counts, named = bool(details.get(ONLY_WARNED)), secret_columns(columns)
    return say("nothing [{counts?}that can stop publication ]is demanded of {columns}", counts=counts, columns=named)


def secret_columns(columns: Sequence[str]) -> str:
    """Sensitive columns in a verdict: the names of a few, the number of more."""
    return _named(columns) if len(columns) <= SHOWN else f"{count(len(columns), 'column')} that must stay secret"


def _joining(finding: JudgedOutcome) -> Condition | None:
    if not finding.columns:
        return None
    return Condition(Kind.BUT, f"{_named(finding.columns)} {agree(len(finding.columns), 'joins', 'join')} rows")


def _without_microdata(finding: JudgedOutcome) -> Condition | None:
    if finding.status is not Status.SKIPPED:
        return None
    return Condition(Kind.BUT, "what the records behind the figures would show was not examined")


def _undemanded_parts(finding: JudgedOutcome) -> Condition | None:
    parts = finding.details.get("parts")
    if not isinstance(parts, Sequence) or isinstance(parts, str) or not parts:
        return None
    return Condition(Kind.BUT, f"nothing is demanded of {listing([visible(str(one)) for one in parts])}")


def _further_content(finding: JudgedOutcome) -> Condition | None:
    held = finding.details.get(CONTENTS)
    if not isinstance(held, Sequence) or isinstance(held, str) or not held:
        return None
    shown = [visible(str(one)) for one in held[:SHOWN]]
    more = [f"{count(len(held) - SHOWN, 'other thing')}"] if len(held) > SHOWN else []
    return Condition(Kind.ONCE, f"its table is saved alone: the file also holds {listing([*shown, *more])}")


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
    CELLS_AGREE: _without_microdata,
    UNDEMANDED_PARTS: _undemanded_parts,
    FURTHER_CONTENT: _further_content,
}
