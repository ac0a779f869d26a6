"""What keeps a release from being published, as a list for other tools: each finding with its rule, place and mark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256

from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.base.words import prose
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.place import Place, name_in_repository, place_of
from tcdp_audit.core.results.unaudited import Unaudited
from tcdp_audit.core.results.verdict import VERDICTS, verdict_sentence

POLICY, AUDIT = "policy", "audit"  # rules of findings that are no check's


class Level(StrEnum):
    """How grave a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class ToolFinding:
    """One thing that somebody must act on, in the words of the audit.

    Args:
        rule: the check's name; `policy` for a fault of the policy, `audit` for an audit that could not be made.
        level: error for a failure and for what could not be evaluated, warning for a failure that only warns, note for
            a demand that nothing can fail.
        title: what a person calls it, with the attribute.
        message: one sentence or a few. No cell is in it.
        place: where the policy asks for it; None for a policy without a file.
        mark: the same for the same finding whatever the release holds and whatever stands above it in the policy.
        outcome: the outcome that it tells, where it tells one.
        is_incomplete: whether it says that something could not be evaluated.
    """

    rule: str
    level: Level
    title: str
    message: str
    place: Place | None
    mark: str
    outcome: Outcome | None = None
    is_incomplete: bool = False


def findings_of(results: Sequence[Audit | Unaudited]) -> list[ToolFinding]:
    """The findings of a run, policy by policy. No two of them have the same mark."""
    listed = [one for result in results for one in _findings(result)]
    seen: Counter[str] = Counter()
    marked = []
    for one in listed:
        seen[one.mark] += 1
        marked.append(one if seen[one.mark] == 1 else replace(one, mark=_mark(one.mark, str(seen[one.mark]))))
    return marked


def _findings(result: Audit | Unaudited) -> Iterator[ToolFinding]:
    if isinstance(result, Unaudited):
        yield from _reasons(result)
        return
    told = [one for one in result.outcomes if _level(one) is not None]
    yield from (_of_outcome(result, one) for one in told)
    if result.status == "error" and not any(one.status is Status.ERROR for one in told):
        yield _of_audit(result, Level.ERROR)
    elif result.status == "measured":
        yield _of_audit(result, Level.WARNING)


def _level(outcome: Outcome) -> Level | None:
    if outcome.is_warning:
        return Level.WARNING
    if outcome.status in (Status.FAILED, Status.ERROR):
        return Level.ERROR
    return Level.NOTE if outcome.unfailable else None


def _of_outcome(audit: Audit, outcome: Outcome) -> ToolFinding:
    title = outcome.title or outcome.check
    place = place_of(audit.policy, outcome)
    position = _position_among_equals(audit, outcome)
    return ToolFinding(
        rule=outcome.check,
        level=_level(outcome) or Level.NOTE,
        title=title if outcome.attribute is None else f"{title}, {outcome.attribute}",
        message=prose(outcome.message) or f"{title} was not kept.",
        place=place,
        mark=_mark("" if place is None else place.path, outcome.check, outcome.attribute or "", position),
        outcome=outcome,
        is_incomplete=outcome.status is Status.ERROR,
    )


def _position_among_equals(audit: Audit, outcome: Outcome) -> str:
    """Which of the outcomes of the same check on the same attribute it is."""
    equals = [one for one in audit.outcomes if (one.check, one.attribute) == (outcome.check, outcome.attribute)]
    return str(next(position for position, one in enumerate(equals) if one is outcome))


def _of_audit(audit: Audit, level: Level) -> ToolFinding:
    """The verdict where no outcome says why nobody may rely on it."""
    path = audit.policy.path
    place = None if path is None else Place(name_in_repository(path))
    title, mark = VERDICTS[audit.verdict], _mark("" if place is None else place.path, AUDIT)
    return ToolFinding(AUDIT, level, title, verdict_sentence(audit), place, mark, is_incomplete=True)


def _reasons(result: Unaudited) -> Iterator[ToolFinding]:
    name = name_in_repository(result.path)
    rule, title = (POLICY, "Policy is wrong") if result.exit_code == 2 else (AUDIT, VERDICTS["error"])
    for line, column, sentence in result.reasons:
        place, mark = Place(name, line or 1, column or None), _mark(name, rule, sentence)
        yield ToolFinding(rule, Level.ERROR, title, sentence, place, mark, is_incomplete=True)


def _mark(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()
