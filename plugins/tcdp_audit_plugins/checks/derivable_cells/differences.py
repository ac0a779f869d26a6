"""Small differences between figures that are each of many people: of tables, of bands, and of two releases."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.aggregate import AggregateCheck, CellFigure, CellsView, Demand, Derivation, FailingCell
from tcdp_audit.plugin.check import DisclosureType, Parameters
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks.derivable_cells.targets import Steps, add_up, counts_of_people
from tcdp_audit_plugins.guides import built_in_guide

SEVERAL = 3  # parts of a category from which on less than all is a group of several
CHANGED = "differs by few people from the earlier release"
Integers = NDArray[np.intp]


class TableDifferencingParameters(Parameters):
    """Parameters of `table_differencing`."""

    k: Annotated[int | None, Field(ge=2, description="The fewest people that a difference may be of.")] = None
    effort: Annotated[
        int, Field(ge=1, description="Seconds for programs that decide differences; what is left is not decided.")
    ] = 60


def table_differencing(view: CellsView, parameters: TableDifferencingParameters) -> CellFigure:
    """The smallest number of people, not 0, by which published counts about the same people differ.

    Differences are of a group and a subgroup that another table is about, of bands that two tables cut differently, of
    a category and one of its parts, and of the same cell in this release and an earlier one.

    Returns:
        A number of people, infinite where nothing differs. `compared` counts the differences that were looked at.

    Raises:
        CheckError: no table counts people, or the figures contradict each other.

    Cost: see `find_intervals`; O(cells) for parts and releases. Nested pairs and bands are compared, not all subsets.

    Source: Handbook on Statistical Disclosure Control, 2nd ed., 5.9 and 6; OpenSAFELY, Output checking: differencing.
    """
    differences = _Differences(view, parameters.k or 0)
    derivations = counts_of_people(view)
    for one in derivations:
        differences.add_between_tables(one, parameters.effort)
        differences.add_parts(one)
    for earlier in view.previous:
        differences.add_between_releases(earlier)
    few = [cell for _, cell in sorted(differences.few, key=lambda difference: difference[0])]
    details = {
        "compared": differences.compared,
        "by_sums": differences.by_sums,
        "joined": sum(one.joined for one in view.links),
        "not_joined": [f"{' and '.join(one.tables)}: {one.why}" for one in view.links if not one.joined],
        "first": few[0].sentence if few else "",
    }
    cells = sum(int((one.published | one.hidden).sum()) for one in derivations)
    smallest = inf if differences.smallest is None else Fraction(differences.smallest)
    return CellFigure(smallest, cells, tuple(few), details, undecided=differences.undecided)


@dataclass
class _Differences:
    """The differences that are looked at, and those of fewer than k people.

    Args:
        view: the tables.
        k: the fewest people that a difference may be of; 0 where nothing is demanded.
        smallest: the smallest difference that is not 0.
        compared: the number of differences.
        undecided: the number of those that are not decided.
        by_sums: the number of differences of fewer than k people that published figures give by sums alone.
        few: each difference of fewer than k people as a failing cell.
    """

    view: CellsView
    k: int
    smallest: int | None = None
    compared: int = 0
    undecided: int = 0
    by_sums: int = 0
    few: list[tuple[int, FailingCell]] = field(default_factory=list)

    def _add(self, numbers: Steps) -> Integers:
        """Count differences; give the positions of those from 1 to k - 1."""
        self.compared += len(numbers)
        positive = numbers[numbers > 0]
        if len(positive):
            least = int(positive.min())
            self.smallest = least if self.smallest is None else min(self.smallest, least)
        return np.flatnonzero((numbers > 0) & (numbers < self.k))

    def add_between_tables(self, one: Derivation, effort: int) -> None:
        """The groups that no table has and that tables together give: rests of subgroups, and atoms of bands."""
        targets = np.zeros(len(one.published), np.bool_)
        targets[list(one.joint.extras)] = True
        if not targets.any():
            return
        demand, relaxed = Demand(targets), self.view.policy.conventions.integers == "relaxed"
        intervals = one.decide(demand, integers=not relaxed, effort=effort)
        known = np.flatnonzero(targets & intervals.known)
        small = known[self._add(intervals.low[known])].tolist()
        self.by_sums += add_up(one, small)
        for variable, words in zip(small, one.computations(small), strict=True):
            number = int(intervals.low[variable])
            cell = self.view.failing_variable(one.joint, variable, words, {"value": number})
            self.few.append((number, cell))
        possible = targets & ~intervals.known & (intervals.low < self.k)
        self.undecided += int((one.undecided(intervals, demand, relaxed=relaxed) & possible).sum())

    def add_parts(self, one: Derivation) -> None:
        """Subtract each published category from the published one above it, where several categories are left."""
        for name, measure in one.joint.variables:
            table = self.view.tables[name]
            figures = table.figures[measure]
            exact = figures.shown & (figures.low == figures.high)
            for sums in table.sums:
                if len(sums.children) < SEVERAL or not sums.complete:
                    continue
                pairs = exact[sums.parents] & exact[sums.children]
                parents = np.broadcast_to(sums.parents, sums.children.shape)[pairs]
                children = sums.children[pairs]
                left = figures.low[parents] - figures.low[children]
                small = self._add(left).tolist()
                self.by_sums += len(small)
                for place in small:
                    says = f"less {table.say(int(children[place]))} leaves few people"
                    number = {"value": int(left[place])}
                    cell = self.view.failing_cell(name, measure, int(parents[place]), says, number)
                    self.few.append((int(left[place]), cell))

    def add_between_releases(self, earlier: CellsView) -> None:
        """The differences of the same cell of tables of the same name in two releases."""
        for name in self.view.tables.keys() & earlier.tables.keys():
            table, before = self.view.tables[name], earlier.tables[name]
            for measure in table.figures.keys() & before.figures.keys():
                now, then = table.figures[measure], before.figures[measure]
                if now.measure.counts != "people":
                    continue
                cells = np.flatnonzero(now.shown & (now.low == now.high))
                others = np.array([before.cells_by_labels.get(table.key(int(cell)), -1) for cell in cells], np.intp)
                both = (others >= 0) & then.shown[others] & (then.low[others] == then.high[others])
                cells, others = cells[both], others[both]
                differences = np.abs(now.low[cells] - then.low[others])
                small = self._add(differences).tolist()
                self.by_sums += len(small)
                for place in small:
                    number = {"value": int(differences[place])}
                    cell = self.view.failing_cell(name, measure, int(cells[place]), CHANGED, number)
                    self.few.append((int(differences[place]), cell))


TABLE_DIFFERENCING = AggregateCheck(
    name="table_differencing",
    title="Differences of tables",
    disclosure_type=DisclosureType.IDENTITY_MODEL,
    parameters=TableDifferencingParameters,
    measure=table_differencing,
    threshold="k",
    comparison=Comparison.AT_LEAST,
    label="people in the smallest difference",
    sentences=Sentences(
        passed=(
            "[{infinite?}No published counts about the same people differ|Each difference of published counts "
            "about the same people is of at least [{k?}{k:{unit}}, as demanded|{observed:{unit}}]] "
            "({compared:difference} compared)."
        ),
        failed=(
            "{failing_cells:difference} of published counts {failing_cells:is|are} of fewer than {k:{unit}}: {first}."
        ),
    ),
    guide=built_in_guide(__file__, "table_differencing.md"),
)
