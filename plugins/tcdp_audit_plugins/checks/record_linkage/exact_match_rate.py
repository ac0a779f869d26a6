"""Exact-match rate: the share of released records that are copies of an original."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import allowance, fold
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
from tcdp_audit.plugin.sentences import (
    Outcome,
    Status,
    agree,
    an_intruder,
    chance_of,
    known_columns,
    part_of,
    percent,
    plural,
    record_noun,
    sentence_case,
)
from tcdp_audit_plugins.checks._shared.control_comparison import (
    CONTROL,
    NO_CONTROL,
    Attack,
    interval_of_risk,
    require_strangers,
)
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes
from tcdp_audit_plugins.checks.record_linkage.comparison import ComparisonParameters, comparable
from tcdp_audit_plugins.formulas import formula

CONFIDENCE = Fraction(95, 100)


class ExactMatchParameters(ComparisonParameters):
    """Parameters of `exact_match_rate`; weights play no part in equality."""

    at_most: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest share of records that are copies, or of originals that are found."),
    ] = None
    measure: Annotated[
        Literal["released", "originals"],
        Field(
            description="The share of released records that are copies, or that of originals that the release holds "
            "beyond that of the hold-out."
        ),
    ] = "released"


def exact_match_rate(view: TableView, parameters: ExactMatchParameters) -> TableFigure:
    """The share of released records that equal some original in every compared attribute.

    A missing cell equals a missing cell. Next to it, the share of originals that equal some released record, and the
    same of the hold-out.

    Returns:
        An exact fraction from 0 to 1; of `originals` the upper end of the interval of (a - c) / (1 - c), a being the
        share of originals that were found and c that of the hold-out.

    Raises:
        CheckError: there is no original, or it lacks a compared attribute; or `originals` are asked without a hold-out.

    Cost: O(records log records). Where the tables outgrow the memory they are written to disk in parts, and the figure
    is exact as well.

    Source: Hernandez et al., Synthetic data generation for tabular health records, Neurocomputing 493 (2022).
    """
    names = known_attributes(parameters.attributes, view.quasi_identifiers)
    further = [CONTROL] if CONTROL in view.companions else []
    copies, copied, strangers = Counted(), Counted(), Counted()
    for released, original, *holdout in view.in_parts(names, "original", *further):
        copies += Counted.of(released, original)
        copied += Counted.of(original, released)
        for others in holdout:
            strangers += Counted.of(others, released)
            copies += Counted(strange=matches(released, others)[0])
    if not copied.records:
        raise CheckError("the original has no record, so there is nothing to find")
    details: dict[str, Any] = {"matches": copies.equal, "matches_of_unique_originals": copies.equal_to_one}
    details["originals_found"] = copied.share
    if further:
        details |= {"holdout_rate": Fraction(copies.strange, copies.records), "holdout_records": strangers.records}
        details |= _beside_control(copied, strangers)
    if parameters.measure == "released":
        return TableFigure(copies.share, copies.records, copies.equal, details=details)
    if parameters.at_most is not None and not further:
        raise CheckError(NO_CONTROL)
    require_strangers(view)
    return TableFigure(details.get("high", copied.share), copied.records, copied.equal, details=details)


@dataclass(frozen=True)
class Counted:
    """Records of a table, and how many of them are in another.

    Args:
        records: how many there are.
        equal: how many equal some record of the other table.
        equal_to_one: how many equal exactly one.
        strange: how many equal some record of a third table.
    """

    records: int = 0
    equal: int = 0
    equal_to_one: int = 0
    strange: int = 0

    @classmethod
    def of(cls, table: CodedTable, others: CodedTable) -> Counted:
        """Those of two tables."""
        return cls(table.records, *matches(table, others))

    def __add__(self, other: Counted) -> Counted:
        """Those of two parts."""
        return Counted(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @property
    def share(self) -> Fraction:
        """Of the records, those that equal some record of the other table."""
        return Fraction(self.equal, self.records)

    @property
    def attack(self) -> Attack:
        """To look for each record in the other table."""
        return Attack(Fraction(self.equal), self.records)


def _beside_control(copied: Counted, strangers: Counted) -> dict[str, Any]:
    """What the release holds of the original beyond what it holds of the hold-out."""
    if not strangers.records:
        raise CheckError("the hold-out has no record, so there is nothing to compare with")
    low, high, excess = interval_of_risk(copied.attack, strangers.attack, CONFIDENCE)
    return {"holdout_found": strangers.share, "excess": excess, "low": low, "high": high}


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


def _faults(parameters: ExactMatchParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    if parameters.measure == "originals" and parameters.at_most is not None and document.holdout is None:
        yield "at_most", NO_CONTROL
    yield from comparable(parameters, document)


def _sentence(outcome: Outcome) -> str:
    limit = f"; {allowance(outcome)}" if outcome.status is Status.FAILED else ""
    if outcome.parameters["measure"] == "originals":
        return f"{_found(outcome)}{limit}."
    records, rate = outcome.records, percent(outcome.observed, outcome.threshold)
    assert records is not None  # noqa: S101 - outcomes of this check have them
    copies = records.failing or 0
    part = sentence_case(part_of(copies, records.total, f"released {record_noun(outcome)}"))
    holdout = outcome.details.get("holdout_rate")
    beside = "" if holdout is None else f" {percent(float(holdout))} equal a record of the hold-out."
    equal = f"{agree(copies or 1, 'equals', 'equal')} an original record in {known_columns(outcome)}"
    return f"{part} ({rate}) {equal}{limit}.{beside}"


def _found(outcome: Outcome) -> str:
    """What the release holds of both tables, and what it adds."""
    details, noun = outcome.details, plural(record_noun(outcome))
    original = percent(float(details["originals_found"]))
    held = f"The release holds {original} of the original {noun} as they are in {known_columns(outcome)}"
    if "holdout_found" not in details:
        return f"{held}; without a hold-out nobody can say how much of that is chance"
    control, high = percent(float(details["holdout_found"])), percent(outcome.observed, outcome.threshold)
    return f"{held}, and {control} of the hold-out: at most {high} beyond chance (with 95% confidence)"


def _person(outcome: Outcome) -> str:
    known, control = known_columns(outcome), outcome.details.get("holdout_found")
    if outcome.parameters["measure"] == "originals":
        chance = chance_of(float(outcome.details["originals_found"]))
        beside = "" if control is None else f"; one who had no part in it, with {chance_of(float(control))}"
        own = sentence_case(an_intruder(outcome))
        return f"{own} of the original stands in the release as they are in {known} with {chance}{beside}."
    taken = f"Whoever takes a released record for {an_intruder(outcome)} of the original"
    return f"{taken} is right with {chance_of(outcome.observed or 0)}: so many are copies in {known}."


CHECKS = [
    TableCheck(
        name="exact_match_rate",
        title="Exact-match rate",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=ExactMatchParameters,
        measure=exact_match_rate,
        comparison=Comparison.AT_MOST,
        label="share of released records that are copies",
        requires=frozenset({"holdout"}),
        validate=_faults,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            question="How many released records are copies of a real one?",
            risk="A synthetic release may hold real people, unchanged.",
            definition=(
                "The share of released records that equal at least one original record in every compared attribute. It "
                "needs no key: it asks whether synthetic records are copies, not whose. With `measure: originals` it "
                "is the share of original records that equal a released one, beyond the same share of a hold-out: for "
                "shares a and c the upper end of Wilson's interval of (a - c) / (1 - c)."
            ),
            **formula(
                r"\frac{1}{n}\, \#\{i : r_i = o \text{ for an original } o\} \le \text{at\_most}",
                r"\text{originals: } \frac{a - c}{1 - c} \text{ (upper end) } \le \text{at\_most}",
            ),
            reading=(
                "0 if no record is a copy. Details: `matches`, `matches_of_unique_originals` (copies of records that "
                "stand once in the original), and with a hold-out `holdout_rate`, the same share against records that "
                "had no part in making the release, of which there are `holdout_records`. `originals_found` "
                "(a) is the share of originals that the release holds; a hold-out also brings `holdout_found` (c), its "
                "own, `excess`, which is (a - c) / (1 - c), and the ends `low` and `high` of its 95 % interval."
            ),
            choosing=(
                "Records of few, coarse attributes coincide by chance; `holdout_rate` says how often. A rate clearly "
                "above it, with a hold-out as large as the original, means that the generator remembers. `measure: "
                "originals` takes that off, whatever the size of the hold-out; 0.05 is our proposal there, and no norm "
                "names a figure."
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
