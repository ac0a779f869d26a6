"""Changes that would help tables of figures that fail: cells to hide, margins to leave out, rounding; each tried.

A change is made in memory, and the policy's own expectations are evaluated on the changed tables. So a proposal is
proved by the same derivation that refused the tables. Which cells are hidden is a heuristic: of the figures that reveal
a cell, the smallest positive one that is no total, and again until nothing is revealed. Patterns with the least loss
are the business of tools such as tau-Argus and sdcTable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from time import monotonic
from typing import Any

import numpy as np

from tcdp_audit.core.auditor.figures import outcomes_of_demands
from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import CELL_DEMANDS, FailingCell, Outcome, Status
from tcdp_audit.core.cells.changes import BASES, Margin, Place, TableChange, can_be_rounded, margins_of
from tcdp_audit.core.cells.demands import Demand
from tcdp_audit.core.cells.derived import SHORTEST, Derivation, Mask
from tcdp_audit.core.cells.view import CellsView, say_variable
from tcdp_audit.core.results.setting_trial import FigureProposal, FigureTrial

EFFORT = 10  # seconds for the programs of an expectation on changed tables; what is left then proves nothing
TIME = 120.0  # seconds after which no further change is tried
ROUNDS = 60  # times that further cells are hidden
MARGINS = 12  # changes of margins that are tried
SHOWN = 2  # margins that are proposed
Variable = tuple[int, int]  # the number of a system, and of a variable of it

FAULTY = "the tables have faults; mend those first, since nothing follows from figures that contradict each other"
NOTHING = "no change that was tried meets a demand that fails"
STOPPED = f"not all changes were tried: {TIME:.0f} seconds were over"
FAILS = "fails a demand as it is published"


def figure_trial(view: CellsView, outcomes: Iterable[Outcome]) -> FigureTrial | None:
    """Try changes on tables of figures that fail; None where no demand on their cells fails.

    Args:
        view: the tables as they were audited.
        outcomes: the outcomes of the audit.

    Returns:
        The changes that meet every demand that failed, or those that meet some, with what remains.
    """
    outcomes = list(outcomes)
    failed = [one for one in outcomes if one.blocks and one.status is Status.FAILED and one.cells is not None]
    if not view.tables or not any(one.check not in CELL_DEMANDS and _is_on_tables(view, one) for one in failed):
        return None
    if any(one.status is Status.ERROR and one.check in CELL_DEMANDS for one in outcomes):
        return FigureTrial(reason=FAULTY)
    return _Trial(_with_effort(view)).proposals()


def _is_on_tables(view: CellsView, outcome: Outcome) -> bool:
    """Whether an outcome is about tables, not about the output of fitted models."""
    return any(cell.table in view.tables for cell in outcome.failing_cells)


def _with_effort(view: CellsView) -> CellsView:
    """The same tables under the policy's demands on tables, each with a small effort."""
    demands = [
        replace(one, parameters=_limited(one.parameters))
        for one in view.policy.expectations
        if not one.check.on_records and not one.check.of_models
    ]
    return replace(view, policy=replace(view.policy, expectations=tuple(demands)), explains=False)


def _limited(parameters: Any) -> Any:
    effort = getattr(parameters, "effort", None)
    return parameters if effort is None else parameters.model_copy(update={"effort": min(effort, EFFORT)})


@dataclass(frozen=True)
class _Tried:
    """A change and what the policy's demands say of the changed tables.

    Args:
        change: the change.
        view: the changed tables.
        outcomes: the outcomes of the demands, in the policy's order.
        exposed: variables that the change hides or rounds, and that a reader computes all the same.
        open_ones: how many of them are not decided.
    """

    change: TableChange
    view: CellsView
    outcomes: Sequence[Outcome]
    exposed: Sequence[Variable]
    open_ones: int

    @property
    def holds(self) -> bool:
        """Whether every demand is met, and nothing that is hidden or rounded can be computed."""
        return not self.exposed and not self.open_ones and not any(one.blocks for one in self.outcomes)

    @property
    def failing_cells(self) -> Iterator[FailingCell]:
        """The cells of the demands that fail."""
        return (
            cell
            for one in self.outcomes
            if one.blocks and one.status is Status.FAILED
            for cell in one.failing_cells
            if cell.table in self.view.tables
        )


