"""Every notebook runs from its first cell to its last, and displays what is stored in it, without a cell of a table.

`TCDP_AUDIT_GOLDEN=write` stores what it displays now.
"""

from __future__ import annotations

import ast
import json
import os
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit.demo import make_discharges

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
SESSION = EXAMPLES / "session.ipynb"
PASS = {"session": "result", "first_audit": "repaired"}  # what passes in the end


def lines(text: str) -> list[str]:
    """A text as notebooks store it."""
    return text.splitlines(keepends=True)


def displayed(value: Any) -> dict[str, list[str]]:
    """A value as notebooks show it."""
    html = getattr(value, "_repr_html_", None)
    return {**({} if html is None else {"text/html": lines(html())}), "text/plain": lines(repr(value))}


def outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """What a code cell prints, and the value of its last expression."""
    body, printed = ast.parse(source), StringIO()
    last = body.body.pop() if isinstance(body.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(body, "cell", "exec"), names)  # noqa: S102 - our own
        value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
    made: list[dict[str, Any]] = []
    if printed.getvalue():
        made.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        data = displayed(value)
        made.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return made


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_run_in_order_and_display_what_is_stored(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    stored = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    made = [outputs("".join(cell["source"]), names, number) for number, cell in enumerate(stored, 1)]
    if os.environ.get("TCDP_AUDIT_GOLDEN") == "write":
        for number, (cell, now) in enumerate(zip(stored, made, strict=True), 1):
            cell |= {"outputs": now, "execution_count": number}
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [cell["outputs"] for cell in stored] == made
    assert names[PASS[path.stem]].passed


def test_the_first_audit_displays_the_papers_figures() -> None:
    cells = json.loads((EXAMPLES / "first_audit.ipynb").read_text(encoding="utf-8"))["cells"]
    verdict, _, figures, _ = (cell["outputs"][0] for cell in cells if cell["cell_type"] == "code")

    assert "".join(verdict["data"]["text/plain"]).splitlines() == [
        "<Audit of li07_table3.csv (9 records, 4 columns): failed>",
        "✗ k_anonymity: failed, observed 1, demanded ≥ 3",
        "✗ distinct_l_diversity on 'disease': failed, observed 1, demanded ≥ 3",
        "✗ t_closeness on 'salary': failed, observed 0.500, demanded ≤ 0.375",
    ]
    assert "".join(figures["text"]).splitlines() == [
        "zip <Outcome k_anonymity: measured, observed 3>",
        "age <Outcome k_anonymity: measured, observed 3>",
        "['zip', 'age'] <Outcome k_anonymity: measured, observed 3>",
    ]


def test_no_output_has_a_cell_of_the_release() -> None:
    cells = json.loads(SESSION.read_text(encoding="utf-8"))["cells"]
    shown = json.dumps([cell["outputs"] for cell in cells if cell["cell_type"] == "code"])
    header, *records = make_discharges()["discharges.csv"].splitlines()
    column = header.split(",").index("diagnosis")
    diagnoses = {record.split(",")[column] for record in records}
    assert diagnoses
    assert not [one for one in diagnoses if one in shown]
