"""Released records next to known ones, and which is whose: what distances are learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.standardised import EPSILON, RecordPoints, Space
from tcdp_audit_plugins.checks.record_linkage.supervised.families import Family

Positions = NDArray[np.intp]

LEARNED = 1_500  # records at most that a distance is learned from, so that it takes seconds


@dataclass(frozen=True)
class PairedPoints:
    """Distinct released records that look for their match among distinct known ones."""

    space: Space  # the points of both tables. `space.known.records` says how many records are at a known point.
    seeker: Positions  # a released point for each pair of points that some record and its match are at. Shape (pairs,).
    match: Positions  # the known point of each. Shape (pairs,).
    times: NDArray[np.int64]  # how many records each pair represents. int64, shape (pairs,).

    @classmethod
    def of(cls, space: Space, seekers: Positions, matches: Positions) -> PairedPoints:
        """The pairs of points of some records, whose order plays no part."""
        both = np.stack([seekers, matches]).astype(np.intp)
        (seeker, match), times = np.unique(both, axis=1, return_counts=True)
        return cls(space, seeker, match, times.astype(np.int64))

    @property
    def records(self) -> int:
        """The number of records that look for their match."""
        return int(self.times.sum())

    @property
    def attributes(self) -> int:
        """The number of attributes that are compared: numbers and ranks first, nominal ones after them."""
        return len(self.space.number_weights) + len(self.space.label_weights)

    @property
    def cells(self) -> int:
        """The number of pairs of a released and a known point."""
        return len(self.space.released) * len(self.space.known)

    def among_themselves(self, chosen: NDArray[np.bool_], *, strangers: bool) -> PairedPoints:
        """Some of the records, each looked for among their own matches.

        With `strangers`, known records that are no one's match are candidates, too.
        """
        pair = np.repeat(np.arange(len(self.times)), self.times)[chosen]
        known = np.bincount(self.match[pair], minlength=len(self.space.known))
        if strangers:
            known = known + self.strangers
        released = np.bincount(self.seeker[pair], minlength=len(self.space.released))
        sides = [(self.space.released, released), (self.space.known, known)]
        positions = [np.cumsum(records > 0) - 1 for _, records in sides]
        points = [_of_records(side, records) for side, records in sides]
        space = replace(self.space, released=points[0], known=points[1])
        return PairedPoints.of(space, positions[0][self.seeker[pair]], positions[1][self.match[pair]])

    @cached_property
    def strangers(self) -> NDArray[np.int64]:
        """Known records of each known point that are no one's match."""
        matched = np.bincount(self.match, self.times, len(self.space.known)).astype(np.int64)
        return self.space.known.records - matched

    def most_possible(self) -> Floats:
        """The most links that records of each released point can earn, whatever distance is learned.

        Identical released records have the same nearest records, so that at most one point's share of them is right:
        a release in groups of k identical records never gives more than n/k links.

        Returns:
            float64, shape (released points,).
        """
        best = np.zeros(len(self.space.released))
        np.maximum.at(best, self.seeker, self.times / self.space.known.records[self.match])
        return best

    def blocks(self, cells: int) -> Iterator[slice]:
        """Released points in blocks of about as many pairs with known points."""
        step = max(1, cells // max(1, len(self.space.known)))
        for start in range(0, len(self.space.released), step):
            yield slice(start, min(start + step, len(self.space.released)))

    def pairs_in(self, rows: slice) -> slice:
        """The pairs whose released point is in a block; they are in its order."""
        start, end = np.searchsorted(self.seeker, [rows.start, rows.stop])
        return slice(int(start), int(end))

    def differences(self, rows: slice) -> Floats:
        """Differences of some released points to all known ones, attribute by attribute.

        Returns:
            float64, shape (attributes, released points, known points): signed differences of numbers and ranks, NaN
            where a cell is missing; 0 or 1 for nominal attributes, 1 where a cell is missing.
        """
        released, known = self.space.released, self.space.known
        numbers = released.numbers[rows].T[:, :, None] - known.numbers.T[:, None, :]
        labels = released.labels[rows].T[:, :, None] != known.labels.T[:, None, :]
        return np.concatenate([numbers, labels])

    def differences_of(self, released: Positions, known: Positions) -> Floats:
        """The same of single pairs of points. Shape (attributes, pairs)."""
        own, theirs = self.space.released, self.space.known
        numbers, labels = own.numbers[released] - theirs.numbers[known], own.labels[released] != theirs.labels[known]
        return np.hstack([numbers, labels]).T


def _of_records(side: RecordPoints, records: NDArray[np.int64]) -> RecordPoints:
    """The points that have records, with as many."""
    points = np.flatnonzero(records)
    return replace(side.only(points), records=records[points].astype(np.int64))


def learned_from(points: PairedPoints, seed: int) -> PairedPoints:
    """All records where these are few, else some of them, drawn by a seed, among themselves."""
    if points.cells <= LEARNED**2:
        return points
    return points.among_themselves(_drawn(points, LEARNED, seed), strangers=False)


def split(points: PairedPoints, share: Fraction, seed: int) -> tuple[PairedPoints, PairedPoints] | None:
    """Records to learn from, among themselves, and all others with those not released; None if one is empty."""
    drawn = min(round(share * points.records), LEARNED)
    if not 0 < drawn < points.records:
        return None
    chosen = _drawn(points, drawn, seed)
    return points.among_themselves(chosen, strangers=False), points.among_themselves(~chosen, strangers=True)


def _drawn(points: PairedPoints, number: int, seed: int) -> NDArray[np.bool_]:
    """Some of the records, drawn in the order of their content, so that the order of rows has no effect."""
    chosen = np.zeros(points.records, dtype=np.bool_)
    chosen[np.random.default_rng(seed).permutation(points.records)[:number]] = True
    return chosen


CELLS = 2**18  # of a block, over all features
Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Links:
    """Correct links."""

    expected: Fraction  # in the mean over all ways of breaking ties
    strict: int  # those that no tie puts in doubt


@dataclass(frozen=True)
class Learned:
    """A distance, and what it links of the records that it was learned from."""

    coefficients: Floats  # of the family's features
    links: Links


def links(points: PairedPoints, family: Family, coefficients: Floats) -> Links:
    """Link every record to its nearest known records, those within rounding being as near.

    Cost: O(released points x known points x features), in blocks.
    """
    expected, strict, known = Fraction(0), 0, points.space.known.records
    for rows in points.blocks(CELLS // len(coefficients)):
        features = family.features(points.differences(rows))
        distances = np.tensordot(coefficients, features, 1)
        size = np.abs(coefficients) @ np.abs(features).max(axis=(1, 2))
        tied = distances <= distances.min(axis=1, keepdims=True) + 64 * EPSILON * size
        pairs = points.pairs_in(rows)
        seeker, match, times = points.seeker[pairs] - rows.start, points.match[pairs], points.times[pairs]
        hit = tied[seeker, match]
        ties = np.where(tied, known, 0).sum(axis=1)[seeker[hit]]
        sizes, position = np.unique(ties, return_inverse=True)
        earning = np.bincount(position, times[hit], len(sizes))
        expected += sum((Fraction(int(n), int(t)) for t, n in zip(sizes, earning, strict=True)), Fraction(0))
        strict += int(times[hit][ties == 1].sum())
    return Links(expected, strict)


@dataclass
class FeatureBlocks:
    """Features of all pairs of points in float32, kept where they fit into the memory, computed again where not.

    Args:
        points: what is linked.
        family: whose features.
        memory: bytes that they may take.
    """

    points: PairedPoints
    family: Family
    memory: int
    _blocks: list[Singles] = field(default_factory=list, init=False)

    @property
    def cells(self) -> int:
        """The number of pairs of points that a block has, about."""
        return max(1, CELLS // len(self.family.names))

    def __iter__(self) -> Iterator[tuple[slice, Singles]]:
        """Blocks of released points, with features of shape (features, released points, known points)."""
        features = len(self.family.names)
        rows = list(self.points.blocks(self.cells))
        if not self._blocks and 4 * features * self.points.cells <= self.memory:
            self._blocks = [self._block(one) for one in rows]
        yield from zip(rows, self._blocks, strict=True) if self._blocks else ((one, self._block(one)) for one in rows)

    def distances(self, coefficients: Floats) -> list[Singles]:
        """All distances, a block each. Shape of each (released points, known points)."""
        return [np.tensordot(coefficients.astype(np.float32), features, 1) for _, features in self]

    def _block(self, rows: slice) -> Singles:
        return self.family.features(self.points.differences(rows)).astype(np.float32)

    def soft_links(self, coefficients: Floats) -> tuple[float, Floats]:
        """Σ p_i, where p_i = exp(-d(i, match)) / Σ_j exp(-d(i, j)), and its gradient by the coefficients.

        The sum itself and not its logarithm: a record that nothing can link costs one link and no more, where a
        logarithm would give up many links for the one that is farthest off.

        Cost: two products of the features with a vector, and one exponential for each pair.
        """
        total, gradient, known = 0.0, np.zeros(len(coefficients)), self.points.space.known.records.astype(np.float32)
        for rows, features in self:
            flat = features.reshape(len(features), -1)
            share = (coefficients.astype(np.float32) @ flat).reshape(features.shape[1:])
            np.subtract(share.min(axis=1, keepdims=True), share, out=share)
            np.exp(share, out=share)
            share /= (share @ known)[:, None]
            pairs = self.points.pairs_in(rows)
            seeker, match = self.points.seeker[pairs] - rows.start, self.points.match[pairs]
            right = share[seeker, match] * self.points.times[pairs]
            total += float(right.sum())
            share *= np.bincount(seeker, right, len(share)).astype(np.float32)[:, None]
            share *= known
            share[seeker, match] -= right
            gradient += flat @ share.ravel()
        return total, gradient
