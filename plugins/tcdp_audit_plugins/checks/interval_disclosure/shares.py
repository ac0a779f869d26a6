"""The shares of original values inside their interval: per attribute, on average, jointly, and at worst."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import estimate_of_largest
from tcdp_audit.plugin.check import DisclosureType, Guide, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, Sentences, say
from tcdp_audit_plugins.checks.interval_disclosure.parameters import (
    Aggregate,
    AttributePairs,
    IntervalParameters,
    attribute_pairs,
    compared,
    interval_faults,
)

SAMPLE = 1_000_000  # pairs, where the tables outgrow the memory
P = TypeVar("P", bound=IntervalParameters)
Inside = Callable[[AttributePairs, Fraction], NDArray[np.bool_]]


@dataclass(frozen=True)
class Shares:
    """The result for one p."""

    p: Fraction  # the width in percent
    pairs: int  # how many records were compared
    per_attribute: Mapping[str, int]  # how many of them are inside, for each attribute
    inside_all: int  # how many are inside in all attributes at once

    @property
    def average(self) -> Fraction:
        """The mean over attributes of the share of records inside."""
        return Fraction(sum(self.per_attribute.values()), self.pairs * len(self.per_attribute))

    @property
    def worst(self) -> Fraction:
        """The largest share of an attribute."""
        return Fraction(max(self.per_attribute.values()), self.pairs)

    @property
    def joint(self) -> Fraction:
        """The share of records inside in all attributes at once."""
        return Fraction(self.inside_all, self.pairs)

    def figure(self, aggregate: Aggregate) -> Fraction:
        """The figure that a policy compares."""
        return {"average": self.average, "worst": self.worst, "joint": self.joint}[aggregate.value]

    def means(self, aggregate: Aggregate) -> list[Fraction]:
        """The means over pairs of which the figure is the largest."""
        if aggregate is Aggregate.WORST:
            return [Fraction(inside, self.pairs) for inside in self.per_attribute.values()]
        return [self.figure(aggregate)]

    def exposed(self, aggregate: Aggregate) -> int | None:
        """The number of records that the figure counts, where it counts records."""
        if aggregate is Aggregate.AVERAGE:
            return None
        return self.inside_all if aggregate is Aggregate.JOINT else max(self.per_attribute.values())

    def as_details(self) -> dict[str, Any]:
        """The entry under `at`."""
        per_attribute = {name: Fraction(inside, self.pairs) for name, inside in self.per_attribute.items()}
        return {"p": self.p, **self.headlines(), "per_attribute": per_attribute}

    def headlines(self) -> dict[str, float]:
        """All three figures."""
        return {"average": float(self.average), "worst": float(self.worst), "joint": float(self.joint)}


def shares(attributes: Sequence[AttributePairs], p: Fraction, inside: Inside) -> Shares:
    """Count for one p. Cost: that of `inside` for every attribute."""
    everywhere = np.ones(len(attributes[0].released), dtype=bool)
    per_attribute = {}
    for one in attributes:
        exposed = inside(one, p)
        per_attribute[one.name] = int(exposed.sum())
        everywhere &= exposed
    return Shares(p, len(everywhere), per_attribute, int(everywhere.sum()))


def interval_figure(
    view: TableView, names: Sequence[str], parameters: IntervalParameters, inside: Inside
) -> TableFigure:
    """Every figure of an interval check; the headline is that of the largest p, whose intervals hold all others.

    Raises:
        CheckError: records cannot be paired, or no attribute is left to compare.

    Where the tables outgrow the memory the pairs are a sample; ranks and standard deviations are of the whole tables.

    Cost: one scan of each table, then O(attributes x widths x (pairs + domain log domain)).
    """
    pairs = view.pairs(names, sample=SAMPLE)
    every = [attribute_pairs(pairs, name) for name in names]
    usable = [one for one in every if one.has_values and not one.is_constant]
    if pairs.sample is not None:
        _require_values(every, pairs.sample.more)
    if not usable:
        raise CheckError(
            "nothing can be compared: every attribute is constant in the original, or has no pair of values; "
            "name others in `attributes`"
        )
    per_width = [shares(usable, p, inside) for p in sorted(parameters.p)]
    details = {
        **pairs.counted(),
        **per_width[-1].headlines(),
        "at": [one.as_details() for one in per_width],
        "missing": {one.name: one.missing for one in usable if one.missing},
        "constant": [one.name for one in every if one.has_values and one.is_constant],
        "without_values": [one.name for one in every if not one.has_values],
    }
    aggregate, widest = parameters.aggregate, per_width[-1]
    return TableFigure(
        widest.figure(aggregate),
        widest.pairs,
        widest.exposed(aggregate),
        details=details,
        estimate=estimate_of_largest(widest.means(aggregate), pairs),
    )


def _require_values(attributes: Sequence[AttributePairs], more: str) -> None:
    """Insist that a sample says of each attribute whether it is left out for want of values."""
    unclear = [one.name for one in attributes if not one.has_values and one.may_have_values]
    if unclear:
        raise CheckError(
            f"a sample has no pair with both values of {unclear[0]!r}, so that its share is not known; {more}, "
            "or name other `attributes`"
        )


def _values(outcome: Outcome) -> dict[str, Any]:
    """The widest interval, the column that it gives away most often, and what was not compared."""
    widest = outcome.details["at"][-1]
    shares: dict[str, Any] = dict(widest["per_attribute"])
    worst = max(sorted(shares), key=lambda name: float(shares[name]))
    return {
        "p": f"{float(widest['p']):.12g}",
        "compared": sorted(shares),
        "number": len(shares),
        "worst": worst,
        "worst_share": float(shares[worst]),
        "left_out": ", ".join(_left_out(outcome)),
    }


def _left_out(outcome: Outcome) -> list[str]:
    """Records that one table lacks, and attributes that were left out."""
    originals, released = outcome.details["originals_not_released"], outcome.details["released_without_original"]
    constant, empty = len(outcome.details["constant"]), len(outcome.details["without_values"])
    reasons = [
        (originals, say("{n:original} not released", n=originals)),
        (released, say("{n:released record} without an original", n=released)),
        (constant, say("{n:column} left out as constant", n=constant)),
        (empty, say("{n:column} left out for want of values", n=empty)),
    ]
    return [text for number, text in reasons if number]


SENTENCES = Sentences(
    passed="{share_inside}.[ Not compared: {left_out}.]",
    failed="{share_inside}; the policy allows {threshold:%}.[ Not compared: {left_out}.]",
    impact=(
        "An intruder who sees {person}'s masked {worst:column} and guesses that the true value is near, within the "
        "interval at p = {p}, is right with {worst_share:chance}."
    ),
    parts={
        "share_inside": {
            "by": "aggregate",
            "joint": (
                "{failing/records:{record}} ({observed:%}) {failing/records:lies|lie} inside the intervals of "
                "{compared}[{number>1?} at once], at p = {p}"
            ),
            "worst": (
                "In {worst:column}[{number>1?}, the worst of {number} columns], {observed:%} of the original values "
                "of {records:{record}} lie inside the interval, at p = {p}"
            ),
            "": (
                "[{number>1?}On average over|In] {compared}, {observed:%} of the original values of "
                "{records:{record}} lie inside the interval, at p = {p}"
            ),
        }
    },
    values=_values,
)


def interval_check(
    name: str, title: str, parameters: type[P], scales: frozenset[Scale], inside: Inside, guide: Guide
) -> TableCheck[P]:
    """The check of an interval around each masked value; attributes are of one of the scales."""

    def measure(view: TableView, parameters: P) -> TableFigure:
        return interval_figure(view, compared(parameters, view.policy.document, scales), parameters, inside)

    return TableCheck(
        name=name,
        title=title,
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=parameters,
        measure=measure,
        label="share of original values inside the interval",
        needs={Need.ORIGINAL},
        scales=lambda _: scales,
        validate=lambda parameters, document: interval_faults(parameters, document, scales),
        sentences=SENTENCES,
        guide=guide,
    )
