"""Suppressed events: the rows whose cells the fewest units share are dropped, until histories keep the demands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import fold, numbered
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.remedy import Remedy, RemedyError, RemedyGuide, RemedyParameters, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.histories import (
    SIMPLER,
    JoinedRows,
    joined_rows,
    only_on_histories,
    tables_of_rows,
    trials,
)
from tcdp_audit_plugins.remedies._shared.scope import faults_of_dropping, require_few
from tcdp_audit_plugins.remedies._shared.search import smallest

Numbers = NDArray[np.int64]


class SuppressEventsParameters(RemedyParameters):
    """Parameters of `suppress_events`."""

    at_most: Annotated[Exact, Field(gt=0, le=1, description="The largest share of records that may be suppressed.")] = (
        Fraction(1)
    )
    table: Annotated[
        Text | None,
        Field(description="Of several linked tables the one whose rows are dropped. By default the only one of rows."),
    ] = None


def tables(parameters: SuppressEventsParameters | None, document: PolicyDocument) -> list[str]:
    """The linked tables whose rows may be dropped."""
    named = None if parameters is None else parameters.table
    return tables_of_rows(document) if named is None else [named]


def why_not_applicable(view: RemedyView, parameters: SuppressEventsParameters | None, outcome: Outcome) -> str:  # noqa: ARG001
    """Say why fewer rows cannot help a failing demand, or nothing."""
    return only_on_histories(view, outcome)


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Propose to drop rare rows."""
    if not view.policy.document.rows_aligned and any(not only_on_histories(view, one) for one in outcomes):
        yield {}


def suppress_events(view: RemedyView, parameters: SuppressEventsParameters) -> Treatment:
    """Drop the rows in the labels of the fewest units, one label after another, until the demands hold.

    A label is a combination of quasi-identifiers. Where dropping more labels makes a demand fail again, the number
    that is taken is one at which the demands hold while they do not at one less.

    Raises:
        RemedyError: no column joins rows, nothing that judges histories fails, rows of a single label do not suffice,
            or more would go than `at_most` allows.

    Cost: a sort of the rows, and an audit for each of O(log labels) numbers of labels.
    """
    labels = _Labels.of(view, joined_rows(view))
    attempts = trials(view, lambda outcome: not only_on_histories(view, outcome))
    most = labels.count - 1
    dropped = smallest(lambda number: attempts.suffice(labels.without(number)), 1, most) if most else None
    if dropped is None:
        reached = attempts.refusal(labels.without(most))
        raise RemedyError(f"even the rows of one combination of quasi-identifiers do not suffice: {reached}")
    treatment = labels.without(dropped)
    require_few(treatment.notes["records"], view.records, parameters.at_most, "records", SIMPLER)
    return treatment


@dataclass(frozen=True)
class _Labels:
    """The labels of rows, those of the fewest units first.

    Args:
        joined: the rows of each unit.
        rank: the rank of each row's label. Shape (records,).
        support: the number of units with each label, ascending. Shape (labels,).
    """

    joined: JoinedRows
    rank: Numbers
    support: Numbers

    @classmethod
    def of(cls, view: RemedyView, joined: JoinedRows) -> _Labels:
        labels, count_of_labels = view.classes()
        keys = fold([labels, joined.unit], [count_of_labels, joined.units])
        distinct, _ = numbered(keys.values, keys.span)
        support = np.bincount(keys.decode(distinct)[0], minlength=count_of_labels).astype(np.int64)
        order = np.argsort(support, kind="stable")  # of as few, those that come first in the order of their values
        rank = np.empty(count_of_labels, dtype=np.int64)
        rank[order] = np.arange(count_of_labels)
        return cls(joined, rank[labels], support[order])

    @property
    def count(self) -> int:
        """The number of labels."""
        return len(self.support)

    def without(self, number: int) -> Treatment:
        """Drop the rows of so many labels."""
        retained = self.rank >= number
        dropped = int((~retained).sum())
        units = np.bincount(self.joined.unit[retained], minlength=self.joined.units) > 0
        notes = {
            "labels": number,
            "most_units": int(self.support[number - 1]) if number else 0,
            "records": dropped,
            "share": dropped / len(retained),
            "units_without_rows": self.joined.present - int(units.sum()),
        }
        return Treatment(retained=retained if dropped else None, notes=notes)


SUPPRESS_EVENTS = Remedy(
    name="suppress_events",
    title="Suppressed events",
    summary="Drops the rows whose quasi-identifiers the fewest units share.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("suppress_events.md")),
    parameters=SuppressEventsParameters,
    apply=suppress_events,
    validate=faults_of_dropping,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
    acts_on_histories=True,
    tables=tables,
)
