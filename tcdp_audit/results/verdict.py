"""The verdict of an audit, in a word and in sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tcdp_audit.outcome import Status
from tcdp_audit.phrases import failing, state_of
from tcdp_audit.words import agree, count, in_words, listing, noun_form, sentence_case, share

if TYPE_CHECKING:
    from tcdp_audit.results.audit import Audit

VERDICTS = {
    "passed": "Fit for release",
    "failed": "Not fit for release",
    "error": "Audit incomplete",
    "measured": "Measured, not judged",
}


def verdict_sentence(audit: Audit) -> str:
    """What came of the policy's demands, who is affected, and whether the columns are as declared."""
    parts = (_demands(audit), _nothing_judged(audit), _incomplete(audit), _affected(audit), _structure(audit))
    return " ".join(part for part in parts if part)


def _incomplete(audit: Audit) -> str:
    """What an incomplete audit allows to say: enough where a demand fails whatever the others would show."""
    if audit.status != "error":
        return ""
    failed = any(one.blocks and one.status is Status.FAILED for one in audit.outcomes)
    if failed:
        return "It is not fit for release, whatever the rest would show."
    return "Nothing may be concluded from an incomplete audit."


def _demands(audit: Audit) -> str:
    tally = Counter(state_of(one) for one in audit.expectations)
    total = tally["passed"] + tally["failed"] + tally["warning"] + tally["error"]
    if not total:
        figures = f"{in_words(tally['measured'])} {noun_form('figure', tally['measured'])}"
        return (
            f"The policy demands nothing that could fail: {figures} {agree(tally['measured'], 'was', 'were')} measured."
        )
    if tally["passed"] == total:
        return f"{_all(total)} in the policy {agree(total, 'is', 'are')} met."
    if tally["failed"] == total > 1:
        return f"{_none(total)} demands in the policy is met."
    if tally["error"] == total > 1:
        return f"{_none(total)} demands in the policy could be checked."
    parts = [
        _clause(tally["failed"], "is not met", "are not met"),
        _clause(tally["warning"], "raises a warning", "raise a warning"),
        _clause(tally["error"], "could not be checked", "could not be checked"),
    ]
    clauses = [part for part in parts if part]
    subject, rest = clauses[0].split(" ", 1)
    lead = (
        "The one demand in the policy"
        if total == 1
        else f"{sentence_case(subject)} of the {in_words(total)} demands in the policy"
    )
    return f"{lead} {listing([rest, *clauses[1:]])}."


def _all(total: int) -> str:
    return "Both demands" if total == 2 else agree(total, "The one demand", f"All {in_words(total)} demands")


def _none(total: int) -> str:
    return "Neither of the two" if total == 2 else f"None of the {in_words(total)}"


def _nothing_judged(audit: Audit) -> str:
    """Why demands that were compared do not make a verdict."""
    compared = any(one.is_judged for one in audit.expectations)
    if audit.status != "measured" or not compared:
        return ""
    return "Nothing was judged: a demand of severity warning fails no release."


def _clause(number: int, one: str, many: str) -> str:
    return f"{in_words(number)} {agree(number, one, many)}" if number else ""


def _affected(audit: Audit) -> str:
    """The records of the demand that fails most; other demands may fail others, hence `at least`."""
    failed = [one for one in audit.expectations if one.status is Status.FAILED and not one.is_warning]
    hit = [fails[1] for fails in map(failing, failed) if fails is not None and fails[1]]
    if not hit:
        return ""
    records, total = max(hit), audit.release.records
    least = "At least " if len(hit) > 1 and records < total else ""
    verb = agree(records, "is", "are")
    affected = f"{least}{records:,} of {count(total, 'record')} ({share(records, total)})"
    return f"{affected} {verb} less protected than the policy requires."


def _structure(audit: Audit) -> str:
    broken = [one for one in audit.structure if one.status in (Status.FAILED, Status.ERROR) and not one.is_warning]
    if not broken:
        return ""
    verb = agree(len(broken), "is", "are")
    total = in_words(len(audit.structure))
    return f"{sentence_case(in_words(len(broken)))} of the {total} demands on its columns {verb} not met."
