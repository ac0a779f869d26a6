"""A check on the release as a whole: one figure, from a view that reads what it is asked for."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import DisclosureType, Guide, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.sentences import Comparison


class EnoughRecordsParameters(Parameters):
    """Parameters of `enough_records`."""

    at_least: Annotated[int | None, Field(ge=1, description="The least number of records.")] = None


def enough_records(view: TableView, _: EnoughRecordsParameters) -> TableFigure:
    """How many records the release has."""
    return TableFigure(Fraction(view.records), view.records)


ENOUGH_RECORDS = TableCheck(
    name="enough_records",
    title="Enough records",
    disclosure_type=DisclosureType.IDENTITY_DEGREE,
    parameters=EnoughRecordsParameters,
    measure=enough_records,
    threshold="at_least",
    comparison=Comparison.AT_LEAST,
    label="number of records",
    guide=Guide(
        definition="A table of fewer records than this is not published at all.",
        formula="N >= at_least",
        reading="The number of records of the release.",
        choosing="What the office's rules for small tables say.",
        source="the office's own rule",
        example="- enough_records: {at_least: 100}",
    ),
)
