"""The epsilon of differential privacy that t-closeness in the multiplicative distance gives."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import exp
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Counts, boundaries
from tcdp_audit.plugin.check import (
    ApproximateFigure,
    AttributeParameters,
    ClassCheck,
    ClassEvidence,
    DisclosureType,
    Histogram,
    ReferenceDistribution,
    Signs,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.distances.multiplicative import multiplicative_distance
from tcdp_audit_plugins.checks._shared.frequency_ratios import sign_of_logarithm
from tcdp_audit_plugins.checks.differential_privacy.extremes import (
    ASSUMING,
    ODDS_OF_VALUE,
    demand_of,
    factor_of,
    product,
    worst_figure,
)
from tcdp_audit_plugins.guides import built_in_guide


def bucketised(
    histogram: Histogram, marginal: ReferenceDistribution, buckets: int
) -> tuple[Histogram, ReferenceDistribution]:
    """Class and table over buckets instead of values.

    `buckets` is how many to aim at: values heavier than a bucket's share leave fewer.

    Returns:
        The same classes and table, the codes now numbering buckets.

    Cost: O(pairs + domain).

    Source: Domingo-Ferrer, Soria-Comas (2015), section 6.1.
    """
    bucket = bucket_of_values(marginal, buckets)
    weights = np.zeros(buckets, dtype=np.int64)
    np.add.at(weights, bucket, marginal.weights)
    own = bucket[histogram.values]
    starts = boundaries(product(histogram.rows, buckets) + own)
    first = np.searchsorted(starts, histogram.offsets)
    counts = np.add.reduceat(histogram.counts, starts) if len(starts) else histogram.counts[:0]
    return Histogram(first, own[starts], counts), ReferenceDistribution(weights)


def bucket_of_values(marginal: ReferenceDistribution, buckets: int) -> Counts:
    """The bucket of each value: where the middle of its mass falls among equal shares of the whole.

    Example:
        >>> bucket_of_values(ReferenceDistribution(np.array([5, 1, 1, 5])), 3).tolist()
        [0, 1, 1, 2]
    """
    weights = marginal.weights
    middle = 2 * np.cumsum(weights) - weights  # twice the mass before the middle of a value
    return np.asarray((product(middle, buckets) // (2 * marginal.total)).astype(np.int64).clip(max=buckets - 1))


ORDERED = frozenset({Scale.ORDINAL, Scale.NUMERIC})


class ImpliedEpsilonParameters(AttributeParameters):
    """Parameters of `implied_epsilon`."""

    at_most: Annotated[Exact | None, Field(ge=0, description="The largest epsilon.")] = None
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The confidential attributes, read jointly; without it all sensitive ones."),
    ] = None
    buckets: Annotated[
        dict[Text, Annotated[int, Field(ge=1)]] | None,
        Field(
            min_length=1,
            max_length=1,
            description="Measure after joining consecutive values of a single ordered attribute into so many buckets "
            "of near-equal mass: {attribute: number}.",
        ),
    ] = None
    attribute: Annotated[
        Text | None, Field(description="The only confidential attribute to read, in place of `attributes`.")
    ] = None


def implied_epsilon(evidence: ClassEvidence, parameters: ImpliedEpsilonParameters) -> ApproximateFigure:
    """Two ln t_E, with t_E the multiplicative distance max_i max(p_i / q_i, q_i / p_i) of every class.

    Returns:
        float64 of at least 0, shape (classes,); infinite where class and table do not have the same values. Close to
        a threshold, t_E^2 is compared with its exponential in exact arithmetic; they are equal only at epsilon 0,
        t_E 1.

    Cost: O(pairs of class and combination), and a sort of the domain.

    Source: Domingo-Ferrer, Soria-Comas (2015), definition 4 and proposition 3.
    """
    histogram, marginal = evidence.sensitive
    if parameters.buckets:
        histogram, marginal = bucketised(histogram, marginal, next(iter(parameters.buckets.values())))
    distance = multiplicative_distance(histogram, marginal)

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> Signs:
        numerator, denominator = distance.numerator[classes], distance.denominator[classes]
        pairs = list(zip(numerator.tolist(), denominator.tolist(), strict=True))
        signs = {(a, b): sign_of_logarithm(Fraction(a, b) ** 2, threshold) for a, b in set(pairs)}
        return np.array([signs[pair] for pair in pairs], dtype=np.int8)

    return ApproximateFigure(np.asarray(2 * np.log(distance.values)), decide)


def _faults(parameters: ImpliedEpsilonParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """What only the policy as a whole shows to be wrong."""
    if parameters.attribute is not None and parameters.attributes is not None:
        yield "attribute", "give either `attribute` or `attributes`, not both"
        return
    sensitive = [name for name, one in document.attributes.items() if one.role is Role.SENSITIVE]
    chosen = [parameters.attribute] if parameters.attribute is not None else parameters.attributes or sensitive
    for name in parameters.buckets or ():
        if chosen != [name]:
            yield "buckets", f"{name!r} is not the attribute that is read, which is {chosen[0]!r}"


CHECKS = [
    ClassCheck(
        name="implied_epsilon",
        title="Implied epsilon",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=ImpliedEpsilonParameters,
        thresholds=(Threshold("at_most", Comparison.AT_MOST, implied_epsilon, "implied epsilon"),),
        monotone=lambda _: True,  # a share in a union lies between the shares in its parts
        on_attribute=True,
        joint=True,
        scales=lambda parameters: ORDERED if parameters.buckets else None,
        variant=lambda parameters: "bucketised" if parameters.buckets else "",
        validate=_faults,
        sentences=Sentences(
            passed=(
                "[{infinite?}{assuming} no epsilon follows for the {every_record}: a group lacks a value of "
                "{attribute} that the table has, or has one that it lacks, and no epsilon allows that. Bucketisation "
                "is the remedy: [{buckets?}fewer buckets|the parameter 'buckets', or a bucketised "
                "release].|{assuming}, the release gives {attribute} of the {every_record} what differential "
                "privacy with epsilon = {observed} would: every group is within the factor t = {factor} of the "
                "table.]{demand}"
            ),
            impact=ODDS_OF_VALUE,
            parts={"assuming": ASSUMING, "demand": demand_of("epsilon")},
            values=lambda outcome: factor_of(exp(worst_figure(outcome) / 2)),
        ),
        guide=built_in_guide(__file__, "implied_epsilon.md"),
    )
]
