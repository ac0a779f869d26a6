"""A threshold as policies, pages and reports know it: a parameter, a comparison, and what is compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.evidence import ClassEvidence
from tcdp_audit.core.check.exact import Measured
from tcdp_audit.core.check.parameters import Parameters

P = TypeVar("P", bound=Parameters)
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
        comparison: how the figure must compare with it.
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


@dataclass(frozen=True)
class Threshold(Generic[P]):
    """One figure that a class must keep, and the parameter that says how large it may or must be.

    Args:
        parameter: the field of the check's parameters with the threshold; None there means measure only.
        comparison: how the observed figure must compare with it.
        measure: one figure per class; `Ratios` for exact fractions, an integer array, or `ApproximateFigure`.
        label: what the figure is called in a report.
        counts: whether the label is a plural of things that are counted, such as "records in the class".
    """

    parameter: str
    comparison: Comparison
    measure: Callable[[ClassEvidence, P], Measured | NDArray[Any]]
    label: str = ""
    counts: bool = False

    @property
    def limit(self) -> Limit:
        """The same as policies and pages know it."""
        return Limit(self.parameter, self.comparison, f"number of {self.label}" if self.counts else self.label)

    def demanded(self, parameters: Parameters) -> Fraction | None:
        """The threshold in a set of parameters."""
        return self.limit.demanded(parameters)
