"""(alpha,k)-anonymity: large enough classes, and in none of them a value that is too frequent."""

from __future__ import annotations

from typing import Annotated, Any

from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import AttributeParameters, ClassCheck, ClassEvidence, DisclosureType, Ratios, Threshold
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.guides import built_in_guide


class AlphaKParameters(AttributeParameters):
    """Parameters of `alpha_k_anonymity`."""

    alpha: Annotated[
        Exact | None, Field(gt=0, le=1, description="The largest share of one sensitive value in a class.")
    ] = None
    k: Annotated[int | None, Field(ge=1, description="The least number of records in a class.")] = None


def largest_share(evidence: ClassEvidence, _: AlphaKParameters) -> Ratios:
    """Share of the members of every class who have its most frequent sensitive value, max_i p_i.

    Returns:
        Exact fractions above 0 and at most 1, shape (classes,).

    Cost: O(pairs of class and value).

    Source: Wong, Li, Fu, Wang (2006), alpha-deassociation.

    Example:
        >>> import numpy
        >>> from tcdp_audit.plugin.check import ReferenceDistribution
        >>> from tcdp_audit.plugin.check import Histogram
        >>> rows = Histogram(*map(numpy.array, ([0, 2], [0, 1], [3, 1])))
        >>> evidence = ClassEvidence(numpy.array([4]), rows, ReferenceDistribution(numpy.array([3, 1])))
        >>> largest_share(evidence, AlphaKParameters()).values
        array([0.75])
    """
    histogram = evidence.sensitive[0]
    return Ratios(histogram.max(histogram.counts), histogram.members)


def class_sizes(evidence: ClassEvidence, _: AlphaKParameters) -> NDArray[Any]:
    """Size of every class, in records (or in entities, where the policy names a unit). int64, shape (classes,)."""
    return evidence.size


CHECKS = [
    ClassCheck(
        name="alpha_k_anonymity",
        title="(alpha,k)-anonymity",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=AlphaKParameters,
        thresholds=(
            Threshold("alpha", Comparison.AT_MOST, largest_share, "largest share of one value in the group"),
            Threshold("k", Comparison.AT_LEAST, class_sizes, "records in the group", counts=True),
        ),
        implies=lambda one, _: [("k_anonymity", {"k": one.k})] if one.k else [],
        on_attribute=True,
        history_reading=lambda _: "units",
        monotone=lambda _: True,  # a union is larger, and a value's share in it lies between its shares in the parts
        sentences=Sentences(
            passed="Every {record} is in a group of at least {details.k:{unit}}; {most}.",
            failed=(
                "{victims} [{parameters.k?}of fewer than {parameters.k:{unit}}[{alpha?} or ]][{alpha?}in which one "
                "value {makes_up} more than {alpha:%}]; the smallest group has {details.k:{unit}}, and {most}."
            ),
            measured=("[{classes=1?}The only group|The smallest of {classes:group}] has {details.k:{unit}}; {most}."),
            impact="{in_worst_group} one value of {attribute} is theirs with {observed:chance}.",
            parts={
                "most": "one value of {attribute} {makes_up} {observed:%} of a group at most",
                "makes_up": "[{several_rows?}is that of|makes up]",
            },
        ),
        guide=built_in_guide(__file__, "alpha_k_anonymity.md"),
    )
]
