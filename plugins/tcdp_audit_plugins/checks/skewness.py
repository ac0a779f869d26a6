"""The skewness attack: a class in which a sensitive value is far more frequent than in the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import (
    AttributeParameters,
    ClassCheck,
    ClassEvidence,
    Comparison,
    DisclosureType,
    Guide,
    Ratios,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.sentences import (
    Sentences,
)
from tcdp_audit_plugins.checks._shared.certain_values import SHARES_OF_PAIRS
from tcdp_audit_plugins.checks._shared.frequency_ratios import greatest_ratio
from tcdp_audit_plugins.checks._shared.named_values import ambiguous, known
from tcdp_audit_plugins.formulas import formula


class SkewnessParameters(AttributeParameters):
    """Parameters of `skewness`."""

    at_most: Annotated[
        Exact | None, Field(gt=0, description="The largest factor by which a value may be more frequent in a class.")
    ] = None
    sensitive_values: Annotated[
        list[Text] | None, Field(min_length=1, description="The values that harm; without it, all of them.")
    ] = None


def largest_factor(evidence: ClassEvidence, parameters: SkewnessParameters) -> Ratios:
    """max_i p_i / q_i of every class, over the values that are named as sensitive.

    Returns:
        Exact fractions of at least 0, shape (classes,): 0 for a class without such a value, infinite for one with
        a value to which the reference gives no weight.

    Raises:
        CheckError: the reference lacks a sensitive value that the policy names.

    Cost: O(pairs of class and value).

    Source: Li, Li, Venkatasubramanian (2007), section 3, skewness attack.

    Example:
        >>> import numpy
        >>> from tcdp_audit.plugin.check import ReferenceDistribution
        >>> from tcdp_audit.plugin.check import Histogram
        >>> rows = Histogram(*map(numpy.array, ([0, 2], [0, 1], [1, 1])))
        >>> reference = ReferenceDistribution(numpy.array([9, 1]))
        >>> evidence = ClassEvidence(numpy.array([2]), rows, reference, labels=["no", "yes"])
        >>> largest_factor(evidence, SkewnessParameters(sensitive_values=["yes"])).values
        array([5.])
    """
    named = parameters.sensitive_values
    chosen = None if named is None else known(evidence, named, "sensitive")
    return greatest_ratio(*evidence.sensitive, chosen)


def _validate(parameters: SkewnessParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from ambiguous(parameters, document, "sensitive_values")


CHECKS = [
    ClassCheck(
        name="skewness",
        title="Skewness attack",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=SkewnessParameters,
        thresholds=(Threshold("at_most", Comparison.AT_MOST, largest_factor, "share in the group over the table's"),),
        monotone=lambda _: True,  # a share in a union lies between the shares in its parts
        on_attribute=True,
        validate=_validate,
        sentences=Sentences(
            passed=(
                "[{infinite?}Among the groups of the {every_record}, one has {value} that the reference gives no "
                "weight|In the groups of the {every_record}, {value} is at worst more frequent than in the table by "
                "a factor of {observed}]."
            ),
            failed=(
                "{victims} in which {value} is more frequent than in the table by a factor above {threshold}; "
                "[{infinite?}the reference gives such a value no weight|at worst the factor is {observed}]."
            ),
            impact=(
                "{in_worst_group} [{infinite?}there is {value} that the reference gives no weight|they are "
                "suspected of {value} {observed} times as much as anyone]."
            ),
            parts={
                "value": "a [{sensitive_values?}sensitive ]value of {attribute}",
            },
        ),
        guide=Guide(
            question="Is nobody suspected of a harmful secret much more than everybody is?",
            risk="Somebody may be suspected of a rare and harmful secret because of the group that they are in.",
            definition=(
                "A value may be rare in the table and frequent in a class: whoever is found there is suspected of it, "
                "however diverse the class is. The figure is the largest share of a harmful value in a class over its "
                "share in the table."
            ),
            **formula(
                r"\max_E \max_{i \text{ harmful}} \frac{p_i}{q_i} \le \text{at\_most}",
            ),
            reading=(
                "Li's example: 1 % of a population has an infection; in a class half of the members have it, so "
                "the factor is 50 although the class is as diverse as can be. A class without a harmful value has 0."
            ),
            choosing="Name the values that harm in `sensitive_values`; 2 lets the suspicion of such a value double.",
            limits=(
                "It bounds a factor, not a share: three times one in a thousand is still little, and 1.5 times 60 % "
                "is nearly certain. A harmful value that the reference lacks is an error, not a pass. "
                f"{SHARES_OF_PAIRS}"
            ),
            source=(
                "Li, Li, Venkatasubramanian, t-Closeness, ICDE 2007, doi:10.1109/ICDE.2007.367856, section 3 "
                "(skewness attack)"
            ),
            example="- skewness: {at_most: 3, attribute: disease}",
        ),
    ),
]
