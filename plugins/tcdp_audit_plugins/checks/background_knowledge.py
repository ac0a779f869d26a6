"""The background knowledge attack: an intruder who knows some members of a class rules out their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import ClassSummary, unit_noun, values_left
from tcdp_audit.plugin.check import (
    AttributeParameters,
    ClassCheck,
    ClassEvidence,
    Comparison,
    DisclosureType,
    Threshold,
)
from tcdp_audit.plugin.sentences import (
    Outcome,
    Status,
    agree,
    column_of,
    count,
    in_worst_group,
    record_noun,
    sentence_case,
    victims,
)
from tcdp_audit_plugins.checks._shared.certain_values import may_be_shared
from tcdp_audit_plugins.guides import built_in_guide

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


def _sentence(outcome: Outcome) -> str:
    alike = sum(int(records) for value, _, records in outcome.details["distribution"] if value == 0)
    least, column, other = outcome.details[MIXED], column_of(outcome), f"other {unit_noun(outcome)}"
    where, single = agree(alike, "is in a group", "are in groups"), "with a single value of"
    single = "in which everybody has the same value of" if may_be_shared(outcome) else single
    parts = [f"{count(alike, record_noun(outcome))} {where} {single} {column}"] if alike else []
    parts += [f"where values of {column} differ, knowing {count(least, other)} can be enough"] if least else []
    story = "; ".join(parts)
    if outcome.status is not Status.FAILED:
        return f"{sentence_case(story)}."
    demand = f"fewer than {count(int(outcome.threshold or 0), other)}"
    give = agree(0 if outcome.classes is None else outcome.classes.failing or 0, "gives", "give")
    return f"{victims(outcome)} that {give} {column} away to whoever knows {demand}; {story}."


def _person(outcome: Outcome) -> str:
    column, least = column_of(outcome), int(outcome.observed or 0)
    if not least:
        return f"{in_worst_group(outcome)} {values_left(outcome, 1)}."
    others = count(least, f"other {unit_noun(outcome)}")
    return f"{in_worst_group(outcome)} whoever also knows {column} of {others} can be sure of theirs."


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
        details=_in_mixed_classes,
        sentence=_sentence,
        person=_person,
        guide=built_in_guide(__file__, "background_knowledge.md"),
    ),
]
