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
    Comparison,
    DisclosureType,
    Guide,
    Threshold,
)
from tcdp_audit.plugin.measure import ClassSummary
from tcdp_audit.plugin.sentences import (
    Outcome,
    Sentences,
)
from tcdp_audit_plugins.checks._shared.certain_values import SINGLE_VALUE
from tcdp_audit_plugins.formulas import formula

MIXED = "least_in_mixed_classes"


class BackgroundParameters(AttributeParameters):
    """Parameters of `background_knowledge`."""

    at_least: Annotated[
        int | None,
        Field(ge=1, description="The least number of other records to know before the rest of a class is alike."),
    ] = None


def records_to_know(evidence: ClassEvidence, _: BackgroundParameters) -> NDArray[Any]:
    """How many other records of a class must be known before the rest has one sensitive value: n_E - max_i c_i.

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


def _values(outcome: Outcome) -> dict[str, int]:
    """How many records are in classes with a single value."""
    return {"alike": sum(int(records) for value, _, records in outcome.details["distribution"] if value == 0)}


CHECKS = [
    ClassCheck(
        name="background_knowledge",
        title="Background knowledge attack",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=BackgroundParameters,
        thresholds=(
            Threshold("at_least", Comparison.AT_LEAST, records_to_know, "other records to be known", counts=True),
        ),
        monotone=lambda _: True,  # n - max c_i of a union is at least the sum over its parts
        on_attribute=True,
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
            values=_values,
        ),
        guide=Guide(
            question="How many others must somebody know before the rest of a group has only one secret?",
            risk="A member of a group who knows their own secret may so learn that of all others.",
            definition=(
                "An intruder finds the class of a person and knows the sensitive values of some other members, such "
                "as their own. Without those records the rest may share one value. The figure is the least number of "
                "other records that must be known for that: the size of the class less the count of its most frequent "
                "value. Where the policy names a unit, such as a person, n_E counts the units of the class and c_i "
                "those that have the value i, beside others or not."
            ),
            **formula(
                r"\min_E\, (n_E - \max_i c_i) \ge \text{at\_least}",
            ),
            reading=(
                "0 is a homogeneous class, where nothing needs to be known and which fails any demand. 1 is a class in "
                "which one member alone exposes all the others. The detail `least_in_mixed_classes` is the least "
                "figure among the classes that are not homogeneous. Only records with a sensitive value count."
            ),
            choosing=(
                "2 protects against every single member of a class, 3 against two who share what they know. It can "
                "be at most k - 1."
            ),
            limits=(
                "It is the worst case over whom the intruder knows. Knowledge of another kind, such as that a value "
                "is impossible for a person, is what recursive (c,l)-diversity is about."
            ),
            source=(
                "Machanavajjhala et al., l-Diversity, ACM TKDD 1(1), 2007, doi:10.1145/1217299.1217302, "
                "background knowledge attack; Torra, Guide to Data Privacy, Springer 2022, "
                "doi:10.1007/978-3-031-12837-0"
            ),
            example="- background_knowledge: {at_least: 2, attribute: disease}",
        ),
    ),
]
