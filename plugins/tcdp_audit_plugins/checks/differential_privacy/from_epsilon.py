"""Sizes of classes and an epsilon: the t of t-closeness that they give, an expected t, and the delta of a sample."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import comb, exp, floor, log, log1p
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from tcdp_audit.plugin.check import (
    ApproximateFigure,
    Check,
    ClassCheck,
    ClassEvidence,
    DisclosureType,
    Measured,
    Need,
    Parameters,
    Ratios,
    Signs,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.checks.differential_privacy.extremes import (
    ASSUMING,
    ODDS_OF_CONFIDENTIAL_VALUE,
    demand_of,
    factor_of,
    sign_of_exponential,
    worst_figure,
)
from tcdp_audit_plugins.guides import built_in_guide


class TFromEpsilonParameters(Parameters):
    """Parameters of `t_from_epsilon`."""

    epsilon: Annotated[
        Exact, Field(ge=0, le=10**6, description="The epsilon that the confidential values were masked with.")
    ]
    at_most: Annotated[Exact | None, Field(ge=1, description="The largest t, a factor.")] = None


def t_from_epsilon(evidence: ClassEvidence, parameters: TFromEpsilonParameters) -> ApproximateFigure:
    """t_E = a + (1 - a) e^epsilon with a = n_E / N: the smallest class gives the bound.

    The paper's final formula has N - n_E - 1 where its own derivation has N - n_E; this is the derived bound, which
    is the larger and the safe one.

    Returns:
        float64 of at least 1, shape (classes,); infinite where it exceeds what float64 holds. Close to a threshold,
        exact arithmetic decides; a rational threshold is met with equality only at epsilon 0 or with a single class.

    Cost: O(classes).

    Source: Domingo-Ferrer, Soria-Comas (2015), proposition 1.

    Example:
        >>> evidence = ClassEvidence(size=np.array([4]), records=12)
        >>> t_from_epsilon(evidence, TFromEpsilonParameters(epsilon=1)).values.round(4).tolist()
        [2.1455]
    """
    size, records = evidence.size, evidence.records
    with np.errstate(over="ignore"):
        growth = np.expm1(float(parameters.epsilon))
    others = (records - size) / records
    values = 1 + np.multiply(others, growth, out=np.zeros(len(size)), where=others > 0)

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> Signs:
        sizes, which = np.unique(size[classes], return_inverse=True)
        signs = [_sign_of_mixture(Fraction(n, records), parameters.epsilon, threshold) for n in sizes.tolist()]
        return np.array(signs, dtype=np.int8)[which]

    return ApproximateFigure(np.asarray(values), decide)


def _sign_of_mixture(share: Fraction, epsilon: Fraction, threshold: Fraction) -> int:
    """Sign of share + (1 - share) e^epsilon - threshold."""
    if share == 1:
        return (threshold < 1) - (threshold > 1)
    return sign_of_exponential(epsilon, (threshold - share) / (1 - share))


VACUOUS = 1e6  # a ratio: no two distributions in practice are that far apart


class DistanceFunction(StrEnum):
    """A non-decreasing function g of a ratio r >= 1, by which D13's definition 1 measures a distance.

    Each is non-decreasing on [1, infinity), since its derivative is positive there: 1, 1/(2 sqrt r), 1/r, and a r^(a-1)
    for a > 0.
    """

    IDENTITY = "identity"
    SQUARE_ROOT = "square_root"
    LOGARITHM = "logarithm"
    POWER = "power"


def _range_of_t(schema: dict[str, Any]) -> None:
    """Say in the JSON Schema, too, that only a logarithm is below 1, and that a power has an exponent."""
    otherwise = {"properties": {"at_most": {"minimum": 1}}}
    logarithm = {"required": ["g"], "properties": {"g": {"const": "logarithm"}}}
    power = {"required": ["g"], "properties": {"g": {"const": "power"}}}
    schema["allOf"] = [
        {"if": logarithm, "else": otherwise},
        {"if": power, "then": {"required": ["exponent"]}, "else": {"properties": {"exponent": {"type": "null"}}}},
    ]


class ExpectedParameters(Parameters):
    """Parameters of `expected_t_closeness`."""

    model_config = ConfigDict(json_schema_extra=_range_of_t)

    epsilon: Annotated[
        Exact, Field(ge=0, le=10**6, description="The epsilon that the confidential values were masked with.")
    ]
    at_most: Annotated[
        Exact | None, Field(ge=0, description="The largest expected t: at least 1, unless g is the logarithm.")
    ] = None
    g: Annotated[
        DistanceFunction,
        Field(strict=False, description="The distance as a function of the ratio of two distributions."),
    ] = DistanceFunction.IDENTITY
    exponent: Annotated[
        Exact | None, Field(gt=0, le=10**6, description="The exponent, of `g: power` alone; more than 0.")
    ] = None

    @property
    def power(self) -> Fraction:
        """The power of the ratio that g is; the logarithm is of the ratio itself."""
        if self.exponent is not None:
            return self.exponent
        return Fraction(1, 2) if self.g is DistanceFunction.SQUARE_ROOT else Fraction(1)


def _faults(parameters: ExpectedParameters, _: PolicyDocument) -> Iterator[tuple[str, str]]:
    """A t that no distance can have, and an exponent that is missing or unused."""
    if (parameters.g is DistanceFunction.POWER) is (parameters.exponent is None):
        missing = parameters.exponent is None
        yield "exponent", "`g: power` needs one, above 0" if missing else "only `g: power` takes one; remove it"
    if parameters.g is not DistanceFunction.LOGARITHM and parameters.at_most is not None and parameters.at_most < 1:
        yield "at_most", "must be at least 1: only the logarithm of a ratio is less"


def expected_t(evidence: ClassEvidence, parameters: ExpectedParameters) -> Measured:
    """t_E = g(exp((N - n_E) epsilon)), the bound of expected t-closeness where g measures the distance.

    The ratio between the expected distributions of class and table is at most exp((N - n_E) epsilon), and a
    non-decreasing g keeps the order, so that g of the ratio is at most g of the bound.

    Returns:
        Shape (classes,), of at least g(1): for the logarithm exact fractions of at least 0; otherwise float64 of at
        least 1, infinite where it exceeds what float64 holds, from an exponent of 710 on. Close to a threshold, exact
        arithmetic decides; equality is possible only at 1.

    Cost: O(classes).

    Source: Domingo-Ferrer (2013), definition 1 and lemma 1; the smallest class has its k.

    Example:
        >>> evidence = ClassEvidence(size=np.array([4, 10]), records=12)
        >>> expected_t(evidence, ExpectedParameters(epsilon=1)).values.round(2).tolist()
        [2980.96, 7.39]
        >>> expected_t(evidence, ExpectedParameters(epsilon=1, g="logarithm")).values.tolist()
        [8.0, 2.0]
    """
    size, records, rate = evidence.size, evidence.records, parameters.epsilon * parameters.power
    if parameters.g is DistanceFunction.LOGARITHM:
        # Python's own integers: epsilon may have any denominator
        others = (records - size).astype(object)
        return Ratios(others * rate.numerator, np.full(len(size), rate.denominator, dtype=object))
    with np.errstate(over="ignore"):
        values = np.exp((records - size) * float(rate))

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> Signs:
        sizes, which = np.unique(size[classes], return_inverse=True)
        signs = [sign_of_exponential((records - n) * rate, threshold) for n in sizes.tolist()]
        return np.array(signs, dtype=np.int8)[which]

    return ApproximateFigure(values, decide)


def _expected_values(outcome: Outcome) -> dict[str, Any]:
    """The bound on the ratio itself, which says how much odds can change whatever g is."""
    observed, g = worst_figure(outcome), DistanceFunction(outcome.parameters["g"])
    power = Fraction(outcome.parameters.get("exponent") or 1)
    with np.errstate(over="ignore"):
        ratio = {
            DistanceFunction.IDENTITY: observed,
            DistanceFunction.SQUARE_ROOT: float(np.square(observed)),
            DistanceFunction.LOGARITHM: float(np.exp(observed)),
            DistanceFunction.POWER: float(np.power(observed, float(1 / power))),
        }[g]
    return {**factor_of(ratio), "is_vacuous": ratio > VACUOUS, "exponent": float(power)}


DIGITS = 60  # of e^-epsilon: enough to say which whole numbers are below a multiple of it


class SampledParameters(Parameters):
    """Parameters of `sampled_k_anonymity`."""

    beta: Annotated[Exact, Field(gt=0, lt=1, description="The probability with which each person was sampled.")]
    k: Annotated[
        int, Field(ge=2, le=10**6, description="The least size of a class that is released; others were dropped.")
    ]
    epsilon: Annotated[Exact, Field(gt=0, le=100, description="The epsilon, at least -ln(1 - beta).")]
    levels: Annotated[
        Literal["without_data"],
        Field(description="The declaration that levels, bounds and k were chosen without looking at the data."),
    ]
    delta: Annotated[Exact | None, Field(gt=0, lt=1, description="The largest delta.")] = None


def sampled_delta(evidence: ClassEvidence, parameters: SampledParameters) -> ApproximateFigure:
    """The delta that sampling and k give: max over n >= k/gamma - 1 of Pr(Bin(n, beta) > gamma n).

    gamma = 1 - (1 - beta) e^-epsilon. A class of fewer than k records contradicts the declaration: its delta is 1.

    Returns:
        float64 from 0 to 1, shape (classes,). Close to a threshold, the tail is compared as an exact fraction.

    Cost: that of some binomial tails, once.

    Source: Li, Qardaji, Su (2012), theorem 1.

    Example:
        >>> evidence = ClassEvidence(size=np.array([9, 4]), records=13)
        >>> given = {"beta": "1/10", "k": 5, "epsilon": 1, "levels": "without_data"}
        >>> sampled_delta(evidence, SampledParameters(**given)).values.round(9).tolist()
        [0.0001765, 1.0]
    """
    tails = _largest_tails(parameters.beta, parameters.k, parameters.epsilon)
    small = evidence.size < parameters.k
    values = np.where(small, 1.0, tails[0][0])

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> Signs:
        exact = max(binomial_tail(trials, successes, parameters.beta) for _, trials, successes in tails)
        of_k, of_small = (np.sign(float((one > threshold) - (one < threshold))) for one in (exact, Fraction(1)))
        return np.where(small[classes], of_small, of_k).astype(np.int8)

    return ApproximateFigure(values, decide)


@lru_cache(maxsize=64)
def _largest_tails(beta: Fraction, k: int, epsilon: Fraction) -> list[tuple[float, int, int]]:
    """The tails Pr(Bin(trials, beta) >= successes) that may be the largest: in floats, with trials and successes."""
    # For all n with the same number j = floor(gamma n) + 1 of successes the tail grows with n, so that only the largest
    # of them counts, floor(j / gamma); j begins with k, as k/gamma - 1 is the first n. gamma is irrational, so that no
    # multiple of it is whole. By Chernoff's bound no tail of n trials exceeds e^(-n D), D the divergence of gamma from
    # beta, which ends the search.
    from scipy.special import betainc  # noqa: PLC0415 - slow to import

    with localcontext() as context:
        context.prec = DIGITS
        decay = (-Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        gamma = 1 - Fraction(decay) * (1 - beta)
    rate, share = float(gamma), float(beta)
    divergence = rate * log(rate / share) + (1 - rate) * (log1p(-rate) - log1p(-share)) if rate < 1 else -log(share)
    tails, largest, successes = [], 0.0, k
    while True:
        trials = floor(successes / gamma)
        if exp(-trials * divergence) < largest * (1 - 1e-6):
            break
        tail = float(betainc(successes, trials - successes + 1, share))
        largest = max(largest, tail)
        tails.append((tail, trials, successes))
        successes += 1
    return sorted((one for one in tails if one[0] >= largest * (1 - 1e-9)), reverse=True)


def binomial_tail(trials: int, least: int, beta: Fraction) -> Fraction:
    """The probability of at least so many successes, exactly.

    Example:
        >>> binomial_tail(3, 2, Fraction(1, 2))
        Fraction(1, 2)
    """
    hit, miss = beta.numerator, beta.denominator - beta.numerator
    ways = sum(comb(trials, one) * hit**one * miss ** (trials - one) for one in range(least, trials + 1))
    return Fraction(ways, beta.denominator**trials)


def _sampled_faults(parameters: SampledParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Yield the faults that only the policy as a whole shows: (parameter, sentence)."""
    if sign_of_exponential(parameters.epsilon, 1 / (1 - parameters.beta)) < 0:
        least = -log1p(-float(parameters.beta))
        yield "epsilon", f"no delta follows below -ln(1 - beta) = {least:.4g}; raise epsilon, or sample fewer people"
    if document.unit is not None:
        yield "", "the guarantee is of one record for each person, and the policy names a `unit`; leave it out"
    if document.conventions.missing_quasi_identifier == "wildcard":
        yield "", "classes must not overlap; set `missing_quasi_identifier: own_category`"
    if document.sampling_fraction not in (None, parameters.beta):
        yield "beta", "it is not the policy's `sampling_fraction`; declare one of them"


