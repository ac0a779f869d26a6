"""The R package passes `R CMD check`, and has the command's figures on every example."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit import __version__

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("R")]

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "clients" / "r"
LIBRARIES = ("jsonlite", "testthat", "tibble", "ggplot2")
OFFLINE = {"_R_CHECK_CRAN_INCOMING_": "false", "_R_CHECK_CRAN_INCOMING_REMOTE_": "false", "_R_CHECK_SYSTEM_CLOCK_": "0"}
COMMAND = [sys.executable, "-m", "tcdp_audit"]
BLOCK = re.MULTILINE | re.DOTALL
OF_CASC = {"francdat": ("francdat", "w"), "free1_w": ("free1", "WEIGHT")}  # entries of the ground truth


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, skip_or_fail: Callable[[str], None]) -> Path:
    """The package as R builds it."""
    if shutil.which("R") is None:
        skip_or_fail("R is not installed")
    asked = ", ".join(f"requireNamespace('{name}', quietly = TRUE)" for name in LIBRARIES)
    if _run(["Rscript", "-e", f"stopifnot({asked})"], ROOT).returncode != 0:
        skip_or_fail(f"R lacks one of {', '.join(LIBRARIES)}")
    folder = tmp_path_factory.mktemp("package")
    run = _run(["R", "CMD", "build", "--no-manual", str(PACKAGE)], folder)
    assert run.returncode == 0, run.stdout
    return folder / f"tcdpaudit_{__version__}.tar.gz"


@pytest.fixture(scope="module")
def library(built: Path) -> Path:
    """A library of R that has the package."""
    folder = built.parent / "library"
    folder.mkdir()
    run = _run(["R", "CMD", "INSTALL", f"--library={folder}", built.name], built.parent)
    assert run.returncode == 0, run.stdout
    return folder


def _run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("tcdp-audit", path=str(Path(sys.executable).parent)) or "tcdp-audit"
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "TCDP_AUDIT_COMMAND": program, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )


def test_r_cmd_check_finds_no_error_and_no_warning(built: Path):
    run = _run(["R", "CMD", "check", "--as-cran", "--no-manual", built.name], built.parent, **OFFLINE)

    log = built.parent / "tcdpaudit.Rcheck" / "00check.log"
    assert run.returncode == 0, run.stdout
    assert re.findall(r"^Status: (.*)$", log.read_text(encoding="utf-8"), re.MULTILINE) == ["OK"], run.stdout


def test_the_figures_are_the_commands(library: Path, data: Path, tmp_path: Path):
    examples = [*_of_files(tmp_path), *_of_casc(data, tmp_path)]
    (tmp_path / "examples.json").write_text(json.dumps(examples), encoding="utf-8")
    script = Path(__file__).with_name("audit_examples.R")

    ran = _run(["Rscript", str(script), "examples.json", "answers.json"], tmp_path, R_LIBS=str(library))

    assert ran.returncode == 0, ran.stdout
    answers = json.loads((tmp_path / "answers.json").read_text(encoding="utf-8"))
    assert len(answers) == len(examples) > 15
    for example, answer in zip(examples, answers, strict=True):
        _compare(example, answer)


def _compare(example: dict[str, Any], answer: dict[str, Any]) -> None:
    """Compare the answer of R with that of the command on the same table."""
    table = [] if example["file"] is None else [example["file"]]
    command = [*COMMAND, "check", *table, "--policy", example["policy"], "--json"]
    run = subprocess.run(command, capture_output=True, check=False)
    expected = json.loads(run.stdout)
    outcomes = expected["outcomes"]
    columns = ("status", "check")

    assert json.loads(answer["json"])["outcomes"] == outcomes, example["policy"]
    assert answer["exit_code"] == run.returncode
    assert [[answer[key][i] for key in columns] for i in range(len(outcomes))] == [
        [one[key] for key in columns] for one in outcomes
    ]
    for key in ("observed", "threshold"):
        assert [_number(text) for text in answer[key]] == [one[key] for one in outcomes], example["policy"]
    failing = [one["records"] and one["records"]["failing"] for one in outcomes]
    assert [_number(text) for text in answer["failing"]] == failing
    if "expected" in example:
        assert outcomes[-1]["details"]["expected"] == pytest.approx(example["expected"], rel=1e-12)


def _number(text: str) -> Any:
    return text if text == "infinity" else None if text == "null" else float(text)


def _of_files(folder: Path) -> list[dict[str, Any]]:
    """The examples of the project that are one table, as frames of texts."""
    subprocess.run([*COMMAND, "demo", str(folder / "demo")], check=True, capture_output=True)
    policies = [*sorted((ROOT / "examples").rglob("*.tcdp.yaml")), *(folder / "demo").glob("*.tcdp.yaml")]
    released = re.compile(r"^release: (\S+)", re.MULTILINE)
    named = [(policy, released.search(policy.read_text(encoding="utf-8"))) for policy in policies]
    return [
        {"policy": str(policy), "table": str(policy.parent / match[1]), "file": None, "typed": False}
        for policy, match in named
        if match
    ]


def _of_casc(data: Path, folder: Path) -> list[dict[str, Any]]:
    """Teaching data of sdcMicro as frames of numbers, with the figure that sdcMicro has."""
    truth = json.loads((data / "truth" / "individual_risk.json").read_text(encoding="utf-8"))
    examples = []
    for entry, (name, weight) in OF_CASC.items():
        table = data / "casc" / f"{name}.csv"
        columns = table.read_text(encoding="utf-8").partition("\n")[0].replace('"', "").strip().split(",")
        attributes: dict[str, Any] = {column: {"role": "insensitive"} for column in columns}
        attributes |= {column: {"role": "quasi_identifier", "scale": "nominal"} for column in truth[entry]["keyVars"]}
        attributes[weight] = {"role": "insensitive", "scale": "numeric"}
        policy = folder / f"{name}.tcdp.yaml"
        demands = [{"k_anonymity": {"k": 2}}, {"individual_risk": {"measure": "expected"}}]
        written = {"version": 1, "weight": weight, "attributes": attributes, "expect": demands}
        policy.write_text(json.dumps(written), encoding="utf-8")
        expected = truth[entry]["measure_risk"]["expected_reidentifications"]
        examples.append(
            {"policy": str(policy), "table": str(table), "file": str(table), "typed": True, "expected": expected}
        )
    return examples


def test_the_page_runs_and_prints_what_it_shows(library: Path, tmp_path: Path):
    page = (ROOT / "docs" / "how-to" / "from-r.md").read_text(encoding="utf-8")
    code, texts = ("\n".join(re.findall(rf"^```{kind}\n(.*?)^```$", page, BLOCK)) for kind in ("r", "text"))
    shutil.copy(PACKAGE / "tests" / "testthat" / "sdc_household.rds", tmp_path / "survey.rds")
    (tmp_path / "page.R").write_text(code, encoding="utf-8")

    ran = _run(["Rscript", "page.R"], tmp_path, R_LIBS=str(library))

    assert ran.returncode == 0, ran.stdout
    printed = [line.rstrip() for line in ran.stdout.splitlines()]
    shown = [line.rstrip() for line in texts.splitlines() if line]
    assert [line for line in shown if line not in printed] == []
    assert (tmp_path / "report.html").stat().st_size > 10_000
