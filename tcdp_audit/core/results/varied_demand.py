"""A demand whose threshold is varied: the levels that are tried, and whether a figure keeps one of them for certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, TypeAlias

from tcdp_audit.core.base.outcome import Comparison, number
from tcdp_audit.core.base.words import decimal

Setting: TypeAlias = tuple[Fraction, ...]  # a threshold for each varied demand, in their order

MARGIN = Fraction(1, 10**9)  # relative; a figure nearer to a threshold than this may be on either side of it


@dataclass(frozen=True)
class VariedDemand:
    """A demand of a policy, and the thresholds that are tried in place of its own.

    Args:
        name: what the call named: a check, or a check and an attribute (`t_closeness:salary`).
        title: what people call the check.
        parameter: the one that holds the threshold.
        comparison: how figures must stand to it.
        own: the policy's threshold.
        levels: the thresholds that are tried, the least strict first.
    """

    name: str
    title: str
    parameter: str
    comparison: Comparison
    own: Fraction
    levels: tuple[Fraction, ...]

    @property
    def label(self) -> str:
        """Its parameter, with the attribute where the call named one: `k`, `t of salary`."""
        attribute = self.name.partition(":")[2]
        return f"{self.parameter} of {attribute}" if attribute else self.parameter

    def phrase(self, level: Fraction) -> str:
        """A threshold of it in a few characters: `k ≥ 5`."""
        return f"{self.label} {self.comparison.sign} {decimal(level)}"

    def risk(self, figure: float | None) -> float:
        """A figure as a risk, the less the safer; what was not measured is the worst."""
        if figure is None or figure != figure:  # noqa: PLR0124 - NaN
            return inf
        return -figure if self.comparison.higher_is_safer else figure

    def worst(self, figures: Sequence[float | None]) -> float | None:
        """The riskiest of some figures."""
        return max(figures, key=self.risk, default=None)

    def is_laxer(self, one: Fraction, other: Fraction) -> bool:
        """Whether whatever keeps `other` keeps `one` as well."""
        return one <= other if self.comparison.higher_is_safer else one >= other

    def keeps(self, figure: float | None, level: Fraction) -> bool:
        """Whether a figure keeps a threshold for certain.

        A figure is a float that stands for an exact number: where it is nearer to the threshold than rounding can
        tell, and the two are not both whole, the answer is no.
        """
        if figure is None or self.risk(figure) == inf:
            return False
        if abs(figure) == inf:
            return True  # at the safe end
        exact = Fraction(figure)
        difference = exact - level
        whole = exact.denominator == level.denominator == 1
        if not whole and abs(difference) <= MARGIN * max(abs(level), MARGIN):
            return False
        return bool(self.comparison.holds((difference > 0) - (difference < 0)))

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "name": self.name,
            "title": self.title,
            "parameter": self.parameter,
            "comparison": self.comparison.value,
            "own": number(self.own),
            "levels": [number(one) for one in self.levels],
        }


def phrase_of(demands: Sequence[VariedDemand], setting: Setting) -> str:
    """A setting in a few characters: `k ≥ 5, t ≤ 0.2`."""
    return ", ".join(demand.phrase(level) for demand, level in zip(demands, setting, strict=True))


def is_laxer(demands: Sequence[VariedDemand], one: Setting, other: Setting) -> bool:
    """Whether whatever keeps `other` keeps `one` as well."""
    return all(demand.is_laxer(a, b) for demand, a, b in zip(demands, one, other, strict=True))
