"""The skewness attack: a class in which a harmful value is far more frequent than in the table."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
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
    Outcome,
    Status,
    column_of,
    decimal,
    every_record,
    figure,
    in_worst_group,
    victims,
)
from tcdp_audit_plugins.checks._shared.certain_values import SHARES_OF_PAIRS
from tcdp_audit_plugins.checks._shared.frequency_ratios import greatest_ratio
from tcdp_audit_plugins.checks._shared.sensitive_values import ambiguous, known
from tcdp_audit_plugins.formulas import formula


class SkewnessParameters(AttributeParameters):
    """Parameters of `skewness`."""

    at_most: Annotated[
        Exact | None, Field(gt=0, description="The largest factor by which a value may be more frequent in a class.")
    ] = None
    harmful: Annotated[
        list[Text] | None, Field(min_length=1, description="The values that harm; without it, all of them.")
    ] = None


def largest_factor(evidence: ClassEvidence, parameters: SkewnessParameters) -> Ratios:
    """max_i p_i / q_i of every class, over the harmful values.

    Returns:
        Exact fractions of at least 0, shape (classes,): 0 for a class without a harmful value, infinite for one with
        a value to which the reference gives no weight.

    Raises:
        CheckError: the reference lacks a harmful value that the policy names.

    Cost: O(pairs of class and value).

    Source: Li, Li, Venkatasubramanian (2007), section 3, skewness attack.

    Example:
        >>> import numpy
        >>> from tcdp_audit.plugin.check import ReferenceDistribution
        >>> from tcdp_audit.plugin.check import Histogram
        >>> rows = Histogram(*map(numpy.array, ([0, 2], [0, 1], [1, 1])))
        >>> whole = ReferenceDistribution(numpy.array([9, 1]))
        >>> evidence = ClassEvidence(numpy.array([2]), rows, whole, labels=["no", "yes"])
        >>> largest_factor(evidence, SkewnessParameters(harmful=["yes"])).values
        array([5.])
    """
    harmful = None if parameters.harmful is None else known(evidence, parameters.harmful, "harmful")
    return greatest_ratio(*evidence.sensitive, harmful)


def _validate(parameters: SkewnessParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from ambiguous(parameters, document, "harmful")


def _sentence(outcome: Outcome) -> str:
    value = f"{'a harmful' if 'harmful' in outcome.parameters else 'a'} value of {column_of(outcome)}"
    factor = figure(outcome.observed, outcome.threshold)
    if outcome.status is not Status.FAILED:
        if outcome.observed == inf:
            return (
                f"Among the groups of the {every_record(outcome)}, one has {value} that the reference gives no weight."
            )
        most = f"more frequent than in the table by a factor of {factor}"
        return f"In the groups of the {every_record(outcome)}, {value} is at worst {most}."
    worst = f"at worst the factor is {factor}"
    if outcome.observed == inf:
        worst = "the reference gives such a value no weight"
    limit = f"more frequent than in the table by a factor above {decimal(outcome.threshold)}"
    return f"{victims(outcome)} in which {value} is {limit}; {worst}."


def _person(outcome: Outcome) -> str:
    value = f"{'a harmful' if 'harmful' in outcome.parameters else 'a'} value of {column_of(outcome)}"
    if outcome.observed == inf:
        return f"{in_worst_group(outcome)} there is {value} that the reference gives no weight."
    return (
        f"{in_worst_group(outcome)} they are suspected of {value} {figure(outcome.observed)} times as much as anybody."
    )


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
        sentence=_sentence,
        person=_person,
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
            choosing="Name the values that harm in `harmful`; 2 lets the suspicion of such a value double.",
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
