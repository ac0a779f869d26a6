"""(alpha,k)-anonymity: large enough classes, and in none of them a value that is too frequent."""

from __future__ import annotations

from typing import Annotated, Any

from numpy.typing import NDArray
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
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.sentences import (
    Sentences,
)
from tcdp_audit_plugins.formulas import formula


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
        guide=Guide(
            question="Is everybody hidden among enough others, and is no secret too common among them?",
            risk="Whoever finds somebody's group may guess their secret and mostly be right.",
            definition=(
                "Every equivalence class has at least k records, and in none of them has a sensitive value a larger "
                "share than alpha. A class must keep both. Where the policy names a unit, such as a person, a class "
                "has as many members as units, and p_i is the share of them that have the value i. Shares may then "
                "add up to more than 1, since a unit may have several values."
            ),
            **formula(
                r"\max_E \max_i p_i \le \alpha",
                r"\min_E n_E \ge k",
            ),
            reading=(
                "The observed value is the largest share of one sensitive value in any class: how sure an intruder is "
                "of a person's value after finding the class. The size of the smallest class is the detail `k`."
            ),
            choosing=(
                "alpha below the share that would already be an accusation: 0.5 keeps every value less likely than "
                "not. It cannot be below the share of the most frequent value in the table by much."
            ),
            limits=(
                "A share is judged by itself. A value that is rare in the table may be ten times as frequent in a "
                "class and still keep alpha: pair it with t-closeness or beta-likeness."
            ),
            source="Wong, Li, Fu, Wang, (α,k)-Anonymity, KDD 2006, doi:10.1145/1150402.1150499",
            example="- alpha_k_anonymity: {alpha: 0.5, k: 5, attribute: disease}",
        ),
    ),
]
