"""Schema checks that warn of hidden people, undeclared identifiers and secrets without a demand; profile questions.

The warnings are outcomes of every audit, like those of `release.structure`, and change the words of the verdict.

The questions of a profile are answered by a person, not by a figure. An open question is skipped and passes nothing.
The answer that the profile requires passes; any other fails the release. The policy's author states who answered, which
is not verified.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tcdp_audit.core.auditor.tasks import CountedRecords
from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.outcome import (
    HIDDEN_PEOPLE,
    LEFT_OUT,
    PROFILE,
    STRUCTURE,
    UNDECLARED_IDENTIFIERS,
    UNDEMANDED_SENSITIVE,
    Outcome,
    Severity,
    Status,
)
from tcdp_audit.core.base.words import agree, share
from tcdp_audit.core.check.vacuous import undemanded, undemanded_sentence
from tcdp_audit.core.detection.column import MOST
from tcdp_audit.core.detection.detecting import Detections, detect
from tcdp_audit.core.detection.detector import Detector, ValueDetector
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import Answer, Role, Scale
from tcdp_audit.core.policy.policy import CAVEAT, Policy, Profile, ProfileQuestion
from tcdp_audit.core.release.hidden import MOSTLY, HiddenCells, hidden_cells, suppressed_values
from tcdp_audit.core.release.release import Release

BIRTH = "date_of_birth"  # identifying and nothing else, so such a column is not harmless
PLACE = "B"  # Safe Harbor's letter for places, which a policy may declare as known to an intruder
NEEDS_A_PERSON = "needs_a_person"


def column_warnings(release: Release, counted: CountedRecords, detectors: Mapping[str, Detector]) -> Iterator[Outcome]:
    """Run all schema checks that warn.

    Args:
        release: a table under a policy.
        counted: its records that count under the policy's conventions.
        detectors: the detectors of identifiers, by name.

    Cost: the distinct values of the columns, of each at most 10,000; see `detections_of`.
    """
    yield _hidden_people(release, counted)
    yield _undeclared_identifiers(release, detectors)
    yield _undemanded_sensitive(release.policy, release.columns)


def _hidden_people(release: Release, counted: CountedRecords) -> Outcome:
    """Warn of records that `exempt` leaves out, and of cells that count as missing but distinguish people."""
    records = release.engine.records
    left_out = records - counted.records
    if left_out <= MOSTLY * records and not (left_out and suppressed_values(release)):
        left_out = 0
    cells = [*hidden_cells(release)]
    sentences = [_said_of(one, records) for one in cells]
    if left_out:
        part = share(left_out, records)
        sentences.insert(
            0, f"`suppressed: exempt` leaves {left_out:,} of {records:,} records ({part}) out of every demand"
        )
    sentence = f"{'; '.join(sentences)}. An intruder reads what the file shows: audit it without this convention"
    return warning_of(
        HIDDEN_PEOPLE,
        ("No convention hides people", "A convention hides people"),
        sorted({one.column for one in cells}),
        sentence if sentences else "",
        {LEFT_OUT: left_out, "records": records, "cells": {one.column: one.cells for one in cells}},
    )


def _said_of(hidden: HiddenCells, records: int) -> str:
    part = f"{hidden.cells:,} of {records:,} records ({share(hidden.cells, records)})"
    if hidden.matches_anything:
        return f"column {hidden.column!r} counts as missing in {part}, each of which matches every value"
    return f"column {hidden.column!r} is written in {part} and counts as missing there"


def _undeclared_identifiers(release: Release, detectors: Mapping[str, Detector]) -> Outcome:
    """Warn of columns that look like direct identifiers and are declared as something else."""
    titles = "No column looks like an identifier", "Columns look like identifiers"
    if not detectors:
        return _notdetections_of()
    kinds = {name: one.detector.plural for name, one in detections_of(release, detectors).items()}
    roles = {name: _role_of(release.policy, name) for name in kinds}
    said = [f"column {name!r} looks like {kinds[name]} and is declared {roles[name]}" for name in sorted(kinds)]
    advice = agree(len(kinds), "declare it as an identifier and drop it", "declare them as identifiers and drop them")
    return warning_of(UNDECLARED_IDENTIFIERS, titles, sorted(kinds), f"{'; '.join(said)}; {advice}", {"kinds": kinds})


def _role_of(policy: Policy, column: str) -> str:
    return policy.attributes[column].role.value.replace("_", "-")


def detections_of(release: Release, detectors: Mapping[str, Detector]) -> dict[str, Any]:
    """The best detection of each column that looks like an identifier.

    Detectors that need a library are left out, so that no verdict depends on the installation. Those of whole columns
    are left out too: record numbers are left to the check for them. For a column declared harmless, the name is
    evidence as well; for a quasi-identifier or a sensitive column only the values are, except values of places.
    """
    named = [
        one for one in detectors.values() if _is_of_values(one) and (one.role is Role.IDENTIFIER or one.name == BIRTH)
    ]
    by_values = [
        one for one in named if not one.needs_name and one.role is Role.IDENTIFIER and one.safe_harbor != PLACE
    ]
    policy, engine = release.policy, release.engine
    harmless = _columns(release, [Role.INSENSITIVE])
    others = [one for one in _columns(release, [Role.QUASI_IDENTIFIER, Role.SENSITIVE]) if _is_text(release, one)]

    def detections() -> dict[str, Any]:
        best: dict[str, Any] = _detected(policy, engine, by_values, others).best if others else {}
        if harmless:
            with engine.glimpse(harmless, MOST) as some:
                there = {one.name for one in some.columns}  # without columns of nested types
                best |= _detected(policy, some, named, [name for name in harmless if name in there]).best
        return best

    conventions, seed = policy.conventions, policy.document.seed
    tokens = (*conventions.missing_tokens, "", *conventions.suppressed_tokens)
    key = ("looked at", tuple(harmless), tuple(others), tokens, seed, Identity(engine, *named))
    return release.cache.get(key, detections)


def _is_of_values(detector: Detector) -> bool:
    return isinstance(detector, ValueDetector) and detector.library is None


def _columns(release: Release, roles: Collection[Role]) -> list[str]:
    """The table's columns of some roles, except those that the policy names for a purpose."""
    document = release.policy.document
    purposes = {document.key, document.unit, document.household, document.weight}
    named = [name for name, one in release.policy.attributes.items() if one.role in roles and name not in purposes]
    return [name for name in named if name in release.columns and name not in release.unreadable]


