"""The remedy itself: from a view to the columns at the best combination of levels, or why no combination will do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.remedy import MergedDemands, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome, agree, listing
from tcdp_audit_plugins.remedies._shared.class_size import sufficient_size
from tcdp_audit_plugins.remedies._shared.refusal import failed_as_one_class, refused_as_one_class
from tcdp_audit_plugins.remedies.generalization.base import Base
from tcdp_audit_plugins.remedies.generalization.lattice import Lattice
from tcdp_audit_plugins.remedies.generalization.lattice_search import LatticeSearch
from tcdp_audit_plugins.remedies.generalization.levels import Ladder, ladder
from tcdp_audit_plugins.remedies.generalization.losses import Measure, mean_penalties
from tcdp_audit_plugins.remedies.generalization.node_judge import JudgedNode, NodeJudge, Ways
from tcdp_audit_plugins.remedies.generalization.parameters import GeneralizationParameters, why_not_applicable
from tcdp_audit_plugins.remedies.generalization.recoded import recoded_locally

LIMITS = (0.01, 0.05)  # of suppressed records, in a plan
DOTS = 200  # dots in the report's chart
TRIED = 20  # nodes that are tried without a limit to say which limit would do
FINE = 1000  # limits are proposed in steps of one over this


def generalize(view: RemedyView, parameters: GeneralizationParameters) -> Treatment:
    """Generalise each quasi-identifier to one level, so that every class keeps the policy at the least loss.

    Raises:
        RemedyError: no combination of levels keeps the policy, a fixed level does not exist, or a hierarchy does not
            fit the column.

    Cost: a sort of the records; for each node looked at a sort of the base classes and their sensitive values.
    """
    ladders = _ladders(view, parameters)
    search = _search(view, parameters, ladders)
    best = search.run()
    if best is None:
        raise RemedyError(refusal(search))
    if parameters.local_recoding:
        return _locally(view, search, best)
    return _treatment(view, search, best)


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a quasi-identifier has a hierarchy and a demand fails that larger classes keep.

    Args:
        view: the release.
        outcomes: what stands against it.
    """
    if all(why_not_applicable(view, None, one) for one in outcomes):
        return
    limits: list[dict[str, Any]] = [{}, *({"suppression": limit} for limit in LIMITS)]
    if view.failing_on_classes(outcomes):
        yield from limits
    for given in limits if view.class_sizes(outcomes) else ():
        size = sufficient_size(view, outcomes, partial(_of_size, view, given))
        if size is not None:
            yield {**given, "k": size}


def _of_size(view: RemedyView, given: Mapping[str, Any], k: int) -> Treatment:
    return generalize(view, GeneralizationParameters.model_validate({**given, "k": k}))


def _ladders(view: RemedyView, parameters: GeneralizationParameters) -> list[Ladder]:
    widths = parameters.bins or {}
    return [ladder(view, one, widths.get(one.name)) for one in view.quasi_identifiers]


def _search(view: RemedyView, parameters: GeneralizationParameters, ladders: Sequence[Ladder]) -> LatticeSearch:
    choices = [_choices(one, (parameters.levels or {}).get(one.name)) for one in ladders]
    costs = mean_penalties(ladders) if parameters.loss is Measure.NCP else None
    lattice = Lattice.of(choices, costs)
    base = Base(ladders, [levels[0] for levels in choices])
    demands = MergedDemands(view.demands.of_classes(parameters.k), base.classes, len(base.sizes))
    judge = NodeJudge(base, demands, parameters.loss, int(parameters.suppression * view.records), _ways(view))
    return LatticeSearch(lattice, judge, view.progress)


def _ways(view: RemedyView) -> Ways:
    """What may become of records that fail."""
    return Ways(
        grouping=bool(view.policy.conventions.suppressed_tokens), dropping=not view.policy.document.rows_aligned
    )


def _choices(ladder: Ladder, fixed: int | None) -> list[int]:
    """The levels that an attribute may have."""
    if fixed is None:
        return ladder.distinct
    if fixed > ladder.height:
        raise RemedyError(f"{ladder.name!r} has no level {fixed}: its levels go from 0 to {ladder.height}")
    return [fixed]


