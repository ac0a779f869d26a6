"""Links by candidate sets: certain ones, right guesses, nearest candidates, and the best one-to-one assignment."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, Floats
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets
from tcdp_audit_plugins.checks.masking_attacks.tables import AttackedTables
from tcdp_audit_plugins.checks.record_linkage.assignment_record_linkage import FAVOUR
from tcdp_audit_plugins.checks.record_linkage.standardised import Space

SIZES = {"0": 0, "1": 1, "2": 2, "3-5": 5, "6-10": 10, "11-100": 100}

WORK = 2_000_000_000  # steps at most: an assignment of 1,250 records that may all be each other takes about a second
TOGETHER = 256  # records of small parts that are assigned at once


@dataclass(frozen=True)
class Links:
    """The links of everyone by their candidates alone.

    Example:
        >>> sets = CandidateSets(*map(np.array, ([0, 1, 3], [0, 0, 1], [0, 1], [0, 1], [0, 0], [0, 0])))
        >>> links = Links(sets)  # the first can only be the first record, the second may be both
        >>> links.certain, links.expected, links.figures()["mean_candidates"]
        (1, Fraction(3, 2), 1.5)
    """

    sets: CandidateSets

    @property
    def people(self) -> int:
        """The number of people who are looked for."""
        return len(self.sets.known)

    @cached_property
    def sizes(self) -> Counts:
        """The number of candidates that each person has. Shape (pairs,)."""
        return self.sets.size

    @cached_property
    def certain(self) -> int:
        """People whose only candidate is their own record."""
        return int(((self.sizes == 1) & self.sets.holds_truth).sum())

    @cached_property
    def wrong(self) -> int:
        """People whose only candidate is another person's record."""
        return int(((self.sizes == 1) & ~self.sets.holds_truth).sum())

    @cached_property
    def expected(self) -> Fraction:
        """Right links in the mean over guesses among each person's candidates."""
        return sum_of_reciprocals(self.sizes[self.sets.holds_truth])

    def by_size(self) -> dict[str, int]:
        """The number of people that have so many candidates."""
        upto = [int((self.sizes <= most).sum()) for most in SIZES.values()]
        numbers = np.diff([0, *upto, self.people]).tolist()
        named = dict(zip([*SIZES, "more"], numbers, strict=True))
        return {name: number for name, number in named.items() if number or name != "0"}

    def figures(self) -> dict[str, Any]:
        """All of it by name, for details."""
        return {
            "certain": self.certain,
            "wrongly_certain": self.wrong,
            "expected_correct": self.expected,
            "mean_candidates": float(self.sizes.mean()),
            "least_candidates": int(self.sizes.min()),
            "empty": int((self.sizes == 0).sum()),
        }


def nearest_correct(sets: CandidateSets, squared: Floats, own: Floats, both: Space) -> Fraction:
    """Right links by the nearest candidate, where a right one among t records that tie for nearest counts 1/t.

    `squared` is d^2 of each candidate, `own` that of each person and their own record.

    Cost: O(points + edges).
    """
    filled = np.flatnonzero(np.diff(sets.offsets))
    limit = np.full(len(sets.lone_known), -np.inf)
    if len(filled):
        limit[filled] = both.nearly(np.minimum.reduceat(squared, sets.offsets[filled]))
    tied = np.where(squared <= limit[sets.rows], sets.records[sets.candidates], 0)
    ties = np.bincount(sets.rows, tied, minlength=len(limit)).astype(np.int64)
    right = sets.holds_truth & (own <= limit[sets.known])
    return sum_of_reciprocals(ties[sets.known[right]])


def nearest_in_sets(sets: CandidateSets, tables: AttackedTables, both: Space) -> dict[str, Fraction]:
    """Right links by the nearest candidate, from both ends."""
    known = both.known.point[tables.known.first]
    released = both.released.point[tables.released.first]
    own = both.squared_distances(released[sets.released], known[sets.known])
    turned = sets.turned()
    ends = {
        "original_to_masked": (sets, distances_in_sets(sets, tables, both)),
        "masked_to_original": (turned, both.squared_distances(released[turned.rows], known[turned.candidates])),
    }
    return {name: nearest_correct(one, squared, own, both) for name, (one, squared) in ends.items()}


def distances_in_sets(sets: CandidateSets, tables: AttackedTables, both: Space) -> Floats:
    """d^2 of each candidate. Shape (edges,)."""
    known = both.known.point[tables.known.first]
    released = both.released.point[tables.released.first]
    return both.squared_distances(released[sets.candidates], known[sets.rows])


def sum_of_reciprocals(sizes: NDArray[np.int64]) -> Fraction:
    """Σ 1/size, exactly. O(sizes log sizes)."""
    values, times = np.unique(sizes, return_counts=True)
    return sum((Fraction(int(n), int(size)) for size, n in zip(values, times, strict=True)), Fraction(0))


