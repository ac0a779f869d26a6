"""Microaggregation: its parameters, and the remedy from a view to columns in which clusters agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.detector import PolicyDocument, Role, Text
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyParameters, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.masking import by_content
from tcdp_audit_plugins.remedies._shared.scope import CLASSES, failing_pairs, only_by_size, weakest
from tcdp_audit_plugins.remedies._shared.search import (
    chosen_size,
    failed_as_one_class,
    proposals_of_size,
    refused_as_one_class,
)
from tcdp_audit_plugins.remedies.microaggregation.mdav import mdav
from tcdp_audit_plugins.remedies.microaggregation.merging import (
    ClusterDemands,
    Quantiles,
    confidential_attribute,
    halve_where_satisfied,
    merge_failing,
    places,
    smallest_size,
)
from tcdp_audit_plugins.remedies.microaggregation.points import (
    Clusters,
    Points,
    has_numbers,
    loss_percent,
    points_of,
    released_column,
)
from tcdp_audit_plugins.remedies.microaggregation.refined import refined_clusters

MANY = 10_000  # records, beyond which clustering them again and again takes too long to be tried unasked
SIZES = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300)  # of clusters, to choose among


class Method(StrEnum):
    """A way to cluster records."""

    REFINED = "refined"
    MDAV = "mdav"


class Closeness(StrEnum):
    """A way to keep the policy's demands on classes beyond k."""

    MERGE = "merge"
    FIRST = "first"
    NONE = "none"


class MicroaggregationParameters(RemedyParameters):
    """Parameters of `microaggregation`."""

    k: Annotated[
        int | None,
        Field(
            ge=2,
            description="The least number of records in a cluster; by default the largest k that the policy demands or "
            "needs, and the least that suffices where a demand on a risk or one that compares with the original fails.",
        ),
    ] = None
    method: Annotated[
        Method,
        Field(
            strict=False,
            description="refined: an optimal cut of a path and local search, for a single attribute the optimum; mdav: "
            "clusters of k around extreme records.",
        ),
    ] = Method.REFINED
    closeness: Annotated[
        Closeness,
        Field(
            strict=False,
            description="merge: clusters that fail a demand on classes are merged; first: clusters take one record of "
            "every quantile of a confidential attribute, what still fails is merged; none: only k is kept.",
        ),
    ] = Closeness.MERGE
    attribute: Annotated[
        Text | None,
        Field(description="The confidential attribute of `closeness: first`; by default the only sensitive one."),
    ] = None
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The quasi-identifiers to aggregate, together; by default all of them."),
    ] = None
    blocks: Annotated[
        list[Annotated[list[Text], Field(min_length=1)]] | None,
        Field(
            min_length=1,
            description="In place of `attributes`: blocks of quasi-identifiers, each clustered by itself. Then classes "
            "have fewer than k records, and only demands that compare with the original are helped.",
        ),
    ] = None
    rounded: Annotated[
        bool, Field(description="Means of whole numbers are rounded to whole numbers; others never are.")
    ] = True


