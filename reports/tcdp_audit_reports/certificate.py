"""The first screen: the verdict in a word and in sentences, the tally, and the findings that matter most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tcdp_audit.outcome import Outcome, Status
from tcdp_audit.results.audit import Audit
from tcdp_audit.visible import visible
from tcdp_audit_reports.margin import doublings, margin_words
from tcdp_audit_reports.words import (
    count,
    demanded,
    failing,
    listed,
    named,
    observed,
    prose,
    sentence_case,
    share,
    spelled,
    state_of,
)

WORDS = {
    "passed": "Fit for release",
    "failed": "Not fit for release",
    "error": "Audit incomplete",
    "measured": "Measured, not judged",
}
STATES = ("failed", "warning", "error", "measured", "skipped", "passed")
TALLIED = {"error": "could not be run", "measured": "measured only"}
REASONS = 4
LONGEST = 280  # letters of a reason; the section that it links to has the rest


@dataclass(frozen=True)
class Reason:
    """A finding that matters: a head with its number, a text, and where to read on."""

    head: str
    text: str
    target: str
    link: str


def verdict_sentence(audit: Audit) -> str:
    """What came of the policy's demands, who is affected, and whether the columns are as declared."""
    parts = (_demands(audit), _nothing_judged(audit), _incomplete(audit), _affected(audit), _structure(audit))
    return " ".join(part for part in parts if part)


def _incomplete(audit: Audit) -> str:
    return "Nothing may be concluded from an incomplete audit." if audit.status == "error" else ""


def _demands(audit: Audit) -> str:
    tally = Counter(state_of(one) for one in audit.expectations)
    total = tally["passed"] + tally["failed"] + tally["warning"] + tally["error"]
    if not total:
        figures = f"{spelled(tally['measured'])} {named('figure', tally['measured'])}"
        return f"The policy demands nothing that could fail: {figures} {_were(tally['measured'])} measured."
    if tally["passed"] == total:
        only = "The one demand in the policy is met." if total == 1 else ""
        return only or f"All {spelled(total)} demands in the policy are met."
    if tally["failed"] == total > 1:
        return f"None of the {spelled(total)} demands in the policy is met."
    parts = [
        _said(tally["failed"], "is not met", "are not met"),
        _said(tally["warning"], "raises a warning", "raise a warning"),
        _said(tally["error"], "could not be checked", "could not be checked"),
    ]
    told = [part for part in parts if part]
    subject, rest = told[0].split(" ", 1)
    lead = (
        "The one demand in the policy"
        if total == 1
        else f"{sentence_case(subject)} of the {spelled(total)} demands in the policy"
    )
    return f"{lead} {listed([rest, *told[1:]])}."


def _nothing_judged(audit: Audit) -> str:
    """Why demands that were compared do not make a verdict."""
    compared = any(one.is_judged for one in audit.expectations)
    if audit.status != "measured" or not compared:
        return ""
    return "Nothing was judged: a demand of severity warning fails no release."


def _said(number: int, one: str, many: str) -> str:
    return f"{spelled(number)} {one if number == 1 else many}" if number else ""


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _affected(audit: Audit) -> str:
    """The records of the demand that fails most; other demands may fail others, hence `at least`."""
    failed = [one for one in audit.expectations if one.status is Status.FAILED and not one.is_warning]
    hit = [fails[1] for fails in map(failing, failed) if fails is not None and fails[1]]
    if not hit:
        return ""
    records, total = max(hit), audit.release.records
    least = "At least " if len(hit) > 1 and records < total else ""
    verb = "is" if records == 1 else "are"
    told = f"{least}{records:,} of {count(total, 'record')} ({share(records, total)})"
    return f"{told} {verb} less protected than the policy requires."


def _structure(audit: Audit) -> str:
    broken = [one for one in audit.structure if one.status in (Status.FAILED, Status.ERROR) and not one.is_warning]
    if not broken:
        return ""
    verb = "is" if len(broken) == 1 else "are"
    total = spelled(len(audit.structure))
    return f"{sentence_case(spelled(len(broken)))} of the {total} demands on its columns {verb} not met."


def tally(audit: Audit) -> list[tuple[str, int, str]]:
    """State, number and word for each state that occurs among the expectations, then the columns."""
    states = Counter(state_of(one) for one in audit.expectations)
    rows = [(state, states[state], _tallied(state, states[state])) for state in STATES if states[state]]
    if audit.structure:
        kept = sum(one.status is Status.PASSED for one in audit.structure)
        total = len(audit.structure)
        rows.append((_structural_state(audit), kept, f"of {total:,} demands on the columns kept"))
    return rows


def _structural_state(audit: Audit) -> str:
    found = {state_of(one) for one in audit.structure}
    return next(state for state in ("error", "failed", "warning", "measured", "skipped", "passed") if state in found)


def _tallied(state: str, number: int) -> str:
    return TALLIED.get(state) or (named("warning", number) if state == "warning" else state)


def reasons(audit: Audit) -> list[Reason]:
    """Up to four findings: what the columns lack, what could not be run, what fails most, what is closest."""
    numbered = [*enumerate(audit.expectations, 1)]
    targets = [(one, f"s{number}") for number, one in enumerate(audit.structure, 1) if one.status is not Status.PASSED]
    targets += [(one, f"e{number}") for number, one in numbered]
    ranked = sorted(targets, key=lambda target: _rank(target[0]))
    return [_reason(one, target) for one, target in ranked[:REASONS]]


def _rank(outcome: Outcome) -> tuple[int, float]:
    """Structure and errors first, then failures by the records they hit, then what is closest."""
    fails, margin = failing(outcome), doublings(outcome)
    if outcome.is_structural and not outcome.is_warning:
        return 0, 0.0
    order = {"error": 1, "failed": 2, "warning": 3, "passed": 4, "measured": 5, "skipped": 6}[state_of(outcome)]
    if outcome.status is Status.FAILED:
        return order, float(-fails[1]) if fails else 0.0
    return order, margin if outcome.status is Status.PASSED and margin is not None else 0.0


def _reason(outcome: Outcome, target: str) -> Reason:
    title = outcome.title or outcome.check
    link = title if outcome.attribute is None else f"{title}, {visible(outcome.attribute)}"
    text = prose(outcome.message)
    return Reason(_head(outcome), text if len(text) <= LONGEST else text[: LONGEST - 1] + "…", target, link)


def _head(outcome: Outcome) -> str:
    fails = failing(outcome)
    if outcome.is_structural:
        columns = outcome.details.get("columns")
        return (
            f"{count(len(columns), 'column')} at fault" if isinstance(columns, list) and columns else "Columns at fault"
        )
    if outcome.status is Status.ERROR:
        return "Could not be run"
    if outcome.status is Status.FAILED and fails is not None and fails[1]:
        return f"{count(fails[1], 'record')} at risk"
    if outcome.status is Status.FAILED:
        return sentence_case(margin_words(outcome))
    if outcome.status is Status.PASSED and outcome.threshold is not None:
        bound = demanded(outcome).replace(" ", "\u00a0")
        return f"{observed(outcome)} where {bound} is demanded"
    return f"{observed(outcome)} measured"


def shown_structure(audit: Audit) -> Sequence[tuple[str, str, str, str]]:
    """The core's own findings on the columns: id, state, title and sentence."""
    return [
        (f"s{number}", state_of(one), one.title or one.check, prose(one.message) or "Kept.")
        for number, one in enumerate(audit.structure, 1)
    ]
