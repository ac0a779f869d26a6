"""Points between which there is a distance, whatever the scales of their attributes; records, or centroids of them.

Two numbers are as far apart as their difference. Two nominal labels are 0 or 1 apart; where a hierarchy is declared,
the level of their lowest common ancestor over its height. A missing label is at distance 1 from every label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.exact import Floats

Positions = NDArray[np.intp]
Clusters = NDArray[np.int64]  # the cluster of each record, from 0


@dataclass(frozen=True)
class Ground:
    """Distances between the labels of one nominal attribute.

    Args:
        ancestors: the node above each label at every level below the root, int64, shape (height, labels + 1); the last
            column is a missing label. Without a hierarchy the labels themselves, height 1.
    """

    ancestors: NDArray[np.int64]

    @property
    def missing(self) -> int:
        """The code of a missing label."""
        return int(self.ancestors.shape[1]) - 1

    def squared_from(self, label: int) -> Floats:
        """Squared distance of one label from every label. O(labels x height)."""
        return np.asarray(self._squares[(self.ancestors != self.ancestors[:, [label]]).sum(axis=0)])

    def squared(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> Floats:
        """Squared distances of labels that are broadcast against each other."""
        lowest, *others = self.ancestors
        apart = (lowest[one] != lowest[other]).astype(np.min_scalar_type(len(self.ancestors)))
        for level in others:
            apart += level[one] != level[other]
        return np.asarray(self._squares[apart])

    @cached_property
    def _squares(self) -> Floats:
        """The squared distance of labels that are apart on so many levels."""
        return np.asarray((np.arange(len(self.ancestors) + 1) / len(self.ancestors)) ** 2)


@dataclass(frozen=True)
class Points:
    """Records, or the centroids of clusters.

    Args:
        numbers: standardised numbers and ranks, float64, shape (points, numeric and ordinal attributes).
        labels: codes of each nominal attribute, int64, shape (points,).
        grounds: how far its labels are apart.
    """

    numbers: Floats
    labels: tuple[NDArray[np.int64], ...] = ()
    grounds: tuple[Ground, ...] = ()

    def __len__(self) -> int:
        """How many points there are."""
        return len(self.numbers)

    @cached_property
    def norms(self) -> Floats:
        """Squared length of the numbers of each point."""
        return np.asarray(np.einsum("ij,ij->i", self.numbers, self.numbers))

    def take(self, positions: Positions) -> Points:
        """Some of the points, in the order given."""
        return Points(self.numbers[positions], tuple(codes[positions] for codes in self.labels), self.grounds)

    def squared(self, own: Positions, other: Points, others: Positions) -> Floats:
        """Squared distances of pairs of points. Shape (pairs,)."""
        apart = self.numbers[own] - other.numbers[others]
        total = np.einsum("ij,ij->i", apart, apart)
        for mine, theirs, ground in zip(self.labels, other.labels, self.grounds, strict=True):
            total += ground.squared(mine[own], theirs[others])
        return np.asarray(total)

    def blocks(self, own: Positions, other: Points, others: Positions) -> Floats:
        """Squared distances of every point of a row of `own` to every point of the same row of `others`.

        Args:
            own: positions, shape (rows, a).
            other: where `others` are positions in.
            others: positions, shape (rows, b).

        Returns:
            float64, shape (rows, a, b); exact to the rounding of the squared lengths.
        """
        products = self.numbers[own] @ other.numbers[others].transpose(0, 2, 1)
        products *= -2
        products += self.norms[own][:, :, None]
        products += other.norms[others][:, None, :]
        np.maximum(products, 0, out=products)
        for mine, theirs, ground in zip(self.labels, other.labels, self.grounds, strict=True):
            products += ground.squared(mine[own][:, :, None], theirs[others][:, None, :])
        return products

    def centroids(self, clusters: Clusters, count: int) -> Points:
        """Means of the numbers and modes of the labels of every cluster. O(points log points)."""
        sizes = np.bincount(clusters, minlength=count)
        sums = [np.bincount(clusters, column, count) for column in self.numbers.T]
        means = np.array(sums).reshape(len(sums), count).T / sizes[:, None]
        labels = zip(self.labels, self.grounds, strict=True)
        return Points(means, tuple(modes(codes, g.missing, clusters, count) for codes, g in labels), self.grounds)


def modes(codes: NDArray[np.int64], missing: int, clusters: Clusters, count: int) -> NDArray[np.int64]:
    """The commonest label of every cluster, the first of those that tie; missing where there is no label at all."""
    known = codes < missing
    pairs, held = np.unique(clusters[known] * missing + codes[known], return_counts=True)
    rows, labels = np.divmod(pairs, max(missing, 1))
    order = np.lexsort((labels, -held, rows))
    first, where = np.unique(rows[order], return_index=True)
    found = np.full(count, missing, dtype=np.int64)
    found[first] = labels[order][where]
    return found
