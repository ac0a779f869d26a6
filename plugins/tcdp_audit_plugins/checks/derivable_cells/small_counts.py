"""Small counts that a reader computes from the other figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.aggregate import (
    AggregateCheck,
    CellFigure,
    CellsView,
    Demand,
    Derivation,
    FailingCell,
    Intervals,
)
from tcdp_audit.plugin.check import DisclosureType
from tcdp_audit.plugin.sentences import Sentences, listing, say
from tcdp_audit_plugins.checks.derivable_cells.targets import (
    DerivationParameters,
    Mask,
    Steps,
    add_up,
    counts_of_people,
    failing_cells,
)
from tcdp_audit_plugins.checks.published_cells.implied_counts import Implied, counts_of_shares
from tcdp_audit_plugins.guides import built_in_guide

SHARE = "has a share from which a count of people follows"


class DerivableSmallCountParameters(DerivationParameters):
    """Parameters of `derivable_small_count`."""

    k: Annotated[int | None, Field(ge=2, description="The fewest people that a computed count may be of.")] = None
    certainty: Annotated[
        Literal["exact", "below"],
        Field(description="Whether a count fails only if it is known exactly, or if it is known to be below k."),
    ] = "exact"

    @property
    def is_demand(self) -> bool:
        """Whether a number of people is demanded."""
        return self.k is not None


def derivable_small_count(view: CellsView, parameters: DerivableSmallCountParameters) -> CellFigure:
    """The number of hidden counts of 1 to k - 1 people that a reader computes from all tables together.

    Elimination and the null space of the relations decide over the real numbers, linear and integer programs the rest.
    A cell counts as protected only where two tables of whole numbers that fit, and differ in it, were seen. Counts that
    follow from published shares of a number of people are examined too. A count of rows, of which one person has q at
    most, is of so few people if it is of (k - 1) q rows at most.

    Returns:
        A number of cells; without `k`, of hidden counts that are known exactly.

    Raises:
        CheckError: no table counts people, or the figures contradict each other.

    Cost: see `find_intervals`; at most `effort` seconds of programs.

    Source: Handbook on Statistical Disclosure Control, 2nd ed., 4.3; CMS, Cell Size Suppression Policy.
    """
    relaxed = view.policy.conventions.integers == "relaxed"
    failing, cells, known, open_cells, hidden, by_sums = list[FailingCell](), 0, 0, 0, 0, 0
    bases: dict[str, dict[str, tuple[Steps, Steps]]] = {}
    for one, k in _examined(view, parameters.k):
        demand = _demand(one, parameters, k)
        intervals = one.decide(demand, integers=not relaxed, effort=parameters.effort)
        fails = (
            demand.cells & ~demand.holds(intervals.low, intervals.high) & _is_small(intervals.low, intervals.high, k)
        )
        failing += failing_cells(view, one, fails, intervals)
        by_sums += add_up(one, np.flatnonzero(fails & intervals.known).tolist())
        open_cells += int((one.undecided(intervals, demand, relaxed=relaxed) & ~fails & ~intervals.known).sum())
        cells += int((one.hidden | one.published).sum())
        hidden, known = hidden + int(one.hidden.sum()), known + int((one.hidden & intervals.known).sum())
        for (name, measure), variables in one.joint.variables.items():
            if one.joint.of[0] == "people":
                bases.setdefault(name, {})[measure] = _ends_of_cells(variables, intervals)
    implied = [one for name, own in bases.items() for one in counts_of_shares(view.tables[name], own)]
    failing += _of_shares(view, implied, parameters)
    details = {
        "hidden": hidden,
        "known_exactly": known,
        "by_sums": by_sums,
        "implied": len(implied),
        "not_examined": [f"{name}: {measure}" for name, measure in _rows_of_anyone(view)],
        "first": failing[0].sentence if failing else "",
    }
    return CellFigure(Fraction(len(failing)), cells, tuple(failing), details, undecided=open_cells)


def _examined(view: CellsView, k: int | None) -> Iterator[tuple[Derivation, int | None]]:
    """The counts of people with k, and the counts of rows of which a person has q at most with (k - 1) q + 1.

    Raises:
        CheckError: there are none.
    """
    limited = [one for one in view.derivations if one.joint.of[0] == "rows" and _most_rows(view, one) is not None]
    people = [one for one in view.derivations if one.joint.of[0] == "people"] if limited else counts_of_people(view)
    yield from ((one, k) for one in people)
    yield from ((one, None if k is None else (k - 1) * (_most_rows(view, one) or 1) + 1) for one in limited)


def _most_rows(view: CellsView, one: Derivation) -> int | None:
    """The most rows that one person has; None where that is not declared of a measure."""
    declared = [view.tables[table].figures[measure].measure.per_person for table, measure in one.joint.variables]
    return None if None in declared else max(most for most in declared if most is not None)


def _rows_of_anyone(view: CellsView) -> list[tuple[str, str]]:
    """The measures that count rows of which one person may have any number."""
    systems = [one for one in view.derivations if one.joint.of[0] == "rows" and _most_rows(view, one) is None]
    return [member for one in systems for member in one.joint.variables]


def _ends_of_cells(variables: Steps, intervals: Intervals) -> tuple[Steps, Steps]:
    """The least and the largest number of people in each cell; 0 in one that cannot be."""
    there = variables >= 0
    return np.where(there, intervals.low[variables], 0), np.where(there, intervals.high[variables], 0)


def _of_shares(
    view: CellsView, implied: Sequence[Implied], parameters: DerivableSmallCountParameters
) -> list[FailingCell]:
    """The cells whose share gives a count of 1 to k - 1 away: exactly, or under `below` all that it can be."""
    cells: dict[tuple[str, str, int], FailingCell] = {}
    for one in implied:
        is_certain = one.fewest == one.most or parameters.certainty == "below"
        if parameters.k is not None and is_certain and one.fewest >= 1 and one.most < parameters.k:
            exact = one.fewest == one.most
            figures = {"value": one.most} if exact else {"low": one.fewest, "high": one.most}
            key = one.table, one.measure, one.cell
            cells.setdefault(key, view.failing_cell(*key, says=SHARE, figures=figures))
    return list(cells.values())


def _demand(derivation: Derivation, parameters: DerivableSmallCountParameters, k: int | None) -> Demand:
    """Demand that a hidden count which may be small has several values, or under `below` one that is not small."""
    narrowed = derivation.recovery.narrowed
    judged = derivation.hidden & (narrowed.high >= 1)
    if k is None:
        return Demand(judged)
    judged &= narrowed.low < k
    if parameters.certainty == "exact":
        return Demand(judged)
    zero, enough = np.zeros(len(judged), np.int64), np.full(len(judged), k, np.int64)
    return Demand(judged, width=0, reach_low=zero, reach_high=enough, either=True)


def _is_small(low: Steps, high: Steps, k: int | None) -> Mask:
    """Whether all possible values are from 1 to k - 1."""
    return (low >= 1) & (high < k) if k is not None else np.ones(len(low), np.bool_)


def _omitted(measures: Sequence[str]) -> str | None:
    """The clause about counts of rows that were not examined; None without any."""
    if not measures:
        return None
    return say(
        "; {measures} {number:counts rows and was|count rows and were} not examined",
        measures=listing(measures),
        number=len(measures),
    )


DERIVABLE_SMALL_COUNT = AggregateCheck(
    name="derivable_small_count",
    title="Derivable small counts",
    disclosure_type=DisclosureType.IDENTITY_MODEL,
    parameters=DerivableSmallCountParameters,
    measure=derivable_small_count,
    label="hidden small counts that can be computed",
    worst=lambda figure, _: figure.cells + figure.details["implied"],
    sentences=Sentences(
        passed=(
            "[{hidden?}No hidden count of {k?}[1 to {below_k} people|people] can be computed from the other figures; "
            "{known_exactly/hidden:hidden count} {known_exactly/hidden:is|are} known exactly|No count is hidden]"
            "[{omitted}]."
        ),
        failed=(
            "{failing_cells:hidden count} of fewer than {k:{unit}} can be computed from the other figures: {first}"
            "[{failing_cells>1?}, and {others:other}]."
        ),
        measured="{known_exactly/hidden:hidden count} {known_exactly/hidden:is|are} known exactly.",
        values=lambda outcome: {
            "omitted": _omitted(outcome.details["not_examined"]),
            "below_k": (outcome.parameters.get("k") or 2) - 1,
            "others": max(len(outcome.failing_cells) - 1, 0),
        },
    ),
    guide=built_in_guide(__file__, "derivable_small_count.md"),
)
