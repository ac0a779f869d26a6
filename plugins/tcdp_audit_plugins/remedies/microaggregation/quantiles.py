"""Closeness first: each cluster takes one record of every quantile of the confidential attribute.

Then its distribution is near the table's whichever records it takes, and those are taken that are near each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, fold, inverse
from tcdp_audit.plugin.remedy import Attribute, Progress, RemedyError, silent
from tcdp_audit_plugins.remedies._shared.search import smallest
from tcdp_audit_plugins.remedies.microaggregation.cluster_demands import ClusterDemands
from tcdp_audit_plugins.remedies.microaggregation.exchange import exchange_records
from tcdp_audit_plugins.remedies.microaggregation.mdav import mdav
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions

GROWTH = 1.25
TOLERATED = 0.01  # share of clusters drawn at random that may fail; those that do in the end are merged


class Quantiles:
    """Records in order of the confidential attribute, cut into equally large quantiles.

    Args:
        values: the place of each record's confidential value.
        size: how many quantiles, and so how many records a cluster has; at most that of all records.
    """

    def __init__(self, values: NDArray[np.int64], size: int) -> None:
        ordered = np.argsort(values, kind="stable")
        self.clusters = len(values) // size
        bounds = np.arange(size + 1) * len(values) // size
        larger = np.diff(bounds) > self.clusters  # by one record, which then is surplus
        middle = bounds[:-1][larger] + self.clusters // 2
        self.surplus = ordered[middle]
        self.table = np.delete(ordered, middle).reshape(size, self.clusters)

    def drawn(self, generator: np.random.Generator) -> Clusters:
        """Clusters of a random record of every quantile; each surplus record joins one of them."""
        clusters = np.empty(self.table.size + len(self.surplus), dtype=np.int64)
        clusters[generator.permuted(self.table, axis=1)] = np.arange(self.clusters)
        clusters[self.surplus] = np.arange(len(self.surplus)) % self.clusters
        return clusters

    def cluster(self, points: Points, *, exchange: bool, progress: Progress = silent) -> Clusters:
        """Clusters of one record of every quantile, near each other; each surplus record joins the nearest.

        The records are chosen as MDAV chooses them; with `exchange`, clusters then exchange records of one quantile.

        Cost: that of MDAV.
        """
        size, records = len(self.table), self.table.ravel()
        inside = points.take(records)
        inner = mdav(inside, size, _nearest_of_each, progress)
        if exchange:
            inner = exchange_records(inside, inner, size, np.repeat(np.arange(size), self.clusters))
        clusters = np.empty(len(points), dtype=np.int64)
        clusters[records] = inner
        if len(self.surplus):
            centroids = inside.centroids(inner, self.clusters)
            distances = points.blocks(self.surplus[None], centroids, np.arange(self.clusters)[None])[0]
            clusters[self.surplus] = distances.argmin(axis=1)
        return clusters


def _nearest_of_each(distances: Floats, size: int) -> Positions:
    """The nearest record of every quantile; each quantile has lost equally many so far."""
    by_quantile = distances.reshape(size, -1)
    return np.asarray(by_quantile.argmin(axis=1) + np.arange(size) * by_quantile.shape[1], dtype=np.intp)


def smallest_size(
    values: NDArray[np.int64], k: int, demands: ClusterDemands, generator: Callable[[], np.random.Generator]
) -> int:
    """The fewest quantiles, at least k, of which clusters drawn at random keep the demands, but for one in a hundred.

    Returns:
        A number of records in a cluster; that of all records where no fewer will do.

    Cost: judging the records about 5 log(n / k) times.
    """

    def suffices(size: int) -> bool:
        quantiles = Quantiles(values, size)
        kept = demands.kept(quantiles.drawn(generator()), quantiles.clusters)
        return bool((~kept).mean() <= TOLERATED)

    most = len(values)
    return smallest(lambda size: size >= most or suffices(size), k, most, growth=GROWTH) or most


def places(sensitive: Sequence[Attribute], order: Positions) -> NDArray[np.int64]:
    """The place of each record's confidential values, first by the first attribute.

    Args:
        sensitive: the sensitive attributes; without any, all records have one place.
        order: the records.

    Returns:
        int64, shape (records,).

    Cost: O(records x attributes), and a sort of the labels of each.
    """
    columns = [_places_of_values(one)[one.codes[order]] for one in sensitive]
    radices = [one.domain.size + 1 for one in sensitive]
    return fold(columns, radices).values if columns else np.zeros(len(order), dtype=np.int64)


def _places_of_values(attribute: Attribute) -> NDArray[np.int64]:
    """The place of each value: of the scale, or such that labels of one node of the hierarchy are neighbours."""
    if attribute.tree is None or attribute.is_ordered:
        return np.arange(attribute.domain.size + 1)  # missing values come last
    return np.append(inverse(np.lexsort(attribute.tree.ancestors)), attribute.domain.size)


def confidential_attribute(sensitive: Sequence[Attribute], name: str | None) -> Attribute:
    """The attribute of this name, or the only one.

    Raises:
        RemedyError: there is none, or no name and several.
    """
    candidates = [one for one in sensitive if name in (None, one.name)]
    if len(candidates) != 1:
        raise RemedyError("`closeness: first` starts from one sensitive attribute; name it in `attribute`")
    return candidates[0]
