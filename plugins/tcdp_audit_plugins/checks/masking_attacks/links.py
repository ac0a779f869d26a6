"""What candidate sets tell an intruder: who is certain, and how many links are right by guessing or by the nearest."""

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
from tcdp_audit_plugins.checks.record_linkage.standardised import Space

SIZES = {"0": 0, "1": 1, "2": 2, "3-5": 5, "6-10": 10, "11-100": 100}


@dataclass(frozen=True)
class Links:
    """The links of everybody by their candidates alone.

    Args:
        sets: the candidates.

    Example:
        >>> sets = CandidateSets(*map(np.array, ([0, 1, 3], [0, 0, 1], [0, 1], [0, 1], [0, 0], [0, 0])))
        >>> links = Links(sets)  # the first can only be the first record, the second may be both
        >>> links.certain, links.expected, links.figures()["mean_candidates"]
        (1, Fraction(3, 2), 1.5)
    """

    sets: CandidateSets

    @property
    def people(self) -> int:
        """How many are looked for."""
        return len(self.sets.known)

    @cached_property
    def sizes(self) -> Counts:
        """How many candidates each person has. Shape (pairs,)."""
        return self.sets.size

    @cached_property
    def certain(self) -> int:
        """People whose only candidate is their own record."""
        return int(((self.sizes == 1) & self.sets.holds_truth).sum())

    @cached_property
    def wrong(self) -> int:
        """People whose only candidate is somebody else's record."""
        return int(((self.sizes == 1) & ~self.sets.holds_truth).sum())

    @cached_property
    def expected(self) -> Fraction:
        """Right links in the mean over guesses among each person's candidates."""
        return sum_of_reciprocals(self.sizes[self.sets.holds_truth])

    def by_size(self) -> dict[str, int]:
        """How many people have so many candidates."""
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

    Args:
        sets: the candidates.
        squared: d^2 of each candidate. Shape (edges,).
        own: d^2 of each person and their own record. Shape (pairs,).
        both: it says which distances are equal.

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
    """Right links by the nearest candidate, from both ends.

    Args:
        sets: candidates of known points.
        tables: whose points they are.
        both: the records in the space of distances.
    """
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
