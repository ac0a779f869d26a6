"""Exact-match rate: the share of released records that are copies of an original."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import fold
from tcdp_audit.plugin.check import DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.control_comparison import (
    CONTROL,
    NO_CONTROL,
    Attack,
    interval_of_risk,
    require_strangers,
)
from tcdp_audit_plugins.checks._shared.known_attributes import ComparisonParameters, comparable, known_attributes
from tcdp_audit_plugins.guides import built_in_guide

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
    """Records of a table, and how many of them are in another."""

    records: int = 0  # how many there are
    equal: int = 0  # how many equal some record of the other table
    equal_to_one: int = 0  # how many equal exactly one
    strange: int = 0  # how many equal some record of a third table

    @classmethod
    def of(cls, table: CodedTable, others: CodedTable) -> Counted:
        """The counts of two tables."""
        return cls(table.records, *matches(table, others))

    def __add__(self, other: Counted) -> Counted:
        """Add the counts of two parts."""
        return Counted(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @property
    def share(self) -> Fraction:
        """The share of the records that equal some record of the other table."""
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
    """The number of released records that equal some other record, and how many equal exactly one.

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


CHECKS = [
    TableCheck(
        name="exact_match_rate",
        title="Exact-match rate",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=ExactMatchParameters,
        measure=exact_match_rate,
        comparison=Comparison.AT_MOST,
        label="share of released records that are copies",
        validate=comparable,
        needs={Need.HOLDOUT},
        needs_if=lambda parameters, _: {Need.HOLDOUT_FOR_DEMANDS} if parameters.measure == "originals" else set(),
        sentences=Sentences(
            passed=(
                "[{measure=originals?}{originals}[; {allowed}]|{failing/records:released {record}} ({observed:%}) "
                "{failing/records:equals|equal} an original record in {known}[; "
                "{allowed}]].[{measure=originals?}|[{holdout_rate?} {holdout_rate:%} equal a record of the "
                "hold-out.]]"
            ),
            impact=(
                "[{measure=originals?}{person} of the original is in the release unchanged in {known} with "
                "{originals_found:chance}[{holdout_found?}; one who had no part in it, with "
                "{holdout_found:chance}]|An intruder who takes a released record for {person} of the original is "
                "right with {observed:chance}: so many are copies in {known}]."
            ),
            parts={
                "originals": (
                    "The release holds {originals_found:%} of the original {record:plural} unchanged in "
                    "{known}[{holdout_found?}, and {holdout_found:%} of the hold-out: at most {observed:%} beyond "
                    "chance (with 95% confidence)|; without a hold-out it is unknown how much of that is chance]"
                )
            },
        ),
        guide=built_in_guide(__file__, "exact_match_rate.md"),
    )
]
