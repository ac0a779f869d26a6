"""Generalization: its parameters, and the remedy from a view to columns at the best levels, or why there are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import LinkedRows
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.remedy import (
    MergedDemands,
    NewColumn,
    RemedyError,
    RemedyParameters,
    RemedyView,
    Treatment,
    failing_demands,
)
from tcdp_audit.plugin.sentences import Outcome, agree, listing
from tcdp_audit_plugins.remedies._shared.histories import rows_of_histories
from tcdp_audit_plugins.remedies._shared.scope import only_by_size
from tcdp_audit_plugins.remedies._shared.search import (
    ClassSize,
    failed_as_one_class,
    proposals_of_size,
    refused_as_one_class,
    step_of_size,
    treatment_of_size,
)
from tcdp_audit_plugins.remedies.generalization.histories import (
    HistoryJudge,
    HistorySearch,
    HistoryTrials,
    refusal_of_histories,
)
from tcdp_audit_plugins.remedies.generalization.lattice import JudgedNode, Lattice, LatticeSearch, NodeJudge, Ways
from tcdp_audit_plugins.remedies.generalization.levels import GeneralizationLevels, generalization_levels
from tcdp_audit_plugins.remedies.generalization.local_recoding import recoded_histories, recoded_locally
from tcdp_audit_plugins.remedies.generalization.losses import Base, Measure, mean_penalties
from tcdp_audit_plugins.remedies.generalization.unit_base import UnitBase, axes_of

Widths = Annotated[list[Annotated[Exact, Field(gt=0)]], Field(min_length=1)]
LIMITS = (0.01, 0.05)  # of suppressed records, in a plan
DOTS = 200  # dots in the report's chart
TRIED = 20  # nodes that are tried without a limit to say which limit would do
FINE = 1000  # limits are proposed in steps of one over this


class GeneralizationParameters(RemedyParameters):
    """Parameters of `generalization`."""

    loss: Annotated[
        Measure,
        Field(
            strict=False,
            description="The loss to minimise: ncp, the normalised certainty penalty; discernibility, the sum of "
            "squared class sizes; average_class_size, records over classes.",
        ),
    ] = Measure.NCP
    suppression: Annotated[
        Exact,
        Field(
            ge=0,
            lt=1,
            description="The largest share of records that may be suppressed instead; where whole histories are "
            "judged, of people with all their rows.",
        ),
    ] = Fraction(0)
    levels: Annotated[
        dict[Text, Annotated[int, Field(ge=0)]] | None,
        Field(min_length=1, description="Levels that are fixed, by attribute; 0 leaves its values as they are."),
    ] = None
    bins: Annotated[
        dict[Text, Widths] | None,
        Field(
            min_length=1,
            description="Widths of bins for numeric attributes, in place of a hierarchy: {age: [5, 10, 20]}; each a "
            "multiple of the one before.",
        ),
    ] = None
    local_recoding: Annotated[
        bool,
        Field(
            description="Whether classes get finer labels afterwards, each by itself, as far as every demand is kept, "
            "suppressed records among them."
        ),
    ] = False
    k: ClassSize = None


def faults(parameters: GeneralizationParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    for field in ("levels", "bins"):
        for name in getattr(parameters, field) or ():
            declared = document.attributes.get(name)
            if declared is None or declared.role is not Role.QUASI_IDENTIFIER:
                yield field, f"{name!r} is no quasi-identifier of the policy"
            elif field == "bins" and declared.scale is not Scale.NUMERIC:
                yield field, f"bins need {name!r} to be numeric; declare `scale: numeric`, or give it a hierarchy"
    for name, widths in (parameters.bins or {}).items():
        if any(wider <= width or wider % width for width, wider in pairwise(widths)):
            yield "bins", f"each width of {name!r} must be a multiple of the one before, so that bins join into bins"


def why_not_applicable(view: RemedyView, parameters: GeneralizationParameters | None, outcome: Outcome) -> str:
    """Say why climbing hierarchies cannot help a failing demand, or nothing."""
    if view.judges_histories(outcome):
        if rows_of_histories(view) is None:
            return "acts on single rows, and this demand judges all rows of a unit together"
    elif other := only_by_size(view, outcome):
        return other
    known = [attribute for one in (view, *view.tables.values()) for attribute in one.quasi_identifiers]
    unasked = parameters is None and all(one.hierarchy is None for one in known)
    return "no quasi-identifier has a hierarchy" if unasked else ""


def generalize(view: RemedyView, parameters: GeneralizationParameters) -> Treatment:
    """Generalise each quasi-identifier to one level, so that every class keeps the policy at the least loss.

    Raises:
        RemedyError: no combination of levels keeps the policy, a fixed level does not exist, or a hierarchy does not
            fit the column.

    Cost: a sort of the records; for each node looked at a sort of the base classes and their sensitive values. Where
    whole histories are judged, an audit for some of the nodes.
    """
    if (rows := rows_of_histories(view)) is not None:
        return _generalize_histories(view, parameters, rows)
    return treatment_of_size(view, parameters.k, partial(_of_size, view, parameters))


def _of_size(view: RemedyView, parameters: GeneralizationParameters, k: int | None) -> Treatment:
    parameters = parameters.model_copy(update={"k": k})
    levels_of_all = _levels_of_all(view, parameters)
    search = _search(view, parameters, levels_of_all)
    best = search.run()
    if best is None:
        raise RemedyError(refusal(search))
    return _locally(view, search, best) if parameters.local_recoding else _treatment(view, search, best)


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a quasi-identifier has a hierarchy and a demand fails that larger classes keep."""
    if all(why_not_applicable(view, None, one) for one in outcomes):
        return
    limits: list[dict[str, Any]] = [{}, *({"suppression": limit} for limit in LIMITS)]
    if (rows := rows_of_histories(view)) is not None:
        units = len(np.unique(rows.roots))
        others = {int(Fraction(str(given.get("suppression", 0))) * units): given for given in reversed(limits)}
        yield from [*reversed(others.values()), {**limits[-1], "local_recoding": True}]
        return
    if view.failing_on_classes(outcomes):
        yield from limits
        return
    ways = [(given, partial(_of_size, view, GeneralizationParameters.model_validate(given))) for given in limits]
    yield from proposals_of_size(view, outcomes, ways)


