"""The page on scale has the figures that the formulas give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from documents import ROOT, read


@pytest.fixture
def growth(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program that measures how fast costs grow."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.delitem(sys.modules, "growth", raising=False)
    return __import__("growth")


@pytest.mark.long
def test_the_predictions_are_what_the_program_prints():
    command = [sys.executable, ROOT / "benchmarks" / "bytes_model.py"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert printed.count("\n") > 10
    assert printed in read("docs/scale.md")


def test_exponents_are_those_of_powers_and_what_is_faster_than_its_limit_is_named(growth: ModuleType):
    squares = growth.series("audit", "records", (100, 200, 800), growth.LINEAR, columns=5)
    costs = [growth.Cost(cpu=1.0, memory=0.005), growth.Cost(cpu=4.0, memory=0.02), growth.Cost(cpu=8.0, memory=0.08)]

    assert growth.exponents(squares, costs) == [(2.0, None), (0.5, 1.0)]
    assert growth.too_fast("squares", squares, costs) == [
        "squares: CPU seconds grow with exponent 2.00 from 100 to 200 records; the limit is 1 + 0.15"
    ]
    by_columns = growth.series("audit", "columns", (5, 10, 20), growth.QUADRATIC, records=100)
    assert growth.too_fast("columns", by_columns, [growth.Cost(4.0**step, 0.1) for step in range(3)]) == []
    assert len(growth.too_fast("columns", by_columns, [growth.Cost(8.0**step, 0.1) for step in range(3)])) == 2


def test_every_series_grows_in_one_size_and_only_columns_may_be_quadratic(growth: ModuleType):
    for one in growth.SERIES.values():
        sizes = [{name: getattr(case, name) for name in ("records", "columns", "expectations")} for case in one.cases]
        assert {name for name in sizes[0] if len({size[name] for size in sizes}) > 1} == {one.grows}
        assert [size[one.grows] for size in sizes] == sorted(size[one.grows] for size in sizes)
        assert one.limit == (growth.QUADRATIC if one.grows == "columns" else growth.LINEAR)


@pytest.mark.parametrize("work", ["audit", "draft"])
def test_each_kind_of_work_is_measured_in_a_process(work: str, growth: ModuleType, tmp_path: Path):
    cost = growth.Tables(str(tmp_path)).cost(work, growth.Case(records=400, columns=3, expectations=2), rounds=1)

    assert cost.cpu > 0
    assert cost.memory >= 0
    assert {one.name for one in tmp_path.iterdir()} == {"400-3.parquet", "60-3.parquet"}


def test_a_failing_growth_ends_with_an_exit_code_and_the_page_is_written(
    growth: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    page = tmp_path / "scale.md"
    page.write_text("Before\n<!-- growth -->\nold\n<!-- end of growth -->\nAfter\n", encoding="utf-8")
    monkeypatch.setattr(growth, "PAGE", page)
    monkeypatch.setattr(growth.Tables, "cost", lambda _self, _work, case, _rounds: growth.Cost(case.records**2, 1.0))
    monkeypatch.setattr(sys, "argv", ["growth.py", "--write"])
    with pytest.raises(SystemExit) as ended:
        growth.main()

    assert "audit by records: CPU seconds grow with exponent 2.00" in str(ended.value)
    table = (
        page.read_text(encoding="utf-8")
        .removeprefix("Before\n<!-- growth -->\n")
        .removesuffix("<!-- end of growth -->\nAfter\n")
    )
    assert table == capsys.readouterr().out


def test_the_page_has_the_table_of_all_series(growth: ModuleType):
    table = read("docs/scale.md").partition("<!-- growth -->\n")[2].partition("<!-- end of growth -->")[0]
    head, rule, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    cases = [(one.work, case) for one in growth.SERIES.values() for case in one.cases]

    assert tuple(head) == growth.HEADS
    assert rule
    assert [row[:3] for row in rows] == [[work, f"{case.records:,}", str(case.columns)] for work, case in cases]
    for row, (_, case) in zip(rows, cases, strict=True):
        assert row[3].strip() == str(case.expectations or "")
        assert float(row[4]) > 0