def faults(parameters: MicroaggregationParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    paired = document.key is not None or document.rows_aligned
    if parameters.k is None and not paired and not any(_limits_size(one) for one in document.expect):
        yield "k", "the policy demands no k of its classes; say how many records a cluster has at least"
    in_blocks = [name for block in parameters.blocks or () for name in block]
    for field, names in (("attributes", parameters.attributes or ()), ("blocks", in_blocks)):
        for name in names:
            if name not in document.attributes or document.attributes[name].role is not Role.QUASI_IDENTIFIER:
                yield field, f"{name!r} is no quasi-identifier of the policy"
    if len(set(in_blocks)) < len(in_blocks):
        yield "blocks", "an attribute is in two blocks"
    if in_blocks and parameters.attributes is not None:
        yield "blocks", "give blocks, or attributes that are aggregated together, not both"
    if in_blocks and parameters.closeness is not Closeness.NONE and "closeness" in parameters.model_fields_set:
        yield "blocks", "clusters of a block are no classes, so that they keep no demand on classes; leave `closeness`"
    yield from _confidential_faults(parameters, document)


def _limits_size(expectation: dict[str, Any]) -> bool:
    """Whether a demand names a k, or the largest share or risk, from which a k may follow."""
    demands = (given for given in expectation.values() if isinstance(given, dict))
    return any(given.get(name) is not None for given in demands for name in ("k", "at_most"))


def _confidential_faults(parameters: MicroaggregationParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    sensitive = [name for name, one in document.attributes.items() if one.role is Role.SENSITIVE]
    if parameters.closeness is not Closeness.FIRST:
        if parameters.attribute is not None:
            yield "attribute", "only `closeness: first` starts from a confidential attribute"
    elif parameters.attribute is not None and parameters.attribute not in sensitive:
        yield "attribute", f"{parameters.attribute!r} is no sensitive attribute of the policy"
    elif parameters.attribute is None and len(sensitive) != 1:
        yield "attribute", f"the policy has {len(sensitive)} sensitive attributes; name the one to start from"


def why_not_applicable(view: RemedyView, parameters: MicroaggregationParameters | None, outcome: Outcome) -> str:
    """Say why clusters cannot help a failing demand, or why they are not tried unasked; or nothing."""
    on_classes = not only_by_size(view, outcome)
    if not on_classes and not failing_pairs(view, [outcome]):
        return f"{CLASSES}, or that compare the release with its original"
    if parameters is not None:
        blocks = on_classes and parameters.blocks is not None
        return "clusters of blocks of attributes are no classes" if blocks else ""
    known = view.quasi_identifiers
    if not known or not all(has_numbers(one) for one in known):
        return "only where all quasi-identifiers are numeric or ordinal"
    return (
        "" if view.failing_on_classes([outcome]) or view.records <= MANY else f"takes minutes beyond {MANY:,} records"
    )


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where all quasi-identifiers are numeric or ordinal and a demand on classes or pairs fails."""
    if all(why_not_applicable(view, None, one) for one in outcomes):
        return
    failing = view.failing_on_classes(outcomes)
    k = max(view.demanded_k or 2, 2)
    if failing:
        yield {} if view.class_sizes(outcomes) else {"k": k}
    elif view.class_sizes(outcomes):
        yield from proposals_of_size(view, outcomes, [({}, partial(_with_size, view, MicroaggregationParameters()))])
    else:
        yield {}
    sensitive = {one.name for one in view.sensitive}
    for name in sorted({one.attribute for one in failing if one.attribute is not None} & sensitive):
        yield {"k": k, "closeness": Closeness.FIRST.value, "attribute": name}


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
    needed = parameters.k
    if parameters.blocks is None:
        needed = chosen_size(view, parameters.k, partial(_with_size, view, parameters))
    if needed is not None:
        parameters = parameters.model_copy(update={"k": max(needed, 2)})
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
        if not demands.satisfied(clusters, int(clusters.max()) + 1).all():
            reason = refused_as_one_class(failed_as_one_class(view.demands), view.demands)
            raise RemedyError(f"no clusters of these records keep the policy: {reason}")
    return replace(released_as(clusters), notes={"k": k, **_figures(points, clusters), **notes})


def _is_for_pairs(view: RemedyView) -> bool:
    """Say whether what fails compares the release with its original, so that it has to say how large clusters are."""
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
    """The attack by an intruder who knows what was clustered, and clusters again."""
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
        raise RemedyError("the policy demands no k of its classes, and no risk that needs one; give the remedy a `k`")
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
    finer = halve_where_satisfied(points, coarser, k, values, demands)
    return finer, {**notes, "merged": int(clusters.max() - coarser.max()), "halved": int(finer.max() - coarser.max())}


def _by_distance(view: RemedyView, parameters: MicroaggregationParameters, k: int, points: Points) -> Clusters:
    return (
        refined_clusters(points, k) if parameters.method is Method.REFINED else mdav(points, k, progress=view.progress)
    )
