"""Intervals of possible values of hidden cells, and how wide they are."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, inf
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from tcdp_audit.plugin.aggregate import (
    UNBOUNDED,
    AggregateCheck,
    CellFigure,
    CellsView,
    Demand,
    Derivation,
    FailingCell,
    Intervals,
)
from tcdp_audit.plugin.check import DisclosureType
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Sentences
from tcdp_audit_plugins.checks.derivable_cells.protection import Rule, Truth, demand_of_limits, rule_of
from tcdp_audit_plugins.checks.derivable_cells.targets import DerivationParameters, Mask, added_figures, failing_cells
from tcdp_audit_plugins.guides import built_in_guide

PRIMARY = "primary"
FAR = 2**60  # steps from which on nothing bounds a width
ENUMERATED, TABLES, SECONDS = 10, 20_000, 0.2  # cells whose values are listed, tables and seconds for each


class FeasibilityIntervalParameters(DerivationParameters):
    """Parameters of `feasibility_interval`."""

    sliding: Annotated[
        Exact | None, Field(gt=0, description="The least width that the interval of a hidden cell must have.")
    ] = None
    upper: Annotated[
        Exact | None,
        Field(ge=0, description="How far above the true value the interval must reach; needs the records."),
    ] = None
    lower: Annotated[
        Exact | None,
        Field(ge=0, description="How far below the true value the interval must reach; needs the records."),
    ] = None
    limits_from: Annotated[
        Literal["p_percent", "dominance", "pq_rule"] | None,
        Field(description="The demand of the policy from which each cell's `upper`, and its `lower`, follows."),
    ] = None
    cells: Annotated[
        Literal["suppressed", "primary"],
        Field(description="All hidden cells, or those alone whose token is declared `primary`."),
    ] = "suppressed"

    @model_validator(mode="after")
    def _has_one_upper_limit(self) -> FeasibilityIntervalParameters:
        if self.limits_from is not None and self.upper is not None:
            raise ValueError(
                "`limits_from` says how far the interval must reach above the true value; leave `upper` out"
            )
        return self

    @property
    def needs_truth(self) -> bool:
        """Whether the true values are needed."""
        return self.upper is not None or self.lower is not None or self.limits_from is not None


def feasibility_interval(view: CellsView, parameters: FeasibilityIntervalParameters) -> CellFigure:
    """The number of hidden cells whose interval of possible values is too narrow.

    A cell fails if it has one possible value, over all tables about the same people together, or if its interval misses
    a demand: it must be at least `sliding` wide, and reach `upper` above and `lower` below the true value.

    Returns:
        A number of cells. `known_exactly` counts those with one possible value, `narrowest` is the least width that was
        proved of another one.

    Raises:
        CheckError: no table can be added up, or the figures contradict each other; limits around the true value are
            demanded, and the figures are not those of the records.

    Cost: see `find_intervals`; at most `effort` seconds of programs.

    Source: Fischetti, Salazar, Solving the cell suppression problem on tabular data with linear constraints, Management
    Science 47, 2001; Handbook on Statistical Disclosure Control, 2nd ed., 4.3.
    """
    relaxed = view.policy.conventions.integers == "relaxed"
    rules = [] if parameters.limits_from is None else rule_of(view, parameters.limits_from)
    failing, known, hidden, open_cells, cells = list[FailingCell](), 0, 0, 0, 0
    narrowest, widths = inf, list[float]()
    fewest: int | None = None
    for one in added_figures(view):
        judged = one.hidden if parameters.cells == "suppressed" else one.hidden & _primary(one)
        demand = _demand(view, one, judged, parameters, rules)
        one.decide(Demand(judged), integers=not relaxed, effort=parameters.effort)  # which are known exactly
        intervals = one.decide(demand, integers=not relaxed, effort=parameters.effort)
        fails = judged & ~demand.holds(intervals.low, intervals.high)
        closer = intervals
        if view.show_values and fails.any():
            closer = one.attain(fails, integers=not relaxed, effort=parameters.effort)
        failing += failing_cells(view, one, fails & intervals.known, closer)
        failing += failing_cells(view, one, fails & ~intervals.known, closer, computed=False)
        open_cells += int((one.undecided(intervals, demand, relaxed=relaxed) & ~fails).sum())
        hidden += int(judged.sum())
        known += int((judged & intervals.known).sum())
        cells += int((one.hidden | one.published).sum())
        attained = judged & intervals.attained
        own = (intervals.high - intervals.low)[attained & ~intervals.known] / one.joint.scale
        narrowest = min(narrowest, own.min(initial=inf))
        widths += [own.sum() if attained[judged].all() else inf]
        fewest = _fewest_values(one, judged & ~intervals.known, intervals, fewest)
    details = {
        "hidden": hidden,
        "known_exactly": known,
        "narrowest": narrowest if narrowest < FAR else None,
        "sum_of_widths": sum(widths) if sum(widths) < FAR else None,
        "feasible_values": fewest,
        "first": failing[0].sentence if failing else "",
    }
    return CellFigure(Fraction(len(failing)), cells, tuple(failing), details, undecided=open_cells)


def _demand(
    view: CellsView, one: Derivation, judged: Mask, parameters: FeasibilityIntervalParameters, rules: Sequence[Rule]
) -> Demand:
    """The demand on hidden variables, in steps."""
    steps = one.joint.scale
    width = 1 if parameters.sliding is None else ceil(parameters.sliding * steps)
    if not parameters.needs_truth:
        return Demand(judged, width=width)
    truth = Truth.of(view, one, judged, rules)
    reach_high, reach_low = np.full(len(judged), -UNBOUNDED), np.full(len(judged), UNBOUNDED)
    for variable, value in truth.value.items():
        upper = truth.protection.get(variable, Fraction(0)) if rules else _steps(parameters.upper, steps)
        lower = upper if rules and parameters.lower is None else _steps(parameters.lower, steps)
        reach_high[variable] = reach_high[variable] if upper is None else ceil(value + upper)
        reach_low[variable] = reach_low[variable] if lower is None else floor(value - lower)
    if unknown := int(judged.sum()) - len(truth.value):
        raise CheckError(
            f"the records say nothing of {unknown} hidden figures, so that nothing can be demanded of them"
        )
    return Demand(judged, width=width, reach_low=reach_low, reach_high=reach_high)


def _steps(limit: Exact | None, steps: int) -> Fraction | None:
    return None if limit is None else Fraction(limit) * steps


def _fewest_values(one: Derivation, cells: Mask, intervals: Intervals, fewest: int | None) -> int | None:
    """The fewest values that one of the narrowest cells has in tables of whole numbers, where these are enumerated."""
    chosen = np.flatnonzero(cells)
    widths = (intervals.high - intervals.low)[chosen]
    for variable in chosen[np.argsort(widths, kind="stable")][:ENUMERATED].tolist():
        values = one.values(variable, cap=TABLES, effort=SECONDS)
        if values is not None:
            fewest = len(values) if fewest is None else min(fewest, len(values))
    return fewest


def _primary(derivation: Derivation) -> Mask:
    """Variables that a token declares hidden for themselves. Shape (variables,)."""
    mask = np.zeros(len(derivation.hidden), np.bool_)
    for (name, measure), variables in derivation.joint.variables.items():
        table = derivation.joint.tables[name]
        tokens = [_is_primary(meaning) for meaning in table.declaration.suppressed.values()]
        of_token = table.figures[measure].token
        mask[variables[np.isin(of_token, np.flatnonzero(tokens)) & (variables >= 0)]] = True
    return mask


def _is_primary(meaning: object) -> bool:
    return meaning == PRIMARY or getattr(meaning, PRIMARY, None) is not None


FEASIBILITY_INTERVAL = AggregateCheck(
    name="feasibility_interval",
    title="Feasibility interval",
    disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
    parameters=FeasibilityIntervalParameters,
    measure=feasibility_interval,
    needs_microdata=lambda parameters, _: parameters.needs_truth,
    validate=demand_of_limits,
    label="hidden cells whose interval is too narrow",
    worst=lambda figure, _: figure.cells,
    sentences=Sentences(
        passed=(
            "[{hidden?}{known_exactly/hidden:hidden cell} {known_exactly/hidden:is|are} known exactly"
            "[; each has an interval of at least {sliding}]"
            "[{around_truth?}; each interval reaches as far around the true value as it must]|No cell is hidden]."
        ),
        failed=(
            "{failing_cells/hidden:hidden cell} {failing_cells/hidden:is|are} too narrow: {known_exactly} "
            "{known_exactly:is|are} known exactly[: {first}]."
        ),
        values=lambda outcome: {
            "around_truth": any(outcome.parameters.get(key) is not None for key in ("upper", "lower", "limits_from"))
        },
    ),
    guide=built_in_guide(__file__, "feasibility_interval.md"),
)