def count_assigned(sets: CandidateSets, squared: Floats) -> Fraction | None:
    """Right links of the best assignment, in the mean over all assignments of equal records.

    Of several assignments that are as near the one with the most right links counts.

    The sets are those after the closure, so that a matching of everyone is known; `squared` is d^2 of each candidate.

    Returns:
        From 0 to the number of people; None where the assignment is left out, see `assign`.
    """
    # Distances that tie leave several best assignments. The one with most right links is wanted, so that the figure
    # does not depend on the solver: a right link gets a discount, too small to outweigh any real difference of
    # distances.
    width = len(sets.lone_released)
    own = np.searchsorted(sets.rows * width + sets.candidates, sets.known * width + sets.released)
    ways = _known_records(sets)[sets.known] * sets.records[sets.released]
    right = np.bincount(own, 1 / ways, len(squared))
    flow = assign(sets, squared - FAVOUR * (float(squared.mean()) or 1.0) * right)
    if flow is None:
        return None
    terms, times = np.unique(np.stack([flow[own], ways]), axis=1, return_counts=True)
    return sum((Fraction(int(f) * int(n), int(w)) for (f, w), n in zip(terms.T, times, strict=True)), Fraction(0))


def assign(sets: CandidateSets, squared: Floats) -> Counts | None:
    """The number of records of each known point that go to each of its candidates, where the sum of d^2 is least.

    All records of the smaller table are assigned. Parts of the tables that no candidate connects are assigned by
    themselves; of several assignments that are as near one is taken.

    Returns:
        int64, shape (edges,); None where it would take too long, or where both tables have records that the other one
        lacks, so that no one knows how many to assign.

    Cost: O(n^3) time and 8 n^2 bytes for a part of n records.
    """
    # Someone who knows everyone links all records at once: no record is two people's, and the sum of d^2 is least. The
    # graph falls apart into components, and the assignment of the whole is those of the components: a part of n records
    # takes n^3 steps, so that small ones are done together, and large ones decide whether it is left out.
    # scipy's sparse matching would take the graph as it is, and may not end where distances nearly tie.
    # Source: Crouse, On implementing 2D rectangular assignment algorithms, IEEE TAES 52(4), 2016.
    if sets.lone_known.any() and sets.lone_released.any():
        return None
    part, steps = _parts(sets)
    if steps > WORK:
        return None
    flow, known = np.zeros(len(squared), np.int64), _known_records(sets)
    order = np.argsort(part, kind="stable")
    for edges in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        flow[edges] = 1 if part[edges[0]] < 0 else _assigned_part(sets, known, squared, edges)
    return flow


def _parts(sets: CandidateSets) -> tuple[NDArray[np.int64], float]:
    """The part of each edge, small ones together and -1 for two records alone; and how many steps all take."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - only where tables are measured
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    width = len(sets.lone_known)
    nodes = width + len(sets.lone_released)
    ends = sets.rows, width + sets.candidates
    graph = coo_array((np.ones(len(sets.rows), np.int8), ends), shape=(nodes, nodes))
    number, component = connected_components(graph.tocsr(), directed=False)
    here = np.bincount(component[:width], _known_records(sets), number)
    there = np.bincount(component[width:], sets.records, number)
    size = np.where((here == 1) & (there == 1), 0, np.maximum(here, there))
    part = np.where(size == 0, -1, (np.cumsum(size) - size) // TOGETHER).astype(np.int64)
    together = np.bincount(part[part >= 0], size[part >= 0])
    return part[component[sets.rows]], float((together**3).sum())


def _assigned_part(sets: CandidateSets, records_known: Counts, squared: Floats, edges: NDArray[np.intp]) -> Counts:
    """The same for the edges of a part, with the records of each known point."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - a slow import that only this needs

    known, row = np.unique(sets.rows[edges], return_inverse=True)
    released, column = np.unique(sets.candidates[edges], return_inverse=True)
    cost = np.full((len(known), len(released)), np.inf)
    cost[row, column] = squared[edges]
    people = np.repeat(np.arange(len(known)), records_known[known])
    records = np.repeat(np.arange(len(released)), sets.records[released])
    person, record = linear_sum_assignment(cost[np.ix_(people, records)])
    flow = np.zeros(cost.shape, np.int64)
    np.add.at(flow, (people[person], records[record]), 1)
    return np.asarray(flow[row, column])


def _known_records(sets: CandidateSets) -> Counts:
    """Records that are at each known point. Shape (known points,)."""
    return np.bincount(sets.known, minlength=len(sets.lone_known)) + sets.lone_known
