"""The remedy itself: from a view to columns in which all records of a cluster agree, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.remedies._shared.by_content import by_content
from tcdp_audit_plugins.remedies._shared.pair_demands import failing_pairs, weakest
from tcdp_audit_plugins.remedies._shared.refusal import failed_as_one_class, refused_as_one_class
from tcdp_audit_plugins.remedies.microaggregation.centroids import loss_percent, released_column
from tcdp_audit_plugins.remedies.microaggregation.cluster_demands import ClusterDemands
from tcdp_audit_plugins.remedies.microaggregation.mdav import mdav
from tcdp_audit_plugins.remedies.microaggregation.merging import halve_where_kept, merge_failing
from tcdp_audit_plugins.remedies.microaggregation.parameters import (
    Closeness,
    Method,
    MicroaggregationParameters,
)
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, points_of
from tcdp_audit_plugins.remedies.microaggregation.quantiles import (
    Quantiles,
    confidential_attribute,
    places,
    smallest_size,
)
from tcdp_audit_plugins.remedies.microaggregation.refined import refined_clusters

SIZES = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300)  # of clusters, to choose among


def microaggregate(view: RemedyView, parameters: MicroaggregationParameters) -> Treatment:
    """Give all records of a cluster the same quasi-identifiers: means, medians and modes.

    Raises:
        RemedyError: there are fewer than k records, quasi-identifiers that are left out vary, or the demands on classes
            do not even hold for one class of all records.

    Cost: that of the method, and of judging clusters where they have to keep more than k; the same and an audit for
    each of at most ten sizes where they are to keep a demand that compares with the original.
    """
    if parameters.k is None and _is_for_pairs(view):
        return _with_size(view, parameters, _weakest_size(view, parameters))
    k = _size(view, parameters)
    if parameters.blocks is not None:
        return _by_blocks(view, parameters, k, parameters.blocks)
    attributes = _attributes_to_aggregate(view, parameters)
    order = by_content(view)
    points = points_of(attributes, order)

    def released_as(clusters: Clusters) -> Treatment:
        return Treatment(
            {one.name: released_column(one, order, clusters, rounded=parameters.rounded) for one in attributes},
            attacks=_attacks(blocks=[[one.name for one in attributes]]),
        )

    if parameters.closeness is Closeness.NONE or not view.demands:
        clusters, notes = _by_distance(view, parameters, k, points), dict[str, int]()
    else:
        demands = ClusterDemands(view.demands, order)
        clusters, notes = _clusters_that_keep(view, parameters, k, points, demands)
        if not demands.kept(clusters, int(clusters.max()) + 1).all():
            reason = refused_as_one_class(failed_as_one_class(view.demands), view.demands)
            raise RemedyError(f"no clusters of these records keep the policy: {reason}")
    return replace(released_as(clusters), notes={"k": k, **_figures(points, clusters), **notes})


def _is_for_pairs(view: RemedyView) -> bool:
    """Whether what fails compares the release with its original, so that it has to say how large clusters are."""
    judged_alone = view.demanded_k is not None and view.failing_on_classes(view.outcomes)
    return bool(failing_pairs(view, view.outcomes)) and not judged_alone


def _sizes(view: RemedyView) -> list[int]:
    """Sizes of clusters to choose among, from small to large."""
    least = max(view.demanded_k or 2, 2)
    return sorted({min(least, view.records), *(one for one in SIZES if least <= one <= view.records // 2)})


def _weakest_size(view: RemedyView, parameters: MicroaggregationParameters) -> int:
    """The least size of clusters that does, looked for by MDAV first, which takes a fraction of the time."""
    screened = parameters.model_copy(update={"method": Method.MDAV})
    cheap = None if parameters.method is Method.MDAV else partial(_with_size, view, screened)
    return weakest(view, partial(_with_size, view, parameters), _sizes(view), cheap)


def _with_size(view: RemedyView, parameters: MicroaggregationParameters, k: int) -> Treatment:
    return microaggregate(view, parameters.model_copy(update={"k": k}))


def _by_blocks(
    view: RemedyView, parameters: MicroaggregationParameters, k: int, blocks: Sequence[Sequence[str]]
) -> Treatment:
    """Every block of attributes with clusters of its own."""
    order, columns, figures = by_content(view), dict[str, NewColumn](), []
    for block in blocks:
        attributes = view.attributes(sorted(block))
        points = points_of(attributes, order)
        clusters = _by_distance(view, parameters, k, points)
        columns |= {one.name: released_column(one, order, clusters, rounded=parameters.rounded) for one in attributes}
        figures.append((len(block), _figures(points, clusters)))
    attributes_in_all = sum(size for size, _ in figures)
    loss = sum(size * one["information_loss"] for size, one in figures) / attributes_in_all
    notes = {
        "k": k,
        "clusters": sum(one["clusters"] for _, one in figures),
        "smallest": min(one["smallest"] for _, one in figures),
        "largest": max(one["largest"] for _, one in figures),
        "information_loss": round(loss, 4),
        "blocks": len(blocks),
    }
    return Treatment(columns, notes=notes, attacks=_attacks(blocks=blocks))


def _attacks(*, blocks: Sequence[Sequence[str]]) -> tuple[Mapping[str, Mapping[str, Any]], ...]:
    """By somebody who knows what was clustered, and clusters again."""
    whole = {"attributes": sorted(blocks[0])} if len(blocks) == 1 else {"blocks": [sorted(one) for one in blocks]}
    return ({"microaggregation_attack": {"method": "known_groups", **whole}},)


def _figures(points: Points, clusters: Clusters) -> Mapping[str, Any]:
    sizes = np.bincount(clusters)
    return {
        "clusters": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "information_loss": round(loss_percent(points, clusters), 4),
    }


def _size(view: RemedyView, parameters: MicroaggregationParameters) -> int:
    if parameters.k is None and view.demanded_k is None:
        raise RemedyError("the policy demands no k of its classes; give the remedy a `k`")
    k = parameters.k or max(view.demanded_k or 2, 2)
    if k > view.records:
        raise RemedyError(
            f"no cluster has k = {k:,} records, because the release has {view.records:,}; the largest k is that"
        )
    return k


def _attributes_to_aggregate(view: RemedyView, parameters: MicroaggregationParameters) -> list[Attribute]:
    """The quasi-identifiers that are aggregated; all others must have one value."""
    known = view.quasi_identifiers
    if not known:
        raise RemedyError("the release has no quasi-identifier to aggregate")
    names = {one.name for one in known} if parameters.attributes is None else set(parameters.attributes)
    varying = [one.name for one in known if one.name not in names and one.codes.min() < one.codes.max()]
    if varying:
        raise RemedyError(
            f"the quasi-identifier {varying[0]!r} varies and would not be aggregated, so that records of a cluster "
            "would still differ; add it to `attributes`, or suppress it first"
        )
    return [one for one in known if one.name in names]


def _clusters_that_keep(
    view: RemedyView, parameters: MicroaggregationParameters, k: int, points: Points, demands: ClusterDemands
) -> tuple[Clusters, dict[str, int]]:
    """Clusters that keep the demands, if any do, and figures about how they came to."""
    first, notes = parameters.closeness is Closeness.FIRST, dict[str, int]()
    sensitive = [confidential_attribute(view.sensitive, parameters.attribute)] if first else view.sensitive
    values = places(sensitive, demands.order)
    if first:
        size = notes["quantiles"] = smallest_size(values, k, demands, view.generator)
        exchange = parameters.method is Method.REFINED
        clusters = Quantiles(values, size).cluster(points, exchange=exchange, progress=view.progress)
    else:
        clusters = _by_distance(view, parameters, k, points)
    coarser = merge_failing(points, clusters, demands, view.progress)
    finer = halve_where_kept(points, coarser, k, values, demands)
    return finer, {**notes, "merged": int(clusters.max() - coarser.max()), "halved": int(finer.max() - coarser.max())}


def _by_distance(view: RemedyView, parameters: MicroaggregationParameters, k: int, points: Points) -> Clusters:
    return (
        refined_clusters(points, k) if parameters.method is Method.REFINED else mdav(points, k, progress=view.progress)
    )
