"""The best distance of a family, anyone who looks for it, and what it links of however many records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any, Literal

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit_plugins.checks.record_linkage.credit import credit
from tcdp_audit_plugins.checks.record_linkage.standardised import Space
from tcdp_audit_plugins.checks.record_linkage.supervised.certified_bound import most_links
from tcdp_audit_plugins.checks.record_linkage.supervised.exact_optimum import optimum
from tcdp_audit_plugins.checks.record_linkage.supervised.families import Family, WeightedMean
from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import (
    LEARNED,
    Learned,
    PairedPoints,
    links,
    split,
)
from tcdp_audit_plugins.checks.record_linkage.supervised.surrogate import Deadline, learned

FEATURES = 2**30  # bytes that features may take where no memory is given
SEARCHING = 0.8  # of the time for the search, the rest for the bound
ROUNDING = 1e-6  # of a sum of links
MOST = 3 * 10**9  # features of pairs that are computed to link all records: some ten seconds


@dataclass(frozen=True)
class Best:
    """The best distance that was found."""

    learned: Learned  # the distance, and its links
    most: float  # no distance of the region searched has more expected links
    bound: int  # the most records that any distance of it links strictly
    time_ended: bool  # whether it is the best so far, since time ended the search

    def figures(self) -> dict[str, Any]:
        """What is known of how good it is."""
        strict = self.learned.links.strict
        return {
            "heuristic": strict < self.bound,
            "strict_links": strict,
            "time_ended": self.time_ended,
            "certified_bound": self.bound,
        }


@dataclass(frozen=True)
class Search:
    """The settings of the search for the best distance."""

    family: Family  # of distances
    solver: Literal["surrogate", "milp"]  # a fast search, or one that proves
    time_limit: float  # seconds for both searches
    memory: int | None  # bytes, or None for no limit

    @property
    def equal(self) -> Floats:
        """The distance in which all attributes weigh the same."""
        return self.family.coefficients(self.family.equal)

    def best(self, points: PairedPoints) -> Best:
        """The distance with the most expected links, at least those of equal weights, and a bound on all distances."""
        deadline = Deadline(self.time_limit / 2)
        learnt, proven, time_ended = self._searched(points)
        most = most_links(points, self.family, [self.equal, learnt.coefficients], deadline) + ROUNDING
        bound = floor(most) if proven is None else min(floor(most), proven)
        return Best(learnt, most, bound, time_ended and learnt.links.expected < most - 2 * ROUNDING)

    def _searched(self, points: PairedPoints) -> tuple[Learned, int | None, bool]:
        """The best distance, the bound of a proof if there is one, and whether time ended the search before its end."""
        deadline = Deadline(self.time_limit / 2 * SEARCHING)
        learnt = learned(points, self.family, FEATURES if self.memory is None else self.memory // 4, deadline)
        if self.solver == "surrogate":
            return learnt, None, deadline.was_missed
        proven = optimum(points, self.family, learnt, deadline)
        return proven.best, proven.bound, deadline.was_missed and proven.bound > proven.best.links.strict

    def correct(self, points: PairedPoints, coefficients: Floats) -> Fraction:
        """The expected links of any number of records.

        Raises:
            CheckError: they are too many for the family.
        """
        if points.cells <= LEARNED**2:
            return links(points, self.family, coefficients).expected
        plain = np.array_equal(coefficients, self.equal)
        if plain or type(self.family) is WeightedMean:
            weights = np.ones(points.attributes) if plain else self.family.normalised(coefficients)
            seekers, matches = (np.repeat(one, points.times) for one in (points.seeker, points.match))
            return credit(_weighted(points.space, weights), seekers, matches).expected
        if points.cells * len(coefficients) > MOST:
            raise CheckError(
                f"{points.records:,} records are too many to link by this family of distances; use "
                "`family: weighted_mean`, which takes any number, or audit a part of them"
            )
        return links(points, self.family, coefficients).expected

    def held_out(self, points: PairedPoints, share: Fraction, seed: int) -> dict[str, Any]:
        """What is learned from some of the records, on the others; nothing where there are too few."""
        parts = split(points, share, seed)
        if parts is None:
            return {}
        training, others = parts
        learnt, _, time_ended = self._searched(training)
        coefficients = learnt.coefficients
        return {
            "held_out_time_ended": time_ended,
            "held_out_most_possible": most_possible(others),
            "held_out_learned": self.correct(others, coefficients) / others.records,
            "held_out_equal": self.correct(others, self.equal) / others.records,
            "held_out_baseline": Fraction(1, int(others.space.known.records.sum())),
            "held_out_records": others.records,
            "trained_on": training.records,
        }


def most_possible(points: PairedPoints) -> Fraction:
    """The largest share that any distance whatever links, in the mean over ties."""
    share = points.times / points.space.known.records[points.match]
    order = np.lexsort([share, points.seeker])
    best = order[np.flatnonzero(np.diff(points.seeker[order], append=-1))]
    ways = np.stack([points.times[best], points.space.known.records[points.match[best]]])
    (times, among), often = np.unique(ways, axis=1, return_counts=True)
    terms = zip(times.tolist(), among.tolist(), often.tolist(), strict=True)
    return sum((Fraction(one * many, others) for one, others, many in terms), Fraction(0)) / points.records


def _weighted(both: Space, weights: Floats) -> Space:
    """The space with each attribute stretched by the root of its weight."""
    numbers = weights[: len(both.number_weights)]
    sides = (replace(one, numbers=one.numbers * np.sqrt(numbers)) for one in (both.released, both.known))
    released, known = sides
    labels = weights[len(numbers) :]
    return replace(both, released=released, known=known, number_weights=numbers, label_weights=labels)