def _treatment(view: RemedyView, search: LatticeSearch, best: JudgedNode) -> Treatment:
    """The columns at a node, and which records stay."""
    judge, notes = search.judge, notes_of(search, best)
    suppressed = judge.removed(best.levels)[judge.base.classes]
    dropped = suppressed & (not best.grouped)
    columns = {
        one.name: _column(one, level, suppressed & best.grouped, view.suppressed_token)
        for one, level in zip(judge.base.ladders, best.levels, strict=True)
        if level or best.grouped
    }
    return Treatment(columns, ~dropped if dropped.any() else None, notes)


def _locally(view: RemedyView, search: LatticeSearch, best: JudgedNode) -> Treatment:
    """The columns with finer labels than those of a node, class by class, and which records stay."""
    base = search.judge.base
    recoded = recoded_locally(search.judge, best, search.lattice.levels, view.suppressed_token)
    columns = {one.name: recoded.column(number, base.classes) for number, one in enumerate(base.ladders)}
    present = recoded.recoding.present[base.classes]
    return Treatment(
        {name: column for name, column in columns.items() if column is not None},
        None if present.all() else present,
        {**notes_of(search, best), "local_recoding": recoded.notes()},
    )


def _column(ladder: Ladder, number: int, hidden: NDArray[np.bool_], token: str) -> NewColumn:
    """A quasi-identifier at one level; hidden records get the token."""
    level = ladder.levels[number]
    codes = np.where(hidden, len(level.labels), level.codes[ladder.attribute.codes])
    return NewColumn.of_texts([*level.labels, token], codes)


def notes_of(search: LatticeSearch, best: JudgedNode) -> dict[str, Any]:
    """The figures that the guide explains, by name; no cell among them."""
    ladders = search.judge.base.ladders
    return {
        "nodes": search.lattice.nodes,
        "evaluated": len(search.seen),
        "pruning": "monotonicity" if search.judge.monotone else "bounds",
        "levels": {one.name: [level, one.height] for one, level in zip(ladders, best.levels, strict=True)},
        "measure": search.judge.measure.value,
        "loss": best.loss,
        "suppressed": best.suppressed,
        "grouped": best.grouped,
        "lattice": _dots(search, best),
        "local_recoding": {},
    }


def _dots(search: LatticeSearch, best: JudgedNode) -> list[list[Any]]:
    """The best node, and as many others as the chart has room for, evenly over the order of their losses."""
    others = _spread(sorted((one for one in search.seen if one is not best), key=_rank), DOTS - 1)
    records = int(search.judge.base.sizes.sum())
    dots = sorted([best, *others], key=_rank)
    return [[one.loss, one.suppressed / records, one.kept, list(one.levels)] for one in dots]


def _rank(judged: JudgedNode) -> tuple[float, list[int]]:
    return judged.loss, list(judged.levels)


def _spread(ordered: Sequence[JudgedNode], room: int) -> list[JudgedNode]:
    if len(ordered) <= room:
        return list(ordered)
    return [ordered[round(place * (len(ordered) - 1) / (room - 1))] for place in range(room)]


def refusal(search: LatticeSearch) -> str:
    """The reason why no combination of levels keeps the policy, and a limit of suppression that would do.

    Args:
        search: one without a result.
    """
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


def _insufficient(search: LatticeSearch) -> str:
    """The demands that the coarsest node does not keep."""
    judge = search.judge
    checks = judge.demands.failed(*judge.base.merged(search.lattice.at(search.lattice.top)))
    fails = f"{' and '.join(checks)} {agree(len(checks), 'fails', 'fail')}"
    if not checks:
        return "the coarsest of them leaves nothing to release"
    demands = judge.demands.demands
    if whole := failed_as_one_class(demands):
        return f"even at the coarsest of them {fails}, and {refused_as_one_class(whole, demands)}"
    tops = zip(judge.base.ladders, search.lattice.at(search.lattice.top), strict=True)
    told = listing([repr(one.name) for one, level in tops if len(one.levels[level].labels) > 1])
    return f"even at the coarsest of them {fails}; with all values of {told} alike, one class would keep the policy"


def _nearest(search: LatticeSearch) -> JudgedNode | None:
    """The node that can be kept with the fewest suppressed records, among those that came nearest."""
    unlimited = replace(search.judge, allowed=int(search.judge.base.sizes.sum()) - 1)
    nearest = sorted(search.seen, key=lambda one: (one.suppressed, one.loss))[:TRIED]
    tried = (unlimited.judge_node(one.levels) for one in nearest)
    return min((one for one in tried if one.kept), key=lambda one: one.suppressed, default=None)
