"""The action, the hooks and the snippets: they call the command line as it is, and are what their services accept."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "examples" / "papers"
SNIPPETS = ROOT / "examples" / "ci"
BESIDE_PYTHON = Path(sys.executable).parent


def _options(command: str) -> set[str]:
    parameters = import_module(f"tcdp_audit.cli.{command}").command.params
    return {name for parameter in parameters for name in parameter.opts if name.startswith("-")}


def _read(*path: str) -> Any:
    return yaml.safe_load(ROOT.joinpath(*path).read_text(encoding="utf-8"))


def _audit_step() -> Any:
    return _read("action.yml")["runs"]["steps"][-1]


@pytest.fixture
def bash(skip_or_fail: Callable[[str], None]) -> str:
    executable = shutil.which("bash")
    if executable is None:
        skip_or_fail("the action's step needs bash")
    return str(executable)


@pytest.fixture
def act(tmp_path: Path, bash: str) -> Callable[..., tuple[int, dict[str, str], str]]:
    """Runs the action's last step as a runner does; gives the exit code, the outputs and the summary."""

    def run(**inputs: str) -> tuple[int, dict[str, str], str]:
        defaults = {"POLICY": "", "RELEASE": "", "REPORTS": "", "FAIL_ON": ""}
        files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        script = tmp_path / "step.sh"
        script.write_text(_audit_step()["run"])
        given = {**defaults, **inputs, **{name: str(path) for name, path in files.items()}}
        code = subprocess.run(
            [bash, "--noprofile", "--norc", "-eo", "pipefail", script],
            env={**os.environ, **given, "PATH": f"{BESIDE_PYTHON}{os.pathsep}{os.environ['PATH']}"},
            cwd=PAPERS,
            capture_output=True,
            check=False,
        ).returncode
        lines = files["GITHUB_OUTPUT"].read_text().splitlines()
        outputs = dict(line.split("=", 1) for line in lines if re.match(r"[a-z-]+=", line))
        return code, outputs, files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")

    return run


@pytest.mark.long
def test_the_actions_step_passes_on_the_verdict(act: Any, tmp_path: Path):
    result = tmp_path / "a result.json"
    passed = act(POLICY="li07_table4.tcdp.yaml", REPORTS=f"{result}\n")
    failed = act(POLICY="li07_table3.tcdp.yaml\nli07_table4.tcdp.yaml\n", FAIL_ON="warning")

    assert passed[:2] == (0, {"status": "passed", "exit-code": "0", "failing": "0"})
    assert passed[2].startswith("# Fit for release")
    assert json.loads(result.read_text())["status"] == "passed"
    assert failed[:2] == (1, {"status": "failed", "exit-code": "1", "failing": "3"})
    assert act(POLICY="li07_table4.tcdp.yaml", RELEASE="li07_table3.csv")[0] == 1
    assert act()[:2] == (2, {"status": "error", "exit-code": "2"})  # several policies stand in that folder
    assert act(POLICY="nowhere; touch x")[:2] == (2, {"status": "error", "exit-code": "2", "failing": "0"})


def test_the_actions_inputs_reach_its_steps_as_variables_only():
    action = _read("action.yml")
    steps = action["runs"]["steps"]
    text = json.dumps([{key: value for key, value in step.items() if key != "run"} for step in steps])
    values = [re.fullmatch(r"\${{ steps.audit.outputs.([\w-]+) }}", one["value"]) for one in action["outputs"].values()]

    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(action["inputs"])
    assert "${{" not in "".join(step.get("run", "") for step in steps)
    assert [one and one[1] for one in values] == list(action["outputs"])


