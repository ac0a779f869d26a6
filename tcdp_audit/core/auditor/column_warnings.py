"""Schema checks that warn of hidden people, undeclared identifiers and secrets without a demand; profile questions.

The warnings are outcomes of every audit, like those of `release.structure`, and change the words of the verdict.

The questions of a profile are answered by a person, not by a figure. An open question is skipped and passes nothing.
The answer that the profile requires passes; any other fails the release. The policy's author states who answered, which
is not verified.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tcdp_audit.core.auditor.identifying_columns import IdentifyingColumns, undeclared_identifiers
from tcdp_audit.core.auditor.tasks import CountedRecords
from tcdp_audit.core.base.outcome import (
    CONTENTS,
    FURTHER_CONTENT,
    HIDDEN_PEOPLE,
    LEFT_OUT,
    ONLY_WARNED,
    PROFILE,
    STRUCTURE,
    UNDEMANDED_SENSITIVE,
    Outcome,
    Severity,
    Status,
)
from tcdp_audit.core.base.words import listing, share
from tcdp_audit.core.check.vacuous import undemanded, undemanded_sentence, undemanded_title, warned_of
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import Answer
from tcdp_audit.core.policy.policy import CAVEAT, Policy, Profile, ProfileQuestion
from tcdp_audit.core.release.hidden import MOSTLY, HiddenCells, hidden_cells, suppressed_values
from tcdp_audit.core.release.release import Release

NEEDS_A_PERSON = "needs_a_person"


def column_warnings(
    release: Release, counted: CountedRecords, identity: IdentifyingColumns | None
) -> Iterator[Outcome]:
    """Run all schema checks that warn.

    Args:
        release: a table under a policy.
        counted: its records that count under the policy's conventions.
        identity: the columns that identify; None where none was looked at.

    Cost: the distinct values of the columns.
    """
    yield _hidden_people(release, counted)
    yield undeclared_identifiers(release, identity)
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


def further_content(engine: Engine) -> Iterator[Outcome]:
    """Warn of what the files of a release hold in addition to their tables; nothing for files that hold no more."""
    tables: Mapping[str, Engine] = getattr(engine, "tables", {}) or {"": engine}
    held = {name: list(one.further_content) for name, one in tables.items() if one.further_content is not None}
    if not held:
        return
    phrases = {name: listing(says) for name, says in held.items() if says}
    said = [
        f"the file of table {name!r} also holds {says}" if name else f"the file also holds {says}"
        for name, says in phrases.items()
    ]
    yield Outcome(
        check=FURTHER_CONTENT,
        title="The file holds more than the table" if phrases else "The file holds nothing but the table",
        status=Status.FAILED if phrases else Status.PASSED,
        severity=Severity.WARNING,
        observed=float(sum(map(len, held.values()))),
        details={"columns": [], CONTENTS: [one for says in held.values() for one in says]},
        message=f"{'; '.join(said)}: none of it was audited; save the sheet as CSV, or publish what a repair writes"
        if phrases
        else "",
        source=STRUCTURE,
    )


def _undemanded_sensitive(policy: Policy, columns: Collection[str]) -> Outcome:
    """Warn of sensitive columns without a demand."""
    secret = [name for name in undemanded(policy) if name in columns]
    titles = "The demands leave out no sensitive column", undemanded_title(policy, secret)
    if not secret:
        return warning_of(UNDEMANDED_SENSITIVE, titles, secret, "")
    warned = warned_of(policy, secret)
    sentence = undemanded_sentence(policy, secret)
    return warning_of(UNDEMANDED_SENSITIVE, titles, secret, sentence, {ONLY_WARNED: warned} if warned else None)


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
