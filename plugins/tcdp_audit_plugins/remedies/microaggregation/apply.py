"""The remedy itself: from a view to columns in which all records of a cluster agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
from tcdp_audit_plugins.remedies.microaggregation.refusal import refusal


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

    def released_as(clusters: Clusters) -> Treatment:
        return Treatment({one.name: released(one, order, clusters, rounded=parameters.rounded) for one in attributes})

    if parameters.closeness is Closeness.NONE or not view.demands:
        clusters, notes = _by_distance(view, parameters, k, points), dict[str, int]()
    else:
        judge = Judge(view.demands, order)
        clusters, notes = _judged(view, parameters, k, points, judge)
        if not judge.kept(clusters, int(clusters.max()) + 1).all():
            whole = released_as(np.zeros_like(clusters))
            raise RemedyError(refusal(judge.failed_by_all(), view.audited(whole)))
    return replace(released_as(clusters), notes={"k": k, **_figures(points, clusters), **notes})


def _figures(points: Points, clusters: Clusters) -> Mapping[str, Any]:
    sizes = np.bincount(clusters)
    return {
        "clusters": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "information_loss": round(loss_percent(points, clusters), 4),
    }


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


def _judged(
    view: RemedyView, parameters: MicroaggregationParameters, k: int, points: Points, judge: Judge
) -> tuple[Clusters, dict[str, int]]:
    """Clusters that keep the demands, if any do, and figures about how they came to."""
    first, notes = parameters.closeness is Closeness.FIRST, dict[str, int]()
    sensitive = [named(view.sensitive, parameters.attribute)] if first else view.sensitive
    values = places(sensitive, judge.order)
    if first:
        size = notes["quantiles"] = smallest_size(values, k, judge, view.generator)
        exchange = parameters.method is Method.REFINED
        clusters = Quantiles(values, size).clustered(points, exchange=exchange, progress=view.progress)
    else:
        clusters = _by_distance(view, parameters, k, points)
    coarser = merged(points, clusters, judge, view.progress)
    finer = halved(points, coarser, k, values, judge)
    return finer, {**notes, "merged": int(clusters.max() - coarser.max()), "halved": int(finer.max() - coarser.max())}


def _by_distance(view: RemedyView, parameters: MicroaggregationParameters, k: int, points: Points) -> Clusters:
    return refined(points, k) if parameters.method is Method.REFINED else mdav(points, k, progress=view.progress)
