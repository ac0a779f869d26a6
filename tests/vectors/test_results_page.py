"""The results page, the tool in shell and awk, and what a tool's answer is called."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from vectors import page
from vectors.adapters import LacksError, RefusesError, Reply
from vectors.defects import OTHERS, WHY
from vectors.reading import CASES, Vector, load
from vectors.run import RESULTS, TOOLS, judged

VECTORS = {one.id: one for one in load()}
HERE = CASES.parent


def of(measure: str, table: str) -> Vector:
    return next(one for one in VECTORS.values() if one.measure == measure and one.path.stem == table)


def test_the_page_is_what_the_results_give() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.text()


def test_at_least_five_other_tools_were_asked_every_vector() -> None:
    stored = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*.json")}
    assert {*stored} - {"tcdp-audit", "verifier"} >= {"pycanon", "anjana", "anonypy", "acro", "anonymeter", "arx"}
    assert {*stored} <= {*TOOLS}
    for tool, run in stored.items():
        assert sorted(one["vector"] for one in run["results"]) == sorted(VECTORS), tool
        assert bool(run["version"]) == (tool not in {"tcdp-audit", "verifier"})


def test_ours_are_right_or_not_ours_to_answer() -> None:
    for tool, allowed in (("tcdp-audit", {"right"}), ("verifier", {"right", "lacks"})):
        run = json.loads((RESULTS / f"{tool}.json").read_text(encoding="utf-8"))
        assert {one["status"] for one in run["results"]} == allowed


def test_each_defect_that_the_readme_names_is_a_row() -> None:
    written = page.text()
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8").partition("## Why")[2].partition("\n## ")[0]
    for words, defect in zip(
        ("lack their only quasi-identifier", "truncates entropy", "wrong order"), WHY, strict=True
    ):
        assert words in " ".join(readme.split())
        assert f"| {defect.sentence} |" in written
    assert all(f"| {defect.sentence} |" in written for defect in OTHERS)


def test_stored_figures_are_those_of_the_stored_files(data: Path) -> None:
    for one in json.loads((HERE / "stored.json").read_text(encoding="utf-8")):
        name, *steps = one["truth"].split()
        figure: Any = json.loads((data / "truth" / name).read_text(encoding="utf-8"))
        for step in steps:
            figure = min(figure) if isinstance(figure, list) else figure[step]
        assert Fraction(str(figure)) == Fraction(one["theirs"]), one["figure"]


@pytest.mark.long
@pytest.mark.skipif(shutil.which("awk") is None, reason="awk is not installed")
def test_fifty_lines_of_shell_and_awk_answer_twenty_vectors() -> None:
    script = HERE / "examples" / "twenty.sh"
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 50
    done = subprocess.run(["sh", str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "20 of 20 right"
    assert len(done.stdout.splitlines()) == 21


@pytest.mark.long
def test_the_script_notices_a_wrong_answer(tmp_path: Path) -> None:
    shutil.copytree(HERE / "examples", tmp_path / "examples")
    shutil.copytree(CASES, tmp_path / "cases")
    first = tmp_path / "cases" / "k_anonymity" / "01.json"
    first.write_text(first.read_text(encoding="utf-8").replace('"answer": "1"', '"answer": "2"', 1), encoding="utf-8")
    done = subprocess.run(["sh", str(tmp_path / "examples" / "twenty.sh")], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "19 of 20 right" in done.stdout


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (Reply("3"), "right"),
        (Reply("2.9999999999999996"), "right"),
        (Reply("3", "pass"), "right"),
        (Reply(None, "pass"), "right"),
        (Reply("3", "fail"), "wrong"),
        (Reply("2"), "wrong"),
        (Reply("infinite"), "wrong"),
        (Reply("2.99"), "wrong"),
        (Reply(None, "fail"), "wrong"),
        (LacksError("none"), "lacks"),
        (RefusesError("NaN"), "refuses"),
        (ZeroDivisionError("division"), "refuses"),
    ],
)
def test_what_an_answer_is_called(reply: Reply | Exception, status: str) -> None:
    assert judged(of("entropy_l_diversity", "li07_table4"), reply, "").status == status


def test_a_documented_reading_is_a_convention_and_no_mistake() -> None:
    vector = next(one for one in VECTORS.values() if one.measure == "delta_disclosure" and one.readings)
    (name,) = vector.readings
    other = vector.readings[name]["answer"]
    said = Reply(other if isinstance(other, str) else other["low"])
    assert judged(vector, said, name).status == "convention"
    assert judged(vector, said, "").status == "wrong"


def test_a_refusal_is_right_where_no_answer_exists() -> None:
    vector = of("k_anonymity", "no_record")
    assert judged(vector, RefusesError("empty"), "").status == "right"
    assert judged(vector, Reply("0"), "").status == "wrong"


def test_a_tool_that_judges_thresholds_lacks_a_question_without_one() -> None:
    vector = replace(of("k_anonymity", "li07_table4"), verdict="")
    assert judged(vector, Reply(None, "pass"), "").status == "lacks"


def test_the_mistake_is_named_where_its_figure_is_given() -> None:
    vector = of("distinct_l_diversity", "missing_in_the_only_column")
    assert judged(vector, Reply("2"), "").why == vector.catches["sentence"]
    assert judged(vector, Reply(None, "pass"), "").why == ""
