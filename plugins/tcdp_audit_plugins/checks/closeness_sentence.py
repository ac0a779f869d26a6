"""What came of a closeness check, in one sentence, and in a second one why a class is infinitely far."""

from __future__ import annotations

from math import inf, isinf

from tcdp_audit import Outcome, Status

REFERENCES = {
    "release": "the whole table",
    "original": "the original table",
    "declared": "the declared distribution",
}


def sentence(outcome: Outcome, distance: str) -> str:
    """The distance of the worst class, and how many classes and records are beyond t; no cell.

    Args:
        outcome: a told outcome, with its counts.
        distance: what the distance is called.
    """
    classes, records = outcome.classes, outcome.records
    assert classes is not None and records is not None  # noqa: S101, PT018 - told outcomes have both
    reference = REFERENCES[outcome.conventions.get("reference", "release")]
    observed, t = _shown(outcome)
    furthest = f"the furthest of {classes.total:,} equivalence classes is at {observed}"
    if outcome.status is Status.MEASURED:
        unset = "; the policy sets no threshold" if outcome.threshold is None else ""
        told = f"By the {distance} {furthest} from {reference}{unset}."
    elif outcome.status is Status.PASSED:
        told = f"No equivalence class is further than {t} from {reference} by the {distance}; {furthest}."
    else:
        verb = "is" if classes.failing == 1 else "are"
        told = (
            f"{classes.failing:,} of {classes.total:,} equivalence classes, with {records.failing:,} of "
            f"{records.total:,} records, {verb} further than {t} from {reference} by the {distance}; the furthest is "
            f"at {observed}."
        )
    return told + _why_infinite(outcome, reference)


def _shown(outcome: Outcome) -> tuple[str, str]:
    """Observed figure and threshold, with as many digits as tell them apart."""
    observed, t = float(outcome.observed or 0), float(outcome.threshold or 0)
    digits = 6 if observed == t or f"{observed:.6g}" != f"{t:.6g}" else 15
    return "an infinite distance" if isinf(observed) else f"{observed:.{digits}g}", f"{t:.{max(digits, 9)}g}"


def _why_infinite(outcome: Outcome, reference: str) -> str:
    """Why some classes are at an infinite distance, and what helps; empty where none is."""
    count = sum(classes for figure, classes, _ in outcome.details["distribution"] if figure == inf)
    if not count:
        return ""
    who = f" {count:,} {'class lacks' if count == 1 else 'classes lack'}"
    if outcome.parameters["distance"] == "multiplicative":
        other_way = "" if reference == REFERENCES["release"] else " (or has one that it lacks)"
        return (
            f"{who} a value that {reference} has{other_way}; merge rare values into buckets (bucketisation), so that "
            f"every class can have each of them."
        )
    if outcome.parameters["distance"] == "kullback_leibler":
        has = "class has" if count == 1 else "classes have"
        return f" {count:,} {has} a value that {reference} lacks, or none at all."
    return f"{who} every value of the attribute, so there is no distribution to compare."
