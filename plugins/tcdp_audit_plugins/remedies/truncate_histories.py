"""Truncated histories: at most so many rows of each unit are released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.detector import PolicyDocument, Text
from tcdp_audit.plugin.remedy import Remedy, RemedyError, RemedyGuide, RemedyParameters, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.histories import (
    LATEST,
    JoinedRows,
    Trials,
    content_of,
    joined_rows,
    only_on_histories,
    order_in_time,
    tables_of_rows,
    trials,
)
from tcdp_audit_plugins.remedies._shared.scope import faults_of_dropping
from tcdp_audit_plugins.remedies._shared.search import largest

Numbers = NDArray[np.int64]


class RowsToKeep(StrEnum):
    """The rows of a unit that stay."""

    FIRST = "first"
    LAST = "last"
    RANDOM = "random"


class TruncateHistoriesParameters(RemedyParameters):
    """Parameters of `truncate_histories`."""

    rows: Annotated[
        int | None,
        Field(ge=1, description="The most rows of a unit that stay. By default the most after which demands hold."),
    ] = None
    keep: Annotated[
        RowsToKeep,
        Field(
            strict=False,
            description="Which rows stay: the first or the last by the policy's `time`, without it in the order of the "
            "file; or rows drawn with the policy's seed.",
        ),
    ] = RowsToKeep.FIRST
    table: Annotated[
        Text | None,
        Field(description="Of several linked tables the one whose rows are dropped. By default the only one of rows."),
    ] = None


def tables(parameters: TruncateHistoriesParameters | None, document: PolicyDocument) -> list[str]:
    """The linked tables whose rows may be dropped."""
    named = None if parameters is None else parameters.table
    return tables_of_rows(document) if named is None else [named]


def why_not_applicable(
    view: RemedyView,
    parameters: TruncateHistoriesParameters | None,  # noqa: ARG001
    outcome: Outcome,
) -> str:
    """Say why fewer rows of each unit cannot help a failing demand, or nothing."""
    return only_on_histories(view, outcome)


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Propose the most rows that suffice, or one where none does."""
    helped = tuple(one for one in outcomes if not only_on_histories(view, one))
    if not helped or view.policy.document.rows_aligned:
        return
    joined, parameters = joined_rows(view), TruncateHistoriesParameters()
    yield {"rows": _most(Trials(view, helped), joined, _places(view, joined, parameters.keep)) or 1}


def truncate_histories(view: RemedyView, parameters: TruncateHistoriesParameters) -> Treatment:
    """Drop the rows of each unit beyond so many.

    Raises:
        RemedyError: no column joins rows, times cannot be put in order, or, where no number is given, even one row of
            each unit does not suffice.

    Cost: a sort of the rows; the same and an audit for each of O(log rows of a unit) numbers where none is given.
    """
    joined = joined_rows(view)
    places = _places(view, joined, parameters.keep)
    rows = parameters.rows
    if rows is None:
        attempts = trials(view, lambda outcome: not only_on_histories(view, outcome))
        rows = _most(attempts, joined, places)
        if rows is None:
            reached = attempts.refusal(_truncated(joined, places, 1))
            raise RemedyError(f"even one row of each {joined.noun} does not suffice: {reached}")
    return _truncated(joined, places, rows)


def _most(attempts: Trials, joined: JoinedRows, places: Numbers) -> int | None:
    """The most rows of a unit after which no demand fails; None where there is none."""
    return largest(lambda rows: attempts.suffice(_truncated(joined, places, rows)), 1, int(joined.sizes.max()) - 1)


def _places(view: RemedyView, joined: JoinedRows, keep: RowsToKeep) -> Numbers:
    """The place of each row among those of its unit, from 0, in the order in which they stay.

    Rows of one time are put in order by their cells, so that the order of the file decides only what the policy leaves
    to it; equal rows are exchangeable.
    """
    content = content_of(view, joined.column.name)
    if keep is RowsToKeep.RANDOM:
        sorted_rows = np.lexsort((content, joined.unit))
        first = np.empty(view.records, dtype=np.int64)
        first[sorted_rows] = view.generator().permutation(view.records)
    else:
        first = order_in_time(view)
        if keep is RowsToKeep.LAST:
            first = np.where(first == LATEST, LATEST, -first)  # rows without a time are dropped first, all the same
    order = np.lexsort((content, first, joined.unit))
    starts = np.cumsum(joined.sizes) - joined.sizes
    places = np.empty(view.records, dtype=np.int64)
    places[order] = np.arange(view.records) - starts[joined.unit[order]]
    return places


def _truncated(joined: JoinedRows, places: Numbers, rows: int) -> Treatment:
    retained = places < rows
    dropped = int((~retained).sum())
    beyond = joined.sizes > rows
    notes = {
        "rows": rows,
        "records": dropped,
        "share": dropped / len(places),
        "shortened": int(beyond.sum()),
        "longest": int(joined.sizes.max()),
    }
    return Treatment(retained=retained if dropped else None, notes=notes)


TRUNCATE_HISTORIES = Remedy(
    name="truncate_histories",
    title="Truncated histories",
    summary="Drops the rows of each unit beyond a number.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("truncate_histories.md")),
    parameters=TruncateHistoriesParameters,
    apply=truncate_histories,
    validate=faults_of_dropping,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
    once=True,  # what is short enough stays
    acts_on_histories=True,
    tables=tables,
)
