"""Exact-match rate: the share of released records that are copies of an original."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin import (
    CodedTable,
    Comparison,
    Exact,
    Guide,
    Outcome,
    Quarter,
    Status,
    TableCheck,
    TableFigure,
    TableView,
    agree,
    allowance,
    chance_of,
    fold,
    known_columns,
    part_of,
    percent,
    record_noun,
    sentence_case,
    somebody,
)
from tcdp_audit_plugins.checks.record_linkage.comparison import ComparisonParameters, comparable, compared
from tcdp_audit_plugins.formulas import formula


class ExactMatchParameters(ComparisonParameters):
    """Parameters of `exact_match_rate`; weights play no part in equality."""

    at_most: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest share of released records that are copies.")
    ] = None


def exact_match_rate(view: TableView, parameters: ExactMatchParameters) -> TableFigure:
    """The share of released records that equal some original in every compared attribute.

    A missing cell equals a missing cell.

    Returns:
        An exact fraction from 0 to 1.

    Raises:
        CheckError: there is no original, or it lacks a compared attribute.

    Cost: O(records log records). Where the tables outgrow the memory they are written to disk in parts, and the figure
    is exact as well.

    Source: Hernandez et al., Synthetic data generation for tabular health records, Neurocomputing 493 (2022).
    """
    names = compared(parameters, view.quasi_identifiers)
    further = ["holdout"] if "holdout" in view.companions else []
    records = copies = unique = strangers = strange_copies = 0
    for released, original, *holdout in view.in_parts(names, "original", *further):
        records += released.records
        equal, equal_to_one = matches(released, original)
        copies, unique = copies + equal, unique + equal_to_one
        for others in holdout:
            strangers, strange_copies = strangers + others.records, strange_copies + matches(released, others)[0]
    details: dict[str, Any] = {"matches": copies, "matches_of_unique_originals": unique}
    if further:
        details |= {"holdout_rate": Fraction(strange_copies, records), "holdout_records": strangers}
    return TableFigure(Fraction(copies, records), records, copies, details=details)


def matches(released: CodedTable, others: CodedTable) -> tuple[int, int]:
    """How many released records equal some other record, and how many equal exactly one.

    Cost: O(rows log rows).
    """
    names = sorted(released.codes)
    columns = [np.concatenate([released.codes[name], others.codes[name]]) for name in names]
    keys = fold(columns, [released.domains[name].size + 1 for name in names]).values
    own, theirs = keys[: released.rows.rows], keys[released.rows.rows :]
    distinct, which = np.unique(theirs, return_inverse=True)
    times = np.bincount(which, others.rows.each, len(distinct))
    position = np.searchsorted(distinct, own)
    equal = np.append(distinct, -1)[position] == own  # no key is negative
    equals = np.where(equal, np.append(times, 0)[position], 0)
    each = released.rows.each
    return int(each[equals > 0].sum()), int(each[equals == 1].sum())


def _sentence(outcome: Outcome) -> str:
    records, rate = outcome.records, percent(outcome.observed, outcome.threshold)
    assert records is not None  # noqa: S101 - outcomes of this check have them
    copies = records.failing or 0
    part = sentence_case(part_of(copies, records.total, f"released {record_noun(outcome)}"))
    limit = f"; {allowance(outcome)}" if outcome.status is Status.FAILED else ""
    holdout = outcome.details.get("holdout_rate")
    beside = "" if holdout is None else f" {percent(float(holdout))} equal a record of the hold-out."
    equal = f"{agree(copies or 1, 'equals', 'equal')} an original record in {known_columns(outcome)}"
    return f"{part} ({rate}) {equal}{limit}.{beside}"


def _person(outcome: Outcome) -> str:
    taken = f"Whoever takes a released record for {somebody(outcome)} of the original"
    return f"{taken} is right with {chance_of(outcome.observed or 0)}: so many are copies in {known_columns(outcome)}."


CHECKS = [
    TableCheck(
        name="exact_match_rate",
        title="Exact-match rate",
        quarter=Quarter.IDENTITY_DEGREE,
        parameters=ExactMatchParameters,
        measure=exact_match_rate,
        comparison=Comparison.AT_MOST,
        label="share of released records that are copies",
        requires=frozenset({"holdout"}),
        validate=comparable,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            asks="How many released records are copies of a real one?",
            risk="A synthetic release may hold real people, unchanged.",
            definition=(
                "The share of released records that equal at least one original record in every compared attribute. It "
                "needs no key: it asks whether synthetic records are copies, not whose."
            ),
            **formula(
                r"\frac{1}{n}\, \#\{i : r_i = o \text{ for an original } o\} \le \text{at\_most}",
            ),
            reading=(
                "0 if no record is a copy. Details: `matches`, `matches_of_unique_originals` (copies of records that "
                "stand once in the original), and with a hold-out `holdout_rate`, the same share against records that "
                "had no part in making the release, of which there are `holdout_records`."
            ),
            choosing=(
                "Records of few, coarse attributes coincide by chance; `holdout_rate` says how often. A rate clearly "
                "above it, with a hold-out as large as the original, means that the generator remembers."
            ),
            limits=(
                "A record that differs by one unit in one attribute is no copy; see `distance_to_closest_record`. "
                "Tables of any size are compared whole: what outgrows the memory waits on disk."
            ),
            source=(
                "Hernandez, Epelde, Alberdi, Cilla, Rankin, Synthetic data generation for tabular health "
                "records: a systematic review, Neurocomputing 493 (2022), "
                "doi:10.1016/j.neucom.2022.04.053"
            ),
            example="- exact_match_rate: {at_most: 0.01, attributes: [age, salary]}",
        ),
    ),
]
