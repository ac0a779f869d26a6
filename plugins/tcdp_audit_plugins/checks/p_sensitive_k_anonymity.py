"""p-sensitive k-anonymity: large enough classes, each with several values of every confidential attribute."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import AttributeParameters, ClassCheck, ClassEvidence, DisclosureType, Threshold
from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.sensitive_values import VALUES_LEFT, uncertain_values
from tcdp_audit_plugins.guides import built_in_guide


class PSensitiveParameters(AttributeParameters):
    """Parameters of `p_sensitive_k_anonymity`."""

    p: Annotated[
        int | None, Field(ge=1, description="The least number of distinct sensitive values in a class; at most k.")
    ] = None
    k: Annotated[int | None, Field(ge=1, description="The least number of records in a class.")] = None


def distinct_values(evidence: ClassEvidence, _: PSensitiveParameters) -> NDArray[Any]:
    """Number of distinct sensitive values in every class; 1 where all members have the same one, whatever else.

    Returns:
        int64, shape (classes,), at least 1.

    Cost: O(classes).

    Source: Truta, Vinay (2006), p-sensitive k-anonymity property.

    Example:
        >>> import numpy
        >>> from tcdp_audit.plugin.check import ReferenceDistribution
        >>> from tcdp_audit.plugin.check import Histogram
        >>> rows = Histogram(*map(numpy.array, ([0, 2], [0, 1], [2, 1])))
        >>> evidence = ClassEvidence(numpy.array([3]), rows, ReferenceDistribution(numpy.array([2, 1])))
        >>> distinct_values(evidence, PSensitiveParameters())
        array([2])
    """
    return uncertain_values(evidence.sensitive[0])


def class_sizes(evidence: ClassEvidence, _: PSensitiveParameters) -> NDArray[Any]:
    """Size of every class, in records (or in entities, where the policy names a unit). int64, shape (classes,)."""
    return evidence.size


def _validate(parameters: PSensitiveParameters, _: PolicyDocument) -> Iterator[tuple[str, str]]:
    p, k = parameters.p, parameters.k
    if p is not None and k is not None and p > k:
        yield "p", f"must be at most k = {k}: a class of {k} records has no more than {k} distinct values"


def _implied(parameters: PSensitiveParameters, _: PolicyDocument) -> Iterator[tuple[str, dict[str, Any]]]:
    """What p and k demand are demands of other checks as well."""
    if parameters.k:
        yield "k_anonymity", {"k": parameters.k}
    if parameters.p:
        yield "distinct_l_diversity", {"l": parameters.p, "attribute": parameters.attribute}


CHECKS = [
    ClassCheck(
        name="p_sensitive_k_anonymity",
        title="p-sensitive k-anonymity",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=PSensitiveParameters,
        thresholds=(
            Threshold("p", Comparison.AT_LEAST, distinct_values, "distinct values in the group", counts=True),
            Threshold("k", Comparison.AT_LEAST, class_sizes, "records in the group", counts=True),
        ),
        implies=_implied,
        on_attribute=True,
        validate=_validate,
        monotone=lambda _: True,  # a union is larger, and has the values of all its parts
        sentences=Sentences(
            passed=(
                "Every {record} is in a group of at least {details.k:{unit}}, with at least {observed:different "
                "value} of {attribute}."
            ),
            failed=(
                "{victims} [{parameters.k?}of fewer than {parameters.k:{unit}}[{parameters.p?} or "
                "]][{parameters.p?}with fewer than {parameters.p} different values[{several_rows?} or with one that "
                "all have]]; the smallest has {details.k:{unit}}, [{several_rows?}{observed=1?}{all_alike}|the "
                "least varied {observed:value} of {attribute}]."
            ),
            measured=(
                "[{classes=1?}The only group|The smallest of {classes:group}] has {details.k:{unit}}; "
                "[{several_rows?}{observed=1?}{all_alike}|the least varied has {observed:different value} of "
                "{attribute}]."
            ),
            impact="{in_worst_group} {values_left}.",
            parts={
                "all_alike": "in the least varied all have the same value of {attribute}",
                "values_left": VALUES_LEFT,
            },
        ),
        guide=built_in_guide(__file__, "p_sensitive_k_anonymity.md"),
    )
]
