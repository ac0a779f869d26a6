"""Credit for links: a true match among t records that tie for nearest is found with probability 1/t."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit_plugins.checks.record_linkage.distances import closer
from tcdp_audit_plugins.checks.record_linkage.nearest import nearest
from tcdp_audit_plugins.checks.record_linkage.standardised import Space

CELLS = 10**8  # the ranks of true matches are found for as many records as this many compared cells allow ...
LEAST = 100  # ... and for this many in any case
RANKS = {"1": 1, "2": 2, "3-5": 5, "6-10": 10, "11-100": 100}
Z95 = 1.959963984540054  # the normal distribution's 97.5 % point


@dataclass(frozen=True)
class Credit:
    """The number of some records that are linked to their true match."""

    attempts: int  # how many records were linked
    expected: Fraction  # correct links in the mean over all ways of breaking ties
    optimistic: int  # correct links if every tie is broken rightly
    pessimistic: int  # correct links if every tie is broken wrongly
    candidates: int  # among how many records each was looked for
    tied: int  # attempts in which several records were nearest

    @property
    def share(self) -> Fraction:
        """Expected correct links over attempts."""
        return self.expected / self.attempts

    def interval(self) -> list[float]:
        """Wilson's 95 % confidence interval of the share, for attempts that are a sample."""
        n, p = self.attempts, float(self.share)
        middle, spread = p + Z95**2 / (2 * n), Z95 * sqrt(p * (1 - p) / n + Z95**2 / (4 * n * n))
        return [max(0.0, (middle - spread) / (1 + Z95**2 / n)), min(1.0, (middle + spread) / (1 + Z95**2 / n))]

    def figures(self) -> dict[str, Any]:
        """All of it by name, for details."""
        return {
            "expected": self.share,
            "expected_correct": self.expected,
            "optimistic": Fraction(self.optimistic, self.attempts),
            "pessimistic": Fraction(self.pessimistic, self.attempts),
            "random_baseline": Fraction(1, self.candidates),
            "attempts": self.attempts,
            "tied": self.tied,
        }


def credit(space: Space, seekers: NDArray[np.intp], matches: NDArray[np.intp]) -> Credit:
    """Link every seeker to its nearest known record.

    `matches` are the known points of the true matches. Shapes (attempts,).

    Cost: that of `nearest`.

    Example:
        >>> import numpy as np
        >>> from tcdp_audit_plugins.checks.record_linkage.standardised import RecordPoints
        >>> def points(values):
        ...     numbers, point, records = np.unique(values, return_inverse=True, return_counts=True)
        ...     return RecordPoints(numbers[:, None].astype(float), np.zeros((len(numbers), 0), int), records, point)
        >>> released, known = points([2, 2, 2, 11, 11, 11]), points([1, 2, 3, 10, 11, 12])
        >>> space = Space(released, known, np.ones(1), np.zeros(0), [], 0)
        >>> credit(space, released.point, known.point).share
        Fraction(1, 3)
    """
    hint = np.zeros(len(space.released), dtype=np.intp)
    hint[seekers] = matches
    nearest_records = nearest(space, hint)
    hit = space.squared_distances(seekers, matches) <= space.nearly(nearest_records.squared)[seekers]
    return credit_of(hit, nearest_records.ties[seekers], int(space.known.records.sum()))


def credit_of(hit: NDArray[np.bool_], ties: NDArray[np.int64], candidates: int) -> Credit:
    """The credit of some attempts.

    `hit` marks true matches among the best, of which there are so many `ties`. Shapes (attempts,).
    """
    return Credit(
        attempts=len(hit),
        expected=_sum_of_reciprocals(ties[hit]),
        optimistic=int(hit.sum()),
        pessimistic=int((hit & (ties == 1)).sum()),
        candidates=candidates,
        tied=int((ties > 1).sum()),
    )


def _sum_of_reciprocals(ties: NDArray[np.int64]) -> Fraction:
    sizes, times = np.unique(ties, return_counts=True)
    return sum((Fraction(int(n), int(t)) for t, n in zip(sizes, times, strict=True)), Fraction(0))


def ranks(space: Space, seekers: NDArray[np.intp], matches: NDArray[np.intp], seed: int) -> dict[str, int]:
    """The rank of the true match among known records, 1 plus those strictly closer, as counts of records.

    All records are examined where there are few, else a seeded sample that does not depend on the order of rows.

    Cost: O(records examined x known points x attributes), bounded.
    """
    order = np.lexsort((matches, seekers))
    cells = len(space.known) * (len(space.number_weights) + len(space.label_weights))
    examined = min(len(order), max(LEAST, CELLS // cells))
    if examined < len(order):
        order = np.random.default_rng(seed).permutation(order)[:examined]
    rank = 1 + closer(space, seekers[order], matches[order])
    below = [int((rank <= limit).sum()) for limit in RANKS.values()]
    counts = np.diff([0, *below, examined]).tolist()
    return dict(zip([*RANKS, "more"], counts, strict=True))
