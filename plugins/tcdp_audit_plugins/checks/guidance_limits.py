"""Limits that guidance sets: the age above which years are capped, and the number of attributes that identify."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isinf
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.check import Check, DisclosureType, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Sentences
from tcdp_audit_plugins.guides import built_in_guide


class AgeCapParameters(Parameters):
    """Parameters of `age_cap`."""

    at_most: Annotated[
        int | None, Field(ge=0, description="The most records that may reveal an age above the cap: 0.")
    ] = None
    at: Annotated[int, Field(ge=0, description="The cap: the largest age in whole years that may be revealed.")] = 89
    column: Annotated[Text | None, Field(description="The column with the ages.")] = None


def least_age(low: float, high: float, *, low_open: bool = False, high_open: bool = False) -> int:
    """The largest age in whole years that a cell distinguishes from the ages above it; -1 where it has none.

    An end of the cell is left out where it is open; a cell without an upper end is an open category.

    Example:
        >>> least_age(89, 89), least_age(85, 90, high_open=True)
        (89, 89)
        >>> least_age(90, float("inf")), least_age(95, float("inf"))
        (89, 94)
    """
    if not isinf(high):
        return ceil(high) - 1 if high_open else floor(high)
    if isinf(low):
        return -1
    return floor(low) if low_open else ceil(low) - 1  # the open category reveals no more than this lower bound


def age_cap(view: TableView, parameters: AgeCapParameters) -> TableFigure:
    """The number of records whose age is above a cap and distinguished from higher ages.

    The largest age itself would be a person's, so it is no part of the evidence.

    Returns:
        A number of records.

    Raises:
        CheckError: the column has no age.

    Cost: O(n).

    Source: 45 CFR 164.514(b)(2)(i)(C).
    """
    assert parameters.column is not None  # noqa: S101 - a policy without it is at fault
    (table,) = view.counted([parameters.column])
    domain = table.domains[parameters.column]
    if not domain.size:
        raise CheckError(f"column {parameters.column!r} has no value in any record")
    if domain.covers is None:
        ages = np.floor(domain.values.astype(np.float64)).astype(np.int64)
    else:
        ends = [(one.low, one.high, one.low_open, one.high_open) for one in domain.covers]
        ages = np.array([least_age(a, b, low_open=c, high_open=d) for a, b, c, d in ends], dtype=np.int64)
    above = np.append(ages > parameters.at, False)[table.codes[parameters.column]]
    records = int(table.rows.each[above].sum())
    failing = None if parameters.at_most is None else records
    return TableFigure(value=Fraction(records), records=view.records, failing=failing)


def _faults(parameters: AgeCapParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    if parameters.column is None:
        yield "", "name the column with the ages: `column: age`"
        return
    declared = document.attributes.get(parameters.column)
    if declared is None:
        yield "column", f"the policy declares no attribute {parameters.column!r}"
    elif declared.scale is not Scale.NUMERIC:
        example = f"{parameters.column}: {{role: {declared.role.value}, scale: numeric}}"
        yield "column", f"{parameters.column!r} is not declared as numeric; ages are: `{example}`"


@dataclass(frozen=True, kw_only=True)
class AgeCheck(TableCheck[AgeCapParameters]):
    """A check on the column that its parameters name."""

    def known(self, parameters: AgeCapParameters, document: PolicyDocument, target: Any) -> list[str]:  # noqa: ARG002
        """The column that the parameters name."""
        return [] if parameters.column is None else [parameters.column]


class IdentifyingAttributesParameters(Parameters):
    """Parameters of `identifying_attribute_count`."""

    at_most: Annotated[int | None, Field(ge=0, description="The largest number of identifying columns.")] = None


def identifying_attribute_count(view: TableView, _: IdentifyingAttributesParameters) -> TableFigure:
    """The number of columns of the release that are quasi-identifiers or identifiers by the policy.

    Cost: O(columns).

    Source: ESSnet SDC, Handbook on Statistical Disclosure Control, rules at Statistics Netherlands.
    """
    present = {column.name for column in view.engine.columns}
    named = [*view.quasi_identifiers, *view.policy.with_role(Role.IDENTIFIER)]
    return TableFigure(value=Fraction(sum(name in present for name in named)), records=view.records)


CHECKS: list[Check] = [
    AgeCheck(
        name="age_cap",
        title="Age cap",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=AgeCapParameters,
        measure=age_cap,
        threshold="at_most",
        label="number of records that reveal an age above the cap",
        worst=lambda figure, _: Fraction(figure.records),
        validate=_faults,
        sentences=Sentences(
            passed=(
                "[{observed>0?}{observed/records:{record}} {observed:reveals|reveal} an age above {at} in "
                "{column:column}. Write {open_category}+ for all of them|{column:column} reveals no person's age "
                "above {at}, except in one open category]."
            ),
            impact=(
                "An intruder who knows the age of a person older than {at} may find that person among few, or alone."
            ),
            no_impact=(
                "An intruder who knows that a person is older than {at} finds that person among all who are, in one "
                "category."
            ),
            values=lambda outcome: {"open_category": outcome.parameters["at"] + 1},
        ),
        guide=built_in_guide(__file__, "age_cap.md"),
    ),
    TableCheck(
        name="identifying_attribute_count",
        title="Identifying attributes",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=IdentifyingAttributesParameters,
        measure=identifying_attribute_count,
        label="number of identifying columns",
        sentences=Sentences(
            passed="By the policy, {observed:column} of the release could identify a person.",
            failed=(
                "By the policy, {observed:column} of the release could identify a person; {threshold} "
                "{threshold:is|are} allowed."
            ),
            impact="An intruder who looks for a person has {observed:fact} to search by.",
        ),
        guide=built_in_guide(__file__, "identifying_attribute_count.md"),
    ),
]
