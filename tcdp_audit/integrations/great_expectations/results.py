"""What came of a demand, as Great Expectations stores it: figures, counts, sentences, and no cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tcdp_audit.integrations.great_expectations.demands import Answer, Fault
from tcdp_audit.plugin.sentences import Outcome, Status

LEVELS = ("BOOLEAN_ONLY", "BASIC", "SUMMARY", "COMPLETE")
SHORT = ("check", "attribute", "status", "threshold", "comparison", "classes", "records", "message")
LONGER = ("parameters", "conventions", "source")
WHOLE = ("details", "worst")  # with distributions, which are long lists


def result_of(answer: Answer, level: str, *, measured_only: bool = False) -> dict[str, Any]:
    """The result of an expectation: success, figures, and what was raised, if anything was.

    Args:
        answer: one outcome, or a fault.
        level: how much is told, one of `LEVELS`.
        measured_only: whether nothing was demanded, on purpose.
    """
    if isinstance(answer, Fault):
        return _not_judged(answer.sentence)
    (outcome,) = answer
    if outcome.status is Status.ERROR:
        return _not_judged(outcome.message)
    success = outcome.status is Status.PASSED or (measured_only and outcome.status is Status.MEASURED)
    return {"success": success, "result": {} if level == LEVELS[0] else _figures(outcome, level)}


def structure_result(answer: Answer, level: str) -> dict[str, Any]:
    """The result of the expectation on the columns, from all structural outcomes."""
    if isinstance(answer, Fault):
        return _not_judged(answer.sentence)
    broken = [one for one in answer if one.blocks]
    success = bool(answer) and not broken
    if level == LEVELS[0]:
        return {"success": success, "result": {}}
    details = {"status": "passed" if success else "failed", "message": _sentences(answer), "demands": _each(answer)}
    return {"success": success, "result": {"observed_value": len(broken), "details": details}}


def _sentences(outcomes: Sequence[Outcome]) -> str:
    told = [one.message[:1].upper() + one.message[1:].rstrip(".") for one in outcomes if one.message]
    return "".join(f"{one}. " for one in told).rstrip()


def _each(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    shown = ("check", "severity", "status", "details", "message")
    return [{name: one.as_json()[name] for name in shown} for one in outcomes]


def _not_judged(sentence: str) -> dict[str, Any]:
    """A failure with its reason where Great Expectations stores that something was raised; it has no traceback."""
    return {
        "success": False,
        "result": {"details": {"status": Status.ERROR.value, "message": sentence}},
        "exception_info": {"raised_exception": True, "exception_message": sentence, "exception_traceback": ""},
    }


def _figures(outcome: Outcome, level: str) -> dict[str, Any]:
    whole = outcome.as_json()
    names = SHORT + (LONGER if level in LEVELS[2:] else ()) + (WHOLE if level == LEVELS[3] else ())
    counts = {} if outcome.records is None else _counts(outcome.records.total, outcome.records.failing)
    return {"observed_value": whole["observed"], **counts, "details": {name: whole[name] for name in names}}


def _counts(total: int, failing: int | None) -> dict[str, Any]:
    """Records as Great Expectations counts elements; of a measure without a threshold none fails or keeps it."""
    if failing is None:
        return {"element_count": total}
    percent = 100 * failing / total if total else 0.0
    return {"element_count": total, "unexpected_count": failing, "unexpected_percent": percent}
