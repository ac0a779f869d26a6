"""`tcdp-audit check --try-remedies`: what remedies would do is said, nothing is written, no verdict changes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit.cli import printing

ROWS = [(age, "abcd"[i % 4], "flu" if i % 2 else "gout") for i, age in enumerate((20, 21, 33, 51, 52, 67))]
POLICY = """
version: 1
attributes:
  age: {{role: quasi_identifier, scale: numeric}}
  zip: {{role: quasi_identifier, scale: nominal}}
  disease: {{role: sensitive, scale: nominal}}
expect:
  - k_anonymity: {demand}
"""
TRY = ("release.csv", "--try-remedies")
HEADING = "Remedies, tried in memory; nothing was written:"
NONE_KNOWN = "None of the remedies that were tried makes it pass: "
NONE_TRIED = "No remedy could be tried on it: "


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a release and its policy."""
    monkeypatch.chdir(tmp_path)
    lines = [",".join(map(str, row)) for row in ROWS]
    Path("release.csv").write_text("\n".join(["age,zip,disease", *lines, ""]), encoding="utf-8")
    write_policy()
    return tmp_path


def write_policy(demand: str = "{k: 3}", name: str = "release") -> None:
    Path(f"{name}.tcdp.yaml").write_text(POLICY.format(demand=demand), encoding="utf-8")


def test_it_is_said_in_eighty_columns_and_nothing_is_written(here: Any, folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    answer = here("check", *TRY)
    assert (answer.code, answer.err) == (1, "")
    reported = answer.out[answer.out.index(HEADING) :]
    assert "1. Mondrian partitioning: cells changed: age 6, zip 6\n" in reported
    assert "The cost: no record removed, 12 entries changed; " in reported
    assert "The release would then pass; " in reported
    assert "✗ Not fit for release. The only demand fails; 1 of 15 schema checks warns." in reported
    assert max(map(len, answer.out.splitlines())) <= 80
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert HEADING not in here("check", "release.csv").out


@pytest.mark.long
def test_every_form_but_silence_has_it(here: Any) -> None:
    reports = [argument for name in ("r.html", "r.md", "r.json") for argument in ("--report", name)]
    quiet = here("check", *TRY, "-q", *reports)
    assert quiet == (1, "", "")
    for name in ("r.html", "r.md"):
        text = Path(name).read_text(encoding="utf-8")
        assert "Decide whether the file is worth its repair, which takes much from it." in text
        assert "Remedies, the most effective first" in text
    tried = json.loads(here("check", *TRY, "--json").out)["remedy_trial"]
    assert (tried["passes"], tried["steps"][0]["remedy"]) == (True, "mondrian")
    assert json.loads(Path("r.json").read_text(encoding="utf-8"))["remedy_trial"] == tried
    assert HEADING in here("check", *TRY, "--brief").out


def test_where_no_remedy_is_known_it_says_so_and_the_exit_code_stays(here: Any) -> None:
    write_policy("{k: 7}")
    answer = here("check", *TRY)
    assert (answer.code, HEADING in answer.out) == (1, False)
    assert f"{NONE_KNOWN}the only demand still fails" in " ".join(answer.out.split())


@pytest.mark.long
def test_what_no_remedy_can_change_is_named(here: Any) -> None:
    lines = Path("release.csv").read_text(encoding="utf-8").splitlines()
    Path("release.csv").write_text("".join(f"{one},undeclared\n" for one in lines), encoding="utf-8")
    answer = here("check", *TRY)
    assert answer.code == here("check", "release.csv").code == 1
    assert f"{NONE_TRIED}no remedy can change this: " in " ".join(answer.out.split())


@pytest.mark.parametrize(("demand", "options"), [("{k: 2}", []), ("{}", ["--allow-vacuous"])])
def test_nothing_is_tried_where_nothing_counts_against_the_release(here: Any, demand: str, options: list[str]) -> None:
    write_policy(demand)
    Path("release.csv").write_text("age,zip,disease\n20,a,flu\n20,a,gout\n", encoding="utf-8")
    answer = here("check", *TRY, *options)
    assert (answer.code, HEADING in answer.out, NONE_KNOWN in answer.out) == (0, False, False)
    assert "remedy_trial" not in json.loads(here("check", *TRY, *options, "--json").out)


@pytest.mark.long
def test_a_demand_that_fails_is_no_measurement(here: Any) -> None:
    answer = here("check", *TRY, "--allow-vacuous")
    assert (answer.code, HEADING in answer.out) == (1, True)


def test_long_trials_say_how_far_they_are(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "LONG", 0.0)
    answer = here("check", *TRY)
    assert "tcdp-audit: trying remedies, 0% done, after " in answer.err
    assert "trying remedies" not in answer.out


@pytest.mark.long
def test_each_policy_of_several_has_its_own(here: Any) -> None:
    write_policy("{k: 7}", name="strict")
    answer = here("check", *TRY, "--policy", ".")
    assert (answer.code, answer.out.count(HEADING), answer.out.count(NONE_KNOWN)) == (1, 1, 1)


@pytest.mark.long
def test_a_table_in_a_database_is_read_and_left(here: Any) -> None:
    pytest.importorskip("sqlalchemy")
    with sqlite3.connect("health.db") as connection:
        connection.execute("CREATE TABLE release (age INTEGER, zip TEXT, disease TEXT)")
        connection.executemany("INSERT INTO release VALUES (?, ?, ?)", ROWS)
    connection.close()
    before = Path("health.db").read_bytes()
    answer = here("check", "sqlite:///health.db?table=release", "--try-remedies", "--report", "r.md")
    assert (answer.code, HEADING in answer.out) == (1, True)
    assert Path("health.db").read_bytes() == before
    assert "The command writes a new file; this one stays as it is." in Path("r.md").read_text(encoding="utf-8")
