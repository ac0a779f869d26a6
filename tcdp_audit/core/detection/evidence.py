"""A share of hits among a column's values, beside the share that a random column has."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

SIGNIFICANT = 1e-6  # a p value below it is no accident, also where a hundred detectors look at a thousand columns


@dataclass(frozen=True)
class Evidence:
    """What speaks for a column being of a kind.

    Args:
        hits: how many of the values that were looked at are of the kind.
        values: how many were looked at.
        base_rate: the share of hits in a random column.
        p_value: the chance of so many hits or more in a random column.
    """

    hits: int
    values: int
    base_rate: float
    p_value: float

    @property
    def share(self) -> Fraction:
        """Of the values that were looked at."""
        return Fraction(self.hits, self.values)

    @property
    def is_significant(self) -> bool:
        """Whether a random column has so many hits less than once in a million times."""
        return self.p_value < SIGNIFICANT


def binomial_evidence(hits: int, values: int, base_rate: float) -> Evidence:
    """The one-sided binomial test: the chance of at least so many hits among independent values of a base rate.

    Example:
        >>> one = binomial_evidence(10, 10, 0.5)
        >>> one.p_value, one.is_significant
        (0.0009765625, False)
    """
    from scipy.special import bdtrc  # noqa: PLC0415 - only where columns are looked at

    p_value = 1.0 if hits == 0 else float(bdtrc(hits - 1, values, base_rate))
    return Evidence(hits, values, base_rate, p_value)
