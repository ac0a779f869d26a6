"""Parts of sentences that this family shares: the assumptions come first, always."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite

from tcdp_audit.plugin import Outcome, agree, count, decimal, figure

ASSUMING = "Under the assumptions of t-closeness on prior and posterior knowledge"
DS15 = (
    "Domingo-Ferrer, Soria-Comas, From t-closeness to differential privacy and vice versa in data anonymization, "
    "Knowledge-Based Systems 74, 2015"
)
D13 = "Domingo-Ferrer, On the connection between t-closeness and differential privacy for data releases, SECRYPT 2013"


def worst_figure(outcome: Outcome) -> float:
    """The figure of the worst class."""
    return inf if outcome.observed is None else outcome.observed


def number(value: float, threshold: Fraction | None = None) -> str:
    """A figure as a sentence shows it; apart from a threshold that it is compared with."""
    return figure(value, threshold) if isfinite(value) else "infinite"


def demand(outcome: Outcome, name: str) -> str:
    """What the policy allows and how many classes do not keep it, as the end of a paragraph, or nothing."""
    if outcome.threshold is None or outcome.classes is None or outcome.classes.failing is None:
        return ""
    allowed = f" The policy allows {name} up to {decimal(outcome.threshold)}"
    broken = outcome.classes.failing
    if not broken:
        return f"{allowed}."
    return (
        f"{allowed}; {broken:,} of {count(outcome.classes.total, 'group')} {agree(broken, 'does', 'do')} not keep it."
    )