def _generalize_histories(view: RemedyView, parameters: GeneralizationParameters, rows: LinkedRows) -> Treatment:
    """Generalise the columns of all tables, so that whole histories keep the policy at the least loss."""
    views = {rows.top: view, **view.tables}
    axes = axes_of(views, parameters.levels or {}, parameters.bins or {})
    base = UnitBase(axes, rows, [one.choices[0] for one in axes])
    costs = [list(map(float, one.sum(axis=1))) for one in base.penalties]
    lattice = Lattice.of([one.choices for one in axes], costs if parameters.loss is Measure.NCP else None)
    failing = (one for one in failing_demands(view.outcomes) if why_not_applicable(view, parameters, one))
    trials = HistoryTrials(view, base, frozenset((one.check, one.attribute, one.scenario) for one in failing))
    allowed = int(parameters.suppression * int(base.sizes.sum()))
    judge = HistoryJudge(trials, parameters.loss, allowed, max(view.history_k, parameters.k or 1))
    search = HistorySearch(lattice, judge, view.progress)
    best = search.run()
    if best is None:
        if judge.dominated:
            raise min(judge.dominated, key=lambda one: one.at_least or 0.0)
        raise RemedyError(refusal_of_histories(search, view.unit_noun))
    removed, state = judge.dropped[tuple(best.levels)], base.state(best.levels)
    local: Mapping[str, Any] = {}
    if parameters.local_recoding:
        state, local = recoded_histories(judge, state, removed)
    notes = {
        "nodes": lattice.nodes,
        "evaluated": len(search.seen),
        "pruning": "bounds",
        "levels": {axis.name: [level, axis.height] for axis, level in zip(axes, best.levels, strict=True)},
        "measure": parameters.loss.value,
        "loss": best.loss,
        "suppressed": best.suppressed,
        "counted": view.unit_noun,
        "grouped": False,
        "lattice": _dots(search, best),
        "local_recoding": local,
    }
    return replace(trials.treatment(state, removed), notes=notes)


def _levels_of_all(view: RemedyView, parameters: GeneralizationParameters) -> list[GeneralizationLevels]:
    widths = parameters.bins or {}
    return [generalization_levels(view, one, widths.get(one.name)) for one in view.quasi_identifiers]


def _search(
    view: RemedyView, parameters: GeneralizationParameters, levels_of_all: Sequence[GeneralizationLevels]
) -> LatticeSearch[NodeJudge]:
    choices = [_choices(one, (parameters.levels or {}).get(one.name)) for one in levels_of_all]
    costs = mean_penalties(levels_of_all) if parameters.loss is Measure.NCP else None
    lattice = Lattice.of(choices, costs)
    base = Base(levels_of_all, [levels[0] for levels in choices])
    demands = MergedDemands(view.demands.of_classes(parameters.k), base.classes, len(base.sizes))
    judge = NodeJudge(base, demands, parameters.loss, int(parameters.suppression * view.records), _ways(view))
    return LatticeSearch(lattice, judge, view.progress, step_of_size("searching levels", parameters.k))


def _ways(view: RemedyView) -> Ways:
    return Ways(
        grouping=bool(view.policy.conventions.suppressed_tokens), dropping=not view.policy.document.rows_aligned
    )


def _choices(attribute_levels: GeneralizationLevels, fixed: int | None) -> list[int]:
    if fixed is None:
        return attribute_levels.distinct
    if fixed > attribute_levels.height:
        raise RemedyError(
            f"{attribute_levels.name!r} has no level {fixed}: its levels go from 0 to {attribute_levels.height}"
        )
    return [fixed]


