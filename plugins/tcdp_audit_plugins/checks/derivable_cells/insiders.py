"""Hidden figures that a contributor can work out, who knows their own contribution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from time import monotonic
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.aggregate import (
    UNBOUNDED,
    AggregateCheck,
    CellFigure,
    CellsView,
    Demand,
    Derivation,
    FailingCell,
)
from tcdp_audit.plugin.check import DisclosureType
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Sentences
from tcdp_audit_plugins.checks.derivable_cells.targets import DerivationParameters, Mask, added_figures
from tcdp_audit_plugins.guides import built_in_guide

PERCENT = 100
NEGATIVE = "contributions are negative, so that a contributor's own is no least value of a figure; leave this check out"
COMPUTED = "can be worked out by a contributor to another hidden figure"


class InsiderIntervalsParameters(DerivationParameters):
    """Parameters of `insider_intervals`."""

    coalition: Annotated[
        Literal["singletons", "doubletons"],
        Field(description="Who looks: each only contributor to a hidden cell, or also each of two contributors."),
    ] = "singletons"
    p: Annotated[
        Exact,
        Field(
            ge=0, description="By how much, in percent, the largest other contribution to a sum must be overestimated."
        ),
    ] = Fraction(10)


def insider_intervals(view: CellsView, parameters: InsiderIntervalsParameters) -> CellFigure:
    """The number of hidden cells that a contributor to another one, or to the same, can work out.

    A contributor knows what they contribute: every cell that they are in has at least that, and a cell without others
    has exactly that. A cell with other contributors fails if one value is left for such a person, or, of a sum, if
    its largest possible value less their own contribution is below (1 + p/100) times the largest other contribution.

    Returns:
        A number of cells, which not everyone knows already. `insiders` counts the people whose knowledge was tried.

    Raises:
        CheckError: no table can be added up; the figures are not those of the records; contributions are negative.

    Cost: `find_intervals` for each such person, in the connected pieces of their cells; at most `effort` seconds.

    Source: Handbook on Statistical Disclosure Control, 2nd ed., 4.3 (singletons); tau-Argus manual, 2.15.
    """
    relaxed = view.policy.conventions.integers == "relaxed"
    deadline = monotonic() + parameters.effort
    cells, open_cells, insiders, hidden = 0, 0, 0, 0
    failing: list[FailingCell] = []
    for one in added_figures(view):
        unknown = one.hidden & ~one.known
        people = _People.of(view, one)
        learned, not_decided = dict[int, int](), np.zeros(len(unknown), np.bool_)
        for variable, insider in people.insiders(unknown, 1 if parameters.coalition == "singletons" else 2):
            insiders += 1
            limits, demand = people.known_by(one, insider, unknown, parameters.p)
            left = deadline - monotonic()
            if left <= 0:
                not_decided |= demand.cells
                continue
            variables, intervals, own = one.decide_knowing(limits, demand, integers=not relaxed, effort=left)
            fails = (own.cells & ~own.holds(intervals.low, intervals.high))[: len(variables)]
            learned |= {int(target): learned.get(int(target), variable) for target in variables[fails]}
            not_decided[variables] |= one.undecided(intervals, own, relaxed=relaxed)[: len(variables)] & ~fails
        failing += [_failing(view, one, target, variable) for target, variable in sorted(learned.items())]
        not_decided[list(learned)] = False
        open_cells += int(not_decided.sum())
        hidden += int(one.hidden.sum())
        cells += int((one.hidden | one.published).sum())
    details = {"hidden": hidden, "insiders": insiders, "first": failing[0].sentence if failing else ""}
    return CellFigure(Fraction(len(failing)), cells, tuple(failing), details, undecided=open_cells)


def _failing(view: CellsView, one: Derivation, target: int, variable: int) -> FailingCell:
    """A cell that is learned; whose knowledge gives it away is said only where values were asked for."""
    table, _, cell = one.joint.where(variable)[0]
    figures = {"known by a contributor to": view.tables[table].say(cell)}
    return view.failing_variable(one.joint, target, COMPUTED, figures)


@dataclass(frozen=True)
class _People:
    """The contributors to the variables of a system, by variable.

    Args:
        variable: the variable of each entry, in order. Shape (entries,).
        unit: the person.
        value: the contribution in steps of the system.
        starts: where the entries of each variable begin, and the end. Shape (variables + 1,).
        by_unit: the entries in the order of people.
        units: the people in that order.
    """

    variable: NDArray[np.int64]
    unit: NDArray[np.intp]
    value: list[Fraction]
    starts: NDArray[np.intp]
    by_unit: NDArray[np.intp]
    units: NDArray[np.intp]

    @classmethod
    def of(cls, view: CellsView, one: Derivation) -> _People:
        """The contributors to each variable, from the first table that has it.

        Raises:
            CheckError: there are no records, or contributions are negative.
        """
        if view.records is None:
            raise CheckError("it needs the records behind the tables; name them under `microdata:`")
        parts, taken = list[tuple[NDArray[np.int64], NDArray[np.intp], list[Fraction]]](), np.zeros(0, np.int64)
        for (name, measure), variables in one.joint.variables.items():
            entries = view.records.entries(view.tables[name], view.tables[name].figures[measure].measure)
            if (entries.value < 0).any():
                raise CheckError(NEGATIVE)
            own = variables[entries.cell]
            new = (own >= 0) & ~np.isin(own, taken)
            taken = np.union1d(taken, variables[variables >= 0])
            values = [Fraction(value * one.joint.scale, entries.scale) for value in entries.value[new].tolist()]
            parts.append((own[new], entries.unit[new], values))
        variable, unit = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        values = [value for part in parts for value in part[2]]
        order = np.argsort(variable, kind="stable")
        starts = np.searchsorted(variable[order], np.arange(len(one.published) + 1))
        by_unit = np.argsort(unit[order], kind="stable")
        return cls(
            variable[order], unit[order], [values[place] for place in order], starts, by_unit, unit[order][by_unit]
        )

    def insiders(self, unknown: Mask, most: int) -> Iterator[tuple[int, int]]:
        """Each contributor to an unknown variable that has at most so many, once: the variable, and the person."""
        numbers, done = np.diff(self.starts), set[int]()
        for variable in np.flatnonzero(unknown & (numbers >= 1) & (numbers <= most)).tolist():
            for entry in range(int(self.starts[variable]), int(self.starts[variable + 1])):
                insider = int(self.unit[entry])
                if insider not in done:
                    done.add(insider)
                    yield variable, insider

    def known_by(
        self, one: Derivation, insider: int, unknown: Mask, p: Exact
    ) -> tuple[dict[int, tuple[int, int]], Demand]:
        """The limits that a person knows of unknown variables, and the demand on those with other contributors."""
        first, last = np.searchsorted(self.units, [insider, insider + 1])
        own = {int(self.variable[entry]): self.value[entry] for entry in self.by_unit[first:last].tolist()}
        numbers = np.diff(self.starts)
        limits = {
            variable: (floor(value), UNBOUNDED if numbers[variable] > 1 else ceil(value))
            for variable, value in own.items()
            if unknown[variable]
        }
        targets = one.connected_with(limits) & unknown & (numbers >= 1)
        for variable in own:
            targets[variable] &= numbers[variable] > 1
        if one.joint.of[0] != "sum":
            return limits, Demand(targets)
        reach = np.full(len(unknown), -UNBOUNDED)
        for target in np.flatnonzero(targets).tolist():
            entries = range(int(self.starts[target]), int(self.starts[target + 1]))
            largest = max(self.value[entry] for entry in entries if self.unit[entry] != insider)
            reach[target] = ceil(own.get(target, Fraction(0)) + (1 + Fraction(p) / PERCENT) * largest)
        return limits, Demand(targets, reach_high=reach)


INSIDER_INTERVALS = AggregateCheck(
    name="insider_intervals",
    title="Intervals for contributors",
    disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
    parameters=InsiderIntervalsParameters,
    measure=insider_intervals,
    label="hidden cells that a contributor can work out",
    worst=lambda figure, _: figure.cells,
    needs_microdata=lambda _, __: True,
    sentences=Sentences(
        passed=(
            "[{insiders?}None of {hidden:hidden cell} can be worked out by a contributor who knows their own part; "
            "{insiders:contributor} {insiders:was|were} tried|No hidden cell has so few contributors]."
        ),
        failed=(
            "{failing_cells/hidden:hidden cell} can be worked out by a contributor who knows their own part: {first}."
        ),
    ),
    guide=built_in_guide(__file__, "insider_intervals.md"),
)
