"""How many columns of a release could identify somebody."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin._internal import Check
from tcdp_audit.plugin.check import DisclosureType, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.sentences import Outcome, Status, agree, count
from tcdp_audit_plugins.guides import built_in_guide


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


def _sentence(outcome: Outcome) -> str:
    number = int(outcome.observed or 0)
    told = f"By the policy, {count(number, 'column')} of the release could tell who a person is"
    if outcome.status is not Status.FAILED:
        return f"{told}."
    return f"{told}; {int(outcome.threshold or 0):,} {agree(int(outcome.threshold or 0), 'is', 'are')} allowed."


def _person(outcome: Outcome) -> str:
    return f"Whoever looks for a person has {count(int(outcome.observed or 0), 'fact')} to find them by."


CHECKS: list[Check] = [
    TableCheck(
        name="identifying_attribute_count",
        title="Identifying attributes",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=IdentifyingAttributesParameters,
        measure=identifying_attribute_count,
        label="number of identifying columns",
        sentence=_sentence,
        person=_person,
        guide=built_in_guide(__file__, "identifying_attribute_count.md"),
    ),
]
