"""Parameters of checks, their thresholds, and figures that compare exactly with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.core.base.declared_types import require_type, type_of
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Comparison, Severity
from tcdp_audit.core.base.words import count
from tcdp_audit.core.encoding.keys import Floats, Integers
from tcdp_audit.core.policy.scalars import Exact, Model, Reason, Text

if TYPE_CHECKING:
    from tcdp_audit.core.check.evidence import ClassEvidence
    from tcdp_audit.core.policy.model import PolicyDocument

Signs = NDArray[np.int8]
"""Comparisons with a threshold, one for each class: -1 below it, 0 equal to it, 1 above it."""

BORDERLINE = 1e-9  # nearer to the threshold than this (relative above 1), floating point does not decide
UNMEASURED = (
    "severity",
    "reason",
    "attribute",
    "against",
    "knows",
    "unit",
)  # parameters that an outcome has as fields of its own
NO_SCENARIO: Mapping[str, Any] = {"against": None, "knows": None}
LIMIT = 2**62  # integer products stay below this, or are taken in Python integers


@dataclass(frozen=True)
class Ratios:
    """One exact fraction per class.

    Args:
        numerator: integers, shape (classes,).
        denominator: integers of the same shape, at least 0; 0 gives infinity.
    """

    numerator: Integers
    denominator: Integers

    @cached_property
    def values(self) -> Floats:
        """The fractions as float64, infinite where the denominator is 0."""
        if self.denominator.all():
            return _quotients(self.numerator, self.denominator)
        whole = np.flatnonzero(self.denominator)
        values = np.full(len(self.numerator), np.inf)
        values[whole] = _quotients(self.numerator.take(whole), self.denominator.take(whole))
        return values

    def compare(self, threshold: Fraction) -> Signs:
        """Sign of value minus threshold, exact. O(classes)."""
        signs, close = _clear_signs(self.values, threshold)
        difference = _product(self.numerator[close], threshold.denominator)
        difference = difference - _product(self.denominator[close], threshold.numerator)
        signs[close] = (difference > 0).astype(np.int8) - (difference < 0).astype(np.int8)
        return signs

    @classmethod
    def whole(cls, numbers: Integers) -> Ratios:
        """Integers as fractions."""
        return cls(numbers, np.ones(len(numbers), dtype=np.int64))


@dataclass(frozen=True)
class ApproximateFigure:
    """One float per class, and a function that decides the borderline ones exactly.

    Args:
        values: float64, shape (classes,), never NaN.
        decide: given indices of classes and the threshold, the exact sign of value minus threshold of each.
    """

    values: Floats
    decide: Callable[[NDArray[np.intp], Fraction], Signs]

    def compare(self, threshold: Fraction) -> Signs:
        """Sign of value minus threshold; `decide` is asked where they differ by less than 1e-9."""
        signs, close = _clear_signs(self.values, threshold)
        if len(close):
            signs[close] = self.decide(close, threshold)
        return signs


Measured = Ratios | ApproximateFigure
"""Figures of classes, one each, that can be compared with a threshold exactly."""


def _product(numbers: Integers, factor: int) -> Integers:
    """Integers times another one, in 64 bits where all products and the other one are below 2^62."""
    largest = max(int(numbers.max(initial=1)), -int(numbers.min(initial=1)))
    return numbers.astype(np.int64 if largest * abs(factor) < LIMIT else object) * factor


def _quotients(numerator: Integers, denominator: Integers) -> Floats:
    """Quotients as float64, to the last digit the same for 64-bit and for Python integers."""
    try:
        return numerator.astype(np.float64) / denominator.astype(np.float64)
    except OverflowError:  # Python integers above 1e308, whose own division copes
        return (numerator / denominator).astype(np.float64)


def _clear_signs(values: Floats, threshold: Fraction) -> tuple[Signs, NDArray[np.intp]]:
    """Signs as floating point sees them, and the indices where it must not decide."""
    # Floats decide wherever they cannot be wrong. A figure is computed to some ulps, far within 1e-9 of its size, so
    # beyond that distance from the threshold its sign is certain. The few classes within it are decided by exact
    # arithmetic. The margin only decides how often that happens, not the result: a wider one costs time and changes no
    # verdict.
    limit = float(threshold)
    margin = BORDERLINE * max(1.0, abs(limit))
    close = np.flatnonzero((values >= limit - margin) & (values <= limit + margin))
    return (values > limit).view(np.int8) - (values < limit).view(np.int8), close


def _as_floats(array: NDArray[Any]) -> Floats | None:
    """An array as float64; None where it holds something that is no number."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _require_numbers(*arrays: NDArray[Any]) -> None:
    """Refuse figures that have no order: complex numbers above all, whose imaginary part would be dropped."""
    for dtype in (np.asarray(array).dtype for array in arrays):
        if dtype.kind not in "iubfO":
            raise CheckError(f"the check gave figures of type {dtype}; a figure must be a real number")


