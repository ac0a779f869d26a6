"""The background knowledge attack: an intruder who knows some members of a class rules out their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import (
    AttributeParameters,
    ClassCheck,
    ClassEvidence,
    ClassSummary,
    DisclosureType,
    Threshold,
)
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.sensitive_values import SINGLE_VALUE
from tcdp_audit_plugins.guides import built_in_guide

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


CHECKS = [
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
                    "have the same value of|with a single value of] {attribute}[{least_in_mixed_classes>0?}; "
                    "]][{least_in_mixed_classes>0?}where values of {attribute} differ, knowing "
                    "{least_in_mixed_classes:other {unit}} can be enough]"
                ),
                "single_value": SINGLE_VALUE,
            },
            values=lambda outcome: {
                "alike": sum(int(records) for value, _, records in outcome.details["distribution"] if value == 0)
            },
        ),
        guide=built_in_guide(__file__, "background_knowledge.md"),
    )
]
