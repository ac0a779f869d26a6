"""An interval for a figure that was estimated from a sample: it holds the whole table's figure with 99 % confidence.

The mean of n numbers from 0 to 1, drawn without replacement, exceeds the mean mu of all with a probability of at most
exp(-n KL(mean, mu)), and falls short of it likewise, where KL(p, q) = p ln(p/q) + (1 - p) ln((1 - p)/(1 - q)). So the
interval is right whatever the numbers are and however few there are; nothing is taken to be normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.base.words import count, percent

if TYPE_CHECKING:
    from tcdp_audit.core.release.pairs import Pairs

ERROR = Fraction(1, 100)  # how often an interval may miss the whole table's figure
STEPS = 64  # of a bisection


@dataclass(frozen=True)
class Estimate:
    """What a sample of pairs says of a figure of all pairs.

    Args:
        low: lower end of the interval.
        high: upper end.
        pairs: how many pairs were compared.
        records: how many records the release has.
        seed: of the draw.
        more: what would make the sample larger, or needless: half a sentence.
    """

    low: float
    high: float
    pairs: int
    records: int
    seed: int
    more: str

    def as_details(self) -> dict[str, Any]:
        """The entry `estimate` of an outcome's details."""
        ends = {"low": self.low, "high": self.high, "confidence": 1 - ERROR}
        return {**ends, "pairs": self.pairs, "of_records": self.records, "seed": self.seed}

    def sentence(self, threshold: Fraction | None) -> str:
        """What it is, to follow a check's own sentence."""
        low, high = percent(self.low, threshold), percent(self.high, threshold)
        return (
            f"Estimated from {self.pairs:,} of {count(self.records, 'released record')}, drawn by seed {self.seed}: "
            f"with {percent(float(1 - ERROR))} confidence the share is between {low} and {high}."
        )


def estimate_of_mean(mean: Fraction | float, pairs: Pairs) -> Estimate | None:
    """The interval of a mean, over the matched pairs, of a number from 0 to 1; None where the pairs are no sample."""
    return estimate_of_largest([mean], pairs)


def estimate_of_largest(means: Sequence[Fraction | float], pairs: Pairs) -> Estimate | None:
    """The interval of the largest of several such means: each has one, which together are right 99 times in 100."""
    if pairs.sample is None:
        return None
    number = len(pairs.matched)
    ends = [interval_of_mean(float(mean), number, float(ERROR) / len(means)) for mean in means]
    low, high = max(low for low, _ in ends), max(high for _, high in ends)
    return Estimate(low, high, number, pairs.sample.records, pairs.sample.seed, pairs.sample.more)


def interval_of_mean(mean: float, number: int, error: float) -> tuple[float, float]:
    """Between what the mean of all numbers lies, from the mean of some of them.

    Args:
        mean: of the numbers that were drawn, each from 0 to 1.
        number: how many were drawn, without replacement.
        error: how often the interval may be wrong, above 0.

    Source: Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58 (1963), theorems 1 and 4.

    Example:
        >>> low, high = interval_of_mean(0.2, 1_000, 0.01)
        >>> round(low, 3), round(high, 3)
        (0.161, 0.243)
    """
    divergence = log(2 / error) / number
    return _farthest(mean, 0.0, divergence), _farthest(mean, 1.0, divergence)


def _farthest(mean: float, end: float, divergence: float) -> float:
    """The value between a mean and an end of [0, 1] from which the mean diverges so much; on its far side."""
    near, far = mean, end
    if _divergence(mean, far) <= divergence:
        return far
    for _ in range(STEPS):
        middle = (near + far) / 2
        near, far = (middle, far) if _divergence(mean, middle) <= divergence else (near, middle)
    return far


def _divergence(p: float, q: float) -> float:
    """KL(p, q) of two coins."""
    return _term(p, q) + _term(1 - p, 1 - q)


def _term(p: float, q: float) -> float:
    if not p:
        return 0.0
    return p * log(p / q) if q else inf
