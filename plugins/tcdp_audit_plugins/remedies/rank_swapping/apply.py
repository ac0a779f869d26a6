"""The remedy itself: values of each attribute change places with values of nearby ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.checks.masking_attacks.parameters import BY_DEFAULT
from tcdp_audit_plugins.remedies._shared.by_content import by_content
from tcdp_audit_plugins.remedies._shared.masked_attributes import masked_attributes
from tcdp_audit_plugins.remedies._shared.pair_demands import weakest
from tcdp_audit_plugins.remedies.rank_swapping.pairing import pairs_by_distribution, pairs_within
from tcdp_audit_plugins.remedies.rank_swapping.parameters import RankSwappingParameters, Variant

PERCENTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20, 25, 30, 35, 40, 50, 60, 75, 100)  # from weak to strong

Positions = NDArray[np.intp]


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
    """Attributes whose values are to be swapped.

    Args:
        view: the release.
        variant: how partners are drawn.
        attributes: each is swapped by itself.
    """

    view: RemedyView
    variant: Variant
    attributes: Sequence[Attribute]

    def percents(self) -> Iterator[Fraction]:
        """The percentages to choose among, from weak to strong: those that are a rank at least.

        Raises:
            RemedyError: not even all ranks are one.
        """
        able = [Fraction(one) for one in PERCENTS if all(self._width(self._present(a), one) for a in self.attributes)]
        if not able:
            name = next(one.name for one in self.attributes if not self._width(self._present(one), PERCENTS[-1]))
            raise RemedyError(
                f"{name!r} has a value in fewer than two records, so that there is nothing to swap; leave it out of "
                "`attributes`"
            )
        yield from able

    def at(self, percent: Fraction) -> Treatment:
        """The release after swapping at a percentage."""
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
        """By somebody who knows how far values were swapped at the most, or without a bound how far they tend to be."""
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
        shuffled = order[random.permutation(len(order))]  # ties stand in no order of their own
        ranked = shuffled[np.argsort(codes[shuffled], kind="stable")]
        ranked = ranked[~attribute.domain.tells_nothing[codes[ranked]]]
        if self.variant is Variant.PLAIN:
            partner = pairs_within(present, width, random)
        else:
            partner = pairs_by_distribution(present, present * float(percent) / 200, random)
        after = codes.copy()
        after[ranked] = codes[ranked[partner]]
        apart = np.abs(partner - np.arange(present))
        return _Swapped(_column(attribute, after), present, int((apart == 0).sum()), int(apart.max(initial=0)))

    def _width(self, present: int, percent: Fraction | int) -> int:
        """How many ranks the percentage is; 0 for fewer than two values."""
        width = floor(Fraction(percent) * present / 100)
        return min(width, present - 1) if present else 0

    @staticmethod
    def _present(attribute: Attribute) -> int:
        """The records with a value that tells something."""
        return int((~attribute.domain.tells_nothing[attribute.codes]).sum())


@dataclass(frozen=True)
class _Swapped:
    """An attribute after swapping: its column, cells with a value, those without a partner, the farthest pair."""

    column: NewColumn
    cells: int
    alone: int
    displacement: int


def _column(attribute: Attribute, codes: NDArray[np.int64]) -> NewColumn:
    return NewColumn(attribute.domain.values, codes)


def _least(present: int) -> str:
    if present < 2:
        return "two values are needed"
    return f"the least percentage is {100 / present:.3g}"
