"""Expected t-closeness: what epsilon-differential privacy of whole classes promises on average, which is little."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import (
    ApproximateFigure,
    ClassCheck,
    ClassEvidence,
    DisclosureType,
    Parameters,
    Signs,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks.differential_privacy.sentences import (
    ASSUMING,
    ODDS_OF_CONFIDENTIAL_VALUE,
    demand_of,
    factor_of,
    sign_of_exponential,
    worst_figure,
)
from tcdp_audit_plugins.guides import built_in_guide

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


CHECKS = [
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
    )
]
