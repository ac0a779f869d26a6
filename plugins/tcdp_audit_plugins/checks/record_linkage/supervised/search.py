"""The best distance of a family, what it links of however many records, and a bound on what any distance links.

The bound: a record earns nothing where in every member of the family another known record is nearer than its match.
One competitor settles that for many records. For the others a linear programme relaxes the mixed-integer one of
`exact_optimum`: K_i may be a fraction, and a few near competitors of each record replace all.

    min Σ w_i K_i  with  d(i, j) - d(i, match) + m_ij K_i >= 0,  0 <= K_i <= 1

Its value is not taken from the solver. Weak duality gives a bound for any multipliers whatever, so that the solver's
are put into the Lagrangian, whose minimum over a box is a sum: the bound is wrong by rounding at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit_plugins.checks.record_linkage.credit import credit
from tcdp_audit_plugins.checks.record_linkage.standardised import Space
from tcdp_audit_plugins.checks.record_linkage.supervised.exact_optimum import optimum
from tcdp_audit_plugins.checks.record_linkage.supervised.families import Family, WeightedMean
from tcdp_audit_plugins.checks.record_linkage.supervised.mixed_integer import Mixtures, region
from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import (
    CELLS,
    LEARNED,
    Learned,
    PairedPoints,
    Positions,
    links,
    split,
)
from tcdp_audit_plugins.checks.record_linkage.supervised.surrogate import Deadline, learned

FEATURES = 2**30  # bytes that features may take where no memory is given
SEARCHING = 0.8  # of the time for the search, the rest for the bound
ROUNDING = 1e-6  # of a sum of links
MOST = 3 * 10**9  # features of pairs that are computed to link all records: some ten seconds
TIED = 1e-9  # differences below this share of the largest feature may be ties by rounding
TELLING = 1e-4  # the same for differences that a row is worth having for
NEAREST = 10  # competitors of each record, by each distance that was tried


@dataclass(frozen=True)
class Best:
    """The best distance that was found."""

    learned: Learned  # the distance, and its links
    most: float  # no distance of the region searched has more expected links
    bound: int  # the most records that any distance of it links strictly
    time_ended: bool  # whether it is the best so far, since time ended the search

    def figures(self) -> dict[str, Any]:
        """Say how good it is known to be."""
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


@dataclass(frozen=True)
class _Rows:
    """Competitors of records, each of which may be nearer than the match."""

    seeker: Positions  # the released point of each, shape (rows,)
    gap: Floats  # d(competitor) - d(match) by unknowns of the region, shape (rows, unknowns)
    relief: Floats  # how far it may be below what is a tie, above 0, shape (rows,)
    tie: Floats  # what is a tie, shape (rows,)


def most_links(points: PairedPoints, family: Family, tried: Sequence[Floats], deadline: Deadline) -> float:
    """At least the expected links of any member, those that only ties give included.

    Args:
        points: what is linked.
        family: the distances. Of bilinear forms those of the region in `mixed_integer`, which has all metrics.
        tried: coefficients of some members, whose nearest competitors the linear programme looks at.
        deadline: where time ends, the bound so far is returned.

    Returns:
        From 0 to the sum of `most_possible`.

    Cost: O(pairs of points x features) for each distance tried, and a linear programme of 20 rows a record.
    """
    members, earning = region(family), points.most_possible()
    alone = np.bincount(points.seeker, minlength=len(earning)) == 1  # others are linked where any of their matches is
    competitors: list[_Rows] = []
    for block in points.blocks(CELLS // len(family.names)):
        if deadline.left <= 0:
            break
        hopeless, rows = _of_block(points, members, tried, block, alone)
        earning[hopeless] = 0
        competitors.append(rows)
    return float(earning.sum()) - _lost(members, earning, competitors, deadline)


def _of_block(
    points: PairedPoints, members: Mixtures, tried: Sequence[Floats], block: slice, alone: NDArray[np.bool_]
) -> tuple[Positions, _Rows]:
    """The released points of a block that no member links, and near competitors of the others."""
    pairs = points.pairs_in(block)
    seeker, match = points.seeker[pairs], points.match[pairs]
    seeker, match = seeker[alone[seeker]], match[alone[seeker]]
    features = members.family.features(points.differences(block))[:, seeker - block.start]
    everyone = np.arange(len(seeker))
    own, size = features[:, everyone, match], float(np.abs(features).max(initial=0.0))
    hopeless = (members.most(features, own[:, :, None]) < -TIED * size).any(axis=1)
    near = [_nearest(np.tensordot(one, features, 1), match) for one in tried]
    wanted = np.zeros(features.shape[1:], dtype=np.bool_)
    for competitors in near:
        wanted[everyone[:, None], competitors] = True
    wanted[everyone, match] = wanted[hopeless] = False
    record, competitor = np.nonzero(wanted)
    others, matches = features[:, record, competitor], own[:, record]
    tie = np.full(len(record), TIED * size)
    relief = -members.least(others, matches) - tie
    telling = relief > TELLING * size
    gap = (others - matches).T[telling] @ members.transform
    return seeker[hopeless], _Rows(seeker[record[telling]], gap, relief[telling], tie[telling])


def _nearest(distances: Floats, match: Positions) -> Positions:
    """The competitors with the least distances. Shape (records, competitors)."""
    distances[np.arange(len(match)), match] = np.inf
    few = min(NEAREST, distances.shape[1])
    return np.asarray(np.argpartition(distances, few - 1, axis=1)[:, :few])


def _lost(members: Mixtures, earning: Floats, competitors: Sequence[_Rows], deadline: Deadline) -> float:
    """At most what any member loses of what records could earn."""
    if not sum(len(one.seeker) for one in competitors) or deadline.left <= 0:
        return 0.0
    rows = _Rows(
        np.concatenate([one.seeker for one in competitors]),
        np.concatenate([one.gap for one in competitors]),
        np.concatenate([one.relief for one in competitors]),
        np.concatenate([one.tie for one in competitors]),
    )
    seekers, record = np.unique(rows.seeker, return_inverse=True)
    weights, (low, high), shape = earning[seekers], members.bounds, members.rows
    gap, ties = rows.gap / rows.relief[:, None], rows.tie / rows.relief
    multipliers, mass = _multipliers(members, gap, ties, record, weights, deadline)
    of_rows, of_shape = multipliers[: len(gap)], multipliers[len(gap) :]
    unknowns = of_shape @ shape - of_rows @ gap - mass * members.mass
    least = np.minimum(unknowns * low, unknowns * high).sum()
    fractions = np.minimum(weights - np.bincount(record, of_rows, len(seekers)), 0).sum()
    return max(0.0, float(mass + least + fractions - of_rows @ ties))


def _multipliers(
    members: Mixtures, gap: Floats, ties: Floats, record: Positions, weights: Floats, deadline: Deadline
) -> tuple[Floats, float]:
    """Multipliers of all rows and of the mass, at the optimum; 0 where the solver did not reach it in time."""
    from scipy.optimize import linprog  # noqa: PLC0415 - a slow import that only this needs
    from scipy.sparse import csr_array, hstack, vstack  # noqa: PLC0415 - likewise

    (low, high), shape, none = members.bounds, members.rows, np.zeros(len(weights))
    wrong = csr_array((np.ones(len(record)), (np.arange(len(record)), record)), shape=(len(record), len(weights)))
    answer = cast("Any", linprog)(
        np.append(np.zeros(len(low)), weights),
        A_ub=vstack([-hstack([csr_array(gap), wrong]), csr_array(np.pad(shape, [(0, 0), (0, len(weights))]))]),
        b_ub=np.append(ties, np.zeros(len(shape))),
        A_eq=np.append(members.mass, none)[None],
        b_eq=[1.0],
        bounds=[*zip(low.tolist(), high.tolist(), strict=True), *[(0.0, 1.0)] * len(weights)],
        method="highs-ipm",
        options={"time_limit": max(deadline.left, 1e-3)},
    )
    if answer.status != 0:
        return np.zeros(len(gap) + len(shape)), 0.0
    return np.maximum(-answer.ineqlin.marginals, 0), float(answer.eqlin.marginals[0])
