"""What differential privacy of the confidential attributes gives: a t of t-closeness, and an expected t."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import (
    ApproximateFigure,
    Check,
    ClassCheck,
    ClassEvidence,
    DisclosureType,
    Parameters,
    Signs,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.sentences import Comparison, Sentences
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


VACUOUS = 1e6  # no two distributions in practice are that far apart


class ExpectedParameters(Parameters):
    """Parameters of `expected_t_closeness`."""

    epsilon: Annotated[
        Exact, Field(ge=0, le=10**6, description="The epsilon that the confidential values were masked with.")
    ]
    at_most: Annotated[Exact | None, Field(ge=1, description="The largest expected t, a factor.")] = None


def expected_t(evidence: ClassEvidence, parameters: ExpectedParameters) -> ApproximateFigure:
    """t_E = exp((N - n_E) epsilon), the bound of expected t-closeness where the masked function is the identity.

    Returns:
        float64 of at least 1, shape (classes,); infinite where it exceeds what float64 holds, from an exponent of
        710 on. Close to a threshold, exact arithmetic decides; equality is possible only at 1.

    Cost: O(classes).

    Source: Domingo-Ferrer (2013), lemma 1; the smallest class has its k.

    Example:
        >>> evidence = ClassEvidence(size=np.array([4, 10]), records=12)
        >>> expected_t(evidence, ExpectedParameters(epsilon=1)).values.round(2).tolist()
        [2980.96, 7.39]
    """
    size, records, epsilon = evidence.size, evidence.records, parameters.epsilon
    with np.errstate(over="ignore"):
        values = np.exp((records - size) * float(epsilon))

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> Signs:
        sizes, which = np.unique(size[classes], return_inverse=True)
        signs = [sign_of_exponential((records - n) * epsilon, threshold) for n in sizes.tolist()]
        return np.array(signs, dtype=np.int8)[which]

    return ApproximateFigure(values, decide)


CHECKS: list[Check] = [
    ClassCheck(
        name="t_from_epsilon",
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
        title="Expected t-closeness",
        expectation_name="ExpectedTClosenessToBeLimited",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=ExpectedParameters,
        thresholds=(Threshold("at_most", Comparison.AT_MOST, expected_t, "expected t"),),
        monotone=lambda _: True,  # it falls as a class grows
        sentences=Sentences(
            passed=(
                "{assuming}, masking the {every_record} with epsilon = {parameters.epsilon} bounds the expected t "
                "by exp((N - k) epsilon) = {t}.{vacuous}{demand}"
            ),
            impact=ODDS_OF_CONFIDENTIAL_VALUE,
            parts={
                "assuming": ASSUMING,
                "demand": demand_of("t"),
                "t": "[{infinite?}infinite|{observed}]",
                "vacuous": (
                    "[{observed>1e6?} This bound is vacuous: it forbids nothing that a release could do, and must "
                    "not be cited as protection.]"
                ),
            },
            values=lambda outcome: factor_of(worst_figure(outcome)),
        ),
        guide=built_in_guide(__file__, "expected_t_closeness.md"),
    ),
]
