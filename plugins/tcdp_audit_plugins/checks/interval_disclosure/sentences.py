"""The sentences of an interval check, with counts."""

from __future__ import annotations

from typing import Any

from tcdp_audit.plugin.sentences import Outcome, Sentences, count


def _values(outcome: Outcome) -> dict[str, Any]:
    """The widest interval, the column that it gives away most often, and what was not compared."""
    widest = outcome.details["at"][-1]
    shares: dict[str, Any] = dict(widest["per_attribute"])
    worst = max(sorted(shares), key=lambda name: float(shares[name]))
    return {
        "p": f"{float(widest['p']):.12g}",
        "compared": sorted(shares),
        "number": len(shares),
        "worst": worst,
        "worst_share": float(shares[worst]),
        "left_out": ", ".join(_left_out(outcome)),
    }


def _left_out(outcome: Outcome) -> list[str]:
    """Records that one table lacks, and attributes that were left out."""
    details = outcome.details
    reasons = [
        (details["originals_not_released"], "original", "not released"),
        (details["released_without_original"], "released record", "without an original"),
        (len(details["constant"]), "column", "left out as constant"),
        (len(details["without_values"]), "column", "left out for want of values"),
    ]
    return [f"{count(number, noun)} {why}" for number, noun, why in reasons if number]


SENTENCES = Sentences(
    passed="{share_inside}.[ Not compared: {left_out}.]",
    failed="{share_inside}; the policy allows {threshold:%}.[ Not compared: {left_out}.]",
    impact=(
        "An intruder who sees {person}'s masked {worst:column} and guesses that the true value is near, within the "
        "interval at p = {p}, is right with {worst_share:chance}."
    ),
    parts={
        "share_inside": {
            "by": "aggregate",
            "joint": (
                "{failing/records:{record}} ({observed:%}) {failing/records:lies|lie} inside the intervals of "
                "{compared}[{number>1?} at once], at p = {p}"
            ),
            "worst": (
                "In {worst:column}[{number>1?}, the worst of {number} columns], {observed:%} of the original values "
                "of {records:{record}} lie inside the interval, at p = {p}"
            ),
            "": (
                "[{number>1?}On average over|In] {compared}, {observed:%} of the original values of "
                "{records:{record}} lie inside the interval, at p = {p}"
            ),
        },
    },
    values=_values,
)
