"""The remedy itself: from a view to columns in which all records of a cluster agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tcdp_audit.keys import fold
from tcdp_audit.policy import Role
from tcdp_audit.remedy import RemedyError, Treatment
from tcdp_audit.remedy_view import Attribute, RemedyView
from tcdp_audit_plugins.remedies.microaggregation.centroids import loss_percent, released
from tcdp_audit_plugins.remedies.microaggregation.confidential import named, places
from tcdp_audit_plugins.remedies.microaggregation.halving import halved
from tcdp_audit_plugins.remedies.microaggregation.judged import Judge
from tcdp_audit_plugins.remedies.microaggregation.mdav import mdav
from tcdp_audit_plugins.remedies.microaggregation.merging import merged
from tcdp_audit_plugins.remedies.microaggregation.parameters import (
    Closeness,
    Method,
    MicroaggregationParameters,
    demanded_k,
)
from tcdp_audit_plugins.remedies.microaggregation.points import Clusters, Points, Positions
from tcdp_audit_plugins.remedies.microaggregation.quantiles import Quantiles, smallest_size
from tcdp_audit_plugins.remedies.microaggregation.records import points_of
from tcdp_audit_plugins.remedies.microaggregation.refined import refined


def microaggregated(view: RemedyView, parameters: MicroaggregationParameters) -> Treatment:
    """Give all records of a cluster the same quasi-identifiers: means, medians and modes.

    Raises:
        RemedyError: there are fewer than k records, quasi-identifiers that are left out vary, or the demands on classes
            do not even hold for one class of all records.

    Cost: that of the method, and of judging clusters where they have to keep more than k.
    """
    k = _size(view, parameters)
    attributes = _aggregated(view, parameters)
    order = _by_content(view)
    points = points_of(attributes, order)
    clusters, notes = _clustered(view, parameters, k, points, order)
    columns = {one.name: released(one, order, clusters, rounded=parameters.rounded) for one in attributes}
    sizes = np.bincount(clusters)
    return Treatment(
        columns,
        notes={
            "k": k,
            "clusters": len(sizes),
            "smallest": int(sizes.min()),
            "largest": int(sizes.max()),
            "information_loss": round(loss_percent(points, clusters), 4),
            **notes,
        },
    )


def _size(view: RemedyView, parameters: MicroaggregationParameters) -> int:
    k = parameters.k or demanded_k(view.policy)
    if k is None:
        raise RemedyError("the policy demands no k of its classes; give the remedy a `k`")
    if k > view.records:
        raise RemedyError(
            f"no cluster has k = {k:,} records, because the release has {view.records:,}; the largest k is that"
        )
    return k


def _aggregated(view: RemedyView, parameters: MicroaggregationParameters) -> list[Attribute]:
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


def _by_content(view: RemedyView) -> Positions:
    """An order of the records by what they contain, so that the order they came in decides nothing."""
    unit = [] if view.release.unit is None else [view.release.unit.attribute]
    attributes = [*view.quasi_identifiers, *view.attributes([*view.policy.with_role(Role.SENSITIVE), *unit])]
    keys = fold([one.codes for one in attributes], [one.domain.size + 1 for one in attributes])
    return np.argsort(keys.values, kind="stable")


def _clustered(
    view: RemedyView, parameters: MicroaggregationParameters, k: int, points: Points, order: Positions
) -> tuple[Clusters, Mapping[str, Any]]:
    """Clusters and what is to be said of how they came to keep the demands."""
    if parameters.closeness is Closeness.NONE or not view.demands:
        return _by_distance(view, parameters, k, points), {}
    judge, sensitive = Judge(view.demands, order), view.sensitive
    notes: dict[str, Any] = {}
    if parameters.closeness is Closeness.FIRST:
        sensitive = [named(sensitive, parameters.attribute)]
        values = places(sensitive, order)
        size = notes["quantiles"] = smallest_size(values, k, judge, view.generator)
        exchange = parameters.method is Method.REFINED
        clusters = Quantiles(values, size).clustered(points, exchange=exchange, progress=view.progress)
    else:
        clusters = _by_distance(view, parameters, k, points)
    coarser = merged(points, clusters, judge, view.progress)
    finer = halved(points, coarser, k, places(sensitive, order), judge)
    return finer, {**notes, "merged": int(clusters.max() - coarser.max()), "halved": int(finer.max() - coarser.max())}


def _by_distance(view: RemedyView, parameters: MicroaggregationParameters, k: int, points: Points) -> Clusters:
    return refined(points, k) if parameters.method is Method.REFINED else mdav(points, k, progress=view.progress)
