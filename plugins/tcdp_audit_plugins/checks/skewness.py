"""The skewness attack: a class in which a sensitive value is far more frequent than in the table."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import AttributeParameters, ClassCheck, ClassEvidence, DisclosureType, Ratios, Threshold
from tcdp_audit.plugin.detector import Exact, Text
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.frequency_ratios import greatest_ratio
from tcdp_audit_plugins.checks._shared.sensitive_values import ambiguous, known
from tcdp_audit_plugins.guides import built_in_guide


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


CHECKS = [
    ClassCheck(
        name="skewness",
        title="Skewness attack",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=SkewnessParameters,
        thresholds=(Threshold("at_most", Comparison.AT_MOST, largest_factor, "share in the group over the table's"),),
        monotone=lambda _: True,  # a share in a union lies between the shares in its parts
        on_attribute=True,
        history_reading=lambda _: "units",
        validate=lambda parameters, document: ambiguous(parameters, document, "sensitive_values"),
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
            parts={"value": "a [{sensitive_values?}sensitive ]value of {attribute}"},
        ),
        guide=built_in_guide(__file__, "skewness.md"),
    )
]
