"""Recursive (c,l)-diversity: no value so frequent that excluding a few others would give it away."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin._internal import LIMIT, Counts
from tcdp_audit.plugin.check import (
    AttributeParameters,
    ClassCheck,
    ClassEvidence,
    DisclosureType,
    Histogram,
    Ratios,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact, Text
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.checks._shared.sensitive_values import ambiguous, among, commonest_value, on_shared_value
from tcdp_audit_plugins.guides import built_in_guide

FEW = 3  # most frequent values that are sooner found one by one than by sorting


def ratio_to_tail(histogram: Histogram, l: int, dont_care: NDArray[np.bool_]) -> Ratios:
    """r_y over its tail, where r_y is the count of the most frequent value that matters.

    The tail of r_y is r_l + ... + r_m if y < l, and r_(l-1) + ... + r_m without r_y itself otherwise. With no
    value of no concern, y = 1 and the figure is r_1 / (r_l + ... + r_m).

    Args:
        histogram: counts of the classes.
        l: at least 2.
        dont_care: the codes of no concern, shape (domain,).

    Returns:
        Exact fractions, shape (classes,): 0 where no value matters, infinite where the tail is empty.

    Cost: O(pairs of class and value) for l up to 4, otherwise a sort of the pairs.
    """
    if l - 1 <= FEW and not dont_care.any():
        return _top_to_tail(histogram, l)
    counts, harmless = _ranked(histogram, dont_care[histogram.values])
    rank = np.arange(len(counts)) - histogram.spread(histogram.offsets[:-1])  # 0 is the most frequent
    y = histogram.min(np.where(harmless, len(counts), rank))
    none, y = y == len(counts), histogram.spread(y)
    first = np.where(y < l - 1, l - 1, l - 2)
    top = histogram.sum(np.where(rank == y, counts, 0))
    tail = histogram.sum(np.where((rank >= first) & (rank != y), counts, 0))
    return Ratios(top, np.where(none, 1, tail))


def _top_to_tail(histogram: Histogram, l: int) -> Ratios:
    """r_1 / (r_l + ... + r_m), the l - 1 most frequent values found one by one. O(pairs x l)."""
    counts, top, tail = histogram.counts, histogram.max(histogram.counts), histogram.total
    largest = top
    for rank in range(1, l):
        tail = tail - largest
        if rank < l - 1:
            counts = _without_first(histogram, counts, largest)
            largest = histogram.max(counts)
    return Ratios(top, tail)


def _without_first(histogram: Histogram, counts: Counts, largest: Counts) -> Counts:
    """Counts with the first of the largest ones of each class taken as 0."""
    pairs = np.flatnonzero(counts == histogram.spread(largest))
    rest = counts.copy()
    rest[pairs[np.searchsorted(pairs, histogram.offsets[:-1])]] = 0
    return rest


def _ranked(histogram: Histogram, harmless: NDArray[np.bool_]) -> tuple[Counts, NDArray[np.bool_]]:
    """Counts in descending order within every class, and which are of no concern (the last among equals)."""
    radix = int(histogram.counts.max(initial=0)) + 1  # a shard may have no class with a value
    if 2 * radix * len(histogram) >= LIMIT:
        order = np.lexsort((harmless, -histogram.counts, histogram.rows))
        return histogram.counts[order], harmless[order]
    # One number for a class, a count and a flag: numbers sort much faster than an index does.
    key = ((histogram.rows * radix + (radix - 1 - histogram.counts)) << 1) | harmless
    key.sort()
    return radix - 1 - (key >> 1) % radix, (key & 1).astype(bool)


class Variant(StrEnum):
    """The disclosures that are of concern."""

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
            "in addition, `protected` values must not be ruled out.",
        ),
    ] = Variant.RECURSIVE
    dont_care: Annotated[
        list[Text] | None, Field(min_length=1, description="Values whose disclosure is of no concern.")
    ] = None
    protected: Annotated[
        list[Text] | None, Field(min_length=1, description="Values that no one may be able to rule out.")
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
    """The ratio of the most frequent value to the values from the l-th on together.

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
    # Where each record counts, a value that is certain is the only one, and has no tail.
    if histogram.entities is None and histogram.wholes is None:
        return ratio
    return Ratios(ratio.numerator, np.where(histogram.certain_among(~dont_care), 0, ratio.denominator))


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


def _values(outcome: Outcome) -> dict[str, Any]:
    """The number of values that may be excluded, of the commonest that are left out, and what members share."""
    l, on_value = outcome.parameters["l"], on_shared_value(outcome)
    named = on_value["is_counted"] and not outcome.parameters.get("dont_care")
    return {**on_value, "is_counted": named, "fewer": l - 2, "left_out": l - 1}


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
        worst_details=commonest_value,
        monotone=lambda _: True,  # n_s < c (the rest less its l - 2 largest) adds up over classes, for every s
        variant=lambda one: "" if one.variant is Variant.RECURSIVE else one.variant.value.replace("_", " "),
        validate=lambda parameters, document: ambiguous(parameters, document, "dont_care", "protected"),
        sentences=Sentences(
            passed="[{infinite?}Among|In] the groups of the {every_record}, {ratio}{rarest}.",
            failed=(
                "{victims} [{parameters.c?}in which a value is too likely{excluded}[{parameters.c2?} or "
                "]][{parameters.c2?}in which a protected value is too rare]; {ratio}{rarest}."
            ),
            impact=(
                "{in_worst_group} [{infinite?}there are fewer than {l} values of {attribute} to choose "
                "from[{several_rows?}, or all share one]|the commonest {attribute} is {observed} times as "
                "frequent as {rest}[{is_counted?}{have_it}]]."
            ),
            parts={
                "worst_group": "the group that one value dominates most",
                "rest": "[{l=2?}all others together|all but the {left_out} commonest together]",
                "have_it": (
                    "[{shared_value.of?}: {shared_value.have} {shared_value.have:has|have} it"
                    "|: about {shared_value.in_group:%} have it]"
                ),
                "ratio": (
                    "[{infinite?}one has fewer than {l} values of {attribute}[{several_rows?}, or one that all "
                    "have]|in {worst_group}, the commonest {attribute} is {observed} times as frequent as {rest}]"
                ),
                "rarest": (
                    "[{protected?}; the rarest protected value makes up {details.c2:% against parameters.c2} of a "
                    "group]"
                ),
                "excluded": "[{fewer>0?} once {fewer:another|{fewer} others} can be excluded]",
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "recursive_cl_diversity.md"),
    )
]
