"""The example of several intruders is audited, and says what its page says; its figures are those of plain Python."""

from __future__ import annotations

import csv
import re
import shutil
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import pytest

from tcdp_audit import Audit, audit
from tcdp_audit.cli.run import run

FOLDER = Path(__file__).parents[2] / "examples" / "scenarios"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
KNOWS = {
    "recipient": ("age", "sex", "district", "marital"),
    "acquaintance": ("age", "sex", "district", "marital", "occupation"),
    "breach": ("age", "sex", "district"),
}
ATTEMPT = {"recipient": Fraction("0.2"), "acquaintance": Fraction("0.51"), "breach": Fraction("0.1")}


@pytest.fixture(scope="module")
def patients() -> list[dict[str, str]]:
    with (FOLDER / "patients.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def result() -> Audit:
    return audit(FOLDER / "patients.csv", FOLDER / "patients.tcdp.yaml")


def classes(rows: list[dict[str, str]], knows: tuple[str, ...]) -> dict[tuple[str, ...], list[dict[str, str]]]:
    grouped = defaultdict(list)
    for row in rows:
        grouped[tuple(row[name] for name in knows)].append(row)
    return grouped


@pytest.mark.parametrize("name", KNOWS)
def test_average_risks(result: Audit, patients: list[dict[str, str]], name: str) -> None:
    average = ATTEMPT[name] * len(classes(patients, KNOWS[name])) / len(patients)
    (outcome,) = (o for o in result.expectations if (o.check, o.scenario) == ("reidentification_risk", name))

    assert outcome.observed == float(average)


@pytest.mark.parametrize(("name", "people"), [("recipient", 30), ("acquaintance", 130)])
def test_diagnoses_that_follow(result: Audit, patients: list[dict[str, str]], name: str, people: int) -> None:
    alike = (rows for rows in classes(patients, KNOWS[name]).values() if len({row["diagnosis"] for row in rows}) == 1)
    (outcome,) = (
        o for o in result.expectations if (o.check, o.scenario, o.attribute) == ("homogeneity", name, "diagnosis")
    )

    assert sum(map(len, alike)) == people
    assert outcome.records is not None
    assert outcome.records.failing == people


def test_the_register_hides_each_patient(result: Audit, patients: list[dict[str, str]]) -> None:
    with (FOLDER / "register.csv").open(encoding="utf-8", newline="") as file:
        register = Counter(tuple(row.values()) for row in csv.DictReader(file))
    smallest = min(register[one] for one in classes(patients, KNOWS["breach"]))
    observed = {o.check: o.observed for o in result.expectations if o.scenario == "demonstration"}

    assert smallest == 19
    assert (observed["k_map"], observed["reidentification_risk"]) == (19, float(Fraction(1, 19)))


def test_people_exposed_are_the_union(result: Audit, patients: list[dict[str, str]]) -> None:
    exposed = set()
    for name in ("recipient", "acquaintance"):
        for rows in classes(patients, KNOWS[name]).values():
            if len({row["diagnosis"] for row in rows}) == 1:
                exposed |= {id(row) for row in rows}

    assert result.exposed is not None
    assert result.exposed.people == len(exposed)


def test_the_page_says_what_the_command_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("patients.csv", "register.csv", "patients.tcdp.yaml"):
        shutil.copy(FOLDER / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    assert run("check", ["--policy", "patients.tcdp.yaml"]) == 1

    shown = re.search(r"```console\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    lines = [line.strip() for line in shown[1].splitlines()[1:-1] if line != "…"]
    said = iter([line.strip() for line in capsys.readouterr().out.splitlines()])
    assert [line for line in lines if not any(line == other for other in said)] == []
