"""Points between which there is a distance, whatever the scales of their attributes: records, or centroids of them.

Two numbers are as far apart as their difference. A numeric attribute becomes (value - mean) / sd of the table, an
ordinal one the same by its rank; a range counts as its middle, and a missing number counts as the mean. Two nominal
labels are 0 or 1 apart; where a hierarchy is declared, the level of their lowest common ancestor over its height. A
missing label is at distance 1 from every label. A suppressed cell is a missing one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.remedy import Attribute, NewColumn
from tcdp_audit_plugins.remedies._shared.segments import first_of_each, starts_of

Positions = NDArray[np.intp]
Clusters = NDArray[np.int64]  # the cluster of each record, from 0
Centroids = tuple[NDArray[Any], Clusters]  # distinct cells, and for each cluster the position of its own


@dataclass(frozen=True)
class LabelDistances:
    """Distances between the labels of one nominal attribute."""

    # the node above each label at every level below the root, int64, shape (height, labels + 1); the last column is a
    # missing label. Without a hierarchy the labels themselves, height 1
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
    """Records, or the centroids of clusters."""

    numbers: Floats  # standardised numbers and ranks, float64, shape (points, numeric and ordinal attributes)
    labels: tuple[NDArray[np.int64], ...] = ()  # codes of each nominal attribute, int64, shape (points,)
    label_distances: tuple[LabelDistances, ...] = ()  # how far its labels are apart

    def __len__(self) -> int:
        """The number of points."""
        return len(self.numbers)

    @cached_property
    def norms(self) -> Floats:
        """Squared length of the numbers of each point."""
        return np.asarray(np.einsum("ij,ij->i", self.numbers, self.numbers))

    def take(self, positions: Positions) -> Points:
        """Some of the points, in the order given."""
        return Points(self.numbers[positions], tuple(codes[positions] for codes in self.labels), self.label_distances)

    def squared(self, own: Positions, other: Points, others: Positions) -> Floats:
        """Squared distances of pairs of points. Shape (pairs,)."""
        apart = self.numbers[own] - other.numbers[others]
        total = np.einsum("ij,ij->i", apart, apart)
        for mine, theirs, distances_of_labels in zip(self.labels, other.labels, self.label_distances, strict=True):
            total += distances_of_labels.squared(mine[own], theirs[others])
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
        for mine, theirs, distances_of_labels in zip(self.labels, other.labels, self.label_distances, strict=True):
            products += distances_of_labels.squared(mine[own][:, :, None], theirs[others][:, None, :])
        return products

    def centroids(self, clusters: Clusters, count: int) -> Points:
        """Means of the numbers and modes of the labels of every cluster. O(points log points)."""
        sizes = np.bincount(clusters, minlength=count)
        sums = [np.bincount(clusters, column, count) for column in self.numbers.T]
        means = np.array(sums).reshape(len(sums), count).T / sizes[:, None]
        labels = zip(self.labels, self.label_distances, strict=True)
        return Points(
            means, tuple(modes(codes, g.missing, clusters, count) for codes, g in labels), self.label_distances
        )


def modes(codes: NDArray[np.int64], missing: int, clusters: Clusters, count: int) -> NDArray[np.int64]:
    """The commonest label of every cluster, the first of those that tie; missing where there is no label at all."""
    known = codes < missing
    pairs, records = np.unique(clusters[known] * missing + codes[known], return_counts=True)
    rows, labels = np.divmod(pairs, max(missing, 1))
    filled, commonest = first_of_each(rows, np.lexsort((labels, -records)))
    modes = np.full(count, missing, dtype=np.int64)
    modes[filled] = labels[commonest]
    return modes


def points_of(attributes: Sequence[Attribute], order: Positions) -> Points:
    """The records of a release, in a given order, by some of its attributes."""
    numbers = [standard_scores(one)[one.codes[order]] for one in attributes if has_numbers(one)]
    nominal = [one for one in attributes if not has_numbers(one)]
    stacked = np.array(numbers, dtype=np.float64).reshape(len(numbers), len(order)).T
    labels = tuple(labels_of(one)[one.codes[order]] for one in nominal)
    return Points(np.ascontiguousarray(stacked), labels, tuple(_distances_of_labels(one) for one in nominal))


def has_numbers(attribute: Attribute) -> bool:
    """Say whether the values of an attribute are numbers or ranks, or ranges of them."""
    ordinal = attribute.scale is Scale.ORDINAL and attribute.declaration.order is not None
    return attribute.scale is Scale.NUMERIC or ordinal


def numbers_of(attribute: Attribute) -> Floats:
    """The number or rank of each value, NaN for a suppressed and for the missing one. Shape (domain + 1,)."""
    return np.append(attribute.numbers, np.nan)


def standard_scores(attribute: Attribute) -> Floats:
    """(value - mean) / sd of each value, 0 where it is missing or the attribute does not vary. Shape (domain + 1,)."""
    numbers = numbers_of(attribute)
    known = np.isfinite(numbers[:-1])
    records = np.where(known, attribute.domain.counts, 0)
    if records.sum() == 0:
        return np.zeros(len(numbers))
    mean = np.average(np.where(known, numbers[:-1], 0), weights=records)
    centred = np.where(np.isfinite(numbers), numbers - mean, 0.0)
    sd = np.sqrt(np.average(centred[:-1] ** 2, weights=records))
    return np.asarray(centred / sd if sd > 0 else np.zeros(len(numbers)))


def labels_of(attribute: Attribute) -> NDArray[np.int64]:
    """The code of each value as a label, a suppressed one being missing. Shape (domain + 1,)."""
    domain = attribute.domain
    return np.where(domain.is_uninformative, domain.size, np.arange(domain.size + 1))


def _distances_of_labels(attribute: Attribute) -> LabelDistances:
    labels = np.arange(attribute.domain.size)[None, :]
    levels = labels if attribute.tree is None else attribute.tree.ancestors[:-1]
    missing = levels.max(axis=1, initial=-1, keepdims=True) + 1
    return LabelDistances(np.hstack([levels, missing]))


def released_column(attribute: Attribute, order: Positions, clusters: Clusters, *, rounded: bool) -> NewColumn:
    """One attribute with the same cell for all records of a cluster.

    With `rounded`, means of an attribute of whole numbers become whole numbers. Return the new column; no value where
    no record of a cluster has one.

    Cost: a sort of the records.
    """
    cells, chosen = _centroids(attribute, attribute.codes[order], clusters, rounded=rounded)
    codes = np.empty(len(order), dtype=np.int64)
    codes[order] = chosen[clusters]
    return NewColumn(cells, codes)


def _centroids(attribute: Attribute, codes: NDArray[Any], clusters: Clusters, *, rounded: bool) -> Centroids:
    count = int(clusters.max()) + 1
    if not has_numbers(attribute):
        return attribute.domain.values, modes(labels_of(attribute)[codes], attribute.domain.size, clusters, count)
    numbers = numbers_of(attribute)
    if attribute.scale is Scale.ORDINAL:
        ranks = np.array(attribute.declaration.order or (), dtype=object)
        return ranks, _or_missing(medians(numbers[codes], clusters, count), len(ranks))
    cells = means(numbers[codes], clusters, count)
    known = numbers[np.isfinite(numbers)]
    if rounded and np.array_equal(known, np.floor(known)):
        cells = np.rint(cells)
    distinct = np.unique(cells[np.isfinite(cells)])
    position = np.where(np.isfinite(cells), np.searchsorted(distinct, cells), np.nan)
    return distinct, _or_missing(position, len(distinct))


def _or_missing(positions: Floats, missing: int) -> Clusters:
    return np.floor(np.where(np.isfinite(positions), positions, missing)).astype(np.int64)


def means(values: Floats, clusters: Clusters, count: int) -> Floats:
    """Mean of every cluster's known values, exactly theirs where they are equal; NaN where there is none. O(values)."""
    known = np.isfinite(values)
    inside, present = clusters[known], values[known]
    one = np.full(count, np.nan)
    one[inside] = present
    sizes = np.bincount(inside, minlength=count)
    return np.asarray(one + np.bincount(inside, present - one[inside], count) / np.maximum(sizes, 1))


def medians(values: Floats, clusters: Clusters, count: int) -> Floats:
    """Lower median of every cluster's known values; NaN where there is none. O(values log values)."""
    known = np.isfinite(values)
    inside, present = clusters[known], values[known]
    order = np.lexsort((present, inside))
    sizes = np.bincount(inside, minlength=count)
    middle = starts_of(sizes) + (sizes - 1) // 2
    filled = sizes > 0
    lower = np.full(count, np.nan)
    lower[filled] = present[order][middle[filled]]
    return lower


def loss_percent(points: Points, clusters: Clusters) -> float:
    """100 SSE / SST: squared distances to the clusters' centroids in percent of those to the table's. O(n d)."""
    within, whole = _squares(points, clusters), _squares(points, np.zeros(len(points), dtype=np.int64))
    return 100 * within / whole if whole > 0 else 0.0


def _squares(points: Points, clusters: Clusters) -> float:
    centroids = points.centroids(clusters, int(clusters.max()) + 1)
    return float(points.squared(np.arange(len(points)), centroids, clusters).sum())
