"""A threshold as policies, pages and reports know it: a parameter, a comparison, and what is compared."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tcdp_audit.check.parameters import Parameters
from tcdp_audit.outcome import Comparison

IN_WORDS = {
    Comparison.AT_LEAST: "at least",
    Comparison.AT_MOST: "at most",
    Comparison.BELOW: "below",
    Comparison.ABOVE: "above",
}


@dataclass(frozen=True)
class Limit:
    """A parameter with a threshold.

    Args:
        parameter: the field of the check's parameters; None there means measure only.
        comparison: how the figure must stand to it.
        figure: the figure, as the subject of a sentence in the singular.
    """

    parameter: str
    comparison: Comparison
    figure: str = ""

    def demanded(self, parameters: Parameters) -> Fraction | None:
        """The threshold in a set of parameters."""
        value = getattr(parameters, self.parameter, None)
        return None if value is None else Fraction(value)

    @property
    def demand(self) -> str:
        """What is demanded, as half a sentence: `the distance from the table is at most`, and the parameter."""
        return f"the {self.figure or 'figure'} is {IN_WORDS[self.comparison]} `{self.parameter}`"
