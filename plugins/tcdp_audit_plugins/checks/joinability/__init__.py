"""Joinability: how much of a release can be joined with a table that another party has, from sketches of both."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import gibibytes
from tcdp_audit.plugin.check import Check, DisclosureType, Limit, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.engine import CheckError, Domain, Hierarchy, StreamedTable
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences, count
from tcdp_audit_plugins.checks._shared.key_sketch import number_of_keys, require_memory
from tcdp_audit_plugins.checks.joinability.common_keys import (
    EACH,
    ERROR,
    Between,
    HashedTable,
    TableKeys,
    common_keys,
    contained,
    jaccard,
    keys_of_both,
    one_to_one,
)
from tcdp_audit_plugins.checks.releases.overlap import Overlap, overlap_of
from tcdp_audit_plugins.guides import built_in_guide

REGISTRY = "registry"
SET = "{"  # how a set of values begins
CONTAINED = "upper end of the share of combinations that the registry also has"
WILDCARD = (
    "a missing value is joined with nothing here, and `missing_quasi_identifier: wildcard` says that it matches "
    "everything; use `own_category`, or run `k_map` with a `population:`"
)


class JoinabilityParameters(Parameters):
    """Parameters of `joinability`."""

    at_most: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest share of records that are alone with theirs in both tables."),
    ] = None
    contained: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest share of the release's combinations that the registry has, too."),
    ] = None
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The columns that are joined by; by default all quasi-identifiers."),
    ] = None
    keys: Annotated[
        int, Field(ge=16, description="How many combinations of each table are kept; one of no more is exact.")
    ] = 65536
    seed: Annotated[int, Field(ge=0, description="The seed of the hash that draws them.")] = 0


def joinability(view: TableView, parameters: JoinabilityParameters) -> TableFigure:
    """The share of records that are alone with their values in release and registry: the upper end of its interval.

    All intervals together are right with 99 % confidence. Where a table has at most `keys` combinations, its shares are
    exact, and the interval is the figure. A record that lacks a value is never joined.

    Returns:
        A share from 0 to 1; an exact fraction where it is.

    Raises:
        CheckError: there is no registry, the sketches outgrow the memory, no record has a value in all columns, or the
            tables do not write a column alike.

    Cost: one pass over the registry and one or two over the release, with a hash for each row; memory for two sketches.

    Source: Chia et al., KHyperLogLog, IEEE S&P 2019; see `common_keys`.
    """
    needed = require_memory(2, parameters.keys, view.memory)
    if needed:
        raise CheckError(
            f"two sketches need about {gibibytes(needed)}, and {gibibytes(view.memory or 0)} may be used; lower "
            "`keys`, or give more with --memory"
        )
    names = sorted(set(parameters.attributes or view.quasi_identifiers))
    release, registry = view.streams(names, REGISTRY)
    require_written_alike(view, release, registry)
    own, theirs = HashedTable.of(release, parameters.seed), HashedTable.of(registry, parameters.seed)
    tables = keys_of_both(own, theirs, parameters.keys)
    single, share = one_to_one(tables[0], view.records), contained(tables[0])
    details = {**_details(view, tables, single, share), "confidence": 1 - ERROR, "seed": parameters.seed}
    return TableFigure(single.high, view.records, details=details, further={"contained": share.high})


def _details(view: TableView, tables: tuple[TableKeys, TableKeys], single: Between, share: Between) -> dict[str, Any]:
    """What an outcome holds of it: shares and numbers, and no hash."""
    release, registry = tables
    return {
        **single.entry("share"),
        "is_exact": single.is_exact,
        "contained": share.entry("share"),
        "keys": number_of_keys(release.sketch, EACH)[0],
        "registry_keys": number_of_keys(registry.sketch, EACH)[0],
        "common_keys": common_keys(tables).entry("number"),
        "of_registry": contained(registry).entry("share"),
        "jaccard": jaccard(tables).entry("share"),
        "without_key": release.without,
        "registry_without_key": registry.without,
        "registry_records": view.companions[REGISTRY].records,
    }


def require_written_alike(view: TableView, release: StreamedTable, registry: StreamedTable) -> None:
    """Insist that every column has values in both tables, some of them the same, and none that one only generalises.

    Raises:
        CheckError: a column has no value in a table; or no value in common; or one table has a range, a set or a node
            of the hierarchy for what the other writes in another way.

    Cost: O(values); where cells may be generalised, that of comparing the values that they cover.
    """
    for own, theirs in zip(release.columns, registry.columns, strict=True):
        name = own.attribute
        for table, domain in ((release, own), (registry, theirs)):
            if not _occurring(domain).any():
                raise CheckError(
                    f"column {name!r} has no value in {table.name}, so nothing can be joined by it; leave it out of "
                    "`attributes`, or check that this is the right table"
                )
        declared = view.policy.attributes.get(name)
        hierarchy = view.hierarchies.get(name)
        ordered = declared is not None and declared.is_ordered
        common = _also_in(theirs, own)
        if any(_may_be_generalised(one, hierarchy, ordered=ordered) for one in (own, theirs)):
            pairs = overlap_of(own, theirs, hierarchy, ordered=ordered, suppressed_is_anything=False)
            _require_no_other_words(own, pairs, ~common & _occurring(own), registry.name)
        if not common.any():
            raise CheckError(
                f"column {name!r} has no value that {registry.name} has, too, so nothing can be joined by it; write it "
                "alike in both, or leave it out of `attributes`"
            )


def _occurring(domain: Domain) -> NDArray[np.bool_]:
    """The values that a table has, without those that say nothing. Shape (values,)."""
    return np.asarray((domain.counts > 0) & ~domain.is_uninformative[:-1], dtype=np.bool_)


def _also_in(theirs: Domain, own: Domain) -> NDArray[np.bool_]:
    """The values of a table that occur in another one as well. Shape (values of the first,)."""
    there = {theirs.labels[code] for code in np.flatnonzero(_occurring(theirs)).tolist()}
    return _occurring(own) & np.fromiter((label in there for label in own.labels), np.bool_, own.size)


def _may_be_generalised(domain: Domain, hierarchy: Hierarchy | None, *, ordered: bool) -> bool:
    """Whether values of a column may cover others."""
    if ordered:
        return domain.covers is not None
    return hierarchy is not None or any(label.startswith(SET) for label in domain.labels)


def _require_no_other_words(own: Domain, pairs: Overlap, lacking: NDArray[np.bool_], registry: str) -> None:
    """Insist that no value that the registry lacks is written there in another way."""
    values = pairs.one[(pairs.one < own.size) & (pairs.other < pairs.sizes[1] - 1)]
    otherwise = np.unique(values[lacking[values]])
    if len(otherwise):
        records = count(int(own.counts[otherwise].sum()), "record")
        raise CheckError(
            f"column {own.attribute!r} holds {count(len(otherwise), 'value')}, of {records}, for what {registry} "
            "writes in another way: a range, a set or a node of the hierarchy that overlaps with its values; such "
            "records would never be joined; generalise both tables alike"
        )


def _faults(_: JoinabilityParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    if document.conventions.missing_quasi_identifier == "wildcard":
        yield "", WILDCARD


def _values(outcome: Outcome) -> dict[str, bool]:
    """The figures, of the two, that exceed their threshold, and whether the second is exact."""
    contained, asked = outcome.details["contained"], outcome.parameters.get("contained")
    return {
        "over": outcome.threshold is not None and outcome.details["high"] > outcome.threshold,
        "contained_over": asked is not None and contained["high"] > Fraction(asked),
        "contained_exactly": contained["low"] == contained["high"],
    }


CHECKS: list[Check] = [
    TableCheck(
        name="joinability",
        title="Joinability with another table",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=JoinabilityParameters,
        measure=joinability,
        comparison=Comparison.AT_MOST,
        label="upper end of the share of records that are alone with their combination in both tables",
        further=(Limit("contained", Comparison.AT_MOST, CONTAINED),),
        validate=_faults,
        needs={Need.REGISTRY, Need.ROWS, Need.DECLARED, Need.DISTINCT},
        sentences=Sentences(
            passed=(
                "[{is_exact?}{details.share:%} of all {record:plural}|About {details.share:%} of all "
                "{record:plural}, at most {details.high:%} with {details.confidence:%} confidence,] are alone with "
                "their {known} in the release and in the registry[{over?}, where [{threshold>0?}at most "
                "{threshold:%}|none] is allowed]; {contained}."
            ),
            impact=(
                "An intruder who has the registry, and looks up {person} of the release by {known}, finds one entry "
                "that fits no one else in either table with a chance of {details.share:%}."
            ),
            parts={
                "contained": (
                    "[{contained_exactly?}{details.contained.share:% against parameters.contained} of "
                    "[{details.keys=1?}the release's only combination of these|the release's {details.keys} "
                    "combinations of these] {details.keys:is|are} in the registry, too|about "
                    "{details.contained.share:% against parameters.contained} of some {details.keys} combinations "
                    "of these, at most {details.contained.high:% against parameters.contained}, are in the "
                    "registry, too][{contained_over?}, where [{parameters.contained>0?}at most "
                    "{parameters.contained:%}|none] is allowed]"
                )
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "joinability.md"),
    )
]
