"""The action, the hook and the snippets call the command line as it is."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tcdp_audit.cli.check import command

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "examples" / "papers"
OPTIONS = {name for parameter in command.params for name in parameter.opts if name.startswith("-")}


def _read(*path: str) -> Any:
    return yaml.safe_load(ROOT.joinpath(*path).read_text(encoding="utf-8"))


def _audit_step() -> Any:
    return _read("action.yml")["runs"]["steps"][-1]


@pytest.fixture
def act(tmp_path: Path, skip_or_fail: Callable[[str], None]):
    bash = shutil.which("bash")
    if bash is None:
        skip_or_fail("the action's step needs bash")

    def run(**inputs: str) -> subprocess.CompletedProcess[str]:
        defaults = {"POLICY": "", "RELEASE": "", "REPORTS": "", "FAIL_ON": "error"}
        script = tmp_path / "step.sh"
        script.write_text(_audit_step()["run"])
        return subprocess.run(
            [bash, "--noprofile", "--norc", "-eo", "pipefail", script],
            env={**os.environ, **defaults, **inputs},
            cwd=PAPERS,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_actions_step_passes_on_the_verdict(act: Any, tmp_path: Path):
    result = tmp_path / "a result.json"

    assert act(POLICY="li07_table4.tcdp.yaml", REPORTS=f"{result}\n").returncode == 0
    assert result.is_file()
    assert act(POLICY="li07_table3.tcdp.yaml").returncode == 1
    assert act(POLICY="li07_table4.tcdp.yaml", RELEASE="li07_table3.csv").returncode == 1
    assert act().returncode == 2  # five policies stand in that folder


def test_the_actions_inputs_reach_its_step_as_variables_only():
    action, step = _read("action.yml"), _audit_step()
    used = {text.split("inputs.")[1].split(" ")[0] for text in [*step["env"].values(), step["working-directory"]]}

    assert used == set(action["inputs"])
    assert "inputs." not in step["run"]


def test_the_hook_runs_check_and_starts_on_releases_and_policies():
    (hook,) = _read(".pre-commit-hooks.yaml")

    assert {"id", "name", "entry", "language"} <= set(hook)
    assert hook["entry"] == "tcdp-audit check"
    assert hook["pass_filenames"] is False
    starts = re.compile(hook["files"])
    assert all(starts.search(name) for name in ("a/b.csv", "b.csv.gz", "c.parquet", "d.jsonl", "p.tcdp.yaml"))
    assert not any(starts.search(name) for name in ("csv.py", "notes.md", "other.yaml"))


def test_the_snippets_use_options_that_exist():
    (hook,) = _read("examples", "ci", "pre-commit-config.yaml")["repos"][0]["hooks"]
    steps = _read("examples", "ci", "github-actions.yml")["jobs"]["audit"]["steps"]
    calls = [[*shlex.split(hook["entry"]), *hook["args"]]]
    calls += [shlex.split(step["run"]) for step in steps if "tcdp-audit check" in step.get("run", "")]

    assert len(calls) == 2
    for call in calls:
        assert call[:2] == ["tcdp-audit", "check"]
        assert {word for word in call if word.startswith("-")} <= OPTIONS
