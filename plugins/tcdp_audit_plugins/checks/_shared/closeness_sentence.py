"""The sentence of a closeness check, and a second one that says why a class is infinitely far."""

from __future__ import annotations

from math import inf, isinf

from tcdp_audit.plugin._internal import worst_group, worst_group_of
from tcdp_audit.plugin.sentences import (
    Outcome,
    Status,
    agree,
    column_of,
    count,
    decimal,
    figure,
    in_worst_group,
    percent,
    record_noun,
    victims,
)

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
    mix = f"mix of {column_of(outcome)}"
    if outcome.status is Status.FAILED:
        far = f"whose {mix} differs from {reference} by more than {t} ({distance})"
        return f"{victims(outcome)} {far}; the furthest differs by {observed}.{_why_infinite(outcome, reference)}"
    if outcome.status is Status.PASSED:
        within = f"Every {record_noun(outcome)} is in a group whose {mix} differs from {reference} by at most {t}"
        furthest = worst_group(outcome, "furthest")
        return f"{within} ({distance}); {furthest} differs by {observed}.{_why_infinite(outcome, reference)}"
    unset = "; the policy sets no threshold" if outcome.threshold is None else ""
    furthest = f"The {mix} in {worst_group_of(outcome, 'furthest')} differs from {reference} by {observed}"
    return f"{furthest} ({distance}){unset}.{_why_infinite(outcome, reference)}"


def person(outcome: Outcome) -> str:
    """What the furthest group tells of somebody in it, beside what everybody knows."""
    reference, column = REFERENCES[outcome.conventions.get("reference", "release")], column_of(outcome)
    observed, moved = float(outcome.observed or 0), percent(outcome.observed)
    beside = f"against {reference}"
    if isinf(observed):
        return f"{in_worst_group(outcome)} a value of {column} is ruled out, or possible only there, {beside}."
    told = {
        "equal": f"{moved} of the values of {column} would have to be others to look like {reference}",
        "ordered": f"{column} lies {moved} of the ranking away from {reference}, on average",
        "numeric": f"{column} lies {moved} of its whole range away from {reference}, on average",
        "hierarchical": f"{column} lies {moved} of the hierarchy's height away from {reference}, on average",
        "multiplicative": f"a value of {column} is up to {figure(observed)} times as likely, or as unlikely, {beside}",
    }
    distance = str(outcome.parameters["distance"])
    general = f"the values of {column} differ from {reference} by {figure(observed)} nats"
    return f"{in_worst_group(outcome)} {told.get(distance, general)}."


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
