"""Released records next to known ones, and which is whose: what distances are learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.standardised import RANDOM_PAIR, RecordPoints, Space

Positions = NDArray[np.intp]

LEARNED = 1_500  # records at most that a distance is learned from, so that it takes seconds


@dataclass(frozen=True)
class PairedPoints:
    """Distinct released records that look for their match among distinct known ones.

    Args:
        space: the points of both tables. `space.known.records` says how many records are at a known point.
        seeker: a released point for each pair of points that some record and its match stand on. Shape (pairs,).
        match: the known point of each. Shape (pairs,).
        times: how many records each pair stands for. int64, shape (pairs,).
    """

    space: Space
    seeker: Positions
    match: Positions
    times: NDArray[np.int64]

    @classmethod
    def of(cls, space: Space, seekers: Positions, matches: Positions) -> PairedPoints:
        """The pairs of points of some records, whose order plays no part.

        Args:
            space: released and known points.
            seekers: the released point of each record. Shape (records,).
            matches: the known point of its match. Shape (records,).
        """
        both = np.stack([seekers, matches]).astype(np.intp)
        (seeker, match), times = np.unique(both, axis=1, return_counts=True)
        return cls(space, seeker, match, times.astype(np.int64))

    @property
    def records(self) -> int:
        """How many records look for their match."""
        return int(self.times.sum())

    @property
    def attributes(self) -> int:
        """How many attributes are compared: numbers and ranks first, nominal ones after them."""
        return len(self.space.number_weights) + len(self.space.label_weights)

    @property
    def cells(self) -> int:
        """How many pairs of a released and a known point there are."""
        return len(self.space.released) * len(self.space.known)

    def among_themselves(self, chosen: NDArray[np.bool_], *, strangers: bool) -> PairedPoints:
        """Some of the records, each looked for among their own matches.

        Args:
            chosen: of the records as `in_order` has them. Shape (records,).
            strangers: whether known records that are no one's match stand among the candidates, too.
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


def squares(differences: Floats) -> Floats:
    """Squared differences; one with a missing cell is that of two random records."""
    squared = np.square(differences)
    squared[np.isnan(squared)] = RANDOM_PAIR
    return squared


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
    """Records to learn from, among themselves, and all others beside whoever was not released; None if one is empty."""
    drawn = min(round(share * points.records), LEARNED)
    if not 0 < drawn < points.records:
        return None
    chosen = _drawn(points, drawn, seed)
    return points.among_themselves(chosen, strangers=False), points.among_themselves(~chosen, strangers=True)


def _drawn(points: PairedPoints, number: int, seed: int) -> NDArray[np.bool_]:
    """Some of the records; they stand in an order of their content, so that the order of rows plays no part."""
    chosen = np.zeros(points.records, dtype=np.bool_)
    chosen[np.random.default_rng(seed).permutation(points.records)[:number]] = True
    return chosen
