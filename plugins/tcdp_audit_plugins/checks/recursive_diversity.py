"""Recursive (c,l)-diversity: no value so frequent that excluding a few others would give it away."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from math import inf
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

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
    agree,
    column_of,
    every_record,
    figure,
    in_worst_group,
    percent,
    victims,
)
from tcdp_audit_plugins.checks._shared.certain_values import certain_among, may_be_shared
from tcdp_audit_plugins.checks._shared.ranked_counts import ratio_to_tail
from tcdp_audit_plugins.checks._shared.sensitive_values import ambiguous, among
from tcdp_audit_plugins.formulas import formula


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


def _sentence(outcome: Outcome) -> str:
    given, values = outcome.parameters, f"of {column_of(outcome)}"
    times = figure(outcome.observed, outcome.threshold)
    others = f"the values from number {given['l']} on together"
    ratio = f"at worst the most frequent value {values} is {times} times as frequent as {others}"
    if outcome.observed == inf:
        shared = ", or one that everybody has" if may_be_shared(outcome) else ""
        ratio = f"one has fewer than {given['l']} values {values}{shared}"
    least = f"; the rarest protected value makes up {percent(float(outcome.details['c2']))} of a group"
    rarest = least if "protected" in given else ""
    if outcome.status is not Status.FAILED:
        where = "Among" if outcome.observed == inf else "In"
        return f"{where} the groups of the {every_record(outcome)}, {ratio}{rarest}."
    fewer = given["l"] - 2
    excluded = f" once {agree(fewer, 'another', f'{fewer:,} others')} can be excluded" if fewer > 0 else ""
    faults = [f"in which a value is too likely{excluded}"] if "c" in given else []
    faults += ["in which a protected value is too rare"] if "c2" in given else []
    return f"{victims(outcome)} {' or '.join(faults)}; {ratio}{rarest}."


def _person(outcome: Outcome) -> str:
    given, column = outcome.parameters, column_of(outcome)
    if outcome.observed == inf:
        shared = ", or everybody has the same" if may_be_shared(outcome) else ""
        return f"{in_worst_group(outcome)} there are fewer than {given['l']} values of {column} to choose from{shared}."
    often = f"{figure(outcome.observed)} times as often as the values from number {given['l']} on together"
    return f"{in_worst_group(outcome)} the likeliest value of {column} is right {often}."


CHECKS = [
    ClassCheck(
        name="recursive_cl_diversity",
        title="Recursive (c,l)-diversity",
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
        sentence=_sentence,
        person=_person,
        guide=Guide(
            question="Does the commonest secret of a group stay uncertain, even once a few others are ruled out?",
            risk="Somebody who can rule out a few secrets may be left with a nearly certain one.",
            definition=(
                "In every equivalence class with counts r_1 ≥ r_2 ≥ … ≥ r_m, the most frequent value is less than c "
                "times as frequent as the values from the l-th on together. An intruder who can exclude l - 2 values "
                "still finds no value too likely. Positive disclosure: the disclosure of the values `dont_care` is of "
                "no concern. With y the rank of the most frequent other value, r_y is compared with its tail: "
                "r_l + … + r_m if y < l, otherwise r_(l-1) + … + r_m without r_y. Negative disclosure: besides, each "
                "`protected` value has at least the share c2 of every class, so that it cannot be ruled out. Where the "
                "policy names a unit, such as a person, each counts once for every value that it has in a class."
            ),
            **formula(
                r"r_1 < c\, (r_l + \dots + r_m)",
                r"\text{positive disclosure: } r_y < c \operatorname{tail}(y)",
                r"\text{negative disclosure: } \min_{s \text{ protected}} p_s \ge c_2",
            ),
            reading=(
                "The observed value is the largest ratio r_1 / (r_l + … + r_m) of a class: the release is diverse for "
                "every c above it, and for none at it or below (the comparison is strict). It is infinite where a "
                "class has fewer than l values, or all its units have the same value beside others and it is no "
                "don't-care value, and 0 where it has don't-care values only. The detail `c2` is the "
                "least share of a protected value in a class, and 1 where none is protected."
            ),
            choosing=(
                "c between 2 and 5 with l = 3 is usual. With l = 2, c is the largest odds of the most frequent value "
                "against all others; a table with one dominant value keeps no small c."
            ),
            limits=(
                "Counts are ranked in descending order; a tool that ranks them in ascending order reports smaller "
                "figures and passes what must fail. A don't-care value that the release lacks changes nothing; a "
                "protected value that it lacks has the share 0."
            ),
            source=(
                "Machanavajjhala et al., l-Diversity, ACM TKDD 1(1), 2007, doi:10.1145/1217299.1217302, "
                "recursive, positive disclosure-recursive (pd) and negative/positive disclosure-recursive"
                " (npd) (c,l)-diversity"
            ),
            example="- recursive_cl_diversity: {c: 3, l: 2, attribute: disease}",
        ),
    ),
]
