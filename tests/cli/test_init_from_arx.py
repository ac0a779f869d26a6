"""`tcdp-audit init --from study.deid`: what an ARX user sees, what is refused, and the way to a repaired release."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from arx.projects import IDENTIFYING, QI, SENSITIVE, Attribute, Project, write_project

AGES = [[str(age), f"[{age // 10 * 10}, {age // 10 * 10 + 10}[", "*"] for age in range(20, 60)]
ATTRIBUTES = [
    Attribute("name", IDENTIFYING),
    Attribute("age", QI, "Integer", hierarchy=AGES),
    Attribute("illness", SENSITIVE),
]
ROWS = [[f"unlikely-cell-{row}", str(20 + row % 40), ["flu", "gout"][row % 2]] for row in range(120)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path / "study.deid", Project(ATTRIBUTES, ROWS, ["5-anonymity"]))
    return tmp_path


def test_a_project_leads_to_a_verdict_and_a_repaired_release(folder: Path, here):
    drafted = here("init", "--from", "study.deid")

    assert drafted == (
        0,
        (
            "study.deid: 120 records, 3 columns\n"
            "identifier        1: name\n"
            "quasi_identifier  1: age\n"
            "sensitive         1: illness\n"
            "written: study.tcdp.yaml\n"
            "written: study.csv\n"
            "written: study.hierarchies/age.csv\n"
            "\n"
            "Drop the identifier before release: no audit passes while it is there.\n"
            "Check the roles in study.tcdp.yaml: each has its reason next to it.\n"
            "Then: tcdp-audit check study.csv\n"
        ),
        "",
    )
    checked = here(*shlex.split(drafted.out.splitlines()[-1].removeprefix("Then: tcdp-audit ")))
    assert checked.code == 1
    repaired = here("fix", "-o", "release.csv")
    assert repaired.code == 0
    assert "✓ Fit, but nothing is demanded of 'illness'." in repaired.out
    assert "unlikely-cell" not in (folder / "release.csv").read_text(encoding="utf-8")
    assert "unlikely-cell" not in (folder / "study.tcdp.yaml").read_text(encoding="utf-8")


def test_what_is_open_and_what_is_left_out_is_printed(folder: Path, here):
    project = Project(ATTRIBUTES, ROWS, ["5-anonymity", "(1.0,1.0E-5)-DP"], metric="Ambiguity")
    write_project(folder / "study.deid", project)
    drafted = here("init", "--from", "study.deid")

    assert drafted.code == 0
    assert "TODO              (1.0,1.0E-5)-DP. Differential privacy is" in drafted.out
    assert "not taken over    The quality model Ambiguity; `generalization` minimises" in drafted.out
    assert "Decide in study.tcdp.yaml about 1 privacy model with `TODO`: the file says why." in drafted.out
    refused = here("check")
    assert refused.code == 2
    assert "expect[1]: is still to be decided: write a check in place of TODO, or remove the entry" in refused.err


def test_a_release_of_arx_takes_the_place_of_the_table(folder: Path, here):
    Path("out.csv").write_text("age;illness\n" + "[20, 30[;flu\n" * 10 + "*;gout\n" * 5, encoding="utf-8")
    drafted = here("init", "out.csv", "--from", "study.deid")

    assert drafted.code == 0
    assert not (folder / "study.csv").exists()
    assert drafted.out.endswith("Then: tcdp-audit check out.csv\n")
    assert here("check", "out.csv").code == 0


def test_a_profile_and_scenarios_are_added(folder: Path, here):
    assert here("init", "--from", "study.deid", "--profile", "ema_policy_0070", "--scenarios", "--quiet") == (0, "", "")
    text = (folder / "study.tcdp.yaml").read_text(encoding="utf-8")
    assert "ema_policy_0070@" in text
    assert "  - k_anonymity: {k: 5}" in text
    assert "scenarios:" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Missing argument 'TABLE...'."),
        (["a.csv", "b.csv", "--from", "study.deid"], "--from: a project is about one table"),
        (["--from", "study.deid", "--kind", "records"], "--from: a project is about one table"),
        (["--from", "study.deid", "--roles-from", "x.json"], "--from: a project is about one table"),
        (["--from", "none.deid"], "none.deid: no such file"),
        (["--from", "study.deid", "-o", "study.deid"], "study.deid: is there already"),
        (["--from", "study.deid", "-o", "study.deid", "--force"], "must be a file of its own; this is the project"),
        (["--from", "study.deid", "--profile", "none"], "no profile is called 'none'"),
    ],
)
def test_a_wrong_call_is_refused_before_anything_is_written(folder: Path, here, arguments: list[str], sentence: str):
    before = (folder / "study.deid").read_bytes()
    refused = here("init", *arguments)

    assert refused.code == 2
    assert sentence in refused.err
    assert [one.name for one in folder.iterdir()] == ["study.deid"]
    assert (folder / "study.deid").read_bytes() == before


def test_a_file_that_is_no_project_is_code_3(here):
    Path("table.csv").write_text("age\n20\n", encoding="utf-8")
    refused = here("init", "--from", "table.csv")

    assert refused.code == 3
    assert "table.csv: no project of ARX, which is a ZIP archive" in refused.err


def test_the_extra_is_named_where_its_libraries_are_not_there(here, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "javaobj", None)
    refused = here("init", "--from", "study.deid")

    assert refused.code == 2
    assert 'a project of ARX needs defusedxml and javaobj-py3; pip install "tcdp-audit[arx]"' in refused.err