def _is_text(release: Release, column: str) -> bool:
    return (
        release.policy.attributes[column].scale is not Scale.NUMERIC and release.domains[column].values.dtype == object
    )


def _detected(policy: Policy, engine: Engine, detectors: Iterable[Detector], columns: Sequence[str]) -> Detections:
    conventions = policy.conventions
    absent = (*conventions.missing_tokens, *conventions.suppressed_tokens)
    return detect(engine, detectors, columns, missing=absent, seed=policy.document.seed)


def _undemanded_sensitive(policy: Policy, columns: Collection[str]) -> Outcome:
    """Warn of sensitive columns without a demand."""
    secret = [name for name in undemanded(policy) if name in columns]
    titles = "The demands leave out no sensitive column", "Sensitive columns without a demand"
    return warning_of(UNDEMANDED_SENSITIVE, titles, secret, undemanded_sentence(policy, secret) if secret else "")


def warning_of(
    name: str, titles: tuple[str, str], columns: Sequence[str], sentence: str, details: Mapping[str, Any] | None = None
) -> Outcome:
    """The outcome of a check that warns, with the first title if it passes and the second if not."""
    holds, broken = titles
    fails = bool(columns) or bool((details or {}).get(LEFT_OUT))
    return Outcome(
        check=name,
        title=broken if fails else holds,
        status=Status.FAILED if fails else Status.PASSED,
        severity=Severity.WARNING,
        observed=float(len(columns)),
        details={"columns": list(columns), **(details or {})},
        message=sentence if fails else "",
        source=STRUCTURE,
    )


def _notdetections_of() -> Outcome:
    return Outcome(
        check=UNDECLARED_IDENTIFIERS,
        title="No column was looked at for identifiers",
        status=Status.SKIPPED,
        severity=Severity.WARNING,
        details={"columns": []},
        message="no plugin that takes part has a detector of identifiers",
        source=STRUCTURE,
    )


def questions_of(policy: Policy) -> tuple[Outcome, ...]:
    """The outcome of each profile question that no demand of the policy answers."""
    answers = policy.document.answers or {}
    return tuple(
        _answered(policy, profile, question, answers[question.key])
        if question.key in answers
        else _open(policy, profile, question)
        for profile, question in policy.questions
    )


def _open(policy: Policy, profile: Profile, question: ProfileQuestion) -> Outcome:
    return Outcome(
        check=NEEDS_A_PERSON,
        title=f"Needs a person, asks {profile.key}",
        status=Status.SKIPPED,
        details={"question": question.key, "fit": question.fit},
        message=f"{question.question} {CAVEAT}",
        source=PROFILE,
        line=policy.profile_line,
    )


def _answered(policy: Policy, profile: Profile, question: ProfileQuestion, given: Answer) -> Outcome:
    is_fit, day = given.answer == question.fit, given.date.isoformat()
    answered = f"Answered {given.answer} by {given.by} on {day}"
    wanted = "" if is_fit else f", where only {question.fit} is fit for release"
    return Outcome(
        check=NEEDS_A_PERSON,
        title=f"Answered by a person, asked by {profile.key}",
        status=Status.PASSED if is_fit else Status.FAILED,
        details={
            "question": question.key,
            "fit": question.fit,
            "answer": given.answer,
            "by": given.by,
            "date": day,
        },
        message=f"{question.question} {answered}{wanted}. {CAVEAT}",
        source=PROFILE,
        line=policy.profile_line,
    )
