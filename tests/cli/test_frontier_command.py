"""`tcdp-audit frontier`: what it prints and writes, its exit codes, and calls that cannot work."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "frontiers"))
from frontier_samples import release

POLICY = {
    "version": 1,
    "release": "release.csv",
    "attributes": {"age": {"role": "quasi_identifier", "scale": "numeric"}, "illness": {"role": "sensitive"}},
    "expect": [{"k_anonymity": {"k": 3}}],
}
FORMS = ("json", "html", "md")
CALL = ("frontier", "--policy", "p.tcdp.yaml", "--vary", "k_anonymity=5", "--workers", "1", "--resume", "state")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frontier")
    pyarrow.csv.write_csv(release(30).select(["age", "illness"]), folder / "release.csv")
    (folder / "p.tcdp.yaml").write_text(yaml.safe_dump(POLICY), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def test_it_prints_settings_the_front_and_what_the_policy_costs(here: Any):
    answer = here(*CALL, "--report", "f.json", "--report", "f.html", "--report", "f.md")
    lines = answer.out.splitlines()
    result = json.loads(Path("f.json").read_text(encoding="utf-8"))

    assert (answer.code, answer.err) == (0, "")
    assert lines[0] == "release.csv: 30 records, 2 columns"
    assert [line.split()[:3] for line in lines if line.startswith("k ≥")] == [["k", "≥", str(k)] for k in (3, 5)]
    assert [line for line in lines if line.startswith("written: ")] == [
        f"written: f.{one}" for one in ("json", "html", "md")
    ]
    assert lines[-2].startswith(f"✓ 2 settings, {len(result['points'])} points on the front; the policy itself (k ≥ 3)")
    assert max(map(len, lines)) <= 80
    assert result["run"]["command"].startswith("tcdp-audit")


def test_a_point_is_policy_lines(here: Any):
    here(*CALL, "--quiet")
    code, out, err = here(*CALL, "--point", "1", "--report", "beside.md")

    assert (code, err) == (0, "")
    assert yaml.safe_load(out)["expect"][0]["k_anonymity"]["k"] == 3
    assert Path("beside.md").read_text(encoding="utf-8").startswith("# ")
    assert "2 points" in here(*CALL, "--point", "9").err


def test_quieter_and_as_json(here: Any):
    assert here(*CALL, "--quiet") == (0, "", "")
    assert here(*CALL, "-q") == (0, "", "")
    assert len(here(*CALL, "--brief").out.strip().splitlines()) <= 2
    assert json.loads(here(*CALL, "--json").out)["complete"] is True


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--vary", "k_anonymity"], "write the check, =, and its thresholds, such as k_anonymity=3..50"),
        (["--vary", "k_anonymity=3", "--vary", "k_anonymity=4"], "is given twice"),
        (["--vary", "k_anonymity=3", "--report", "f.sarif"], "no report format for '.sarif'"),
        (["--vary", "k_anonymity=3", "--report", "release.csv.md", "--report", "release.csv.md"], "name the same file"),
        (["--vary", "k_anonymity=3", "--resume", "f.json", "--report", "f.json"], "name the same file"),
        (["--vary", "k_anonymity=3", "--report", "none/f.md"], "the folder none does not exist"),
        (["--budget", "0"], "--budget"),
        (["--resume", "release.csv"], "must be a file of its own"),
        (["--policy", "."], "one release is explored under one"),
    ],
)
def test_a_wrong_call_is_reported(arguments: list[str], sentence: str, here: Any, folder: Path):
    (folder / "other.tcdp.yaml").write_text(yaml.safe_dump(POLICY), encoding="utf-8")
    policy = () if "--policy" in arguments else ("--policy", "p.tcdp.yaml")
    answer = here("frontier", *policy, *arguments)

    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err


def test_a_policy_that_no_release_keeps_exits_with_1(here: Any, folder: Path):
    beyond = {**POLICY, "expect": [{"k_anonymity": {"k": 31}}]}
    (folder / "beyond.tcdp.yaml").write_text(yaml.safe_dump(beyond), encoding="utf-8")
    answer = here("frontier", "--policy", "beyond.tcdp.yaml", "--vary", "k_anonymity=31", "--workers", "1")

    assert answer.code == 1
    message = "✗ 1 setting, 0 points on the front; no release is known that keeps the policy itself (k ≥ 31)."
    assert " ".join(answer.out.split()).endswith(message)
