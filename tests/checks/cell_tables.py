"""Tables of figures made by hand, as checks on them see them: any intervals, any states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from tcdp_audit.core.cells.table import UNBOUNDED, CellState, Figures, Nodes, PublishedTable
from tcdp_audit.core.cells.view import CellsView
from tcdp_audit.core.policy.aggregates import AggregateDeclaration
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.policy.policy import Policy

PEOPLE: dict[str, Any] = {"counts": "people"}
IMPOSSIBLE = object()  # a cell that there can be none of


class Between(tuple[Any, Any]):
    """A figure that is shown, and known to lie between two ends; a plain pair is hidden."""

    __slots__ = ()


def nodes_of(name: str, labels: Sequence[str], total: str | None = "T") -> Nodes:
    """A dimension whose total is the sum of all others, or without one."""
    every = frozenset(range(len(labels)))
    if total is None:
        return Nodes(name, tuple(labels), None, occurring=every)
    place = labels.index(total)
    return Nodes(name, tuple(labels), place, ((place, tuple(sorted(every - {place})), True),), occurring=every)


def figures_of(declared: Mapping[str, Any], values: Sequence[Any], scale: int = 1) -> Figures:
    """The figures of a measure: numbers as they are, hidden pairs, `Between`, None where a row is absent."""
    measure = AggregateDeclaration.model_validate({"measures": {"x": dict(declared)}}).measures["x"]
    ends, states = [], []
    for one in values:
        state = CellState.SHOWN
        if one is None or one is IMPOSSIBLE:
            pair, state = (0, 0), CellState.ABSENT if one is None else CellState.IMPOSSIBLE
        elif isinstance(one, tuple):
            pair, state = one, CellState.SHOWN if isinstance(one, Between) else CellState.HIDDEN
        else:
            pair = (one, one)
        ends.append([UNBOUNDED if end is None else int(Fraction(end) * scale) for end in pair])
        states.append(state)
    low, high = np.array(ends, np.int64).reshape(-1, 2).T.copy()
    return Figures(measure, scale, low, high, np.array(states, np.uint8), np.full(len(values), -1, np.int16))


def table_of(
    dimensions: Sequence[Nodes], figures: Mapping[str, Figures], name: str = "table", **declared: Any
) -> PublishedTable:
    """A published table."""
    totals = {one.name: {} if one.total is None else {"total": one.labels[one.total]} for one in dimensions}
    measures = {key: one.measure.model_dump(exclude_defaults=True, by_alias=True) for key, one in figures.items()}
    declaration = AggregateDeclaration.model_validate({"dimensions": totals, "measures": measures, **declared})
    cells = prod(len(one.labels) for one in dimensions)
    first = next(iter(figures.values()))
    line = np.where(np.isin(first.state, (CellState.ABSENT, CellState.IMPOSSIBLE)), 0, np.arange(cells) + 2)
    return PublishedTable(name, declaration, f"{name}.csv", tuple(dimensions), figures, line)


def view_of(*tables: PublishedTable, show_values: bool = False, **document: Any) -> CellsView:
    """What a check sees of some tables, under a policy without demands."""
    aggregates = {one.name: one.declaration for one in tables}
    policy = Policy(PolicyDocument.model_construct(aggregates=aggregates, **document), (), "")
    return CellsView(policy, {one.name: one for one in tables}, show_values=show_values)


def names(figure: Any) -> list[tuple[str, ...]]:
    """The failing cells by their labels."""
    return sorted(tuple(one.labels.values()) for one in figure.failing)
