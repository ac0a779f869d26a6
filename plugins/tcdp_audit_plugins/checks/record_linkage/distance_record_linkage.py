"""Distance-based record linkage: link each released record to the nearest one that the intruder knows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import estimate_of_mean
from tcdp_audit.plugin.check import DisclosureType, Need, Pairs, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.known_attributes import (
    LINKED,
    ComparisonParameters,
    comparable,
    finds,
    known_attributes,
)
from tcdp_audit_plugins.checks.record_linkage.credit import Credit, credit, ranks
from tcdp_audit_plugins.checks.record_linkage.standardised import Space, space
from tcdp_audit_plugins.guides import built_in_guide

SAMPLE = 50_000  # pairs, where the tables outgrow the memory: each is looked for among all records
Direction = Literal["masked_to_original", "original_to_masked"]


class DistanceLinkageParameters(ComparisonParameters):
    """Parameters of `distance_record_linkage`."""

    at_most: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest share of records that may be linked correctly.")
    ] = None
    direction: Annotated[
        Direction, Field(description="Which records are linked: released ones to known ones, or the reverse.")
    ] = "masked_to_original"
    known_fraction: Annotated[
        Exact | None,
        Field(gt=0, le=1, description="The share of individuals that the intruder knows; without it, all."),
    ] = None
    seed: Annotated[
        int, Field(ge=0, description="Draws the individuals that the intruder knows, and sampled ranks.")
    ] = 0


def distance_record_linkage(view: TableView, parameters: DistanceLinkageParameters) -> TableFigure:
    """The expected share of records that an intruder links to the right person by distance.

    d^2(a, b) = sum_j w_j ((a_j - mean a_j) / sd a_j - (b_j - mean b_j) / sd b_j)^2, each table standardised on its own;
    0 or 1 for a nominal attribute. A true match among t tied nearest earns 1/t.

    Returns:
        An exact fraction from 0 to 1 over the records whose true match the intruder could find.

    Raises:
        CheckError: release and original cannot be paired or compared.

    Where the tables outgrow the memory a sample of records is linked, each among all distinct rows of the other table.

    Cost: two searches for nearest neighbours, see `nearest`, and a third for at least 100 ranks.

    Source: Torra, Privacy models and disclosure risk, 2020; Domingo-Ferrer, Torra, 2001.
    """
    names = known_attributes(parameters.attributes, view.quasi_identifiers)
    if parameters.known_fraction is None:
        pairs = view.pairs(names, sample=SAMPLE)
    else:
        pairs = known_to_the_intruder(view.pairs(names), parameters.known_fraction, parameters.seed)
    both = space(*compared_tables(view, pairs), pairs.scales, parameters.weighing)
    directions = {"masked_to_original": both, "original_to_masked": both.turned()}
    released = both.released.point[-len(pairs.partner) :][pairs.matched]
    original = both.known.point[-pairs.original.records :][pairs.partner[pairs.matched]]
    ends = {"masked_to_original": (released, original), "original_to_masked": (original, released)}
    earned = {name: _credit(one, *ends[name], pairs) for name, one in directions.items()}
    headline = earned[parameters.direction]
    rank = ranks(directions[parameters.direction], *ends[parameters.direction], parameters.seed)
    sampled = {} if parameters.known_fraction is None else {"confidence_interval": headline.interval()}
    return TableFigure(
        value=headline.share,
        records=headline.attempts,
        details={
            **headline.figures(),
            **{name: one.figures() for name, one in earned.items()},
            **sampled,
            "rank_of_true_match": rank,
            "ranks_examined": sum(rank.values()),
            **table_figures(both, pairs),
        },
        estimate=estimate_of_mean(headline.share, pairs),
    )


def compared_tables(view: TableView, pairs: Pairs) -> tuple[CodedTable, CodedTable]:
    """Release and original. Where the pairs are a sample, all distinct rows of both are before those of the sample.

    Anyone who looks for a record of the sample looks among all records: among those of a sample it would be found more
    often. Rows of the sample represent no further record.

    Raises:
        CheckError: the distinct rows outgrow the memory.
    """
    if pairs.sample is None:
        return pairs.released, pairs.original
    released, original = view.distinct(sorted(pairs.scales), "original")
    return _with_rows_of(released, pairs.released), _with_rows_of(original, pairs.original)


def _with_rows_of(whole: CodedTable, sample: CodedTable) -> CodedTable:
    codes = {name: np.concatenate([whole.codes[name], sample.codes[name]]) for name in whole.codes}
    return replace(whole, codes=codes, times=np.append(whole.rows.each, np.zeros(sample.records, np.int64)))


def _credit(both: Space, seekers: NDArray[np.intp], matches: NDArray[np.intp], pairs: Pairs) -> Credit:
    """The links of all seekers; of a sample, no one else's nearest are looked for."""
    if pairs.sample is None:
        return credit(both, seekers, matches)
    points, seekers = np.unique(seekers, return_inverse=True)
    return credit(replace(both, released=both.released.only(points)), seekers, matches)


def table_figures(both: Space, pairs: Pairs) -> dict[str, Any]:
    """What every comparison of records says of its tables."""
    return {"without_variance": both.without_variance, "missing_cells": both.missing_cells, **pairs.counted()}


def known_to_the_intruder(pairs: Pairs, fraction: Fraction, seed: int) -> Pairs:
    """A seeded share of the originals, drawn from their order by content, so that no order of rows matters.

    Raises:
        CheckError: none of those drawn was released.
    """
    released_as = np.full(pairs.original.records, -1, dtype=np.int64)
    released_as[pairs.partner[pairs.matched]] = pairs.matched
    names = sorted(pairs.scales)
    masked = [np.append(pairs.released.codes[name].astype(np.int64), -1)[released_as] for name in names]
    order = np.lexsort([*masked, *(pairs.original.codes[name] for name in names)])
    drawn = max(1, round(fraction * len(order)))
    chosen = np.sort(np.random.default_rng(seed).permutation(order)[:drawn])
    position = np.full(pairs.original.records + 1, -1, dtype=np.int64)
    position[chosen] = np.arange(len(chosen))
    original = replace(pairs.original, codes={name: codes[chosen] for name, codes in pairs.original.codes.items()})
    known = replace(pairs, original=original, partner=position[pairs.partner])
    if not len(known.matched):
        raise CheckError("none of the individuals that the intruder knows was released; raise `known_fraction`")
    return known


CHECKS = [
    TableCheck(
        name="distance_record_linkage",
        title="Distance-based record linkage",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=DistanceLinkageParameters,
        measure=distance_record_linkage,
        comparison=Comparison.AT_MOST,
        label="share of records linked correctly",
        needs={Need.ORIGINAL},
        validate=comparable,
        sentences=Sentences(
            passed=(
                "An intruder who knows {known} and links [{direction=masked_to_original?}each released record to "
                "the nearest known one|each known record to the nearest released one] finds the right person for "
                "{linked}."
            ),
            impact=finds("takes the nearest record"),
            parts={"linked": LINKED},
        ),
        guide=built_in_guide(__file__, "distance_record_linkage.md"),
    )
]
