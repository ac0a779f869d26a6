"""Published counts of few people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import inf
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin.aggregate import (
    UNBOUNDED,
    AggregateCheck,
    CellFigure,
    CellsView,
    FailingCell,
    Figures,
    PublishedTable,
)
from tcdp_audit.plugin.check import DisclosureType, Parameters
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.guides import built_in_guide

Numbers = NDArray[np.int64]


class CellFrequencyParameters(Parameters):
    """Parameters of `cell_frequency`."""

    k: Annotated[int | None, Field(ge=1, description="The fewest people that a published count may be of.")] = None
    zeros: Annotated[
        Literal["allowed", "counted"], Field(description="Whether a published 0 is allowed, or counts as few people.")
    ] = "allowed"

    @model_validator(mode="after")
    def _can_fail(self) -> CellFrequencyParameters:
        if self.k == 1 and self.zeros == "allowed":
            raise ValueError("every count above 0 is of 1 person at least; raise `k`, or say `zeros: counted`")
        return self


def cell_frequency(view: CellsView, parameters: CellFrequencyParameters) -> CellFigure:
    """The fewest people that a published count is of, totals too, as far as a reader knows.

    A rounded count is of as many people as it can be at most. A count of rows of which one person has at most q is of
    at least x/q people, rounded up.

    Returns:
        A number of people, infinite where every count is exempt.

    Raises:
        CheckError: a count of rows does not say how many one person can have; or no table has counts.

    Cost: O(cells).
    """
    counts = [(table, name, figures) for table in view.tables.values() for name, figures in counts_of(table)]
    if not counts:
        raise CheckError("no table has counts; declare a measure with `counts: people`")
    zeros_count, smallest, cells = parameters.zeros == "counted", inf, 0
    failing = list[tuple[int, FailingCell]]()
    for table, name, figures in counts:
        fewest, most = people_counted(table, name, figures)
        judged = figures.shown & ((most > 0) | zeros_count)
        cells += int(figures.shown.sum())
        smallest = min(smallest, most[judged].min(initial=UNBOUNDED))
        few = judged & (most < (parameters.k or 0)) & ((fewest >= 1) | zeros_count)
        failing += [(int(most[cell]), view.failing_cell(table.name, name, int(cell))) for cell in np.flatnonzero(few)]
    ordered = tuple(cell for _, cell in sorted(failing, key=lambda one: one[0]))
    return CellFigure(inf if smallest >= UNBOUNDED else Fraction(int(smallest)), cells, ordered)


def counts_of(table: PublishedTable) -> Iterator[tuple[str, Figures]]:
    """The measures of a table that count people or rows, by name."""
    return ((name, one) for name, one in table.figures.items() if one.measure.counts is not None)


def people_counted(table: PublishedTable, name: str, figures: Figures) -> tuple[Numbers, Numbers]:
    """The fewest and the most people whom each count is certainly of, as far as a reader knows.

    A count of x rows, of which one person has at most q, is certainly of the next whole number from x/q on.

    Returns:
        Two arrays of shape (cells,).

    Raises:
        CheckError: a count of rows does not say how many one person can have.
    """
    measure = figures.measure
    if measure.counts == "people":
        return figures.low, figures.high
    if measure.per_person is None:
        raise CheckError(
            f"{name!r} of table {table.name!r} counts rows; say how many one person can have, as `per_person:`"
        )
    q = measure.per_person
    return -(-figures.low // q), np.where(figures.high >= UNBOUNDED, UNBOUNDED, -(-figures.high // q))


def noun_of_people(outcome: Outcome) -> Mapping[str, str]:
    """The noun for one of those counted in a sentence: as the policy says, or a person."""
    return {"unit": outcome.naming.unit_name or "person"}


CELL_FREQUENCY = AggregateCheck(
    name="cell_frequency",
    title="Cell frequency",
    disclosure_type=DisclosureType.IDENTITY_MODEL,
    parameters=CellFrequencyParameters,
    measure=cell_frequency,
    threshold="k",
    comparison=Comparison.AT_LEAST,
    label="people in the smallest published count",
    sentences=Sentences(
        passed=(
            "[{infinite?}No published count is of any {unit}|Each of {cells:published count} is of at least "
            "[{k?}{k:{unit}}, as demanded|{observed:{unit}}]]."
        ),
        failed="{failing_cells/cells:published count} {failing_cells/cells:is|are} of fewer than {k:{unit}}.",
        values=noun_of_people,
    ),
    guide=built_in_guide(__file__, "cell_frequency.md"),
)
