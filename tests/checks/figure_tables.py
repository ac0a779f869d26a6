"""Tables of figures as CSV files with their policies, audited as a user would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tcdp_audit import Audit, audit

PEOPLE = {"patients": {"counts": "people"}}


def crosstab(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[object]]], names: tuple[str, str]) -> str:
    """A table of two dimensions as a long CSV file; the last row and column are the totals."""
    lines = [f"{names[0]},{names[1]},patients"]
    lines += [
        f"{label},{column},{value}"
        for label, values in rows
        for column, value in zip(columns, values, strict=True)
        if value is not None
    ]
    return "\n".join(lines) + "\n"


def table(text: str, dimensions: Mapping[str, Any], **declared: Any) -> dict[str, Any]:
    """A table of counts of people: its text, and its declaration."""
    return {"text": text, "dimensions": dict(dimensions), "measures": PEOPLE, **declared}


def audit_tables(
    folder: Path,
    tables: Mapping[str, Mapping[str, Any]],
    expect: Sequence[Mapping[str, Any]],
    *,
    show_values: bool = False,
    **policy: Any,
) -> Audit:
    """Audit tables of figures under some expectations; each table is written to a file of its name."""
    declared = {}
    for name, one in tables.items():
        (folder / f"{name}.csv").write_text(one["text"], encoding="utf-8")
        rest = {key: value for key, value in one.items() if key != "text"}
        declared[name] = {"file": str(folder / f"{name}.csv"), **rest}
    document = {"version": 1, "unit_name": "patient", "tables": declared, "expect": list(expect), **policy}
    return audit(None, document, show_values=show_values)
