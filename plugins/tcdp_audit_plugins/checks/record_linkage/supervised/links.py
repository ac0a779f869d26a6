"""Links by a learned distance: how many are right, exactly, and in the mean of a linkage that is soft."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.standardised import EPSILON
from tcdp_audit_plugins.checks.record_linkage.supervised.families import Family
from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import PairedPoints

CELLS = 2**18  # of a block, over all features
Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Links:
    """Correct links.

    Args:
        expected: in the mean over all ways of breaking ties.
        strict: those that no tie puts in doubt.
    """

    expected: Fraction
    strict: int


@dataclass(frozen=True)
class Learned:
    """A distance, and what it links of the records that it was learned from.

    Args:
        coefficients: of the family's features.
        links: correct links.
    """

    coefficients: Floats
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
        """How many pairs of points a block has, about."""
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