CHECKS: list[Check] = [
    ClassCheck(
        name="t_from_epsilon",
        concerns="masked",
        title="t from epsilon",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=TFromEpsilonParameters,
        thresholds=(Threshold("at_most", Comparison.AT_MOST, t_from_epsilon, "t that epsilon gives"),),
        monotone=lambda _: True,  # it falls as a class grows
        sentences=Sentences(
            passed=(
                "{assuming}, confidential values of the {every_record} masked with epsilon = {parameters.epsilon} "
                "are t-close with t = [{infinite?}infinite|{observed}], by the bound as derived, a + (1 - a) "
                "exp(epsilon); the formula printed in the paper is smaller by one record and not safe.{demand}"
            ),
            impact=ODDS_OF_CONFIDENTIAL_VALUE,
            parts={"assuming": ASSUMING, "demand": demand_of("t")},
            values=lambda outcome: factor_of(worst_figure(outcome)),
        ),
        guide=built_in_guide(__file__, "t_from_epsilon.md"),
    ),
    ClassCheck(
        name="expected_t_closeness",
        concerns="masked",
        title="Expected t-closeness",
        expectation_name="ExpectedTClosenessToBeLimited",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=ExpectedParameters,
        thresholds=(Threshold("at_most", Comparison.AT_MOST, expected_t, "expected t"),),
        monotone=lambda _: True,  # it falls as a class grows
        sentences=Sentences(
            passed=(
                "{assuming}, masking the {every_record} with epsilon = {parameters.epsilon} bounds the expected t "
                "by {bound} = {t}.{vacuous}{demand}"
            ),
            impact=ODDS_OF_CONFIDENTIAL_VALUE,
            parts={
                "assuming": ASSUMING,
                "demand": demand_of("t"),
                "t": "[{infinite?}infinite|{observed}]",
                "bound": {
                    "by": "g",
                    "square_root": "the square root of exp((N - k) epsilon)",
                    "logarithm": "the logarithm of exp((N - k) epsilon), (N - k) epsilon",
                    "power": "exp((N - k) epsilon) to the power of {exponent}",
                    "": "exp((N - k) epsilon)",
                },
                "vacuous": (
                    "[{is_vacuous?} This bound is vacuous: it forbids nothing that a release could do, and must "
                    "not be cited as protection.]"
                ),
            },
            values=_expected_values,
        ),
        validate=_faults,
        guide=built_in_guide(__file__, "expected_t_closeness.md"),
    ),
    ClassCheck(
        name="sampled_k_anonymity",
        title="Sampling and k-anonymity",
        expectation_name="ToBeSampledAndKAnonymous",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=SampledParameters,
        thresholds=(Threshold("delta", Comparison.AT_MOST, sampled_delta, "delta"),),
        monotone=lambda _: True,  # a class only grows
        needs=frozenset({Need.WHOLE_RECORDS}),
        validate=_sampled_faults,
        required_class_size=lambda parameters, _: None if parameters.delta is None else parameters.k,
        sentences=Sentences(
            passed=(
                "If each person was sampled with probability {parameters.beta}, and levels were chosen without the "
                "data as declared, [{observed=1?}nothing follows, because a group has fewer than {parameters.k} "
                "records, which should not have been released|the release of the {every_record} is differentially "
                "private with epsilon = {parameters.epsilon} and delta = {observed}]."
                "[{threshold?} The policy allows delta up to {threshold}[{failing_classes>0?}; it is not kept].]"
            ),
            impact=(
                "{intruder} [{observed=1?}may tell whether a person is in the release|learns whether a person was "
                "sampled by no more than the factor exp({parameters.epsilon}), except for a probability of {observed}]."
            ),
        ),
        guide=built_in_guide(__file__, "sampled_k_anonymity.md"),
    ),
]
