"""Published statistics that are about few people."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

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
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks.published_cells.cell_frequency import noun_of_people
from tcdp_audit_plugins.guides import built_in_guide

Numbers = NDArray[np.int64]
EXTREMES = ("minimum", "maximum")
TIES = 20  # people with the largest value who are counted, or more if the demand is


class FewContributorsParameters(Parameters):
    """Parameters of `few_contributors`."""

    k: Annotated[int | None, Field(ge=2, description="The fewest people that a statistic may be about.")] = None


def few_contributors(view: CellsView, parameters: FewContributorsParameters) -> CellFigure:
    """The fewest people that a published statistic is about.

    A sum, mean, share or deviation is about all n people; a quantile at place j of n values about the smaller of j and
    n - j + 1 people, who have at most and at least as much; a minimum or maximum about the people who have this value.
    The people are counted in the records behind the tables, or else are those of the measure that `over` names: if it
    is rounded or hidden, the most that they can be. Without records an extreme is about one person.

    Returns:
        A number of people, infinite where no statistic is published.

    Raises:
        CheckError: no table has statistics; a measure says of no one over whom it is, and no records are known; or the
            figures are not those of the records.

    Cost: O(cells), and with records O(records log records) for each level of the tables.

    Source: Handbook on Statistical Disclosure Control, 2024, chapter 4; OpenSAFELY's rules for outputs on extremes.
    """
    statistics = [
        (table, name, figures)
        for table in view.tables.values()
        for name, figures in table.figures.items()
        if figures.measure.counts is None
    ]
    if not statistics:
        raise CheckError("no table has statistics of people, such as means; leave this demand out")
    smallest, cells, extremes = inf, 0, 0
    failing = list[tuple[int, FailingCell]]()
    for table, name, figures in statistics:
        people = _people(view, table, name, figures, max(TIES, parameters.k or 0))
        judged = figures.shown & (people > 0)
        cells += int(figures.shown.sum())
        extremes += int(judged.sum()) * (figures.measure.kind in EXTREMES)
        smallest = min(smallest, people[judged].min(initial=UNBOUNDED))
        for cell in np.flatnonzero(judged & (people < (parameters.k or 0))).tolist():
            failing.append((int(people[cell]), view.failing_cell(table.name, name, cell, _says(figures))))
    ordered = tuple(cell for _, cell in sorted(failing, key=lambda one: one[0]))
    value = inf if smallest >= UNBOUNDED else Fraction(int(smallest))
    return CellFigure(value, cells, ordered, {"extremes": extremes})


def _says(figures: Figures) -> str:
    kind = figures.measure.kind
    if kind in EXTREMES:
        return f"the {kind} is the value of few people, or of one"
    return "few people are beyond the quantile" if kind == "quantile" else "it is about few people"


def _people(view: CellsView, table: PublishedTable, name: str, figures: Figures, ties: int) -> Numbers:
    """The number of people that each figure is about. Shape (cells,)."""
    measure = figures.measure
    if measure.kind == "minimum" or (measure.kind == "maximum" and view.records is None):
        return np.ones(table.cells, np.int64)
    if measure.kind == "maximum" and view.records is not None:
        own = view.records.contributions(table, str(measure.column), ties, "absolute")
        same = (own.largest == own.largest[:, :1]) & (np.arange(ties) < own.people[:, np.newaxis])
        # the largest without its sign is the maximum only where nothing is negative; elsewhere it is taken as of one
        return np.where(own.size == own.total, same.sum(axis=1), np.minimum(own.people, 1))
    number = _all_people(view, table, name, figures)
    if measure.quantile is None:
        return number
    at = Fraction(measure.at or 0)
    place = -(-number.astype(object) * at.numerator // at.denominator)
    beyond = np.minimum(place, number - place + 1)
    return np.asarray(np.where(number >= UNBOUNDED, UNBOUNDED, beyond), np.int64)


def _all_people(view: CellsView, table: PublishedTable, name: str, figures: Figures) -> Numbers:
    """The people over whom each figure is: of the records, or as published."""
    measure = figures.measure
    if view.records is not None and measure.kind in ("sum", "mean", "deviation", "quantile"):
        return view.records.contributions(table, str(measure.column), 1, "absolute").people
    if measure.over is not None:
        return table.figures[measure.over].high
    if view.records is not None:
        return view.records.people(table)
    raise CheckError(
        f"{name!r} of table {table.name!r} does not say over whom it is; name the measure that counts its people as "
        "`over:`, or the records behind the tables under `microdata:`"
    )


FEW_CONTRIBUTORS = AggregateCheck(
    name="few_contributors",
    title="Few contributors",
    disclosure_type=DisclosureType.IDENTITY_MODEL,
    parameters=FewContributorsParameters,
    measure=few_contributors,
    threshold="k",
    comparison=Comparison.AT_LEAST,
    label="people whom a published statistic is about",
    sentences=Sentences(
        passed=(
            "[{infinite?}No published statistic is known to be about anyone|Each of {cells:published statistic} is "
            "about at least [{k?}{k:{unit}}, as demanded|{observed:{unit}}]].[{extremes>0?} {extremes:figure} "
            "{extremes:is|are} the least or the largest value of a group.]"
        ),
        failed=(
            "{failing_cells/cells:published statistic} {failing_cells/cells:is|are} about fewer than {k:{unit}}. "
            "One that is about a single {unit} gives the value of that one."
        ),
        values=noun_of_people,
    ),
    guide=built_in_guide(__file__, "few_contributors.md"),
)
