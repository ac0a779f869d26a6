"""Distance-based record linkage: link each released record to the nearest one that the intruder knows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import estimate_of_mean
from tcdp_audit.plugin.check import (
    CheckError,
    CodedTable,
    Comparison,
    DisclosureType,
    Guide,
    Pairs,
    TableCheck,
    TableFigure,
    TableView,
)
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.sentences import Outcome, known_columns
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes
from tcdp_audit_plugins.checks.record_linkage.comparison import ComparisonParameters, comparable
from tcdp_audit_plugins.checks.record_linkage.credit import Credit, credit, ranks
from tcdp_audit_plugins.checks.record_linkage.linked_records import finds, linked
from tcdp_audit_plugins.checks.record_linkage.standardised import Space, space
from tcdp_audit_plugins.formulas import formula

SAMPLE = 50_000  # pairs, where the tables outgrow the memory: each is looked for among all records
Direction = Literal["masked_to_original", "original_to_masked"]


class DistanceLinkageParameters(ComparisonParameters):
    """Parameters of `distance_record_linkage`."""

    at_most: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest share of records that may be linked correctly."),
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
    often. Rows of the sample stand for no further record.

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
    known = replace(pairs, original=_taken(pairs.original, chosen), partner=position[pairs.partner])
    if not len(known.matched):
        raise CheckError("none of the individuals that the intruder knows was released; raise `known_fraction`")
    return known


def _taken(table: CodedTable, rows: NDArray[np.intp]) -> CodedTable:
    return replace(table, codes={name: codes[rows] for name, codes in table.codes.items()})


def _sentence(outcome: Outcome) -> str:
    forwards = outcome.parameters["direction"] == "masked_to_original"
    links = (
        "each released record to the nearest known one" if forwards else "each known record to the nearest released one"
    )
    who = f"An intruder who knows {known_columns(outcome)} and links {links}"
    return f"{who} finds the right person for {linked(outcome)}."


def _person(outcome: Outcome) -> str:
    return finds(outcome, "takes the nearest record")


CHECKS = [
    TableCheck(
        name="distance_record_linkage",
        title="Distance-based record linkage",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=DistanceLinkageParameters,
        measure=distance_record_linkage,
        comparison=Comparison.AT_MOST,
        label="share of records linked correctly",
        requires=frozenset({"original"}),
        validate=comparable,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            question="How many people are recognised by somebody who looks for the most similar record?",
            risk="Somebody with another list of the same people may find most of them by what is most similar.",
            definition=(
                "An intruder who knows some attributes of all (or a declared share of) the individuals links every "
                "released record whose individual is among them to the nearest one known. The figure is the expected "
                "share of correct links, where a true match among t records that tie for nearest counts 1/t."
            ),
            **formula(
                r"\frac{1}{n} \sum_i \frac{[\text{true match nearest}]}{t_i} \le \text{at\_most}",
                r"d^2 = \sum_j w_j\, (z(a_j) - z(b_j))^2",
                r"z(x) = \frac{x - \text{mean}}{\text{sd}}",
                r"n \text{ matched records}",
            ),
            reading=(
                "1, 2, 3, 10, 11, 12 released as 2, 2, 2, 11, 11, 11 gives 1/3 in any order of rows. Details: "
                "`masked_to_original` and `original_to_masked` hold both directions, each with `expected` (the share), "
                "`expected_correct`, `optimistic` and `pessimistic` (every tie broken rightly, wrongly), "
                "`random_baseline` (1 over the candidates), `attempts` and `tied`; the direction asked for stands at "
                "the top too. `rank_of_true_match` counts the records whose true match is first, second and so on "
                "among the `ranks_examined`, a seeded sample where the tables are large. `confidence_interval` is "
                "Wilson's at 95 %, where `known_fraction` samples the individuals. `without_variance` names numbers "
                "and ranks that weigh 0, `missing_cells` counts cells that weigh as a random pair would; `matched`, "
                "`released_without_original` and `originals_not_released` tell the pairing."
            ),
            choosing=(
                "Compare with `random_baseline`. 0.05 to 0.1 is common for files that go to researchers under "
                "contract; open data should stay near the baseline."
            ),
            limits=(
                "It is what this intruder gets, not a bound: one who knows the masking does better. Every table is "
                "standardised on its own, ordinal attributes by rank in their order, so that one with a single value "
                "in a table weighs 0; nominal ones differ by 0 or 1, whatever values a table has. A record without an "
                "individual behind it cannot be linked rightly and is left out: it would only dilute the share. "
                "Where the tables outgrow the memory, up to 50,000 pairs are a sample, each record looked for among "
                "all records of the other table, and a demand is decided by the ends of the interval in `estimate`; "
                "ties, ranks and `matched` are then of the sample, and `known_fraction` is refused. "
                "A missing cell counts as a squared difference of 2 (1 for a nominal attribute), as two random records "
                "do. Distances that differ by less than float64 can resolve are ties. Every record is looked for among "
                "all of the other table, in both directions: time grows with the product of their sizes where "
                "attributes are many or nominal, and far slower where a few numbers tell most of the distance."
            ),
            source="Torra, Privacy models and disclosure risk, 2020 (distance-based record linkage)",
            example="- distance_record_linkage: {at_most: 0.1, attributes: [age, salary]}",
        ),
    ),
]