@pytest.mark.parametrize(
    ("extras", "installed"),
    [("", "ACTION"), ("postgresql,pandera", "ACTION[postgresql,pandera]"), ("a]; touch x", None), ("$(touch x)", None)],
)
def test_the_action_installs_extras_and_nothing_else(extras: str, installed: str | None, bash: str, tmp_path: Path):
    (step,) = [one for one in _read("action.yml")["runs"]["steps"] if one.get("name") == "Install"]
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$@" > installed\n')
    python.chmod(0o755)
    given = {"EXTRAS": extras, "GITHUB_ACTION_PATH": "ACTION", "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    ended = subprocess.run(command, env=given, cwd=tmp_path, capture_output=True, text=True, check=False)

    if installed is None:
        assert (ended.returncode, "::error title=tcdp-audit::extras: write names" in ended.stdout) == (2, True)
        assert sorted(one.name for one in tmp_path.iterdir()) == ["python"]
    else:
        assert (tmp_path / "installed").read_text() == f"-m pip install {installed}\n"


def _releases() -> list[str]:
    """A file of every kind that docs/formats.md lists."""
    listed = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8").split("\n\n|", 1)[1].split("\n\n")[0]
    no_tables = (".gz", ".json")  # most files of JSON are none
    return [f"a/b{ending}" for ending in re.findall(r"`(\.\w+)`", listed) if ending not in no_tables]


def test_the_hooks_start_on_releases_and_policies():
    lint, check = _read(".pre-commit-hooks.yaml")

    assert (lint["entry"], check["entry"]) == ("tcdp-audit lint", "tcdp-audit check")
    assert check["pass_filenames"] is False
    assert lint.get("pass_filenames", True) is True
    for hook, starts, stays in (
        (lint, ("p.tcdp.yaml", "a/b.tcdp.yml"), ("a.yaml", "b.csv", "tcdp.yaml")),
        (check, ("a/b.csv", "B.CSV", "b.csv.gz", "p.tcdp.yaml", *_releases()), ("csv.py", "notes.md", "other.yaml")),
    ):
        assert all(re.search(hook["files"], name) for name in starts)
        assert not any(re.search(hook["files"], name) for name in stays)


def _calls() -> Iterator[tuple[str, list[str]]]:
    """Every call of the command line in a snippet, and the snippet."""
    for path in sorted(SNIPPETS.iterdir()):
        text = path.read_text(encoding="utf-8")
        calls = re.findall(r"(tcdp-audit check) \"\$@\"' \S+( .*) \"\$@\"", text) if path.suffix == ".sh" else ()
        for words in [*map("".join, calls), *(() if calls else _texts(yaml.safe_load(text)))]:
            if words.startswith("tcdp-audit "):
                yield path.name, shlex.split(words)


def _texts(node: Any) -> Iterator[str]:
    """Every text of a file; a hook's entry with its arguments."""
    if isinstance(node, dict) and "entry" in node:
        yield shlex.join([*shlex.split(node["entry"]), *node.get("args", [])])
    elif isinstance(node, dict | list):
        for one in node.values() if isinstance(node, dict) else node:
            yield from _texts(one)
    elif isinstance(node, str):
        yield node


def test_the_snippets_use_options_that_exist():
    calls = list(_calls())

    assert {name for name, _ in calls} == {path.name for path in SNIPPETS.iterdir()} - {"github-action.yml"}
    assert {call[1] for _, call in calls} == {"check", "lint"}
    for _, call in calls:
        assert {word for word in call[2:] if word.startswith("-")} <= _options(call[1])


def test_the_snippet_with_the_action_uses_inputs_and_outputs_that_exist():
    action = _read("action.yml")
    text = (SNIPPETS / "github-action.yml").read_text(encoding="utf-8")
    (step,) = [one for one in yaml.safe_load(text)["jobs"]["audit"]["steps"] if "tcdp-audit@" in one.get("uses", "")]

    assert set(step["with"]) <= set(action["inputs"])
    assert set(re.findall(r"steps\.audit\.outputs\.([\w-]+)", text)) <= set(action["outputs"])


def test_the_container_is_given_the_folder_and_passes_the_arguments_on(tmp_path: Path, bash: str):
    stand_in = tmp_path / "docker"
    stand_in.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 3\n')
    stand_in.chmod(0o755)
    ran = subprocess.run(
        [bash, SNIPPETS / "container.sh", "--policy", "a b.tcdp.yaml"],
        env={**os.environ, "CONTAINER": str(stand_in)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    words = ran.stdout.splitlines()

    assert ran.returncode == 3
    assert f"{tmp_path}:/audit" in words
    assert words[-5:] == ["tcdp-audit", "--report", "{policy}.html", "--policy", "a b.tcdp.yaml"]


SCHEMAS = {
    "action.yml": "github-actions",
    "examples/ci/github-actions.yml": "github-workflows",
    "examples/ci/github-action.yml": "github-workflows",
    "examples/ci/gitlab-ci.yml": "gitlab-ci",
    ".github/workflows/release.yml": "github-workflows",
    ".github/workflows/tests.yml": "github-workflows",
    ".github/ISSUE_TEMPLATE/config.yml": "github-issue-config",
    ".github/ISSUE_TEMPLATE/proposal.yml": "github-issue-forms",
    ".github/ISSUE_TEMPLATE/wrong_answer.yml": "github-issue-forms",
    "CITATION.cff": "citation-file-format",
}


def _program(name: str, skip_or_fail: Callable[[str], None]) -> str:
    executable = shutil.which(name, path=str(BESIDE_PYTHON))
    if executable is None:
        skip_or_fail(f"{name} is not installed")
    return str(executable)


@pytest.mark.long
@pytest.mark.parametrize("name", SCHEMAS)
def test_services_accept_their_files(name: str, skip_or_fail: Callable[[str], None]):
    program = _program("check-jsonschema", skip_or_fail)
    arguments = ["--builtin-schema", f"vendor.{SCHEMAS[name]}", ROOT / name]
    answer = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)

    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_the_tests_run_on_every_system_with_every_python():
    workflow, project = _read(".github", "workflows", "tests.yml"), tomllib.loads((ROOT / "pyproject.toml").read_text())
    job = workflow["jobs"]["tests"]
    promised = [one.rpartition(" ")[2] for one in project["project"]["classifiers"] if "Python :: 3." in one]

    assert job["strategy"]["matrix"]["python"] == promised
    assert [one.partition("-")[0] for one in job["strategy"]["matrix"]["os"]] == ["ubuntu", "windows", "macos"]
    assert f"\n{job['steps'][-1]['run']}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (promised[0], workflow["permissions"]) == ("3.11", {"contents": "read"})
    assert list(workflow[True]) == ["push", "pull_request", "workflow_dispatch"]  # `on` is a boolean of YAML


@pytest.mark.parametrize("name", ["proposal", "wrong_answer"])
def test_issues_ask_for_policy_and_result_and_never_for_data(name: str):
    form = {one.get("id", "warning"): one for one in _read(".github", "ISSUE_TEMPLATE", f"{name}.yml")["body"]}

    assert {"policy", "result", "no_data"} <= set(form)
    assert all(form[one]["validations"]["required"] for one in ("policy", "result"))
    assert "**Never attach data.**" in form["warning"]["attributes"]["value"]
    assert form["no_data"]["attributes"]["options"][0]["required"] is True
    assert not {"data", "release", "table", "records"} & set(form)


@pytest.mark.long
def test_pre_commit_accepts_and_runs_the_hooks(tmp_path: Path, skip_or_fail: Callable[[str], None]):
    program = _program("pre-commit", skip_or_fail)
    work = tmp_path / "work"
    path = f"{BESIDE_PYTHON}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PRE_COMMIT_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(arguments, cwd=work, env=environment, capture_output=True, text=True, check=False)

    work.mkdir()
    assert run(program, "validate-manifest", ROOT / ".pre-commit-hooks.yaml").returncode == 0
    shutil.copy(SNIPPETS / "pre-commit-config.yaml", work / ".pre-commit-config.yaml")
    for suffix in ("csv", "tcdp.yaml"):
        shutil.copy(PAPERS / f"li07_table3.{suffix}", work / f"discharges.{suffix}")
    policy = work / "discharges.tcdp.yaml"
    policy.write_text(policy.read_text().replace("li07_table3.csv", "discharges.csv"))
    shutil.copy(PAPERS / "li07_disease_hierarchy.csv", work)
    run("git", "init", "-q")
    run("git", "add", "-A")
    ran = run(program, "run", "--all-files", "--color", "never")

    assert re.search(r"the policy is sound\.+Passed", ran.stdout), ran.stdout + ran.stderr
    assert re.search(r"the release keeps its policy\.+Failed\n.*\n- exit code: 1", ran.stdout)
