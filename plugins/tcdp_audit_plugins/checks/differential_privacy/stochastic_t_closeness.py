"""Stochastic t-closeness: how far the outputs of a declared masking mechanism distinguish a class from the table."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from tcdp_audit.plugin._internal import LIMIT, Counts, cached_on_reference
from tcdp_audit.plugin.check import (
    ApproximateFigure,
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
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.checks.differential_privacy.extremes import (
    ASSUMING,
    ODDS_OF_VALUE,
    demand_of,
    extremes,
    factor_of,
    maximum,
    product,
    worst_figure,
)
from tcdp_audit_plugins.checks.differential_privacy.laplace import laplace_distance
from tcdp_audit_plugins.guides import built_in_guide


def response_distance(histogram: Histogram, marginal: ReferenceDistribution, retention: Fraction) -> Ratios:
    """Multiplicative distance max_o max(f_E(o) / f_T(o), f_T(o) / f_E(o)) between the answers of class and table.

    Args:
        histogram: the true values of each class.
        marginal: the table's; its size m is the domain of the mechanism.
        retention: the probability r of the true answer, from 0 to 1. At 1 this is the multiplicative distance of the
            distributions themselves, with 0/0 ignored.

    Returns:
        Exact fractions of at least 1, shape (classes,); infinite only where r is 1 and one side lacks a value of
        the other.

    Cost: O(pairs of class and value), and a sort of the domain.

    Source: Domingo-Ferrer, Soria-Comas (2015), definitions 3 and 4; Warner (1965) for two values.
    """
    a, blank = retention.numerator, retention.denominator - retention.numerator
    scale, total, size = a * marginal.size, marginal.total, histogram.total
    overflows = retention.denominator * marginal.size * max(int(size.max(initial=0)), total) >= LIMIT
    kind = object if overflows else np.int64
    own = scale * histogram.counts.astype(kind, copy=False) + blank * histogram.spread(size).astype(kind, copy=False)
    table = (scale * marginal.weights.astype(kind, copy=False) + blank * total).take(histogram.values)
    above, below = extremes(histogram, own, table)
    return maximum(
        Ratios(product(total, own[above]), product(size, table[above])),
        Ratios(product(size, table[below]), product(total, own[below])),
        _lacked(histogram, marginal, scale, blank),
    )


def _lacked(histogram: Histogram, marginal: ReferenceDistribution, scale: int, blank: int) -> Ratios:
    """f_T / f_E at the most frequent value that the class lacks: 1 + a m w / ((d - a) W), whatever the class is."""
    weight = heaviest_lacked(histogram, marginal)
    if not blank:  # without noise, a value that the class lacks is infinitely less likely there
        return Ratios(np.ones(len(weight), dtype=np.int64), (weight == 0).astype(np.int64))
    added, denominator = product(scale, weight), np.asarray(product(blank, marginal.total))
    return Ratios(added + denominator, np.full(len(weight), denominator))


def heaviest_lacked(histogram: Histogram, marginal: ReferenceDistribution) -> Counts:
    """The largest weight among the values that a class does not have; 0 where it has all of them.

    With the domain ranked by descending weight, it is the weight at the first rank that the class lacks. That is one
    of its first `distinct` + 1 ranks, so marking those takes no more space than the pairs do.

    Cost: O(pairs + classes), and a sort of the domain.
    """
    weights, rank = _by_weight(marginal)
    ranks = rank.take(histogram.values)
    start = histogram.offsets + np.arange(len(histogram.offsets))  # of each class's first `distinct` + 1 ranks
    lacks = np.ones(start[-1], dtype=bool)
    within = np.flatnonzero(ranks <= histogram.spread(histogram.distinct))
    lacks[start.take(histogram.rows[within]) + ranks[within]] = False
    lacked = np.flatnonzero(lacks)
    first = lacked[np.searchsorted(lacked, start[:-1])] - start[:-1]
    return np.asarray(weights[first])


@cached_on_reference
def _by_weight(marginal: ReferenceDistribution) -> tuple[Counts, Counts]:
    """The weights in descending order, 0 last, and the rank of each value among them."""
    order = np.argsort(-marginal.weights, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.append(marginal.weights[order], 0), rank


FINEST = 10**9  # denominators of a retention up to this keep the fractions within what floating point holds
WIDEST = 10**100  # of the noise's scale, and of its inverse


class Mechanism(StrEnum):
    """The mechanism that masks the confidential values before they are released."""

    LAPLACE = "laplace"
    GEOMETRIC = "geometric"
    RANDOMISED_RESPONSE = "randomised_response"


class StochasticParameters(AttributeParameters):
    """Parameters of `stochastic_t_closeness`."""

    t: Annotated[Exact | None, Field(ge=1, description="The largest factor between a group and the table.")] = None
    mechanism: Annotated[
        Mechanism,
        Field(
            strict=False,
            description="laplace: real noise; geometric: two-sided, on whole numbers; randomised_response: keep or "
            "answer at random.",
        ),
    ]
    noise_scale: Annotated[
        Exact | None,
        Field(
            gt=0, description="b of the noise e^(-|x|/b), in units of the attribute; or give epsilon and sensitivity."
        ),
    ] = None
    epsilon: Annotated[Exact | None, Field(gt=0, description="With sensitivity: b = sensitivity / epsilon.")] = None
    sensitivity: Annotated[Exact | None, Field(gt=0, description="The most that one person moves a value.")] = None
    retention: Annotated[
        Exact | None, Field(ge=0, le=1, description="The probability that randomised response keeps the value.")
    ] = None

    @model_validator(mode="after")
    def _belong_together(self) -> StochasticParameters:
        given = (self.noise_scale, self.epsilon, self.sensitivity)
        if self.mechanism is Mechanism.RANDOMISED_RESPONSE:
            if self.retention is None or any(one is not None for one in given):
                raise ValueError("randomised_response takes `retention`, and no noise_scale, epsilon or sensitivity")
            if self.retention.denominator > FINEST:
                raise ValueError("the retention has too many digits to be computed with exactly; round it")
            return self
        named = [one is not None for one in given]
        if self.retention is not None or named not in ([True, False, False], [False, True, True]):
            raise ValueError(
                f"{self.mechanism.value} takes `noise_scale`, or `epsilon` and `sensitivity`, and no retention"
            )
        if not Fraction(1, WIDEST) <= self.noise <= WIDEST:
            raise ValueError("the scale of the noise is beyond what can be computed with")
        return self

    @property
    def noise(self) -> Fraction:
        """The scale b of Laplace and two-sided geometric noise."""
        if self.noise_scale is not None:
            return self.noise_scale
        return Fraction(self.sensitivity or 0) / Fraction(self.epsilon or 1)


def stochastic_distance(evidence: ClassEvidence, parameters: StochasticParameters) -> Ratios | ApproximateFigure:
    """Supremum over outputs o of max(f_E(o) / f_T(o), f_T(o) / f_E(o)), with f_E = (1/n_E) sum of Pr_Z(c) over E.

    It is computed from the mechanism's own distribution, never estimated from a realisation.

    Returns:
        Figures of at least 1, shape (classes,): exact fractions for randomised response, otherwise float64 that exact
        arithmetic decides close to a threshold.

    Raises:
        CheckError: geometric noise on values that are not whole numbers, or noise that is tiny next to their range.

    Cost: O(pairs log m).

    Source: Domingo-Ferrer, Soria-Comas (2015), definition 3.
    """
    histogram, marginal = evidence.sensitive
    if parameters.mechanism is Mechanism.RANDOMISED_RESPONSE:
        return response_distance(histogram, marginal, Fraction(parameters.retention or 0))
    values = evidence.values
    if values is None:
        raise CheckError("noise is added to numbers; declare `scale: numeric`")
    if parameters.mechanism is Mechanism.GEOMETRIC and (values != np.round(values)).any():
        raise CheckError("geometric noise is for whole numbers, and the attribute has others; use laplace")
    return laplace_distance(histogram, marginal, values, parameters.noise)


def _values(outcome: Outcome) -> dict[str, Any]:
    """The mechanism by name, and the factor."""
    masking = str(outcome.parameters["mechanism"]).replace("_", " ")
    return {"masking": masking, **factor_of(worst_figure(outcome))}


CHECKS = [
    ClassCheck(
        name="stochastic_t_closeness",
        title="Stochastic t-closeness",
        expectation_name="ToBeStochasticallyTClose",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=StochasticParameters,
        thresholds=(Threshold("t", Comparison.AT_MOST, stochastic_distance, "factor between a group and the table"),),
        monotone=lambda _: True,  # a density in a union lies between the densities in its parts
        on_attribute=True,
        scales=lambda parameters: (
            None if parameters.mechanism is Mechanism.RANDOMISED_RESPONSE else frozenset({Scale.NUMERIC})
        ),
        variant=lambda parameters: parameters.mechanism.value.replace("_", " "),
        sentences=Sentences(
            passed=(
                "{assuming}, and with {masking} applied to {attribute} of the {every_record} as declared, "
                "[{infinite?}the outputs of a group and of the table differ without bound|the likelihood of no "
                "output differs by more than the factor {observed} between a group and the table].{demand}"
            ),
            impact=ODDS_OF_VALUE,
            parts={"assuming": ASSUMING, "demand": demand_of("a factor")},
            values=_values,
        ),
        guide=built_in_guide(__file__, "stochastic_t_closeness.md"),
    )
]
