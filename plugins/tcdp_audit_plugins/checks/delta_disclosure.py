"""Delta-disclosure privacy: a class changes no value's odds by more than a factor."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from math import exp, log2
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import (
    ApproximateFigure,
    AttributeParameters,
    ClassCheck,
    ClassEvidence,
    DisclosureType,
    Histogram,
    ReferenceDistribution,
    Signs,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.remedy import SingletonClasses
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.checks._shared.distances.multiplicative import lacks_value, larger, largest_loss
from tcdp_audit_plugins.checks._shared.frequency_ratios import decided_once, greatest_ratio, ratios, sign_of_logarithm
from tcdp_audit_plugins.guides import built_in_guide


class AbsentValues(StrEnum):
    """What a value of the table means that a class lacks."""

    PUBLISHED = "published"
    IGNORED = "ignored"


class DeltaParameters(AttributeParameters):
    """Parameters of `delta_disclosure`."""

    delta: Annotated[Exact | None, Field(ge=0, description="Every |log(p_i/q_i)| of a class must be below it.")] = None
    log_base: Annotated[
        Literal["natural"] | Annotated[Exact, Field(gt=1)], Field(description="The base of the logarithm.")
    ] = "natural"
    absent_values: Annotated[
        AbsentValues,
        Field(
            strict=False,
            description="published: a value of the table that a class lacks has an infinite figure; ignored: only "
            "the values that a class has count.",
        ),
    ] = AbsentValues.PUBLISHED

    @property
    def base(self) -> Fraction | None:
        """The base of the logarithm; None for the natural one."""
        return None if self.log_base == "natural" else Fraction(self.log_base)


def largest_log_ratio(evidence: ClassEvidence, parameters: DeltaParameters) -> ApproximateFigure:
    """max_i |log(p_i / q_i)| of every class.

    Returns:
        float64, shape (classes,), at least 0. Infinite where the reference gives no weight to a value of the class
        and, under the published definition, where the class lacks a value of the reference. Close to a threshold,
        the fraction under the logarithm is compared with a power of the base in exact arithmetic.

    Cost: O(pairs of class and value).

    Source: Brickell, Shmatikov (2008), delta-disclosure privacy.

    Example:
        >>> rows = Histogram(*map(np.array, ([0, 2], [0, 1], [1, 3])))
        >>> evidence = ClassEvidence(np.array([4]), rows, ReferenceDistribution(np.array([4, 4])))
        >>> largest_log_ratio(evidence, DeltaParameters(log_base=2)).values
        array([1.])
    """
    histogram, marginal = evidence.sensitive
    base = parameters.base
    furthest = larger(greatest_ratio(histogram, marginal), largest_loss(histogram, marginal))
    values = _logarithm(furthest.values, base)
    if parameters.absent_values is AbsentValues.PUBLISHED:
        values = np.where(lacks_value(histogram, marginal), np.inf, values)

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> Signs:
        rows = histogram.take(classes)
        return np.asarray(rows.max(_every_pair(rows, marginal, base).compare(threshold)))

    return ApproximateFigure(values, decide)


def worst_classes(finest: SingletonClasses, parameters: DeltaParameters) -> ClassEvidence:
    """Classes among which is the largest |log(p_i / q_i)| that the records of a release could form.

    p_i / q_i is largest where a class has one record. Where absent values are ignored, q_i / p_i is largest for a value
    with one record among all records of the other values, q_i (1 + N - n_i).

    Cost: O(domain).
    """
    alone = finest.classes
    if parameters.absent_values is AbsentValues.PUBLISHED:
        return alone
    histogram, marginal = alone.sensitive
    others = 1 + int(finest.records.sum()) - finest.records.astype(object)
    rarest = int(np.argmax(marginal.weights.take(histogram.values) * others))
    counts = finest.records.copy()
    counts[rarest] = 1
    values = np.concatenate([histogram.values, histogram.values])
    offsets = np.append(histogram.offsets, len(values))
    classes = Histogram(offsets, values, np.concatenate([histogram.counts, counts]))
    return replace(alone, size=np.append(alone.size, counts.sum()), histogram=classes)


def _every_pair(histogram: Histogram, marginal: ReferenceDistribution, base: Fraction | None) -> ApproximateFigure:
    """|log(p_i / q_i)| of every pair of class and value."""

    def decide(pairs: NDArray[np.intp], threshold: Fraction) -> Signs:
        def sign(p: Fraction, q: Fraction) -> int:
            return sign_of_logarithm(max(p / q, q / p), threshold, base)

        return decided_once(histogram, marginal, pairs, sign)

    return ApproximateFigure(np.abs(_logarithm(ratios(histogram, marginal), base)), decide)


def _logarithm(ratio: Floats, base: Fraction | None) -> Floats:
    """Logarithms of figures above 0; powers of two have whole ones to base 2."""
    if base is None:
        return np.asarray(np.log(ratio))
    return np.asarray(np.log2(ratio) / log2(base))


def _values(outcome: Outcome) -> dict[str, Any]:
    """Whether the reference is another than the release, and the log ratio as a factor."""
    base, ratio = outcome.parameters.get("log_base", "natural"), outcome.observed or 0
    return {
        "other_reference": outcome.conventions.get("reference", "release") != "release",
        "factor": exp(ratio) if base == "natural" else float(base) ** ratio,
    }


CHECKS = [
    ClassCheck(
        name="delta_disclosure",
        title="Delta-disclosure privacy",
        expectation_name="ToBeDeltaDisclosurePrivate",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=DeltaParameters,
        thresholds=(Threshold("delta", Comparison.BELOW, largest_log_ratio, "largest |log(p_i/q_i)| of the class"),),
        on_attribute=True,
        history_reading=lambda _: "units",
        worst_classes=worst_classes,
        monotone=lambda one: one.absent_values is AbsentValues.PUBLISHED,  # a mixture with 0 may fall below a bound
        variant=lambda one: "absent values ignored" if one.absent_values is AbsentValues.IGNORED else "",
        sentences=Sentences(
            passed=(
                "[{infinite?}Among the groups of the {every_record}, one lacks {lacking}: nothing bounds "
                "the log ratio|Between the groups of the {every_record} and the table, the share of a value of "
                "{attribute} differs by a log ratio of at most {observed}]."
            ),
            failed=(
                "{victims} in which the share of a value of {attribute} differs from the table's by a log ratio of "
                "{threshold} or more; [{infinite?}a group lacks {lacking}|in {worst_group}, it is {observed}]."
            ),
            impact=(
                "{in_worst_group} a value of {attribute} [{infinite?}can be ruled out, or is possible only there|is "
                "up to {factor} times as likely, or as unlikely, as in the table]."
            ),
            parts={
                "worst_group": "the group that differs most from the table",
                "lacking": ("a value of {attribute} that the table has[{other_reference?}, or has one that it lacks]"),
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "delta_disclosure.md"),
    )
]
