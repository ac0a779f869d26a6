"""Rounded and perturbed figures that totals narrow down."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.aggregate import AggregateCheck, CellFigure, CellsView, Demand, Derivation, FailingCell
from tcdp_audit.plugin.check import DisclosureType
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Sentences
from tcdp_audit_plugins.checks.derivable_cells.targets import (
    DerivationParameters,
    Mask,
    Steps,
    added_figures,
    failing_cells,
)
from tcdp_audit_plugins.guides import built_in_guide


class RoundingUnpickedParameters(DerivationParameters):
    """Parameters of `rounding_unpicked` and `perturbation_bounds`."""

    least_values: Annotated[
        int, Field(ge=2, description="The fewest values that a rounded or perturbed count must be able to have.")
    ] = 2


_Measure = Callable[[CellsView, RoundingUnpickedParameters], CellFigure]


def rounding_unpicked(view: CellsView, parameters: RoundingUnpickedParameters) -> CellFigure:
    """The number of rounded cells that have fewer than `least_values` possible values, all tables together.

    Returns:
        A number of cells; `narrowed` counts those with fewer values than their own rounding allows.

    Raises:
        CheckError: no table was rounded, or the figures contradict each other.

    Cost: see `find_intervals`; at most `effort` seconds of programs.

    Source: Handbook on Statistical Disclosure Control, 2nd ed., 5.5.
    """
    return _narrowed(view, parameters, "rounding", "no table was rounded; declare `rounding:`, or leave this check out")


def perturbation_bounds(view: CellsView, parameters: RoundingUnpickedParameters) -> CellFigure:
    """The number of cells with bounded noise that have fewer than `least_values` possible values.

    Returns:
        A number of cells; `narrowed` counts those with fewer values than the noise allows.

    Raises:
        CheckError: no table has bounded noise, or the figures contradict each other.

    Cost: see `find_intervals`; at most `effort` seconds of programs.

    Source: Handbook on Statistical Disclosure Control, 2nd ed., 5.4.
    """
    return _narrowed(view, parameters, "noise", "no table has bounded noise; declare `noise:`, or leave this check out")


def _narrowed(view: CellsView, parameters: RoundingUnpickedParameters, key: str, none: str) -> CellFigure:
    relaxed = view.policy.conventions.integers == "relaxed"
    failing, cells, narrowed, open_cells = list[FailingCell](), 0, 0, 0
    for one in added_figures(view):
        judged, low, high = _own_limits(one, key)
        if not judged.any():
            continue
        whole = Demand(judged, width=0, reach_low=low, reach_high=high)
        intervals = one.decide(whole, integers=not relaxed, effort=parameters.effort)
        demand = Demand(judged, width=(parameters.least_values - 1) * one.joint.scale)
        fails = judged & ~demand.holds(intervals.low, intervals.high)
        narrowed += int((judged & ~whole.holds(intervals.low, intervals.high)).sum())
        failing += failing_cells(view, one, fails, intervals)
        open_cells += int((one.undecided(intervals, demand, relaxed=relaxed) & ~fails).sum())
        cells += int(judged.sum())
    if not cells:
        raise CheckError(none)
    details = {"narrowed": narrowed, "first": failing[0].sentence if failing else ""}
    return CellFigure(Fraction(len(failing)), cells, tuple(failing), details, undecided=open_cells)


def _own_limits(derivation: Derivation, key: str) -> tuple[Mask, Steps, Steps]:
    """The variables that a table shows rounded (or with noise), and the ends that this alone leaves, in steps."""
    system = derivation.joint.system
    judged = np.zeros(len(system.low), np.bool_)
    for (name, measure), variables in derivation.joint.variables.items():
        table = derivation.joint.tables[name]
        figures = table.figures[measure]
        if getattr(figures.measure, key) is None and getattr(table.declaration, key) is None:
            continue
        of_rounded = figures.shown & (figures.low < figures.high) & (variables >= 0)
        judged[variables[of_rounded]] = True
    return judged, system.low, system.high


def _check(name: str, title: str, measure: _Measure, noun: str) -> AggregateCheck[RoundingUnpickedParameters]:
    return AggregateCheck(
        name=name,
        title=title,
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=RoundingUnpickedParameters,
        measure=measure,
        label=f"{noun} cells with too few possible values",
        worst=lambda figure, _: figure.cells,
        sentences=Sentences(
            passed=(
                f"Each of {{cells:{noun} cell}} has at least {{least_values}} possible values; {{narrowed}} "
                "{narrowed:has|have} fewer than its own figure leaves."
            ),
            failed=(
                f"{{failing_cells/cells:{noun} cell}} {{failing_cells/cells:has|have}} fewer than {{least_values}} "
                "possible values; {narrowed} {narrowed:has|have} fewer than its own figure leaves."
            ),
        ),
        guide=built_in_guide(__file__, f"{name}.md"),
    )


ROUNDING_UNPICKED = _check(
    name="rounding_unpicked", title="Rounding undone by totals", measure=rounding_unpicked, noun="rounded"
)
PERTURBATION_BOUNDS = _check(
    name="perturbation_bounds", title="Noise undone by totals", measure=perturbation_bounds, noun="perturbed"
)
