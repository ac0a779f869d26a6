"""Recursive (c,l)-diversity: no value so frequent that excluding a few others would give it away."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from tcdp_audit.plugin.check import AttributeParameters, ClassCheck, ClassEvidence, DisclosureType, Ratios, Threshold
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.sentences import (
    Comparison,
    Sentences,
)
from tcdp_audit_plugins.checks._shared.certain_values import certain_among
from tcdp_audit_plugins.checks._shared.ranked_counts import ratio_to_tail
from tcdp_audit_plugins.checks._shared.sensitive_values import ambiguous, among
from tcdp_audit_plugins.guides import built_in_guide


class Variant(StrEnum):
    """Which disclosures are of concern."""

    RECURSIVE = "recursive"
    POSITIVE_DISCLOSURE = "positive_disclosure"
    NEGATIVE_DISCLOSURE = "negative_disclosure"


class RecursiveParameters(AttributeParameters):
    """Parameters of `recursive_cl_diversity`."""

    c: Annotated[Exact | None, Field(gt=0, description="A class's ratio must be below it.")] = None
    l: Annotated[int, Field(ge=2, description="l - 2 values may be excluded; 1-diversity always holds.")]
    variant: Annotated[
        Variant,
        Field(
            strict=False,
            description="recursive; positive_disclosure: `dont_care` values may be disclosed; negative_disclosure: "
            "besides, `protected` values must not be ruled out.",
        ),
    ] = Variant.RECURSIVE
    dont_care: Annotated[
        list[Text] | None, Field(min_length=1, description="Values whose disclosure is of no concern.")
    ] = None
    protected: Annotated[
        list[Text] | None, Field(min_length=1, description="Values that nobody may be able to rule out.")
    ] = None
    c2: Annotated[
        Exact | None, Field(gt=0, le=1, description="The least share of each protected value in a class.")
    ] = None

    @model_validator(mode="after")
    def _values_belong_to_their_variant(self) -> RecursiveParameters:
        if self.dont_care and self.variant is Variant.RECURSIVE:
            raise ValueError("`dont_care` needs `variant: positive_disclosure` or `negative_disclosure`")
        if self.variant is Variant.POSITIVE_DISCLOSURE and not self.dont_care:
            raise ValueError("`variant: positive_disclosure` needs the values in `dont_care`")
        if (self.variant is Variant.NEGATIVE_DISCLOSURE) != (self.protected is not None):
            raise ValueError("`protected` values and `variant: negative_disclosure` belong together")
        if self.c2 is not None and not self.protected:
            raise ValueError("`c2` needs the values in `protected`")
        return self


def recursive_ratio(evidence: ClassEvidence, parameters: RecursiveParameters) -> Ratios:
    """How many times as frequent the most frequent value is as the values from the l-th on together.

    With counts r_1 >= r_2 >= ... >= r_m of a class, r_1 / (r_l + ... + r_m). With don't-care values, r_y over its
    tail, where y is the rank of the most frequent value that is not one of them.

    Returns:
        Exact fractions of at least 0, shape (classes,): infinite for fewer than l values and where all members have
        the same one that is of concern, 0 for a class of don't-care values only.

    Cost: a sort of the pairs of class and value.

    Source: Machanavajjhala et al. (2007), recursive and pd-recursive (c,l)-diversity.

    Example:
        >>> from tcdp_audit.plugin.check import ReferenceDistribution
        >>> from tcdp_audit.plugin.check import Histogram
        >>> rows = Histogram(*map(np.array, ([0, 3], [0, 1, 2], [8, 1, 1])))
        >>> evidence = ClassEvidence(np.array([10]), rows, ReferenceDistribution(np.array([8, 1, 1])))
        >>> recursive_ratio(evidence, RecursiveParameters(l=2)).values
        array([4.])
    """
    histogram = evidence.sensitive[0]
    dont_care = among(evidence, parameters.dont_care or ())
    ratio = ratio_to_tail(histogram, parameters.l, dont_care)
    if histogram.entities is None:  # a value that is certain is the only one, and has no tail
        return ratio
    return Ratios(ratio.numerator, np.where(certain_among(histogram, ~dont_care), 0, ratio.denominator))


def least_protected_share(evidence: ClassEvidence, parameters: RecursiveParameters) -> Ratios:
    """Share of the rarest protected value in every class; 1 where the policy protects none.

    Returns:
        Exact fractions from 0 to 1, shape (classes,).

    Cost: O(pairs of class and value).

    Source: Machanavajjhala et al. (2007), npd-recursive (c1,c2,l)-diversity.
    """
    histogram = evidence.sensitive[0]
    if parameters.protected is None:
        return Ratios.whole(np.ones(len(histogram), dtype=np.int64))
    inside = among(evidence, parameters.protected)[histogram.values]
    complete = histogram.sum(inside.astype(np.int64)) == len(set(parameters.protected))
    rarest = histogram.min(np.where(inside, histogram.counts, histogram.spread(histogram.total)))
    return Ratios(np.where(complete, rarest, 0), histogram.total)


def _validate(parameters: RecursiveParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from ambiguous(parameters, document, "dont_care", "protected")


CHECKS = [
    ClassCheck(
        name="recursive_cl_diversity",
        title="Recursive (c,l)-diversity",
        expectation_name="ToBeRecursivelyClDiverse",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=RecursiveParameters,
        thresholds=(
            Threshold("c", Comparison.BELOW, recursive_ratio, "ratio of the first value to the tail"),
            Threshold("c2", Comparison.AT_LEAST, least_protected_share, "share of the rarest protected value"),
        ),
        on_attribute=True,
        monotone=lambda _: True,  # n_s < c (the rest less its l - 2 largest) adds up over classes, for every s
        variant=lambda one: "" if one.variant is Variant.RECURSIVE else one.variant.value.replace("_", " "),
        validate=_validate,
        sentences=Sentences(
            passed="[{infinite?}Among|In] the groups of the {every_record}, {ratio}{rarest}.",
            failed=(
                "{victims} [{parameters.c?}in which a value is too likely{excluded}[{parameters.c2?} or "
                "]][{parameters.c2?}in which a protected value is too rare]; {ratio}{rarest}."
            ),
            impact=(
                "{in_worst_group} [{infinite?}there are fewer than {l} values of {attribute} to choose "
                "from[{several_rows?}, or all have the same]|the likeliest value of {attribute} is right {observed} "
                "times as often as the values from number {l} on together]."
            ),
            parts={
                "ratio": (
                    "[{infinite?}one has fewer than {l} values of {attribute}[{several_rows?}, or one that all "
                    "have]|at worst the most frequent value of {attribute} is {observed} times as frequent as the "
                    "values from number {l} on together]"
                ),
                "rarest": (
                    "[{protected?}; the rarest protected value makes up {details.c2:% against parameters.c2} of a "
                    "group]"
                ),
                "excluded": "[{fewer>0?} once {fewer:another|{fewer} others} can be excluded]",
            },
            values=lambda outcome: {"fewer": outcome.parameters["l"] - 2},
        ),
        guide=built_in_guide(__file__, "recursive_cl_diversity.md"),
    ),
]
