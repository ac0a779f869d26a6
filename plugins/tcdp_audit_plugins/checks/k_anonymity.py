"""k-anonymity, and its forms that ask more of a class: (alpha,k)-anonymity and p-sensitive k-anonymity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any

from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import (
    AttributeParameters,
    Check,
    ClassCheck,
    ClassEvidence,
    DisclosureType,
    Parameters,
    Ratios,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.checks._shared.sensitive_values import (
    SHARED_PARTS,
    VALUES_LEFT,
    commonest_value,
    on_shared_value,
    uncertain_values,
)
from tcdp_audit_plugins.guides import built_in_guide


class KAnonymityParameters(Parameters):
    """Parameters of `k_anonymity`."""

    k: Annotated[int | None, Field(ge=1, description="The least number of records in a class.")] = None


def class_sizes(evidence: ClassEvidence, _: Parameters) -> NDArray[Any]:
    """Size of every class: min over classes is k.

    Returns:
        int64, shape (classes,), in records (or in entities, where the policy names a unit).

    Cost: O(classes).

    Source: Samarati (2001), definition 2.1; Sweeney (2002), definition 3.

    Example:
        >>> import numpy
        >>> class_sizes(ClassEvidence(size=numpy.array([3, 1])), KAnonymityParameters())
        array([3, 1])
    """
    return evidence.size


def _values(outcome: Outcome) -> dict[str, Any]:
    """The number alone, whether they are all that fail, and the mean chance of a guess: at all, and at those who fail.

    Only where each record, or each unit by its whole history, is in one class.
    """
    classes, records = outcome.classes, outcome.records
    is_partition = outcome.conventions.get("unit", "row") == "row" or outcome.conventions.get("known_rows") == "all"
    if not is_partition or classes is None or records is None:
        return {}
    alone = sum(int(number) for size, _, number in outcome.details["distribution"] if size == 1)
    mean = Fraction(classes.total, records.total)  # over records, the chance 1/n is groups over records
    whole, failing = outcome.conventions.get("known_rows") == "all", records.failing or 0
    is_part = whole and classes.failing is not None and 0 < failing < records.total
    return {
        "alone": alone,
        "all_alone": alone > 0 and alone == records.failing,
        "mean": mean,
        "of_failing": (classes.failing or 0) / failing if is_part else None,
    }


def _risk(parameters: KAnonymityParameters, document: PolicyDocument) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Classes of k are a risk of 1/k at most, counted as they are."""
    if parameters.k and document.conventions.suppressed == "counted":
        yield "reidentification_risk", {"at_most": Fraction(1, parameters.k)}


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


CHECKS: list[Check] = [
    ClassCheck(
        name="k_anonymity",
        answers=("sample_uniqueness", "reidentification_risk"),
        title="k-anonymity",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=KAnonymityParameters,
        thresholds=(Threshold("k", Comparison.AT_LEAST, class_sizes, "records in the group", counts=True),),
        monotone=lambda _: True,  # a union is no smaller than its parts
        implies=_risk,
        sentences=Sentences(
            passed="Every {record} is in a group of at least {observed:{unit}} with the same {known}.",
            failed=(
                "{victims} of fewer than {threshold:{unit}} with the same {known}[{all_alone?}: {alone:this "
                "{unit}|each of them} is alone|{alone>0?}; {alone} of them {alone:is|are} alone|; the smallest has "
                "{observed:{unit}}]."
            ),
            measured=(
                "[{classes=1?}The only group|The smallest of {classes:group}] with the same {known} has "
                "{observed:{unit}}."
            ),
            impact=(
                "{intruder} narrows them down to {observed:{unit}}[{mean?} in the smallest group, and to "
                "{average_group} on average]; a guess is right with {guess:chance}[{mean?} there, and with "
                "{mean:chance} on average[{of_failing?} over all {records:{record}} ({of_failing:%} over these "
                "{failing})]]."
            ),
            values=_values,
        ),
        guide=built_in_guide(__file__, "k_anonymity.md"),
    ),
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
            impact="{in_worst_group} [{is_counted?}{same_value}|one {attribute} is theirs with {observed:chance}].",
            parts={
                **SHARED_PARTS,
                "worst_group": "the group with the largest share of one value",
                "most": "one value of {attribute} {makes_up} {observed:%} of a group at most",
                "makes_up": "[{several_rows?}is that of|makes up]",
            },
            values=on_shared_value,
        ),
        worst_details=commonest_value,
        guide=built_in_guide(__file__, "alpha_k_anonymity.md"),
    ),
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
                "worst_group": "the least varied group",
                "all_alike": "in the least varied all share a value of {attribute}",
                "values_left": VALUES_LEFT,
            },
        ),
        guide=built_in_guide(__file__, "p_sensitive_k_anonymity.md"),
    ),
]
