"""Uniqueness of every set of attributes, estimated from a sketch: for tables too large to be grouped so often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from fractions import Fraction
from math import prod
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.plugin._internal import gibibytes
from tcdp_audit.plugin.check import Check, DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Sentences, count
from tcdp_audit_plugins.checks._shared.key_sketch import (
    CountedKeys,
    Hashes,
    KeyFigures,
    KeySketch,
    column_hashes,
    figures_of,
    require_memory,
    sets_hashed,
)
from tcdp_audit_plugins.checks._shared.known_attributes import require_few_sets, sets_up_to
from tcdp_audit_plugins.guides import built_in_guide

BLOCK = 2**16  # rows that are hashed together, so that their hashes stay in the cache
ERROR = Fraction(1, 100)  # how often some interval may miss its share
FEW = BLOCK  # combinations that could be, up to which each is counted
LISTED = 40  # sets at most whose figures an outcome has, the strongest first
Subset = tuple[int, ...]


class UniquenessProfileParameters(Parameters):
    """Parameters of `uniqueness_profile`."""

    at_most: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest share of records that fewer than `t` records are like."),
    ] = None
    t: Annotated[int, Field(ge=2, description="A combination is rare if fewer records have it; 2 for unique ones.")] = 2
    attributes: Annotated[
        list[Text] | None, Field(min_length=1, description="The attributes; by default all quasi-identifiers.")
    ] = None
    max_order: Annotated[int, Field(ge=1, description="How many attributes a set has at the most.")] = 3
    keys: Annotated[
        int, Field(ge=16, description="How many combinations of each set are kept; a set of no more is exact.")
    ] = 4096
    seed: Annotated[int, Field(ge=0, description="The seed of the hash that draws them.")] = 0


def uniqueness_profile(view: TableView, parameters: UniquenessProfileParameters) -> TableFigure:
    """The share of records in rare combinations, of the set of attributes with the most: the upper end of its interval.

    All intervals together are right with 99 % confidence. Where a set has at most `keys` combinations, or could have at
    most 65,536, its figures are exact, and the interval is the figure.

    Returns:
        A share from 0 to 1; an exact fraction where that of the strongest set is.

    Raises:
        CheckError: the sketches outgrow the memory.

    Cost: one pass over the rows, with a hash for each row and set; memory for the sketches and for one batch of rows.

    Source: Chia et al., KHyperLogLog, IEEE S&P 2019; see `_shared.key_sketch`.
    """
    names = sorted(parameters.attributes or view.quasi_identifiers)
    sets = sets_up_to(len(names), parameters.max_order)
    needed = require_memory(len(sets), parameters.keys, view.memory)
    if needed:
        raise CheckError(
            f"the sketches of {count(len(sets), 'set')} need about {gibibytes(needed)}, and "
            f"{gibibytes(view.memory or 0)} may be used; lower `keys` or `max_order`, or give more with --memory"
        )
    sketches = _sketches(view, names, sets, parameters)
    measured = {
        one: figures_of(sketch, view.records, parameters.t, float(ERROR) / len(sets))
        for one, sketch in sketches.items()
    }
    strongest = max(sets, key=lambda one: (measured[one].high, -len(one)))
    return TableFigure(
        measured[strongest].high, view.records, details=_details(measured, strongest, names, parameters.seed)
    )


def _sketches(
    view: TableView, names: list[str], sets: list[Subset], parameters: UniquenessProfileParameters
) -> dict[Subset, KeySketch | CountedKeys]:
    """A sketch of each set, from the rows as the engine sends them; of few possible combinations the counts of all."""
    hashes: list[Hashes] = []
    sketches: dict[Subset, KeySketch] = {}
    counted: dict[Subset, CountedKeys] = {}
    for table in view.streamed(names):
        if not hashes:
            hashes = [column_hashes(table.domains[name], parameters.seed) for name in names]
            radices = [table.domains[name].size + 1 for name in names]
            spans = {one: [radices[place] for place in one] for one in sets}
            counted = {one: CountedKeys(span) for one, span in spans.items() if prod(span) <= FEW}
            sketches = {one: KeySketch(parameters.keys) for one in sets if one not in counted}
        for start in range(0, table.rows.rows, BLOCK):
            some = table.rows.take(slice(start, start + BLOCK))
            codes = [some[name] for name in names]
            for one, all_keys in counted.items():
                all_keys.add([codes[place] for place in one], some.times)
            columns = [of_code[column] for of_code, column in zip(hashes, codes, strict=True)] if sketches else []
            for one, hashed in sets_hashed(columns, list(sketches)):
                sketches[one].add(hashed, some.times)
    return {**counted, **sketches}


def _details(measured: Mapping[Subset, KeyFigures], strongest: Subset, names: list[str], seed: int) -> dict[str, Any]:
    """What an outcome holds of it: estimates, and no hash."""
    one = measured[strongest]
    listed = sorted(measured, key=lambda each: (-measured[each].high, len(each), each))[:LISTED]
    return {
        "strongest": [names[place] for place in strongest],
        "share": one.small_records,
        "low": one.low,
        "high": one.high,
        "is_exact": one.is_exact,
        "confidence": 1 - ERROR,
        "seed": seed,
        "sets": len(measured),
        "exact_sets": sum(each.is_exact for each in measured.values()),
        "profile": {" × ".join(names[place] for place in each): _entry(measured[each]) for each in listed},
    }


def _entry(figures: KeyFigures) -> dict[str, Any]:
    return {name: value for name, value in asdict(figures).items() if name != "is_exact"}


def _faults(parameters: UniquenessProfileParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    known = [name for name, one in document.attributes.items() if one.role is Role.QUASI_IDENTIFIER]
    names = known if parameters.attributes is None else parameters.attributes
    yield from require_few_sets(len(names), parameters.max_order, "max_order")


CHECKS: list[Check] = [
    TableCheck(
        name="uniqueness_profile",
        title="Uniqueness of sets of attributes, estimated",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=UniquenessProfileParameters,
        measure=uniqueness_profile,
        label="upper end of the share of records in rare combinations",
        class_size=lambda one: one.t,
        variant=lambda one: "unique" if one.t == 2 else f"fewer than {one.t:,}",
        validate=_faults,
        needs={Need.ROWS, Need.PARTITION, Need.DECLARED, Need.DISTINCT},
        sentences=Sentences(
            passed=(
                "Knowing {strongest} makes [{is_exact?}|about ]{details.share:%} of the {record:plural} "
                "[{t=2?}unique|like fewer than {others} {others:other|others}][{details.sets>1?}, the most of any "
                "set][{is_exact?}| (with {details.confidence:%} confidence {low:%} to {high:%})][; {allowed}]."
            ),
            impact=(
                "[{high>0?}An intruder who knows {strongest} of {person} finds [{t=2?}a single record|fewer than "
                "{t} records] with a chance of {details.share:%}|No one is distinguished from enough others by "
                "{strongest}]."
            ),
            values=lambda outcome: {"others": outcome.parameters["t"] - 1},
        ),
        guide=built_in_guide(__file__, "uniqueness_profile.md"),
    )
]
