"""Identifying attributes: the number of columns of a release that could identify a person."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import Check, DisclosureType, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.sentences import Sentences
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


CHECKS: list[Check] = [
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
    )
]
