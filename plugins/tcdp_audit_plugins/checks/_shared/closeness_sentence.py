"""The sentence of a closeness check, and a second one that says why a class is infinitely far."""

from __future__ import annotations

from math import inf, isinf

from tcdp_audit.plugin import Outcome, Status, agree, count, decimal, figure, victims, worst_group

REFERENCES = {
    "release": "the whole table",
    "original": "the original table",
    "declared": "the declared distribution",
}


def sentence(outcome: Outcome, distance: str) -> str:
    """How many records are in classes beyond t, and the distance of the worst class; no cell.

    Args:
        outcome: with its counts.
        distance: what the distance is called.
    """
    reference = REFERENCES[outcome.conventions.get("reference", "release")]
    observed, t = _distances(outcome)
    values = f"values of {outcome.attribute!r}"
    measured = f"at {observed} from {reference} ({distance})"
    if outcome.status is Status.FAILED:
        far = f"whose {values} are further than {t} from {reference} ({distance})"
        return f"{victims(outcome)} {far}; the furthest is at {observed}.{_why_infinite(outcome, reference)}"
    furthest = worst_group(outcome, "furthest")
    if outcome.status is Status.PASSED:
        within = f"In every group the {values} are within {t} of {reference} ({distance})"
        return f"{within}; {furthest} is at {observed}.{_why_infinite(outcome, reference)}"
    unset = "; the policy sets no threshold" if outcome.threshold is None else ""
    return f"The {values} in {furthest} are {measured}{unset}.{_why_infinite(outcome, reference)}"


def _distances(outcome: Outcome) -> tuple[str, str]:
    """Observed figure and threshold, with as many digits as tell them apart."""
    observed, t = float(outcome.observed or 0), outcome.threshold
    far = "an infinite distance" if isinf(observed) else figure(observed, t)
    return far, "" if t is None else decimal(t)


def _why_infinite(outcome: Outcome, reference: str) -> str:
    """Why some classes are at an infinite distance, and what helps; empty where none is."""
    number = sum(int(classes) for distance, classes, _ in outcome.details["distribution"] if distance == inf)
    if not number:
        return ""
    lacking = f" {count(number, 'group')} {agree(number, 'lacks', 'lack')}"
    if outcome.parameters["distance"] == "multiplicative":
        other_way = (
            "" if reference == REFERENCES["release"] else f" (or {agree(number, 'has', 'have')} one that it lacks)"
        )
        return (
            f"{lacking} a value that {reference} has{other_way}; merge rare values into buckets (bucketisation), so "
            f"that every group can have each of them."
        )
    if outcome.parameters["distance"] == "kullback_leibler":
        having = f" {count(number, 'group')} {agree(number, 'has', 'have')}"
        return f"{having} a value that {reference} lacks, or none at all."
    return f"{lacking} every value of the attribute, so there is no distribution to compare."
