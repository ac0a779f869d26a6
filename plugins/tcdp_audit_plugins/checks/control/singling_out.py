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

from tcdp_audit.plugin._internal import Floats, fold
from tcdp_audit.plugin.check import Check, DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit.plugin.sentences import Comparison, Sentences, count
from tcdp_audit_plugins.checks._shared.control_comparison import CONTROL, Attack
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, quasi_identifiers_of
from tcdp_audit_plugins.checks.control.risk import (
    ControlParameters,
    companions_of,
    compare_with_control,
    one_drawn,
    require_as_many,
    require_comparable,
)
from tcdp_audit_plugins.checks.control.tables import CONTROL_PARTS
from tcdp_audit_plugins.guides import built_in_guide

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
    """Keys that one released record has alone, and how many of them one record of another table has alone."""

    keys: int  # how many there are
    original: int  # of the original
    control: float | None  # of the hold-out, or of a draw from it that is as large as the original; None without one


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
            "there is no one to single out by them; `k_anonymity` reports how large the smallest group is"
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
    """The number of keys that are unique in the release, and of these in the original and the hold-out.

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
    """The number of groups that are expected to have one record in a draw from all."""
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
    if parameters.size is not None and parameters.size > len(names):
        yield "size", f"there are {count(len(names), 'attribute')} to choose from"


CHECKS: list[Check] = [
    TableCheck(
        name="singling_out",
        title="Singling out compared with a control",
        controls=frozenset({"holdout"}),
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=SinglingOutParameters,
        measure=singling_out,
        comparison=Comparison.AT_MOST,
        label="upper end of the risk of singling out that the release adds",
        validate=_faults,
        needs={Need.HOLDOUT_FOR_DEMANDS, Need.ROWS, Need.KNOWABLE},
        sentences=Sentences(
            passed=(
                "Of {attempts:combination} of {known} that one released {record} has alone, {successes} "
                "{successes:is|are} that of one {record} in the original[{control_success?}, and "
                "{control_successes} of one in the hold-out]: {added}."
            ),
            impact=(
                "An intruder who sees a released record alone in {known} and takes it for {person} who is alone in "
                "that {chances}."
            ),
            parts=CONTROL_PARTS,
        ),
        guide=built_in_guide(__file__, "singling_out.md"),
    )
]