@dataclass
class _Trial:
    """The trial of changes on some tables.

    Args:
        view: the tables.
        started: when it began, in seconds of a clock.
        stopped: whether time ran out.
    """

    view: CellsView
    started: float = field(default_factory=monotonic)
    stopped: bool = False

    def proposals(self) -> FigureTrial:
        """Try all kinds of changes."""
        before = self._try(TableChange())
        first, reasons = self._hide_failing(before)
        tried = [
            (self._hide_further(first, reasons), reasons),
            *((one, reasons) for one in self._leave_out_margins(before, first)),
            *((one, {}) for one in self._round()),
        ]
        proposals = [self._proposal(before, one, why) for one, why in tried]
        useful = [one for one in proposals if one.mends]
        chosen = [one for one in useful if one.passes] or useful
        reason = " ".join([*([] if chosen else [NOTHING]), *([STOPPED] if self.stopped else [])])
        return FigureTrial(proposals=tuple(chosen), reason=reason)

    @property
    def _may_go_on(self) -> bool:
        checkpoint()
        self.stopped |= monotonic() - self.started > TIME
        return not self.stopped

    def _try(self, change: TableChange) -> _Tried:
        view = change.applied(self.view)
        outcomes = outcomes_of_demands(view)
        try:
            exposed, open_ones = _exposed(view, change)
        except CheckError:  # the demands say so, too
            exposed, open_ones = [], 1
        return _Tried(change, view, outcomes, exposed, open_ones)

    def _hide_failing(self, tried: _Tried) -> tuple[_Tried, dict[Place, str]]:
        """Hide the published figures that fail by themselves, until none does."""
        reasons: dict[Place, str] = {}
        while self._may_go_on:
            shown = [place for cell in tried.failing_cells for place in _published(tried.view, cell)]
            places = [one for place in shown for one in _same_figure(tried.view, place)]
            new = dict.fromkeys(one for one in places if one not in reasons)
            if not new:
                break
            reasons |= dict.fromkeys(new, FAILS)
            tried = self._try(replace(tried.change, hidden=(*tried.change.hidden, *new)))
        return tried, reasons

    def _hide_further(self, tried: _Tried, reasons: dict[Place, str]) -> _Tried:
        """Hide a figure of each computation that reveals a hidden one, until there is none."""
        for _ in range(ROUNDS):
            if tried.holds or not self._may_go_on:
                break
            further = _further(tried)
            new = {place: why for place, why in further.items() if place not in reasons}
            if not new:
                break
            reasons |= new
            tried = self._try(replace(tried.change, hidden=(*tried.change.hidden, *new)))
        return tried

    def _leave_out_margins(self, before: _Tried, first: _Tried) -> list[_Tried]:
        """Leave out totals in the place of hiding further cells: of a dimension of a table, of all, of all tables."""
        if first.holds and first.change.hidden:
            return []
        tried = []
        for margins in _margins(self.view, {cell.table for cell in first.failing_cells}):
            if not self._may_go_on:
                break
            tried.append(self._try(replace(first.change, margins=margins)))
            if sum(one.holds for one in tried) >= SHOWN:
                break
        failing = {one.title for one in before.outcomes if one.blocks}
        useful = [one for one in tried if failing - {outcome.title for outcome in one.outcomes if outcome.blocks}]
        holding = [one for one in useful if one.holds]
        return holding or useful[:1]

    def _round(self) -> list[_Tried]:
        """Round all counts to the smallest base for which everything holds."""
        for base in BASES if can_be_rounded(self.view) else ():
            if not self._may_go_on:
                break
            tried = self._try(TableChange(base=base))
            if tried.holds:
                return [tried]
        return []

    def _proposal(self, before: _Tried, tried: _Tried, reasons: Mapping[Place, str]) -> FigureProposal:
        pairs = list(zip(before.outcomes, tried.outcomes, strict=True))
        worse = any(new.blocks and not old.blocks for old, new in pairs)
        remains = [f"{new.title}: {new.message}" for _, new in pairs if new.blocks]
        if tried.exposed:
            names = [say_variable(tried.view.joint[system], one) for system, one in tried.exposed[:1]]
            remains.append(f"Of what is hidden or rounded, {len(tried.exposed):,} can be computed, such as {names[0]}.")
        if tried.open_ones:
            remains.append(f"Of what is hidden or rounded, {tried.open_ones:,} could not be decided.")
        lost = tried.change.lost(self.view)
        shown = sum(int(one.shown.sum()) for table in self.view.tables.values() for one in table.figures.values())
        hidden = tried.change.hidden
        return FigureProposal(
            hidden=tuple(self.view.failing_cell(*place, reasons.get(place, "")) for place in hidden),
            margins=tried.change.margins,
            base=tried.change.base,
            passes=tried.holds,
            mends=() if worse else tuple(old.title for old, new in pairs if old.blocks and not new.blocks),
            remains=tuple(remains),
            figures_lost=len(lost),
            figures=shown,
            people=_people(self.view, hidden) if self.view.show_values else None,
        )


