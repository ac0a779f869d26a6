"""The findings to act on, as a list for other tools, with their places in the policy."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import NAMED_CELLS, SCHEMA, SUITE, FailingCell, Outcome, Status
from tcdp_audit.core.base.words import prose
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.policy.source import PolicySource, PolicySourceError, parse_yaml
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.reporter import Unaudited
from tcdp_audit.core.results.verdict import VERDICTS, verdict_sentence

POLICY, AUDIT = "policy", "audit"  # rules of findings that belong to no check


class Level(StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class ToolFinding:
    """A finding to act on, in the words of the audit.

    Args:
        rule: the check's name; `policy` for a fault of the policy, `audit` for an audit that could not be made.
        level: error for a failure and for a check that could not be evaluated, warning for a failure that only warns,
            note for a demand that nothing can fail.
        title: the check's title, with the attribute.
        message: one or more sentences without a cell.
        place: the place in the policy; None for a policy without a file.
        mark: an identifier of the finding that depends neither on the release's content nor on earlier policy lines.
        outcome: the outcome that it reports, if any.
        is_incomplete: whether it reports that a check could not be evaluated.
        cell: the failing cell that it reports, where each failing cell is a finding; None for any other.
    """

    rule: str
    level: Level
    title: str
    message: str
    place: Place | None
    mark: str
    outcome: Outcome | None = None
    is_incomplete: bool = False
    cell: FailingCell | None = None


def findings_of(results: Sequence[Audit | Unaudited]) -> list[ToolFinding]:
    """The findings of a run, policy by policy, with unique marks."""
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
    reported = [one for one in result.outcomes if _level(one) is not None]
    places = _places_of_tables(result)
    for one in reported:
        yield (finding := _of_outcome(result, one))
        yield from (_of_cell(finding, cell, places) for cell in one.failing_cells[:NAMED_CELLS])
    if result.status == "error" and not any(one.status is Status.ERROR for one in reported):
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
        mark=_mark("" if place is None else place.path, outcome.check, *_target(outcome), position),
        outcome=outcome,
        is_incomplete=outcome.status is Status.ERROR,
    )


def _places_of_tables(audit: Audit) -> dict[str, str]:
    """The file of each table of figures, as `Place.path` has it; of those that are files."""
    tables = {**audit.companions, **audit.release.tables}
    places = {name: tables[name].uri for name in audit.figures if name in tables}
    return {name: name_in_repository(Path(uri)) for name, uri in places.items() if ":" not in uri.partition("/")[0]}


def _of_cell(finding: ToolFinding, cell: FailingCell, places: Mapping[str, str]) -> ToolFinding:
    """The finding on one failing cell, at its line of the table's file; where that is not known, at the policy's."""
    path = places.get(cell.table)
    place = finding.place if path is None else Place(path, cell.line or 1)
    naming = (cell.table, cell.measure, *(f"{name}={label}" for name, label in cell.labels.items()))
    return replace(
        finding,
        message=f"{cell.description}.",
        place=place,
        mark=_mark(finding.mark, *naming),
        is_incomplete=False,
        cell=cell,
    )


def _target(outcome: Outcome) -> list[str]:
    """The attribute of an outcome, and its scenario or its unit where it has one."""
    return [outcome.attribute or "", *filter(None, [outcome.name_of_part])]


def _position_among_equals(audit: Audit, outcome: Outcome) -> str:
    """The index of an outcome among those of the same check on the same attribute in the same scenario or unit."""
    equals = [one for one in audit.outcomes if one.name == outcome.name]
    return str(next(position for position, one in enumerate(equals) if one is outcome))


def _of_audit(audit: Audit, level: Level) -> ToolFinding:
    """The finding on a verdict that cannot be relied on, if no outcome reports why."""
    path = audit.policy.path
    place = None if path is None else Place(name_in_repository(path))
    title, mark = VERDICTS[audit.verdict], _mark("" if place is None else place.path, AUDIT)
    return ToolFinding(AUDIT, level, title, verdict_sentence(audit), place, mark, is_incomplete=True)


def _reasons(result: Unaudited) -> Iterator[ToolFinding]:
    name = name_in_repository(result.path)
    is_of_policy = isinstance(result.error, PolicyError)
    rule, title = (POLICY, "Policy is wrong") if is_of_policy else (AUDIT, VERDICTS["error"])
    for line, column, sentence in result.reasons:
        place, mark = Place(name, line or 1, column or None), _mark(name, rule, sentence)
        yield ToolFinding(rule, Level.ERROR, title, sentence, place, mark, is_incomplete=True)


def _mark(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()


QUALITY = {SCHEMA: ("schema",), SUITE: ("suite",)}  # the keys of a policy for checks of quality


@dataclass(frozen=True)
class Place:
    """A place in a policy file.

    Args:
        path: the file, relative to the repository that holds it, with forward slashes.
        line: from 1.
        column: from 1, in characters; None for the whole line.
    """

    path: str
    line: int = 1
    column: int | None = None


def place_of(policy: Policy, outcome: Outcome) -> Place | None:
    """The place in a policy that asks for an outcome; None for a policy without a file.

    It is the line of the expectation, of the schema or of the suite, or otherwise that of the attributes.
    """
    if policy.path is None:
        return None
    name = name_in_repository(policy.path)
    if outcome.line is not None:
        return Place(name, outcome.line, outcome.column)
    line, column = _line_of(policy, outcome)
    return Place(name, line, column) if line else Place(name)


def _line_of(policy: Policy, outcome: Outcome) -> tuple[int, int]:
    """Line and column of the section that asks for an outcome of no expectation, or zeros."""
    declared = ("attributes",) if outcome.attribute is None else ("attributes", outcome.attribute)
    if outcome.cells is not None:
        declared = ("tables",)
    source = _source(policy.text)
    return (0, 0) if source is None else source.position(QUALITY.get(outcome.source, declared))


@lru_cache(maxsize=8)
def _source(text: str) -> PolicySource | None:
    """A policy's text with the places in it; None if the text was not read from the file."""
    try:
        return parse_yaml(text)
    except PolicySourceError:
        return None


def name_in_repository(path: Path) -> str:
    """A file's path relative to its repository, the nearest folder above it that has a `.git`.

    Outside of any repository it is relative to the current folder, or absolute if the file is not below it. A link
    is not resolved, because several folders may link to one policy.
    """
    whole = path.parent.resolve() / path.name
    roots = [folder for folder in whole.parents if os.path.exists(folder / ".git")][:1]  # noqa: PTH110 - for every user that may enter it
    root = roots[0] if roots else Path.cwd()
    return (whole.relative_to(root) if whole.is_relative_to(root) else whole).as_posix()
