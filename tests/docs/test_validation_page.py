"""The validation page: figures of others with ours as they are today, and a test for each item of the papers."""

from __future__ import annotations

import ast
import re
import runpy
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from documents import LINK, ROOT, read, section

PAGE = "docs/validation.md"
ITEMS = range(1, 49)
MOST_ROWS = 4  # that one test may hold
NODE = re.compile(r"`(tests/[\w/]+/test_\w+\.py|tests/test_\w+\.py)::(test_\w+)`")


class Holder(NamedTuple):
    """A test function: whether it runs without being asked for the longer tier, and whether it may skip."""

    is_short: bool
    may_skip: bool


@cache
def functions_of(path: str) -> dict[str, Holder]:
    """The test functions of a module, by name."""
    functions = {one.name: one for one in ast.parse(read(path)).body if isinstance(one, ast.FunctionDef)}
    tests = {name: one for name, one in functions.items() if name.startswith("test_")}
    return {name: Holder(_is_short(one, functions), _may_skip(one)) for name, one in tests.items()}


def _is_short(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> bool:
    """Tests with `data`, or with a fixture that has it, are in the longer tier, as those that are marked."""
    marks = {ast.unparse(one) for one in function.decorator_list}
    return "pytest.mark.long" not in marks and not _has_data(function, functions)


def _has_data(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> bool:
    drawn = "DataObject"  # of hypothesis, which is no fixture
    arguments = {one.arg for one in function.args.args if not (one.annotation and drawn in ast.unparse(one.annotation))}
    return "data" in arguments or any(_has_data(functions[one], functions) for one in arguments if one in functions)


def _may_skip(function: ast.FunctionDef) -> bool:
    text = ast.unparse(function)
    return "mark.skip" in text or "pytest.skip" in text or "skip_or_fail" in text or "importorskip" in text


def rows() -> dict[str, str]:
    """The rows of the table of items, by their first cell."""
    table = read(PAGE).partition("<!-- items -->")[2].partition("<!-- end of items -->")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    first = [line.split("|")[1].strip() for line in lines]
    assert len(set(first)) == len(first)
    return dict(zip(first, lines, strict=True))


def faults(of: dict[str, str]) -> list[str]:
    """What is wrong with the rows."""
    named = {item: NODE.findall(line) for item, line in of.items()}
    messages = [f"{item}: no row" for item in map(str, ITEMS) if item not in of]
    messages += [f"{item}: no item of the papers" for item in of if item not in map(str, ITEMS)]
    messages += [f"{item}: no test" for item, nodes in named.items() if not nodes]
    exists = {
        node: (ROOT / node[0]).is_file() and node[1] in functions_of(node[0]) for ns in named.values() for node in ns
    }
    messages += [f"{path}::{name} does not exist" for (path, name), there in exists.items() if not there]
    held = {item: [functions_of(path)[name] for path, name in ns if exists[path, name]] for item, ns in named.items()}
    messages += [f"{item}: no test of the shorter tier" for item, ts in held.items() if not any(t.is_short for t in ts)]
    messages += [f"{item}: a test that may skip" for item, ts in held.items() if any(t.may_skip for t in ts)]
    times = Counter(node for nodes in named.values() for node in set(nodes))
    messages += [f"{path}::{name} is in {n} rows" for (path, name), n in times.items() if n > MOST_ROWS]
    return messages


def test_every_item_has_its_row_and_its_test():
    assert list(rows()) == [str(item) for item in ITEMS]
    assert faults(rows()) == []


def test_every_row_has_five_cells():
    cells = {item: re.split(r"(?<!\\)\|", line)[1:-1] for item, line in rows().items()}

    assert {item: len(one) for item, one in cells.items() if len(one) != 5} == {}
    assert [item for item, one in cells.items() if not all(cell.strip() for cell in one)] == []


def test_rows_that_link_to_the_outside_page_name_the_test_of_it():
    outside = "tests/docs/test_outside_page.py"
    linked = {item for item, line in rows().items() if any(one.startswith("outside-") for one in LINK.findall(line))}

    assert linked == {item for item, line in rows().items() if outside in line}
    assert "Every item of the four papers" in section(read(PAGE), "# Validation")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"7": None}, "7: no row"),
        (
            {"49": "| 49 | `tests/docs/test_validation_page.py::test_every_row_has_five_cells` |"},
            "49: no item of the papers",
        ),
        ({"7": "| 7 | nothing |"}, "7: no test"),
        ({"7": "| 7 | `tests/docs/test_validation_page.py::test_of_nothing` |"}, "test_of_nothing does not exist"),
        ({"7": "| 7 | `tests/docs/test_of_no_page.py::test_of_nothing` |"}, "test_of_nothing does not exist"),
        (
            {"7": "| 7 | `tests/docs/test_validation_page.py::test_the_tables_are_current` |"},
            "7: no test of the shorter",
        ),
        (
            {str(item): "| `tests/docs/test_validation_page.py::test_every_row_has_five_cells` |" for item in range(5)},
            "test_every_row_has_five_cells is in 5 rows",
        ),
    ],
)
def test_a_fault_of_the_table_is_detected(change: dict[str, str | None], message: str):
    changed = {item: line for item, line in {**rows(), **change}.items() if line is not None}

    assert any(message in one for one in faults(changed))


@pytest.mark.long
def test_the_tables_are_current(data: Path):
    script = runpy.run_path(str(ROOT / "benchmarks" / "validation.py"))
    [tables] = script["TABLES"].findall(read("docs/validation.md"))

    assert tables == script["page"](data)