def _exposed(view: CellsView, change: TableChange) -> tuple[list[Variable], int]:
    """The variables that a change hides or rounds and that are known all the same, and how many are not decided."""
    exposed, open_ones = [], 0
    for number, one in enumerate(view.derivations):
        chosen = _hidden_variables(one, change)
        if not chosen.any():
            continue
        demand, relaxed = Demand(chosen), view.policy.conventions.integers == "relaxed"
        intervals = one.decide(demand, integers=not relaxed, effort=EFFORT)
        exposed += [(number, variable) for variable in np.flatnonzero(chosen & intervals.known).tolist()]
        open_ones += int(one.undecided(intervals, demand, relaxed=relaxed).sum())
    return exposed, open_ones


def _hidden_variables(derivation: Derivation, change: TableChange) -> Mask:
    mask = np.zeros(len(derivation.joint.system.low), np.bool_)
    for (table, measure), variables in derivation.joint.variables.items():
        cells = np.array([cell for name, own, cell in change.hidden if (name, own) == (table, measure)], np.intp)
        if change.base is not None:
            figures = derivation.joint.tables[table].figures[measure]
            cells = np.flatnonzero(figures.shown & (figures.low < figures.high) & (figures.measure.counts is not None))
        own = variables[cells]
        mask[own[own >= 0]] = True
    return mask


def _published(view: CellsView, cell: FailingCell) -> Iterator[Place]:
    """The figure of a failing cell, if its table shows it."""
    table = view.tables[cell.table]
    number = table.cells_by_labels.get(tuple(sorted(cell.labels.items())))
    if number is not None and cell.measure in table.figures and table.figures[cell.measure].shown[number]:
        yield cell.table, cell.measure, number


def _same_figure(view: CellsView, place: Place) -> Iterator[Place]:
    """The published cells of all tables that show the same figure, this one among them."""
    yield place
    for joint in view.joint:
        variables = joint.variables.get(place[:2])
        if variables is not None and variables[place[2]] >= 0:
            for other in joint.where(int(variables[place[2]])):
                if view.tables[other[0]].figures[other[1]].shown[other[2]]:
                    yield other


