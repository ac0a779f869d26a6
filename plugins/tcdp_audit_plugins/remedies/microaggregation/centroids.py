"""The cell that is released for a cluster: the mean of numbers, the median of ranks, the mode of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, starts_of
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.remedy import Attribute, NewColumn
from tcdp_audit_plugins.remedies.microaggregation.points import (
    Clusters,
    Points,
    Positions,
    has_numbers,
    labels_of,
    modes,
    numbers_of,
)

Centroids = tuple[NDArray[Any], Clusters]  # distinct cells, and for each cluster the position of its own


def released_column(attribute: Attribute, order: Positions, clusters: Clusters, *, rounded: bool) -> NewColumn:
    """One attribute with the same cell for all records of a cluster.

    Args:
        attribute: as it is.
        order: the place in the table of each record that `clusters` numbers.
        clusters: the cluster of each record.
        rounded: whether means of an attribute of whole numbers become whole numbers.

    Returns:
        The new column; no value where no record of a cluster has one.

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
