"""Beta-likeness: no value may gain too much by the class that it is found in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import BORDERLINE
from tcdp_audit.plugin.check import (
    AttributeParameters,
    ClassCheck,
    ClassEvidence,
    ClassSummary,
    DisclosureType,
    Histogram,
    Ratios,
    ReferenceDistribution,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.frequency_ratios import decided_once, greatest_ratio, sign_of_gain
from tcdp_audit_plugins.guides import built_in_guide


class BetaParameters(AttributeParameters):
    """Parameters of `basic_beta_likeness` and `enhanced_beta_likeness`."""

    beta: Annotated[Exact | None, Field(gt=0, description="The largest relative gain of a value in a class.")] = None


def largest_gain(evidence: ClassEvidence, _: BetaParameters) -> Ratios:
    """max_i (p_i - q_i) / q_i of every class, over the values with p_i > q_i.

    Returns:
        Exact fractions of at least 0, shape (classes,): 0 where the class is distributed as the table, infinite where
        it has a value to which the reference gives no weight.

    Cost: O(pairs of class and value).

    Source: Cao, Karras (2012), basic beta-likeness.

    Example:
        >>> rows = Histogram(*map(np.array, ([0, 2], [0, 1], [1, 3])))
        >>> evidence = ClassEvidence(np.array([4]), rows, ReferenceDistribution(np.array([4, 4])))
        >>> largest_gain(evidence, BetaParameters()).values
        array([0.5])
    """
    ratio = greatest_ratio(*evidence.sensitive)
    return Ratios(ratio.numerator - ratio.denominator, ratio.denominator)


def largest_bounded_gain(evidence: ClassEvidence, parameters: BetaParameters) -> Ratios:
    """The largest gain of every class; infinite where a gain exceeds -ln q_i, which no beta allows.

    Returns:
        Exact fractions of at least 0, shape (classes,). A gain near -ln q_i is compared with it exactly.

    Cost: O(pairs of class and value).

    Source: Cao, Karras (2012), enhanced beta-likeness.

    Example:
        >>> rows = Histogram(*map(np.array, ([0, 1], [0], [2])))
        >>> evidence = ClassEvidence(np.array([2]), rows, ReferenceDistribution(np.array([9, 1])))
        >>> largest_bounded_gain(evidence, BetaParameters()).values
        array([inf])
    """
    gain = largest_gain(evidence, parameters)
    return Ratios(gain.numerator, np.where(_unsatisfiable(*evidence.sensitive), 0, gain.denominator))


def _unsatisfiable(histogram: Histogram, marginal: ReferenceDistribution) -> NDArray[np.bool_]:
    """The classes with a value whose gain exceeds -ln q_i, as a mask. Shape (classes,)."""
    q = marginal.weights / marginal.total
    limit = q - q * np.log(q, out=np.zeros(len(q)), where=q > 0)  # of p_i, as p_i / q_i - 1 <= -ln q_i
    allowed = limit.take(histogram.values) * histogram.spread(histogram.total)
    above = histogram.counts > allowed
    close = np.flatnonzero(np.abs(histogram.counts - allowed) <= BORDERLINE * allowed)
    if len(close):
        above[close] = decided_once(histogram, marginal, close, lambda p, q: sign_of_gain(p / q - 1, q)) > 0
    return np.asarray(histogram.max(above))


def _unreachable(summaries: Sequence[ClassSummary]) -> Mapping[str, int]:
    """The numbers of classes, and of records in them, that no beta allows."""
    classes, records = summaries[0].distribution.get(inf, (0, 0))
    without = summaries[0].valueless_classes, summaries[0].valueless_records  # these gain nothing
    return {"unsatisfiable_classes": classes - without[0], "unsatisfiable_records": records - without[1]}


SENTENCES = Sentences(
    passed=("[{unsatisfiable_classes>0?}{hopeless}|In the groups of the {every_record}, {exceeds} {by} at most]."),
    failed=(
        "{victims} in which {exceeds} by more than [{enhanced?}the smaller of {threshold:%} and -ln "
        "q|{threshold:%}]; [{unsatisfiable_classes>0?}{hopeless}|in {worst_group}, {by}]."
    ),
    impact=(
        "{in_worst_group} a value of {attribute} is [{infinite?}so much likelier than in the table that no beta "
        "passes|up to {factor} times as likely as in the table]."
    ),
    parts={
        "worst_group": "the group where one value gains most",
        "exceeds": "the share of a value of {attribute} exceeds its share in the table",
        "by": "[{infinite?}without bound|by {observed:%}]",
        "hopeless": (
            "{unsatisfiable_classes:group} with {unsatisfiable_records:{record}} {unsatisfiable_classes:has|have} a "
            "value of {attribute} so over-represented that no beta passes"
        ),
    },
    values=lambda outcome: {"enhanced": outcome.check.startswith("enhanced"), "factor": 1 + (outcome.observed or 0)},
)


CHECKS = [
    ClassCheck(
        name="basic_beta_likeness",
        title="Basic beta-likeness",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=BetaParameters,
        thresholds=(Threshold("beta", Comparison.AT_MOST, largest_gain, "largest relative gain of the group"),),
        monotone=lambda _: True,  # a share in a union lies between the shares in its parts, and so does its gain
        on_attribute=True,
        history_reading=lambda _: "units",
        sentences=SENTENCES,
        guide=built_in_guide(__file__, "basic_beta_likeness.md"),
    ),
    ClassCheck(
        name="enhanced_beta_likeness",
        title="Enhanced beta-likeness",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=BetaParameters,
        thresholds=(Threshold("beta", Comparison.AT_MOST, largest_bounded_gain, "largest relative gain of the group"),),
        monotone=lambda _: True,  # a share in a union lies between the shares in its parts, and so does its gain
        on_attribute=True,
        history_reading=lambda _: "units",
        details=_unreachable,
        sentences=SENTENCES,
        guide=built_in_guide(__file__, "enhanced_beta_likeness.md"),
    ),
]