def _further(tried: _Tried) -> dict[Place, str]:
    """A figure to hide for each variable that is revealed, in all tables that show it, and why."""
    chosen: dict[Place, str] = {}
    taken: dict[int, set[int]] = {}
    for place, (number, variable) in enumerate(dict.fromkeys([*_revealed(tried), *tried.exposed])):
        one = tried.view.derivations[number]
        terms = _revealing(one, variable, shortest=place < SHORTEST)
        own = taken.setdefault(number, set())
        if own.intersection(terms):
            continue
        least = _least_important(one, terms)
        if least is not None:
            own.add(least)
            figure = one.joint.where(least)[0]
            why = f"reveals {say_variable(one.joint, variable)}"
            chosen |= dict.fromkeys(_shown_places(one, least), why) or {figure: why}
    return chosen


def _shown_places(derivation: Derivation, variable: int) -> list[Place]:
    tables = derivation.joint.tables
    return [one for one in derivation.joint.where(variable) if tables[one[0]].figures[one[1]].shown[one[2]]]


def _revealed(tried: _Tried) -> Iterator[Variable]:
    """The variables of failing cells that no table shows: hidden ones, and differences of published figures."""
    view = tried.view
    cells = {(one.table, one.measure, *sorted(one.labels.items())) for one in tried.failing_cells}
    for number, one in enumerate(view.derivations):
        variables = {*np.flatnonzero(one.hidden).tolist(), *one.joint.extras}
        for variable in sorted(variables):
            cell = view.failing_variable(one.joint, variable)
            if (cell.table, cell.measure, *sorted(cell.labels.items())) in cells:
                yield number, variable


def _revealing(derivation: Derivation, variable: int, *, shortest: bool) -> list[int]:
    """The variables from which a reader computes one, or that leave it too few values; none where only it is at fault.

    A variable with several possible values that no relation narrows has them by its own text, which hiding others does
    not change.
    """
    computation = derivation.computation_of(variable, shortest=shortest)
    if computation is not None and computation.terms:
        return [term for _, term in computation.terms]
    system, narrowed = derivation.joint.system, derivation.recovery.narrowed
    is_own = narrowed.low[variable] == system.low[variable] and narrowed.high[variable] == system.high[variable]
    if is_own and not system.hidden[variable]:
        return [variable]  # another table shows it
    rows = system.rows.rows_with(np.array([variable]))
    return [one for one in np.unique(system.rows.cells[system.rows.entries_of(rows)]).tolist() if one != variable]


def _least_important(derivation: Derivation, variables: Iterable[int]) -> int | None:
    """The smallest published positive variable that is no total; the smallest total where there is no other."""
    low = derivation.joint.system.low
    published = [one for one in variables if derivation.published[one] and low[one] > 0]
    return min(published, key=lambda one: (derivation.joint.has_totals(one), int(low[one]), one), default=None)


def _margins(view: CellsView, failing: Collection[str]) -> Sequence[tuple[Margin, ...]]:
    """The margins that are left out together: each, all of a table, all over a dimension, all of every table.

    Args:
        view: the tables.
        failing: the tables with failing cells, whose margins alone are left out one by one.
    """
    every = margins_of(view)
    own = [one for one in every if one[0] in failing]
    sets: list[tuple[Margin, ...]] = [(one,) for one in own]
    sets += [tuple(one for one in own if one[0] == table) for table in view.tables]
    sets += [tuple(one for one in every if one[1] == name) for name in dict.fromkeys(one[1] for one in own)]
    distinct = [one for one in dict.fromkeys(sets) if one]
    return [
        *distinct[: MARGINS - 1],
        *([tuple(every)] if every and tuple(every) not in distinct[: MARGINS - 1] else []),
    ]


def _people(view: CellsView, hidden: Iterable[Place]) -> int:
    """The people in hidden cells that are no totals, each cell once."""
    cells, people = set[Variable](), 0
    for number, joint in enumerate(view.joint):
        for table, measure, cell in hidden:
            variables = joint.variables.get((table, measure))
            if joint.of[0] == "people" and variables is not None and not joint.has_totals(int(variables[cell])):
                cells.add((number, int(variables[cell])))
    for number, variable in cells:
        people += int(view.joint[number].system.low[variable])
    return people
