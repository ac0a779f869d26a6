"""The similarity attack: the values of a class differ, yet mean nearly the same."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin._internal import Counts, add_up, cached_on_reference
from tcdp_audit.plugin.check import (
    AttributeParameters,
    ClassCheck,
    ClassEvidence,
    DisclosureType,
    Histogram,
    Ratios,
    ReferenceDistribution,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact, Scale
from tcdp_audit.plugin.engine import CheckError, Tree
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.guides import built_in_guide

SAFE = 2**61  # integers of the domain and the width stay below this, so that their sum stays in 64 bits


def most_within(histogram: Histogram, reach: Counts) -> Counts:
    """The most records of a class in one interval of the domain.

    An interval that holds the most can be taken to begin at a value of the class, so only those are tried.

    `reach` is the last code of an interval that begins at each code, ascending, shape (domain,).

    Returns:
        int64, shape (classes,).

    Cost: O(pairs of class and value x log pairs).
    """
    begins = histogram.rows * len(reach)
    position = begins + histogram.values  # ascending: rows ascend, and the values within each
    end = np.searchsorted(position, begins + reach.take(histogram.values), side="right")
    before = np.concatenate([[0], np.cumsum(histogram.counts)])
    return np.asarray(histogram.max(before.take(end) - before[:-1]))


def most_under_a_node(histogram: Histogram, tree: Tree, level: int) -> Counts:
    """The most records of a class under one node at a level of a hierarchy. O(pairs log pairs). Shape (classes,)."""
    nodes = tree.ancestors[level][histogram.values]
    above = add_up(histogram.rows, nodes, histogram.counts, len(histogram), tree.nodes(level))
    return np.asarray(above.max(above.counts))


def reach_of_ranks(domain: int, width: Fraction) -> Counts:
    """The last code whose rank exceeds that of each code by at most a width. int64, shape (domain,)."""
    return np.minimum(np.arange(domain) + min(int(width), domain), domain - 1)


def reach_of_numbers(values: NDArray[Any], width: Fraction) -> Counts:
    """The last code whose number exceeds that of each code by at most a width, exact.

    Numbers stored as floating point denote the decimals that they print as: 0.3 is within 0.2 of 0.1.

    Args:
        values: distinct numbers in ascending order, int64 or float64, shape (domain,).
        width: at least 0.

    Returns:
        int64, shape (domain,).

    Cost: O(domain x log domain), and rational arithmetic where floating point does not decide.
    """
    if values.dtype.kind in "iu" and max(abs(int(values[0])), abs(int(values[-1])), int(width)) < SAFE:
        return np.searchsorted(values, values + int(width), side="right") - 1
    floats = values.astype(np.float64)
    ends = floats + float(width)
    doubt = 8 * np.finfo(np.float64).eps * (np.abs(floats) + np.abs(ends))
    reach = np.searchsorted(floats, ends - doubt, side="right") - 1
    beyond = np.searchsorted(floats, ends + doubt, side="right") - 1
    for code in np.flatnonzero(beyond > reach).tolist():
        reach[code] = _last_within(values, code, int(reach[code]), int(beyond[code]), width)
    return np.maximum(reach, np.arange(len(values)))


def _last_within(values: NDArray[Any], code: int, last: int, beyond: int, width: Fraction) -> int:
    start = _decimal(values[code])
    while last < beyond and _decimal(values[last + 1]) - start <= width:
        last += 1
    return last


def _decimal(value: Any) -> Fraction:
    return Fraction(str(value.item()))


class SimilarityParameters(AttributeParameters):
    """Parameters of `similarity`."""

    at_most: Annotated[
        Exact | None, Field(gt=0, le=1, description="The largest share of a class whose values are close together.")
    ] = None
    level: Annotated[
        int | None,
        Field(ge=1, description="Values are close if they share a label at this level of the hierarchy; 0 are values."),
    ] = None
    width: Annotated[
        Exact | None,
        Field(ge=0, description="Values are close if they differ by at most this: in units, or in ranks if ordinal."),
    ] = None

    @model_validator(mode="after")
    def _one_closeness(self) -> SimilarityParameters:
        if (self.level is None) == (self.width is None):
            raise ValueError("give either `level` (of the hierarchy) or `width` (of an interval)")
        return self


def largest_similar_share(evidence: ClassEvidence, parameters: SimilarityParameters) -> Ratios:
    """The largest share of every class with values that are close together.

    With `level`, under one node at that level of the hierarchy. With `width`, in one closed interval of numbers (of
    ranks, on an ordinal scale) whose ends differ by at most the width.

    Returns:
        Exact fractions above 0 and at most 1, shape (classes,).

    Raises:
        CheckError: the level is the root of the hierarchy, or above.

    Cost: O(pairs of class and value x log pairs).

    Source: Li, Li, Venkatasubramanian (2007), section 3, similarity attack.

    Example:
        >>> import numpy
        >>> from tcdp_audit.plugin.check import ReferenceDistribution
        >>> from tcdp_audit.plugin.check import Histogram
        >>> rows = Histogram(*map(numpy.array, ([0, 3], [0, 1, 2], [1, 1, 1])))
        >>> salaries = numpy.array([3000, 4000, 9000])
        >>> evidence = ClassEvidence(numpy.array([3]), rows, ReferenceDistribution(numpy.array([1, 1, 1])), salaries)
        >>> largest_similar_share(evidence, SimilarityParameters(width=2000)).values
        array([0.66666667])
    """
    histogram, marginal = evidence.sensitive
    if parameters.level is not None:
        return Ratios(_under_a_node(evidence, parameters.level), histogram.total)
    return Ratios(most_within(histogram, _reach(marginal, evidence.values, parameters)), histogram.total)


def _under_a_node(evidence: ClassEvidence, level: int) -> Counts:
    histogram = evidence.sensitive[0]
    tree = evidence.tree
    if tree is None:
        raise CheckError("`level` needs a hierarchy of the attribute")
    if level >= tree.height:
        raise CheckError(f"level {level} is not below the root of the hierarchy, which is at level {tree.height}")
    return most_under_a_node(histogram, tree, level)


@cached_on_reference
def _reach(marginal: ReferenceDistribution, values: NDArray[Any] | None, parameters: SimilarityParameters) -> Counts:
    width = Fraction(parameters.width or 0)
    return reach_of_ranks(marginal.size, width) if values is None else reach_of_numbers(values, width)


CHECKS = [
    ClassCheck(
        name="similarity",
        title="Similarity attack",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=SimilarityParameters,
        thresholds=(
            Threshold("at_most", Comparison.AT_MOST, largest_similar_share, "share of the group with similar values"),
        ),
        monotone=lambda _: True,  # the share in every window or subtree lies between those in the parts
        on_attribute=True,
        needs_hierarchy=lambda one: one.level is not None,
        scales=lambda one: None if one.width is None else frozenset({Scale.ORDINAL, Scale.NUMERIC}),
        variant=lambda one: "hierarchy" if one.width is None else "interval",
        sentences=Sentences(
            passed=(
                "In [{classes=1?}the only group|the most similar of {classes:group}], of {worst_people}, "
                "{observed:%} of {close}."
            ),
            failed="{victims} in which more than {threshold:%} of {close}; in {worst_group}, {observed:%} do.",
            impact=(
                "{in_worst_group} [{several_rows?}{observed:%} of the different values of {attribute} that people "
                "have {kind}|values of {attribute} {kind}, and an intruder who guesses the commonest kind is right "
                "with {observed:chance}]."
            ),
            parts={
                "worst_group": "the group with the most similar values",
                "close": (
                    "the values of {attribute} [{parameters.level?}share a label at level {parameters.level} of the "
                    "hierarchy|lie within {width} of each other]"
                ),
                "kind": "[{parameters.level?}share a label of the hierarchy|are nearly the same]",
            },
        ),
        guide=built_in_guide(__file__, "similarity.md"),
    )
]
