"""The most records that any member of a region of a family links strictly, by mixed-integer programming.

min Σ K_i  with  d(i, j) - d(i, match) + M_ij K_i >= margin  for all i and j, K_i 0 or 1, members as `regions` has them.
M_ij is the margin less what the difference is at least in any member. Each row is divided by its largest coefficient,
so that what the solver tolerates is below the margin. Rows that every member keeps are left out; a record that no
member can link is wrong beforehand; of identical released records one at most is linked. Rows are added when they are
violated.

Abril, Navarro-Arribas, Torra, Improving record linkage with supervised learning for disclosure risk assessment,
Information Fusion 13 (2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.supervised.families import Family
from tcdp_audit_plugins.checks.record_linkage.supervised.mixed_integer import (
    MixedIntegerProgramme,
    Mixtures,
    region,
    solved,
)
from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import (
    CELLS,
    Learned,
    PairedPoints,
    Positions,
    links,
)
from tcdp_audit_plugins.checks.record_linkage.supervised.surrogate import Deadline

MARGIN = 3e-6  # by which a match is nearer, in parts of a row's largest coefficient; the solver's tolerance is 1e-6
NONE = 1e-9  # a difference that is rounding
COMPETITORS = 10  # of each record, with which the search starts and which are added at a time
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Optimum:
    """An optimum, and the bound that nothing exceeds."""

    best: Learned  # the member with most expected links among those tried
    bound: int  # no member links more records strictly, each by the margin at least


def optimum(points: PairedPoints, family: Family, best: Learned, deadline: Deadline) -> Optimum:
    """The best member, starting from one that is known, and a bound on all of them.

    The bound is reached, and so proven to be the optimum, unless time ends before.

    Cost: exponential at the worst, in the records that some members link and others do not; memory O(pairs x known
        points) bits, and the rows.
    """
    programme = _Programme.of(points, family)
    bound = programme.most_possible
    while bound > best.links.strict:
        solution = programme.solved(deadline.left)
        bound = min(bound, solution.bound)
        if not solution.finished and bound > best.links.strict:
            deadline.miss()
        if solution.unknowns is None:
            break
        coefficients = programme.members.transform @ solution.unknowns
        candidate = Learned(coefficients, links(points, family, coefficients))
        best = max(best, candidate, key=lambda one: one.links.expected)
        if not solution.finished or not programme.add_violated(coefficients, solution.linked):
            break
    return Optimum(best, max(bound, best.links.strict))


@dataclass(frozen=True)
class _Solution:
    """The solution for the rows so far; no unknowns where the solver found none in its time."""

    unknowns: Floats | None
    linked: Flags
    bound: int
    finished: bool


@dataclass
class _Programme:
    """The rows so far."""

    points: PairedPoints
    members: Mixtures  # of the family
    pairs: Positions  # those that some member may link strictly, as positions among the points' pairs
    open: Flags  # whether a row of a pair and a competitor may still be added. Shape (pairs, known points).
    pair: Positions  # of each row, as a position among `pairs`
    gap: Floats  # coefficients of the unknowns in each row. Shape (rows, unknowns).
    relief: Floats  # M of each row

    @classmethod
    def of(cls, points: PairedPoints, family: Family) -> _Programme:
        """With the nearest competitors by equal weights."""
        members, unique = region(family), points.space.known.records[points.match] == 1
        blocks = [_possible(points, members, rows) for rows in points.blocks(CELLS // len(family.names))]
        wanting = np.concatenate([one for one, _ in blocks])
        pairs = np.flatnonzero(unique & np.concatenate([possible for _, possible in blocks]))
        none = np.zeros(0, dtype=np.intp)
        programme = cls(points, members, pairs, wanting[pairs], none, np.zeros((0, len(members.mass))), np.zeros(0))
        programme._add(family.coefficients(family.equal), np.ones(len(pairs), dtype=np.bool_), np.inf)
        return programme

    @property
    def most_possible(self) -> int:
        """One record of each released point that has any."""
        return len(np.unique(self.points.seeker[self.pairs]))

    def add_violated(self, coefficients: Floats, linked: Flags) -> bool:
        """Add rows of linked pairs that a distance does not keep; whether there are any."""
        return self._add(coefficients, linked, NONE)

    def _add(self, coefficients: Floats, linked: Flags, below: float) -> bool:
        """Add the nearest competitors of some pairs, those that are nearer than the match by less than so much."""
        family, points = self.members.family, self.points
        added: list[tuple[Positions, Positions]] = []
        for rows in points.blocks(CELLS // len(family.names)):
            start, stop = np.searchsorted(self.pairs, [points.pairs_in(rows).start, points.pairs_in(rows).stop])
            seeker, match = points.seeker[self.pairs[start:stop]], points.match[self.pairs[start:stop]]
            distances = np.tensordot(coefficients, family.features(points.differences(rows)), 1)[seeker - rows.start]
            lead = distances - distances[np.arange(len(match)), match][:, None]
            lead[~self.open[start:stop] | ~linked[start:stop, None]] = np.inf
            nearest = np.argsort(lead, axis=1, kind="stable")[:, :COMPETITORS]
            pair, place = np.nonzero(np.take_along_axis(lead, nearest, axis=1) < below)
            added.append((pair + start, nearest[pair, place]))
        pair, competitor = (np.concatenate([one[side] for one in added]) for side in (0, 1))
        self._append(pair, competitor)
        return bool(len(pair))

    def _append(self, pair: Positions, competitor: Positions) -> None:
        points, pairs = self.points, self.pairs[pair]
        others = self.members.family.features(points.differences_of(points.seeker[pairs], competitor))
        own = self.members.family.features(points.differences_of(points.seeker[pairs], points.match[pairs]))
        self.open[pair, competitor] = False
        self.pair = np.concatenate([self.pair, pair])
        gap = (others - own).T @ self.members.transform
        largest = np.abs(gap).max(axis=1)
        self.gap = np.concatenate([self.gap, gap / largest[:, None]])
        self.relief = np.concatenate([self.relief, MARGIN - self.members.least(others, own) / largest])

    def solved(self, seconds: float) -> _Solution:
        """The best unknowns under the rows so far."""
        answer, unknowns, records = solved(self._whole(), seconds), len(self.members.mass), len(self.pairs)
        bound = self.most_possible if np.isinf(answer.bound) else records - ceil(answer.bound - 1e-6)
        if answer.unknowns is None:
            return _Solution(None, np.zeros(records, dtype=np.bool_), bound, finished=False)
        linked = answer.unknowns[unknowns:] < 0.5
        return _Solution(answer.unknowns[:unknowns], linked, bound, answer.finished)

    def _whole(self) -> MixedIntegerProgramme:
        """Rows of competitors, the shape of the family, and one link at most for each released point."""
        from scipy.sparse import csr_array, hstack, vstack  # noqa: PLC0415 - a slow import that only this needs

        records, rows, shape = len(self.pairs), len(self.pair), self.members.rows
        relief = csr_array((self.relief, (np.arange(rows), self.pair)), shape=(rows, records))
        _, group = np.unique(self.points.seeker[self.pairs], return_inverse=True)
        groups = csr_array((np.ones(records), (group, np.arange(records))))
        low, high = self.members.bounds
        nothing, none, one = np.zeros(len(low)), np.zeros(records), np.ones(records)
        blocks = [
            (self.gap, relief, np.full(rows, MARGIN), np.full(rows, np.inf)),
            (self.members.mass[None], csr_array((1, records)), np.ones(1), np.ones(1)),
            (shape, csr_array((len(shape), records)), np.full(len(shape), -np.inf), np.zeros(len(shape))),
            (np.zeros((groups.shape[0], len(low))), groups, groups.sum(axis=1) - 1, np.full(groups.shape[0], np.inf)),
        ]
        return MixedIntegerProgramme(
            costs=np.append(nothing, one),
            whole=np.append(nothing, one),
            low=np.append(low, none),
            high=np.append(high, one),
            rows=vstack([hstack([csr_array(left), right]) for left, right, _, _ in blocks]).tocsr(),
            least=np.concatenate([least for _, _, least, _ in blocks]),
            most=np.concatenate([most for _, _, _, most in blocks]),
        )


def _possible(points: PairedPoints, members: Mixtures, rows: slice) -> tuple[Flags, Flags]:
    """For each pair of a block: competitors that some member finds nearer, and whether none is never farther."""
    features = members.family.features(points.differences(rows))
    pairs = points.pairs_in(rows)
    seeker, match = points.seeker[pairs] - rows.start, points.match[pairs]
    others, own = features[:, seeker], features[:, seeker, match][:, :, None]
    wanting = members.least(others, own) < NONE
    hopeless = members.most(others, own) <= 0
    itself = np.arange(len(match)), match
    wanting[itself] = hopeless[itself] = False
    return wanting, np.asarray(~hopeless.any(axis=1))
