"""Suppressed units: all rows of those who are in failing classes of whole histories are dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import checkpoint
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.remedy import Remedy, RemedyError, RemedyGuide, RemedyParameters, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome, plural
from tcdp_audit_plugins.remedies._shared.histories import HISTORIES, SIMPLER, joined_rows, why_not_joined
from tcdp_audit_plugins.remedies._shared.scope import faults_of_dropping, require_few


class SuppressUnitsParameters(RemedyParameters):
    """Parameters of `suppress_units`."""

    at_most: Annotated[Exact, Field(gt=0, le=1, description="The largest share of units that may be suppressed.")] = (
        Fraction(1)
    )


def tables(parameters: SuppressUnitsParameters | None, document: PolicyDocument) -> list[str]:  # noqa: ARG001
    """The linked table of units, to whose rows all others belong."""
    declared = document.tables or {}
    return [name for name, one in declared.items() if one.belongs_to not in declared]


def why_not_applicable(view: RemedyView, parameters: SuppressUnitsParameters | None, outcome: Outcome) -> str:  # noqa: ARG001
    """Say why fewer units cannot help a failing demand, or nothing."""
    if reason := why_not_joined(view):
        return reason
    return "" if view.judges_histories(outcome) and view.failing_on_classes([outcome]) else f"{HISTORIES}, by classes"


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Propose to drop the units of failing classes."""
    if not view.policy.document.rows_aligned and any(not why_not_applicable(view, None, one) for one in outcomes):
        yield {}


def suppress_units(view: RemedyView, parameters: SuppressUnitsParameters) -> Treatment:
    """Drop all rows of each unit of which a row fails a demand on classes, until no row does.

    What remains is judged again after every round, because distributions are those of the units that remain.

    Raises:
        RemedyError: no column joins rows, no unit would be left, or more would go than `at_most` allows.

    Cost: an audit for each round; two rounds where no demand looks at a distribution.
    """
    joined = joined_rows(view)
    unit = joined.unit
    gone = np.zeros(joined.units, dtype=bool)
    rounds = 0
    while True:
        checkpoint()
        retained = ~gone[unit]
        view.progress("suppressing units", int(gone.sum()), joined.present)
        failing = view.failing_records(Treatment(retained=None if retained.all() else retained))
        if not failing.any():
            break
        gone[unit[retained][failing]] = True
        rounds += 1
        if gone[unit].all():
            raise RemedyError(
                f"no {joined.noun} would be left: each one's history fails, at the latest once others are dropped; "
                "make histories coarser or shorter first, or redraw the pseudonym"
            )
    units, dropped = int(gone.sum()), int((~retained).sum())
    require_few(units, joined.present, parameters.at_most, plural(joined.noun), SIMPLER)
    notes = {
        "units": units,
        "share": units / joined.present,
        "records": dropped,
        "rounds": rounds,
        "mean_rows_before": round(len(unit) / joined.present, 4),
        "mean_rows_after": round((len(unit) - dropped) / (joined.present - units), 4),
    }
    return Treatment(retained=retained if dropped else None, notes=notes)


SUPPRESS_UNITS = Remedy(
    name="suppress_units",
    title="Suppressed units",
    summary="Drops all rows of the units in failing classes of whole histories.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("suppress_units.md")),
    parameters=SuppressUnitsParameters,
    apply=suppress_units,
    validate=faults_of_dropping,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
    acts_on_histories=True,
    tables=tables,
)
