"""Templates that this family shares: the assumptions come first, always."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite

from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.checks._shared.frequency_ratios import sign_of_logarithm

ASSUMING = "Under the assumptions of t-closeness on prior and posterior knowledge"


def worst_figure(outcome: Outcome) -> float:
    """The figure of the worst class."""
    return inf if outcome.observed is None else outcome.observed


def factor_of(factor: float) -> dict[str, float | None]:
    """The value by which a bound changes the odds of a value; None where it is infinite."""
    return {"factor": factor if isfinite(factor) else None}


def demand_of(name: str) -> str:
    """The template of what the policy allows and how many classes do not keep it, to end a paragraph."""
    return (
        f"[{{threshold?}}{{failing_classes?}} The policy allows {name} up to {{threshold}}"
        "[{failing_classes>0?}; {failing/records:{record}} {failing/records:is|are} in "
        "{failing_classes:a group that does|{failing_classes} groups that do} not keep it].]"
    )


def _odds(value: str) -> str:
    """The template of what a bound means for one person: by how much finding their group may change the odds."""
    return (
        f"{{intruder}} and finds their group may [{{factor?}}find {value} {{factor}} times as likely, or as unlikely, "
        f"as before|rule out {value}, or be sure of it]."
    )


ODDS_OF_VALUE = _odds("a value of {attribute}")
ODDS_OF_CONFIDENTIAL_VALUE = _odds("a confidential value")


def sign_of_exponential(exponent: Fraction, threshold: Fraction) -> int:
    """Sign of e^exponent - threshold: -1, 0 or 1, exact.

    The exponent is at least 0.

    Example:
        >>> sign_of_exponential(Fraction(0), Fraction(1)), sign_of_exponential(Fraction(1), Fraction(272, 100))
        (0, -1)
    """
    return 1 if threshold < 1 else -sign_of_logarithm(threshold, exponent)
