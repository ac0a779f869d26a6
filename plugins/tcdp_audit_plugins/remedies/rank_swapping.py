"""Rank swapping: values of an attribute change places with values of nearby ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import floor, sqrt
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats, checkpoint
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.checks.masking_attacks.parameters import BY_DEFAULT
from tcdp_audit_plugins.remedies._shared.masking import (
    NO_ORDER,
    Masking,
    MaskingParameters,
    Names,
    by_content,
    masked_attributes,
)
from tcdp_audit_plugins.remedies._shared.scope import weakest

Ranks = NDArray[np.int64]
Proposals = tuple[Ranks, Ranks]  # places among the ranks that are left, and the places that they propose to
Propose = Callable[[Ranks], Proposals]
PERCENTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20, 25, 30, 35, 40, 50, 60, 75, 100)  # from weak to strong
Positions = NDArray[np.intp]


class Variant(StrEnum):
    """A way to draw who swaps with whom."""

    PLAIN = "plain"
    P_DISTRIBUTION = "p_distribution"


class RankSwappingParameters(MaskingParameters):
    """Parameters of `rank_swapping`."""

    strengths = ("percent",)
    percent: Annotated[
        Exact | None,
        Field(
            gt=0,
            le=100,
            description="plain: how many ranks two values that are swapped may be apart, in percent of the records "
            "with a value; p_distribution: twice the mean of that distance. By default the least that suffices.",
        ),
    ] = None
    variant: Annotated[
        Variant,
        Field(
            strict=False,
            description="plain: partners at most `percent` apart; p_distribution: partners at distances from a normal "
            "distribution, which has no bound.",
        ),
    ] = Variant.PLAIN
    attributes: Annotated[
        Names | None,
        Field(
            description="The attributes to swap, each by itself; by default the numeric and ordinal quasi-identifiers."
        ),
    ] = None


MASKING = Masking(RankSwappingParameters, unfit=NO_ORDER, suggested=[{"variant": variant.value} for variant in Variant])


def pairs_within(count: int, width: int, random: np.random.Generator) -> Ranks:
    """Pair ranks from 0 to count - 1 that are at most a width apart, until no two that are left could be paired.

    Return the partner of each rank; itself where it has none.

    Cost: O(count log count) for each of some O(log count) rounds.

    Source: Moore, Controlled data-swapping techniques for masking public use microdata sets, 1996; there in the order
    of the ranks, here in rounds of proposals, so that no end of the scale is paired first.
    """

    def propose(left: Ranks) -> Proposals:
        place = np.arange(len(left))
        low = np.searchsorted(left, left - width)
        others = np.searchsorted(left, left + width, side="right") - low - 1
        drawn = low + (random.random(len(left)) * others).astype(np.int64)
        able = others > 0
        return place[able], (drawn + (drawn >= place))[able]

    return _paired(count, propose, random)


def pairs_by_distribution(count: int, typical: float, random: np.random.Generator) -> Ranks:
    """Pair ranks at distances from a normal distribution, which has no bound; at most one of them is left alone.

    Each rank draws a distance and one of the two directions, and proposes to the nearest rank there that is left; where
    it would leave the scale, in the other direction. `typical` is mean and standard deviation of the distances, in
    ranks. Return the partner of each rank; itself where it has none.

    Cost: O(count log count) for each of some O(log count) rounds.
    """

    def propose(left: Ranks) -> Proposals:
        if len(left) < 2:
            return left[:0], left[:0]
        distance = random.normal(typical, typical, len(left)) * random.choice([-1.0, 1.0], len(left))
        target = left + distance
        beyond = (target < 0) | (target > count - 1)
        target[beyond] = (left - distance)[beyond]
        return np.arange(len(left)), _nearest_other(left, target)

    return _paired(count, propose, random)


def _nearest_other(left: Ranks, target: Floats) -> Ranks:
    """The place of the rank nearest to each target, among all but the one whose target it is. At least two ranks."""
    place = np.arange(len(left))
    above = np.searchsorted(left, target)
    below = above - 1
    above += above == place
    below -= below == place
    far = np.inf
    to_below = np.where(below >= 0, np.abs(left[np.maximum(below, 0)] - target), far)
    to_above = np.where(above < len(left), np.abs(left[np.minimum(above, len(left) - 1)] - target), far)
    return np.where(to_below <= to_above, below, above)


def _paired(count: int, propose: Propose, random: np.random.Generator) -> Ranks:
    """Rounds in which ranks without a partner propose, and of competing proposals one at random is taken."""
    partner = np.arange(count)
    left = partner.copy()
    while True:
        checkpoint()
        one, other = propose(left)
        if not len(one):
            return partner
        taken = _without_competitors(one, other, len(left), random)
        first, second = left[one[taken]], left[other[taken]]
        partner[first], partner[second] = second, first
        left = np.flatnonzero(partner == np.arange(count))


def _without_competitors(one: Ranks, other: Ranks, count: int, random: np.random.Generator) -> NDArray[np.bool_]:
    """The proposals that come before all others to which one of their two ranks belongs, in an order at random."""
    turn = random.permutation(len(one))
    first = np.full(count, len(one))
    np.minimum.at(first, one, turn)
    np.minimum.at(first, other, turn)
    return np.asarray((first[one] == turn) & (first[other] == turn))


def swap_ranks(view: RemedyView, parameters: RankSwappingParameters) -> Treatment:
    """Swap values of nearby ranks, attribute by attribute.

    Raises:
        RemedyError: no attribute has an order, the percentage is less than one rank, or, where none is given, nothing
            says how strong it has to be or no strength is enough.

    Cost: a sort of the records and some rounds of drawing for each attribute; the same and an audit for each of at
    most ten percentages where none is given.
    """
    swap = _Swap(view, parameters.variant, masked_attributes(view, parameters.attributes, ordered=True))
    if parameters.percent is not None:
        return swap.at(parameters.percent)
    return swap.at(weakest(view, swap.at, list(swap.percents())))


@dataclass(frozen=True)
class _Swap:
    view: RemedyView
    variant: Variant  # how partners are drawn
    attributes: Sequence[Attribute]  # each is swapped by itself

    def percents(self) -> Iterator[Fraction]:
        """The percentages of a rank or more, from weak to strong; a RemedyError where all ranks together are none."""
        able = [Fraction(one) for one in PERCENTS if all(self._width(self._present(a), one) for a in self.attributes)]
        if not able:
            name = next(one.name for one in self.attributes if not self._width(self._present(one), PERCENTS[-1]))
            raise RemedyError(
                f"{name!r} has a value in fewer than two records, so that there is nothing to swap; leave it out of "
                "`attributes`"
            )
        yield from able

    def at(self, percent: Fraction) -> Treatment:
        order = by_content(self.view)
        sources = self.view.generator().spawn(len(self.attributes))
        swapped = [
            self._swapped(one, order, percent, random) for one, random in zip(self.attributes, sources, strict=True)
        ]
        cells = sum(one.cells for one in swapped)
        notes = {
            "percent": float(percent),
            "variant": self.variant.value,
            "swapped": cells - sum(one.alone for one in swapped),
            "alone": sum(one.alone for one in swapped),
            "without_value": self.view.records * len(swapped) - cells,
            "displacement": max(one.displacement for one in swapped),
        }
        columns = {one.name: done.column for one, done in zip(self.attributes, swapped, strict=True)}
        return Treatment(columns, notes=notes, attacks=(self._attack(percent),))

    def _attack(self, percent: Fraction) -> dict[str, dict[str, Any]]:
        """The attack by an intruder who knows how far values were swapped at most, or on average without a bound."""
        names = [one.name for one in self.attributes]
        if self.variant is Variant.PLAIN:
            return {"rank_swap_attack": {"attributes": names, "p": percent}}
        deviation = float(percent) * sqrt(6)  # of p / sqrt(2) percent, in percent of that of all ranks, n / sqrt(12)
        return {"noise_attack": {"attributes": names, "scores": "ranks", "sd": deviation, "limit": BY_DEFAULT}}

    def _swapped(
        self, attribute: Attribute, order: Positions, percent: Fraction, random: np.random.Generator
    ) -> _Swapped:
        present = self._present(attribute)
        width = self._width(present, percent)
        if not width:
            raise RemedyError(
                f"{float(percent):g} percent of {present:,} values of {attribute.name!r} is less than one rank, so "
                f"that none could be swapped; {_least(present)}"
            )
        codes = attribute.codes.astype(np.int64)
        shuffled = order[random.permutation(len(order))]  # ties are in a random order
        ranked = shuffled[np.argsort(codes[shuffled], kind="stable")]
        ranked = ranked[~attribute.domain.is_uninformative[codes[ranked]]]
        if self.variant is Variant.PLAIN:
            partner = pairs_within(present, width, random)
        else:
            partner = pairs_by_distribution(present, present * float(percent) / 200, random)
        after = codes.copy()
        after[ranked] = codes[ranked[partner]]
        apart = np.abs(partner - np.arange(present))
        return _Swapped(
            NewColumn(attribute.domain.values, after), present, int((apart == 0).sum()), int(apart.max(initial=0))
        )

    def _width(self, present: int, percent: Fraction | int) -> int:
        """The percentage in ranks; 0 for fewer than two values."""
        width = floor(Fraction(percent) * present / 100)
        return min(width, present - 1) if present else 0

    @staticmethod
    def _present(attribute: Attribute) -> int:
        """The number of records with an informative value."""
        return int((~attribute.domain.is_uninformative[attribute.codes]).sum())


@dataclass(frozen=True)
class _Swapped:
    """An attribute after swapping: its column, cells with a value, those without a partner, the farthest pair."""

    column: NewColumn
    cells: int
    alone: int
    displacement: int


def _least(present: int) -> str:
    if present < 2:
        return "two values are needed"
    return f"the least percentage is {100 / present:.3g}"


RANK_SWAPPING = MASKING.remedy(
    __file__,
    swap_ranks,
    title="Rank swapping",
    summary="Lets values of an attribute change places with values of nearby ranks, so that columns stay as they are.",
    once=True,
)
