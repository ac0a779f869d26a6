"""What a search says of itself: figures for the report, or why nothing was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from tcdp_audit_plugins.remedies.generalization.judge import Judged
from tcdp_audit_plugins.remedies.generalization.search import Search

SHOWN = 200  # dots in the report's chart
TRIED = 20  # nodes that are tried without a limit to say which limit would do
FINE = 1000  # limits are proposed in steps of one over this


def notes(search: Search, best: Judged) -> dict[str, Any]:
    """The figures that the guide explains, by name; no cell among them."""
    ladders = search.judge.base.ladders
    return {
        "nodes": search.lattice.nodes,
        "evaluated": len(search.seen),
        "pruning": "monotonicity" if search.judge.monotone else "bounds",
        "levels": {one.name: [level, one.height] for one, level in zip(ladders, best.node.levels, strict=True)},
        "measure": search.judge.measure.value,
        "loss": best.loss,
        "suppressed": best.suppressed,
        "lattice": _dots(search),
    }


def _dots(search: Search) -> list[list[Any]]:
    """The nodes that were looked at, or as many as the chart has room for: half of them such as keep the policy.

    Among the many nodes that fail, an even selection would lose the few that do not, and the best one with them.
    """
    ordered = sorted(search.seen, key=_rank)
    kept = _spread([one for one in ordered if one.kept], SHOWN // 2)
    failing = _spread([one for one in ordered if not one.kept], SHOWN - len(kept))
    records = int(search.judge.base.sizes.sum())
    shown = sorted([*kept, *failing], key=_rank)
    return [[one.loss, one.suppressed / records, one.kept, list(one.node.levels)] for one in shown]


def _rank(one: Judged) -> tuple[float, list[int]]:
    return one.loss, list(one.node.levels)


def _spread(ordered: Sequence[Judged], most: int) -> list[Judged]:
    """At most so many of some nodes, evenly over their order, the first and the last among them."""
    if len(ordered) <= most:
        return list(ordered)
    return [ordered[round(place * (len(ordered) - 1) / (most - 1))] for place in range(most)]


def refusal(search: Search, *, aligned: bool) -> str:
    """Why no combination of levels keeps the policy, and which limit of suppression would do.

    Args:
        search: one that found nothing.
        aligned: whether the policy forbids to drop records.
    """
    judge = search.judge
    records = int(judge.base.sizes.sum())
    limit = f" with at most {judge.allowed:,} of {records:,} records suppressed" if judge.allowed else ""
    told = f"none of the {search.lattice.nodes:,} combinations of levels keeps the policy{limit}"
    if least := _least(search):
        told += f"; at the nearest found, {least.suppressed:,} of {records:,} records would have to be suppressed"
        limit = f"{ceil(least.suppressed * FINE / records) / FINE:g}"
        return told + ("" if aligned else f", so `suppression: {limit}` would do")
    checks = judge.demands.failed(*judge.base.merged(search.lattice.at(search.lattice.top)))
    failing = f", and at the coarsest of them {' and '.join(checks)} fails" if checks else ""
    return f"{told}{failing}; less must be demanded"


def _least(search: Search) -> Judged | None:
    """The node that can be kept with the fewest suppressed records, among those that came nearest."""
    unlimited = replace(search.judge, allowed=int(search.judge.base.sizes.sum()) - 1)
    nearest = sorted(search.seen, key=lambda one: (one.suppressed, one.loss))[:TRIED]
    found = [unlimited.judged(one.node.levels) for one in nearest]
    return min((one for one in found if one.kept), key=lambda one: one.suppressed, default=None)
