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
        "levels": {one.name: [level, one.height] for one, level in zip(ladders, best.levels, strict=True)},
        "measure": search.judge.measure.value,
        "loss": best.loss,
        "suppressed": best.suppressed,
        "lattice": _dots(search, best),
    }


def _dots(search: Search, best: Judged) -> list[list[Any]]:
    """The best node, and as many others as the chart has room for, evenly over the order of their losses."""
    others = _spread(sorted((one for one in search.seen if one is not best), key=_rank), SHOWN - 1)
    records = int(search.judge.base.sizes.sum())
    shown = sorted([best, *others], key=_rank)
    return [[one.loss, one.suppressed / records, one.kept, list(one.levels)] for one in shown]


def _rank(judged: Judged) -> tuple[float, list[int]]:
    return judged.loss, list(judged.levels)


def _spread(ordered: Sequence[Judged], room: int) -> list[Judged]:
    if len(ordered) <= room:
        return list(ordered)
    return [ordered[round(place * (len(ordered) - 1) / (room - 1))] for place in range(room)]


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
    least = _least(search)
    if least is None:
        return f"{told}; {_insufficient(search)}"
    told += f"; at the nearest found, {least.suppressed:,} of {records:,} records would have to be suppressed"
    share = ceil(least.suppressed * FINE / records) / FINE
    return told if aligned or share >= 1 else f"{told}, so `suppression: {share:g}` would do"


def _insufficient(search: Search) -> str:
    """Which demands the coarsest node does not keep."""
    judge = search.judge
    checks = judge.demands.failed(*judge.base.merged(search.lattice.at(search.lattice.top)))
    fails = f"{' and '.join(checks)} fail{'s' if len(checks) == 1 else ''}"
    return f"even at the coarsest of them {fails}" if checks else "the coarsest of them leaves nothing to release"


def _least(search: Search) -> Judged | None:
    """The node that can be kept with the fewest suppressed records, among those that came nearest."""
    unlimited = replace(search.judge, allowed=int(search.judge.base.sizes.sum()) - 1)
    nearest = sorted(search.seen, key=lambda one: (one.suppressed, one.loss))[:TRIED]
    found = [unlimited.judged(one.levels) for one in nearest]
    return min((one for one in found if one.kept), key=lambda one: one.suppressed, default=None)
