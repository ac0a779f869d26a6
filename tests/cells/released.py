"""Tables of figures for tests: from CSV text and a declaration, through a file and its engine."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

from tcdp_audit.core.cells.intervals import find_intervals
from tcdp_audit.core.cells.joint import join_figures
from tcdp_audit.core.cells.narrowing import narrow
from tcdp_audit.core.cells.reading import read_table
from tcdp_audit.core.cells.recovery import recover
from tcdp_audit.core.cells.table import UNBOUNDED, PublishedTable
from tcdp_audit.core.cells.view import contradictions_of, say_variable
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.policy.aggregates import AggregateDeclaration
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.policy.policy import Policy

MEMORY = 2**28
COUNTS = {"n": {"counts": "people"}}


def declared(dimensions: dict[str, Any], measures: dict[str, Any] | None = None, **more: Any) -> AggregateDeclaration:
    """A declaration, of counts of people unless it says otherwise."""
    return AggregateDeclaration.model_validate({"dimensions": dimensions, "measures": measures or COUNTS, **more})


def policy_in(folder: Path, **document: Any) -> Policy:
    """A policy in a folder, without demands."""
    return Policy(PolicyDocument.model_construct(**document), (), "", folder / "policy.tcdp.yaml")


def read(folder: Path, content: Any, declaration: AggregateDeclaration, name: str = "table") -> PublishedTable:
    """A table as it is read from a CSV text, or from a frame."""
    if isinstance(content, str):
        path = folder / f"{name}.csv"
        path.write_text(content, encoding="utf-8")
        content = path
    with open_engine(content, MEMORY, name) as engine:
        return read_table(name, declaration, engine, policy_in(folder))


def rows_of(table: PublishedTable, measure: str = "n") -> dict[tuple[str, ...], tuple[int, int]]:
    """The ends of every figure in steps, by labels."""
    figures = table.figures[measure]
    return {
        tuple(table.labels(cell).values()): (int(figures.low[cell]), int(figures.high[cell]))
        for cell in range(table.cells)
    }


def intervals_of(*tables: PublishedTable) -> dict[str, tuple[float, float]]:
    """The exact interval of every variable of the only system of some tables, in units, by its words."""
    (joint,), _ = join_figures(tables)
    solved = find_intervals(recover(narrow(joint.system)))
    ends = [
        tuple(inf if abs(end) >= UNBOUNDED else end / joint.scale for end in (int(low), int(high)))
        for low, high in zip(solved.low, solved.high, strict=True)
    ]
    return {say_variable(joint, number): one for number, one in enumerate(ends)}


def findings_of(*tables: PublishedTable) -> list[str]:
    """What contradicts in some tables together, in words."""
    return [one.says for one in contradictions_of(join_figures(tables)[0])]
