"""The first screen: the verdict in a word and in sentences, the tally, and the findings that matter most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tcdp_audit.plugin import (
    Audit,
    Outcome,
    Status,
    bound,
    count,
    failing,
    noun_form,
    observed,
    prose,
    sentence_case,
    state_of,
    visible,
)
from tcdp_audit_reports.margin import doublings, margin_words

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


def tally(audit: Audit) -> list[tuple[str, int, str]]:
    """State, number and word for each state that occurs among the expectations, then the columns."""
    states = Counter(state_of(one) for one in audit.expectations)
    rows = [(state, states[state], _tallied(state, states[state])) for state in STATES if states[state]]
    if audit.structure:
        kept = sum(one.status is Status.PASSED for one in audit.structure)
        total = len(audit.structure)
        rows.append((_structural_state(audit), kept, f"of {total:,} column checks passed"))
    return rows


def _structural_state(audit: Audit) -> str:
    states = {state_of(one) for one in audit.structure}
    return next(state for state in ("error", "failed", "warning", "measured", "skipped", "passed") if state in states)


def _tallied(state: str, number: int) -> str:
    return TALLIED.get(state) or (noun_form("warning", number) if state == "warning" else state)


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
        return "Could not be decided" if outcome.is_estimated else "Could not be run"
    if outcome.status is Status.FAILED and fails is not None and fails[1]:
        return f"{count(fails[1], 'record')} at risk"
    if outcome.is_judged and outcome.threshold is not None:
        return f"{observed(outcome)}, where {bound(outcome)}"
    if outcome.status is Status.FAILED:
        return sentence_case(margin_words(outcome))
    return f"{observed(outcome)} measured"


def structure_rows(audit: Audit) -> Sequence[tuple[str, str, str, str]]:
    """The core's own findings on the columns: id, state, title and sentence."""
    return [
        (f"s{number}", state_of(one), one.title or one.check, prose(one.message) or "Kept.")
        for number, one in enumerate(audit.structure, 1)
    ]
