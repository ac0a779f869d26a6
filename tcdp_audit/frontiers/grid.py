"""The settings of varied thresholds, in the order in which they are tried: corners first, then what lies between."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from tcdp_audit.core.results.setting_trial import Setting, VariedDemand
from tcdp_audit.plugin.engine import UsageError

MOST = 1000  # settings


def grid(demands: Sequence[VariedDemand]) -> tuple[Setting, ...]:
    """Every combination of the levels, and the policy's own thresholds first.

    A coarse picture of the whole comes before its details: the ends of all levels, then their middles, and so on; among
    equally fine ones the laxer settings first.

    Raises:
        UsageError: there are too many.
    """
    own = tuple(one.own for one in demands)
    if (number := prod(len(one.levels) for one in demands)) > MOST:
        raise UsageError(f"--vary: {number:,} combinations of thresholds; list fewer, {MOST:,} at most")
    ranked = []
    for places in product(*(range(len(one.levels)) for one in demands)):
        fineness = max(depth(place, len(one.levels)) for place, one in zip(places, demands, strict=True))
        setting = tuple(one.levels[place] for place, one in zip(places, demands, strict=True))
        ranked.append((fineness, sum(places), places, setting))
    return own, *(setting for *_, setting in sorted(ranked) if setting != own)


def star(demands: Sequence[VariedDemand]) -> tuple[Setting, ...]:
    """The policy's own thresholds, then each demand by itself at its other levels, the laxer ones first."""
    own = tuple(one.own for one in demands)
    others = [
        (*own[:place], level, *own[place + 1 :])
        for place, one in enumerate(demands)
        for level in one.levels
        if level != one.own
    ]
    return own, *others


def depth(place: int, number: int) -> int:
    """How often a run of places is halved until a place is met: 0 for its ends, 1 for its middle.

    Example:
        >>> [depth(place, 5) for place in range(5)]
        [0, 2, 1, 2, 0]
    """
    low, high, halved = 0, number - 1, 0
    while place not in (low, high):
        halved += 1
        middle = (low + high) // 2
        if place == middle:
            break
        low, high = (middle, high) if place > middle else (low, middle)
    return halved
