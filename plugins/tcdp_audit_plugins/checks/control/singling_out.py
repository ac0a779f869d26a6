"""Singling out: combinations of values that one released record has alone, and so does one person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Check, Floats, fold
from tcdp_audit.plugin.check import (
    CheckError,
    CodedTable,
    Comparison,
    DisclosureType,
    Guide,
    TableCheck,
    TableFigure,
    TableView,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.sentences import Outcome, agree, an_intruder, count, figure, known_columns, record_noun
from tcdp_audit_plugins.checks._shared.control_comparison import CONTROL, Attack
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, quasi_identifiers_of, why_unknown
from tcdp_audit_plugins.checks._shared.sampling import counts_rows
from tcdp_audit_plugins.checks.control.risk import (
    ControlParameters,
    companions_of,
    compare_with_control,
    judged_beside_control,
    one_drawn,
    require_as_many,
    require_comparable,
)
from tcdp_audit_plugins.checks.control.sentences import (
    ABOUT_CONTROL,
    CHOOSING,
    GIOMI,
    OPINION,
    READING,
    added,
    chances,
    has_control,
)
from tcdp_audit_plugins.formulas import formula

MOST = 5_000  # sets of attributes, each of them a sort of all records


class SinglingOutParameters(ControlParameters):
    """Parameters of `singling_out`."""

    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest risk that the release may add.")] = None
    size: Annotated[
        int | None,
        Field(ge=1, description="Every set of so many of the attributes is tried; without it, all of them together."),
    ] = None


@dataclass(frozen=True)
class Unique:
    """Keys that one released record has alone, and how many of them one record of another table has alone.

    Args:
        keys: how many there are.
        original: of the original.
        control: of the hold-out, or of a draw from it that is as large as the original; None without one.
    """

    keys: int
    original: int
    control: float | None


def singling_out(view: TableView, parameters: SinglingOutParameters) -> TableFigure:
    """The risk that a combination of values singles out a person because one released record has it alone.

    Of the q keys that are unique in the release, hit_T are unique in the original and hit_H in the hold-out; the risk
    is (hit_T - hit_H) / (q - hit_H). No record is dropped: ten equal ones single out no one.

    Returns:
        The upper end of the risk's interval; without a hold-out hit_T / q.

    Raises:
        CheckError: no key is unique, the hold-out has fewer records than the original, or there are too many sets.

    Cost: a sort of the distinct rows for each set of attributes.

    Source: Cohen, Nissim (2020); Giomi et al. (2023).
    """
    names = known_attributes(parameters.attributes, view.quasi_identifiers)
    tables = view.counted(names, *companions_of(view))
    require_comparable(view)
    if CONTROL in view.companions:
        require_as_many(view)
    sets = list(_sets(names, parameters.size))
    uniques = [unique_keys(tables, one) for one in sets]
    keys, original = sum(one.keys for one in uniques), sum(one.original for one in uniques)
    if not keys:
        raise CheckError(
            f"no released record is alone in a combination of these values ({count(len(sets), 'set')} of columns), so "
            "there is nobody to single out by them; ask `k_anonymity` for how large the smallest group is"
        )
    controls = [one.control for one in uniques if one.control is not None]
    attacks = [Attack(original, keys), *([Attack(sum(controls), keys)] if controls else [])]
    records = view.companions["original"].records
    details = {"sets": len(sets), "original_records": records, "best_blind_guess": blind_guess(records)}
    if controls:
        details["holdout_records"] = view.companions[CONTROL].records
    return compare_with_control(view, parameters, attacks, details)


def _sets(names: Sequence[str], size: int | None) -> Iterator[tuple[str, ...]]:
    """The sets of attributes that are tried."""
    chosen = len(names) if size is None else size
    if comb(len(names), chosen) > MOST:
        raise CheckError(
            f"{comb(len(names), chosen):,} sets of {chosen} among {len(names)} columns are more than {MOST:,}; name "
            "fewer `attributes`"
        )
    return combinations(names, chosen)


def unique_keys(tables: Sequence[CodedTable], names: Sequence[str]) -> Unique:
    """How many keys are unique in the release, and of these in the original and the hold-out.

    A hold-out that is larger than the original counts as the mean over all its parts that are as large.
    """
    columns = [np.concatenate([table.codes[name] for table in tables]) for name in names]
    keys = fold(columns, [tables[0].domains[name].size + 1 for name in names]).values
    distinct, which = np.unique(keys, return_inverse=True)
    parts = np.split(which, np.cumsum([table.rows.rows for table in tables])[:-1])
    released, original, *control = (
        np.bincount(part, table.times, len(distinct)).astype(np.int64)
        for part, table in zip(parts, tables, strict=True)
    )
    alone = released == 1
    uniques = [_ones(one[alone], int(one.sum()), int(original.sum())) for one in control]
    return Unique(int(alone.sum()), int((original[alone] == 1).sum()), uniques[0] if uniques else None)


def _ones(groups: NDArray[np.int64], records: int, drawn: int) -> float:
    """How many groups are expected to have one record in a draw from all."""
    sizes, times = np.unique(groups, return_counts=True)
    expected: Floats = one_drawn(sizes, records, drawn) * times
    return float(expected.sum())


def blind_guess(records: int) -> float:
    """(1 - 1/n)^(n - 1), with which the best predicate that knows nothing of n records is true of exactly one.

    Example:
        >>> round(blind_guess(1000), 4)
        0.3681
    """
    return float((1 - 1 / records) ** (records - 1))


def _faults(parameters: SinglingOutParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    own = quasi_identifiers_of(document)
    names = known_attributes(parameters.attributes, own)
    yield from judged_beside_control(parameters, document)
    yield from counts_rows(document)
    for name in names:
        reason = why_unknown(name, document)
        if reason:
            yield "attributes", reason
    if parameters.size is not None and parameters.size > len(names):
        yield "size", f"there are {count(len(names), 'attribute')} to choose from"


def _sentence(outcome: Outcome) -> str:
    details = outcome.details
    own, keys = int(details["successes"]), int(details["attempts"])
    tried = (
        f"{count(keys, 'combination')} of {known_columns(outcome)} that one released {record_noun(outcome)} has alone"
    )
    said = f"Of {tried}, {own:,} {agree(own, 'is', 'are')} that of one {record_noun(outcome)} in the original"
    if has_control(outcome):
        said += f", and {figure(float(details['control_successes']))} of one in the hold-out"
    return f"{said}: {added(outcome)}."


def _person(outcome: Outcome) -> str:
    knows = f"Whoever sees a released record alone in {known_columns(outcome)} and takes it for {an_intruder(outcome)}"
    return f"{knows} who is alone in that {chances(outcome)}."


CHECKS: list[Check] = [
    TableCheck(
        name="singling_out",
        title="Singling out beside a control",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=SinglingOutParameters,
        measure=singling_out,
        comparison=Comparison.AT_MOST,
        label="upper end of the risk of singling out that the release adds",
        requires=frozenset({CONTROL}),
        validate=_faults,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            question="Can somebody be picked out by what one released record has alone, more often than by chance?",
            risk="What one released record has alone may single out one real person.",
            definition=(
                "The intruder takes every combination of values that exactly one released record has, and claims that "
                "exactly one person has it. The claim succeeds if exactly one original record does. How often it "
                "succeeds by chance is measured on a hold-out of people who had no part in making the release; the "
                "risk is what the release adds to that. Records are never deduplicated: equal ones single out nobody."
            ),
            **formula(
                r"\frac{h_T - h_H}{q - h_H} \text{ (upper end) } \le \text{at\_most}",
                r"q \text{ keys unique in the release}",
                r"h_T \text{ of them unique in the original}",
                r"h_H \text{ of them unique in the hold-out}",
            ),
            reading=(
                f"{READING} Here attempts are keys of the release, `control_attempts` the same ones. `sets` says how "
                "many sets of columns were tried; `best_blind_guess` is (1 - 1/n)^(n - 1), about 37 %, with which the "
                "best claim that knows nothing singles out one of `original_records`; `holdout_records` is the size of "
                "the hold-out. Where that is larger than the original, `control_successes` is the mean over all draws "
                "of as many records, so nothing depends on a seed."
            ),
            choosing=CHOOSING,
            limits=(
                f"{ABOUT_CONTROL} It must have at least as many records as the original, since fewer people are unique "
                "among more. Keys of overlapping sets (`size`) are no independent attempts, so that the interval is "
                "then too narrow. Where no released record is alone there is nothing to try, which is an error and no "
                "pass."
            ),
            source=(
                f"{OPINION}: singling out; Cohen, Nissim, Towards formalizing the GDPR's notion of singling out, PNAS "
                f"117(15), 2020, doi:10.1073/pnas.1914598117; {GIOMI}"
            ),
            example="- singling_out: {at_most: 0.1, attributes: [age, sex]}",
        ),
    ),
]
