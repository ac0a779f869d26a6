"""The search for levels of hierarchies, read from the notes of a remedy where they have it in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from tcdp_audit.plugin.report import Step
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_reports.finding import plain

MEASURES = {"ncp": "normalised certainty penalty"}


@dataclass(frozen=True)
class Node:
    """A combination of levels that was looked at."""

    loss: float
    suppressed: float
    kept: bool
    levels: tuple[int, ...]


@dataclass(frozen=True)
class Search:
    """What a step's notes say of its search.

    Args:
        nodes: combinations in ascending order of loss.
        taken: the one that was kept.
        limit: the share of records that may be suppressed; 0 for none.
        evaluated: how many combinations were looked at; more than `nodes` where those are a selection.
        total: how many there are.
        attributes: whose levels they are, in the order of the levels.
        measure: the name of the loss.
    """

    nodes: Sequence[Node]
    taken: Node
    limit: float
    evaluated: int
    total: int
    attributes: Sequence[str]
    measure: str

    @property
    def kept(self) -> list[Node]:
        """Those that keep the policy."""
        return [one for one in self.nodes if one.kept]


def search_of(step: Step, records: int) -> Search | None:
    """The search in a step's notes; None where there is none, or something else by that name."""
    nodes, taken = _nodes(step.notes.get("lattice")), _taken(step.notes, records)
    if not nodes or taken is None:
        return None
    others = [one for one in nodes if one.levels != taken.levels]
    evaluated = _whole(step.notes.get("evaluated"), len(nodes))
    return Search(
        nodes=sorted([*others, taken], key=lambda one: one.loss),
        taken=taken,
        limit=_limit(step.parameters.get("suppression")),
        evaluated=evaluated,
        total=_whole(step.notes.get("nodes"), evaluated),
        attributes=[visible(str(name)) for name in step.notes["levels"]],
        measure=_measure(step.notes.get("measure")),
    )


def _nodes(rows: Any) -> list[Node]:
    """The combinations, if every row is one."""
    nodes = [_node(row) for row in rows] if isinstance(rows, list | tuple) else []
    sound = [one for one in nodes if one is not None]
    return sound if len(sound) == len(nodes) else []


def _taken(notes: Mapping[str, Any], records: int) -> Node | None:
    """The combination that was kept: its loss, the records it dropped, and the level of each attribute."""
    levels = notes.get("levels")
    if not isinstance(levels, Mapping):
        return None
    chosen = [one[0] if isinstance(one, list | tuple) and one else one for one in levels.values()]
    dropped = notes.get("suppressed", 0)
    share = dropped / records if isinstance(dropped, int) and records else 0.0
    return _node([notes.get("loss"), share, True, chosen])


def _measure(name: Any) -> str:
    return MEASURES.get(str(name)) or plain(str(name or "as the remedy measures it"))


def _node(row: Any) -> Node | None:
    if not isinstance(row, list | tuple) or len(row) != 4 or not isinstance(row[3], list | tuple):
        return None
    loss, suppressed, kept, levels = row
    if not all(isinstance(one, int | float) and isfinite(one) for one in (loss, suppressed, *levels)):
        return None
    return Node(float(loss), float(suppressed), bool(kept), tuple(int(one) for one in levels))


def _whole(value: Any, least: int) -> int:
    return max(value, least) if isinstance(value, int) else least


def _limit(value: Any) -> float:
    try:
        return float(value or 0)
    except (TypeError, ValueError):
        return 0.0
