"""Reconstruction: the people that any table that fits must have, and how many tables, or sets of people, fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin.aggregate import (
    AggregateCheck,
    CellFigure,
    CellsView,
    Derivation,
    FailingCell,
    Intervals,
)
from tcdp_audit.plugin.check import DisclosureType, Limit, Parameters
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.checks.derivable_cells.targets import counts_of_people, failing_cells
from tcdp_audit_plugins.guides import built_in_guide

CAP = 400_000
MEASURED = 5  # seconds for the number of tables where nothing is demanded of it


class ReconstructionParameters(Parameters):
    """Parameters of `reconstruction`."""

    certain_people: Annotated[
        int | None, Field(ge=0, description="The most people whose whole combination of categories may be certain.")
    ] = None
    solutions: Annotated[
        int | None, Field(ge=2, description="The fewest tables of whole numbers that must fit the published figures.")
    ] = None
    cap: Annotated[
        int, Field(ge=2, le=10_000_000, description="The number of tables at which counting ends: there are more.")
    ] = CAP
    effort: Annotated[
        int, Field(ge=1, description="Seconds for programs and for counting; what is left then is not decided.")
    ] = 60

    @model_validator(mode="after")
    def _can_be_counted(self) -> ReconstructionParameters:
        if self.solutions is not None and self.solutions > self.cap + 1:
            raise ValueError(f"`solutions` is more than `cap` ({self.cap:,}), at which counting ends; raise `cap`")
        return self


def reconstruction(view: CellsView, parameters: ReconstructionParameters) -> CellFigure:
    """The number of people whose whole combination of categories follows from all published figures together.

    Leaves are the cells that have no parts. Each table of whole numbers that fits has at least l people in a leaf, l
    being the least value that fits there; so many people are certainly in it. Of tables about the same people the one
    with the most counts; tables about different subgroups are added. Where means, medians, least and largest values of
    whole numbers are published, too, sets of people with values are searched, and what all of them have is certain.

    Returns:
        A number of people. `solutions` counts the tables that fit, or the sets of people, up to `cap`.

    Raises:
        CheckError: no table counts people, or the figures contradict each other.

    Cost: see `find_intervals` and `count_people`, and O(solutions x cells) for their number; each at most `effort`
    seconds.

    Source: Garfinkel, Abowd, Martindale, Understanding Database Reconstruction Attacks on Public Data, ACM Queue 16(5),
    2018.
    """
    relaxed = view.policy.conventions.integers == "relaxed"
    certain, leaves, hidden, unique, open_cells, failing = 0, 0, 0, True, 0, list[FailingCell]()
    derivations = counts_of_people(view)
    for one in derivations:
        by_table = dict(_leaves_of(one))
        judged = np.zeros(len(one.published), np.bool_)
        for variables in by_table.values():
            judged[variables] = True
        intervals = one.attain(judged, both=False, integers=not relaxed, effort=parameters.effort)
        certain += _certain_people(one, by_table, intervals)
        seen = intervals.real_low if relaxed else intervals.seen_low
        open_cells += int((judged & ~(np.floor(seen) <= intervals.low)).sum())
        own = judged & one.hidden
        leaves, hidden = leaves + int(judged.sum()), hidden + int(own.sum())
        unique &= bool(intervals.known[judged].all())
        failing += failing_cells(view, one, own & (intervals.low >= 1), intervals, computed=False)
    effort = min(parameters.effort, MEASURED) if parameters.solutions is None else parameters.effort
    people = derivations[0].people(cap=parameters.cap, effort=effort) if len(derivations) == 1 else None
    if people is None:
        number, is_exact, finished = _solutions(derivations, parameters.cap, effort)
    else:
        number, is_exact, finished = people.number, people.is_exact, people.finished
        if not finished and parameters.solutions is None:
            number = 0  # how many were seen until the time was over depends on the machine
        if is_exact:  # what is certain of people with their values is certain in all tables of counts
            certain, unique = max(certain, people.in_leaves), number == 1
    if not finished and number < (parameters.solutions or 0):
        open_cells += max(hidden, 1)
    details: dict[str, Any] = {
        "solutions": number,
        "more_solutions": not is_exact,
        "cap": parameters.cap,
        "unique": unique,
        "leaves": leaves,
        "hidden": hidden,
    }
    if people is not None:
        details |= {"people": people.people, "column": people.column}
        details |= {"certain_with_values": people.with_values} if people.is_exact else {}
    fitting = number + (not is_exact) if finished else max(number, parameters.solutions or 0)  # the latter is undecided
    further = {"solutions": Fraction(fitting)}
    return CellFigure(Fraction(certain), leaves, tuple(failing), details, undecided=open_cells, further=further)


def _leaves_of(one: Derivation) -> Iterator[tuple[tuple[str, str], NDArray[np.int64]]]:
    """The variables of the leaves of each table and measure: of all dimensions the categories without parts."""
    for (name, measure), variables in one.joint.variables.items():
        table = one.joint.tables[name]
        cells = np.arange(table.cells).reshape(table.shape)
        own = variables[cells[np.ix_(*[nodes.leaves for nodes in table.dimensions])].ravel()]
        yield (name, measure), np.unique(own[own >= 0])


def _certain_people(
    one: Derivation, by_table: Mapping[tuple[str, str], NDArray[np.int64]], intervals: Intervals
) -> int:
    """The sum of the lower limits of the leaves: of the table with the most for each group of people."""
    most: dict[str, int] = {}
    for (name, _), variables in by_table.items():
        group = repr(sorted(one.joint.tables[name].declaration.subgroup.items()))
        most[group] = max(most.get(group, 0), int(np.maximum(intervals.low[variables], 0).sum()))
    everyone = most.pop(repr([]), 0)
    return max(everyone, sum(most.values()))


def _solutions(derivations: Sequence[Derivation], cap: int, effort: float) -> tuple[int, bool, bool]:
    """The number of tables that fit, whether there are no more, and whether counting ended."""
    number, is_exact, finished = 1, True, True
    for one in derivations:
        own = one.solutions(cap=cap, effort=effort)
        number, is_exact, finished = number * max(own.number, 1), is_exact and own.is_exact, finished and own.finished
    if number > cap:
        return cap, False, True
    return number, is_exact, finished


def _said(outcome: Outcome) -> dict[str, Any]:
    """The numbers of tables and of people that sentences name."""
    details = outcome.details
    people = details.get("people", 0)
    return {
        "fitting": details["solutions"],
        "people": people,
        "column": details.get("column", ""),
        "one_set": bool(people) and details["solutions"] == 1 and not details["more_solutions"],
        "with_values": details.get("certain_with_values", 0),
    }


RECONSTRUCTION = AggregateCheck(
    name="reconstruction",
    title="Reconstruction of people from counts",
    disclosure_type=DisclosureType.IDENTITY_MODEL,
    parameters=ReconstructionParameters,
    measure=reconstruction,
    threshold="certain_people",
    comparison=Comparison.AT_MOST,
    label="people whose whole combination is certain",
    further=(Limit("solutions", Comparison.AT_LEAST, "tables that fit"),),
    sentences=Sentences(
        passed="{certain}; {tables}.",
        failed="{certain}; {tables}.",
        parts={
            "certain": (
                "The published counts make the whole combination of categories of {observed:{unit}} certain, in "
                "{leaves:leaf cell} of which {hidden} {hidden:is|are} hidden"
            ),
            "tables": (
                "[{people>0?}{sets}|[{unique?}only one table of whole numbers fits|[{more_solutions?}more than ]"
                "{fitting:table} of whole numbers [{fitting>1?}fit|fits]]]"
            ),
            "sets": (
                "[{one_set?}only one set of {people:{unit}} fits the published counts and the statistics of "
                "'{column}': the whole combination and '{column}' of all of them are known|"
                "[{more_solutions?}more than ]"
                "{fitting:set} of {unit:plural} [{fitting>1?}fit|fits] the published counts and the statistics of "
                "'{column}'[{with_values>0?}, and in all of them {with_values:{unit}} [{with_values>1?}have|has] the "
                "same '{column}']]"
            ),
        },
        values=_said,
    ),
    guide=built_in_guide(__file__, "reconstruction.md"),
)
