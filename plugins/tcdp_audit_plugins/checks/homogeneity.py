"""Attacks on a class: homogeneity (all share a value), background knowledge of some members, and skewness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import (
    AttackCheck,
    AttributeParameters,
    Check,
    ClassCheck,
    ClassEvidence,
    ClassSummary,
    DisclosureType,
    Ratios,
    ShareParameters,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact, Text
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.frequency_ratios import greatest_ratio
from tcdp_audit_plugins.checks._shared.sensitive_values import SINGLE_VALUE, ambiguous, known
from tcdp_audit_plugins.guides import built_in_guide


class HomogeneityParameters(ShareParameters):
    """Parameters of `homogeneity`."""


def homogeneous(evidence: ClassEvidence, _: HomogeneityParameters) -> NDArray[np.bool_]:
    """The classes with a sensitive value that all their members have, be it the only one or not.

    Returns:
        bool, shape (classes,).

    Cost: O(classes).

    Source: Machanavajjhala et al. (2007), homogeneity attack; Torra (2022).

    Example:
        >>> from tcdp_audit.plugin.check import ReferenceDistribution
        >>> from tcdp_audit.plugin.check import Histogram
        >>> rows = Histogram(*map(np.array, ([0, 1, 3], [0, 0, 1], [2, 1, 2])))
        >>> evidence = ClassEvidence(np.array([2, 3]), rows, ReferenceDistribution(np.array([3, 2])))
        >>> homogeneous(evidence, HomogeneityParameters())
        array([ True, False])
    """
    return evidence.sensitive[0].certain


MIXED = "least_in_mixed_classes"


class BackgroundParameters(AttributeParameters):
    """Parameters of `background_knowledge`."""

    at_least: Annotated[
        int | None,
        Field(ge=1, description="The least number of other records to know before the rest of a class is alike."),
    ] = None


def records_to_know(evidence: ClassEvidence, _: BackgroundParameters) -> NDArray[Any]:
    """The number of other records to know before the rest of a class has one sensitive value: n_E - max_i c_i.

    Returns:
        int64, shape (classes,): 0 for a homogeneous class.

    Cost: O(pairs of class and value).

    Source: Machanavajjhala et al. (2007), background knowledge attack; Torra (2022).

    Example:
        >>> from tcdp_audit.plugin.check import ReferenceDistribution
        >>> from tcdp_audit.plugin.check import Histogram
        >>> rows = Histogram(*map(np.array, ([0, 1, 3], [0, 0, 1], [2, 2, 1])))
        >>> evidence = ClassEvidence(np.array([2, 3]), rows, ReferenceDistribution(np.array([4, 1])))
        >>> records_to_know(evidence, BackgroundParameters())
        array([0, 1])
    """
    histogram = evidence.sensitive[0]
    return np.asarray(histogram.members - histogram.max(histogram.counts))


def _in_mixed_classes(summaries: Sequence[ClassSummary]) -> Mapping[str, int | None]:
    """The least figure among the classes that are not homogeneous; None where there is none."""
    mixed = [int(value) for value in summaries[0].distribution if value > 0]
    return {MIXED: min(mixed, default=None)}


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


CHECKS: list[Check] = [
    AttackCheck(
        name="homogeneity",
        title="Homogeneity attack",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=HomogeneityParameters,
        victims=homogeneous,
        label="share of records or units in homogeneous groups",
        monotone=lambda _: True,  # a union with a single value has only parts with that value
        on_attribute=True,
        history_reading=lambda _: "units",
        sentences=Sentences(
            passed=(
                "[{units?}{victim_units/units:{unit}} {victim_units/units:is|are} in "
                "[{all_victim_classes>1?}{all_victim_classes} groups|a group] in which all share a value of "
                "{attribute}[{classes_without_value>0?}, or no one has any][{details.victims>0?}: finding the group "
                "is enough to know it]|{details.victims>0?}{details.victims/records:{record}} "
                "{details.victims/records:is|are} in "
                "[{victim_classes>1?}{victim_classes} groups|a group] that {victim_classes:has|have} a single value "
                "of {attribute}: finding the group is enough to know it|[{classes_without_value>0?}No {record} is in a "
                "group with a single value of {attribute}|Every {record} is in a group with several values of "
                "{attribute}: finding it reveals none]]."
            ),
            impact=(
                "[{details.victims>0?}{in_worst_group} {single_value}|{intruder} finds [{units?}no value that all "
                "have|several values] of {attribute} in every group]."
            ),
            parts={"single_value": SINGLE_VALUE, "worst_group": "the largest such group"},
            values=lambda outcome: {
                "all_victim_classes": int(outcome.details["victim_classes"])
                + int(outcome.details.get("classes_without_value", 0))
            },
        ),
        guide=built_in_guide(__file__, "homogeneity.md"),
    ),
    ClassCheck(
        name="background_knowledge",
        title="Background knowledge attack",
        expectation_name="BackgroundKnowledgeToBeLimited",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=BackgroundParameters,
        thresholds=(
            Threshold("at_least", Comparison.AT_LEAST, records_to_know, "other records to be known", counts=True),
        ),
        monotone=lambda _: True,  # n - max c_i of a union is at least the sum over its parts
        on_attribute=True,
        history_reading=lambda _: "units",
        details=_in_mixed_classes,
        sentences=Sentences(
            passed="{story}.",
            failed=(
                "{victims} that {failing_classes:gives|give} {attribute} away to an intruder who knows fewer than "
                "{threshold:other {unit}}; {story}."
            ),
            impact=(
                "{in_worst_group} [{observed>0?}an intruder who also knows {attribute} of {observed:other {unit}} "
                "can be sure of theirs|{single_value}]."
            ),
            parts={
                "story": (
                    "[{alike>0?}{alike:{record}} {alike:is in a group|are in groups} [{several_rows?}in which all "
                    "share a value of|with a single value of] {attribute}[{least_in_mixed_classes>0?}; "
                    "]][{least_in_mixed_classes>0?}where values of {attribute} differ, knowing "
                    "{least_in_mixed_classes:other {unit}} can be enough]"
                ),
                "single_value": SINGLE_VALUE,
                "worst_group": "the group that gives most away",
            },
            values=lambda outcome: {
                "alike": sum(int(records) for value, _, records in outcome.details["distribution"] if value == 0)
            },
        ),
        guide=built_in_guide(__file__, "background_knowledge.md"),
    ),
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
                "weight|In the groups of the {every_record}, {value} is more frequent than in the table by a factor of "
                "at most {observed}]."
            ),
            failed=(
                "{victims} in which {value} is more frequent than in the table by a factor above {threshold}; "
                "[{infinite?}the reference gives such a value no weight|in {worst_group}, the factor is {observed}]."
            ),
            impact=(
                "{in_worst_group} [{infinite?}there is {value} that the reference gives no weight|they are "
                "suspected of {value} {observed} times as much as anyone]."
            ),
            parts={
                "worst_group": "the group with the largest factor",
                "value": "a [{sensitive_values?}sensitive ]value of {attribute}",
            },
        ),
        guide=built_in_guide(__file__, "skewness.md"),
    ),
]