def as_measured(values: Measured | NDArray[Any]) -> Measured:
    """A check's answer as something comparable: arrays are taken at their exact value.

    Raises:
        CheckError: it is none of these, or its figures are no real numbers.
    """
    if isinstance(values, Ratios | ApproximateFigure):
        require_type(values, type(values), "the check gave", CheckError)
        arrays = [values.numerator, values.denominator] if isinstance(values, Ratios) else [values.values]
        _require_numbers(*arrays)
        same_shape = arrays[0].shape == arrays[-1].shape
        if not same_shape or (isinstance(values, Ratios) and "f" in {one.dtype.kind for one in arrays}):
            raise CheckError("the check gave Ratios whose arrays are not integers of the same shape")
        return values
    array = np.asarray(values)
    _require_numbers(array)
    if array.ndim and array.dtype.kind in "iub":
        return Ratios.whole(array.astype(np.int64))
    floats = _as_floats(array) if array.ndim else None
    if floats is None:
        raise CheckError(
            f"the check gave {type_of(values)} and no figures; it must give Ratios, an ApproximateFigure or an array"
        )

    def exactly(indices: NDArray[np.intp], threshold: Fraction) -> Signs:
        exact = [Fraction(value) for value in floats[indices].tolist()]
        return np.array([(value > threshold) - (value < threshold) for value in exact], dtype=np.int8)

    return ApproximateFigure(floats, exactly)


@dataclass(frozen=True)
class Target:
    """A target of a check: no attribute, one, or several read together; what an intruder knows in addition; and who.

    `part` is the key of the policy under which it is judged; see `Policy.parts`.
    """

    attributes: tuple[str, ...] = ()  # the sensitive attributes, none for a check on classes alone
    known: tuple[str, ...] = ()  # sensitive attributes that are grouped by as if they were quasi-identifiers
    scenario: str = ""  # the scenario in which it is judged; empty where the policy has none
    unit: str = ""  # the column that joins the rows which it judges as a whole; empty for that of the policy
    part: str = ""

    @property
    def name(self) -> str | None:
        """The attribute as an outcome names it; a combination as `a × b`."""
        return " × ".join(self.attributes) or None

    @property
    def of_part(self) -> dict[str, str]:
        """Its scenario, or the unit that it names, as an outcome in JSON has it; see `part_name`."""
        return {name: one for name, one in (("scenario", self.scenario), ("unit", self.unit)) if one}


class Parameters(Model):
    """Base of every check's parameters. A field named as a `Threshold` says must have None as its default."""

    severity: Annotated[
        Severity, Field(strict=False, description="Whether a failure fails the audit or only warns.")
    ] = Severity.ERROR
    known_rows: Annotated[
        Literal["all", "one"] | None,
        Field(
            description="How many rows of a unit an intruder knows, where a released unit joins them: all, or one; by "
            "default what the policy's conventions say."
        ),
    ] = None
    against: Annotated[
        Text | Annotated[list[Text], Field(min_length=1)] | None,
        Field(description="The scenarios of the policy in which it is judged: one, or a list; by default every one."),
    ] = None
    knows: Annotated[
        Annotated[list[Text], Field(min_length=1)] | None,
        Field(description="The columns that an intruder knows, in a scenario without a name."),
    ] = None
    unit: Annotated[
        Text | None,
        Field(
            description="The column that joins the rows which it judges as a whole, in the place of the policy's unit: "
            "people in a policy of households, or households in one of people."
        ),
    ] = None
    reason: Annotated[  # no figure depends on it: a dump of the parameters leaves it out
        Reason | None, Field(exclude=True, description="Why the policy demands it; results and reports quote it.")
    ] = None

    def figures(self) -> dict[str, Any]:
        """The parameters that were given or default, without what every check has and without None.

        Texts in a list are values of an attribute, unless they are `attributes` themselves: those are counted here and
        not named, because an outcome holds no cell.
        """
        own = ((name, getattr(self, name)) for name in type(self).model_fields if name not in UNMEASURED)
        given = {name: value for name, value in own if value is not None}
        return {name: value if name == "attributes" else _without_cells(value) for name, value in given.items()}

    def in_scenario(self, document: PolicyDocument) -> Self:  # noqa: ARG002 - for parameters that depend on it
        """The parameters in one scenario, whose policy is `document`."""
        return self if self.against is None and self.knows is None else self.model_copy(update=NO_SCENARIO)

    def files(self) -> Iterator[tuple[str, str | None, str]]:
        """The files that they name, relative to the policy: what each is, whose attribute's, and where it lies."""
        yield from ()


def _without_cells(value: Any) -> Any:
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return count(len(value), "value")
    return value


class AttributeParameters(Parameters):
    """Base of the parameters of a check on a sensitive attribute."""

    attribute: Annotated[
        Text | None, Field(description="The sensitive attribute; without it, each of them in turn.")
    ] = None


class ShareParameters(AttributeParameters):
    """Base of the parameters of an `AttackCheck` on a sensitive attribute."""

    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest share of records exposed.")] = None


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
        """The demand as half a sentence: `the distance from the table is at most`, and the parameter."""
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


@dataclass(frozen=True)
class Verdict:
    """The result of a check."""

    observed: float  # the headline figure
    threshold: Fraction | None  # what is demanded of it; None where nothing is
    comparison: Comparison  # how the figure must compare with it
    failed: bool | None  # whether it does not; None where nothing is demanded, or it cannot be decided
    details: Mapping[str, Any]  # further figures
    undecided: bool = False  # whether a sample is too small to decide whether the demand is kept
