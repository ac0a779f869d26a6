"""Who changes places with whom: pairs of ranks, drawn at random."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats

Ranks = NDArray[np.int64]
Proposals = tuple[Ranks, Ranks]  # places among the ranks that are left, and the places that they propose to
Propose = Callable[[Ranks], Proposals]


def pairs_within(count: int, width: int, random: np.random.Generator) -> Ranks:
    """Pair ranks that are at most a width apart. None is left alone that has another such rank beside it.

    Args:
        count: ranks, from 0.
        width: how far the two of a pair may be apart, at least 1.
        random: what pairs them.

    Returns:
        The partner of each rank; itself where it has none.

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
    it would leave the scale, in the other direction.

    Args:
        count: ranks, from 0.
        typical: mean and standard deviation of the distances, in ranks.
        random: what pairs them.

    Returns:
        The partner of each rank; itself where it has none.

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