def _treatment(view: RemedyView, search: LatticeSearch[NodeJudge], best: JudgedNode) -> Treatment:
    """The columns at a node, and which records stay."""
    judge, notes = search.judge, notes_of(search, best)
    suppressed = judge.removed(best.levels)[judge.base.classes]
    dropped = suppressed & (not best.grouped)
    columns = {
        one.name: _column(one, level, suppressed & best.grouped, view.suppressed_token)
        for one, level in zip(judge.base.levels_of_all, best.levels, strict=True)
        if level or best.grouped
    }
    return Treatment(columns, ~dropped if dropped.any() else None, notes)


def _locally(view: RemedyView, search: LatticeSearch[NodeJudge], best: JudgedNode) -> Treatment:
    """The columns with finer labels than those of a node, class by class, and which records stay."""
    base = search.judge.base
    recoded = recoded_locally(search.judge, best, search.lattice.levels, view.suppressed_token)
    columns = {one.name: recoded.column(number, base.classes) for number, one in enumerate(base.levels_of_all)}
    present = recoded.recoding.present[base.classes]
    return Treatment(
        {name: column for name, column in columns.items() if column is not None},
        None if present.all() else present,
        {**notes_of(search, best), "local_recoding": recoded.notes()},
    )


def _column(attribute_levels: GeneralizationLevels, number: int, hidden: NDArray[np.bool_], token: str) -> NewColumn:
    """A quasi-identifier at one level; hidden records get the token."""
    level = attribute_levels.levels[number]
    codes = np.where(hidden, len(level.labels), level.codes[attribute_levels.attribute.codes])
    return NewColumn.of_texts([*level.labels, token], codes)


def notes_of(search: LatticeSearch[NodeJudge], best: JudgedNode) -> dict[str, Any]:
    """The figures that the guide explains, by name; no cell among them."""
    levels_of_all = search.judge.base.levels_of_all
    return {
        "nodes": search.lattice.nodes,
        "evaluated": len(search.seen),
        "pruning": "monotonicity" if search.judge.monotone else "bounds",
        "levels": {one.name: [level, one.height] for one, level in zip(levels_of_all, best.levels, strict=True)},
        "measure": search.judge.measure.value,
        "loss": best.loss,
        "suppressed": best.suppressed,
        "grouped": best.grouped,
        "lattice": _dots(search, best),
        "local_recoding": {},
    }


def _dots(search: LatticeSearch[Any], best: JudgedNode) -> list[list[Any]]:
    """The best node, and as many others as the chart has room for, evenly over the order of their losses."""
    others = _spread(sorted((one for one in search.seen if one is not best), key=_rank), DOTS - 1)
    records = int(search.judge.base.sizes.sum())
    dots = sorted([best, *others], key=_rank)
    return [[one.loss, one.suppressed / records, one.passes, list(one.levels)] for one in dots]


def _rank(judged: JudgedNode) -> tuple[float, list[int]]:
    return judged.loss, list(judged.levels)


def _spread(ordered: Sequence[JudgedNode], room: int) -> list[JudgedNode]:
    if len(ordered) <= room:
        return list(ordered)
    return [ordered[round(place * (len(ordered) - 1) / (room - 1))] for place in range(room)]


def refusal(search: LatticeSearch[NodeJudge]) -> str:
    """The reason why a search has no result, and a limit of suppression that would do."""
    judge = search.judge
    records = int(judge.base.sizes.sum())
    limit = f" with at most {judge.allowed:,} of {records:,} records suppressed" if judge.allowed else ""
    failed = f"none of the {search.lattice.nodes:,} combinations of levels keeps the policy{limit}"
    nearest = _nearest(search)
    if nearest is None:
        return f"{failed}; {_insufficient(search)}"
    failed += f"; at the nearest one tried, {nearest.suppressed:,} of {records:,} records would have to be suppressed"
    share = ceil(nearest.suppressed * FINE / records) / FINE
    return failed if share >= 1 else f"{failed}, so `suppression: {share:g}` would do"


def _insufficient(search: LatticeSearch[NodeJudge]) -> str:
    """The demands that the coarsest node does not keep."""
    judge = search.judge
    checks = judge.demands.failed(*judge.base.merged(search.lattice.at(search.lattice.top)))
    fails = f"{' and '.join(checks)} {agree(len(checks), 'fails', 'fail')}"
    if not checks:
        return "the coarsest of them leaves nothing to release"
    demands = judge.demands.demands
    if whole := failed_as_one_class(demands):
        return f"even at the coarsest of them {fails}, and {refused_as_one_class(whole, demands)}"
    tops = zip(judge.base.levels_of_all, search.lattice.at(search.lattice.top), strict=True)
    alike = listing([repr(one.name) for one, level in tops if len(one.levels[level].labels) > 1])
    return f"even at the coarsest of them {fails}; with all values of {alike} alike, one class would keep the policy"


def _nearest(search: LatticeSearch[NodeJudge]) -> JudgedNode | None:
    """The node that can be kept with the fewest suppressed records, among those that came nearest."""
    unlimited = replace(search.judge, allowed=int(search.judge.base.sizes.sum()) - 1)
    nearest = sorted(search.seen, key=lambda one: (one.suppressed, one.loss))[:TRIED]
    tried = (unlimited.judge_node(one.levels) for one in nearest)
    return min((one for one in tried if one.passes), key=lambda one: one.suppressed, default=None)
