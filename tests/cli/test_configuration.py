"""`[tool.tcdp-audit]` in pyproject.toml, and which policy is meant where none is named."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

POLICY = """\
version: 1
release: release.csv
attributes:
  zip: {role: quasi_identifier}
expect:
  - k_anonymity: {k: 2}
  - k_anonymity: {k: 3, severity: warning}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a policy in `policies` whose only failure is a warning; the current folder is `src/deep`."""
    for name in (".git", "policies", "src/deep"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "policies" / "a.tcdp.yaml").write_text(POLICY)
    (tmp_path / "policies" / "release.csv").write_text("zip\nx\nx\n")
    monkeypatch.chdir(tmp_path / "src" / "deep")
    return tmp_path


def configure(folder: Path, *lines: str) -> None:
    (folder / "pyproject.toml").write_text("\n".join(["[tool.tcdp-audit]", *lines, ""]))


def test_a_policy_above_is_detected_and_named(project: Path, here: Any):
    shutil.copy(project / "policies" / "release.csv", project / "src")
    shutil.copy(project / "policies" / "a.tcdp.yaml", project / "src")

    answer = here("check")

    assert answer.code == 0
    assert answer.err == "tcdp-audit: policy: ../a.tcdp.yaml\n"
    assert here("check", "--quiet") == (0, "", "")


@pytest.mark.usefixtures("project")
def test_the_search_ends_at_the_repositorys_root(here: Any):
    Path("../../../b.tcdp.yaml").write_text(POLICY)
    answer = here("check")
    Path("../../../b.tcdp.yaml").unlink()

    assert answer.code == 2
    assert answer.err.startswith("tcdp-audit: no policy: name one with --policy")


def test_policies_that_a_project_names(project: Path, here: Any):
    configure(project, 'policies = ["policies"]')
    answer = here("check")

    assert answer.code == 0
    assert answer.err == "tcdp-audit: policy: ../../policies/a.tcdp.yaml, as ../../pyproject.toml says\n"


def test_the_command_line_wins(project: Path, here: Any):
    configure(project, 'policies = ["nowhere"]', 'fail-on = "warning"', 'reports = ["x.json"]', 'memory = "1GiB"')
    policy = ["--policy", "../../policies/a.tcdp.yaml"]

    assert here("check", *policy).code == 1
    assert (project / "x.json").is_file()
    run = json.loads((project / "x.json").read_text())["run"]
    assert run["configuration"] == {
        "file": "../../pyproject.toml",
        "set": {"fail-on": "warning", "reports": ["x.json"], "memory": "1GiB"},
    }
    (project / "x.json").unlink()
    assert here("check", *policy, "--fail-on", "error", "--report", "y.json").code == 0
    assert Path("y.json").is_file()
    assert not (project / "x.json").exists()
    assert here("check", *policy, "--memory", "1KB").code == 2


def test_other_options_of_a_project(project: Path, here: Any):
    (project / "policies" / "a.tcdp.yaml").write_text(POLICY.replace("k: 2", "k: 1"))
    configure(project, 'policies = ["policies/*.yaml"]', "allow-vacuous = true", 'format = "gitlab"')
    answer = here("check")

    assert answer.code == 0
    assert [one["severity"] for one in json.loads(answer.out)] == ["info", "minor", "minor"]


def test_a_nearer_single_policy_is_chosen_before_those_of_the_project(project: Path, here: Any):
    configure(project, 'policies = ["nowhere"]')
    shutil.copy(project / "policies" / "release.csv", project / "src")
    shutil.copy(project / "policies" / "a.tcdp.yaml", project / "src" / "b.tcdp.yaml")

    assert here("check").err == "tcdp-audit: policy: ../b.tcdp.yaml\n"


def test_those_of_the_project_are_chosen_where_nearer_ones_are_several(project: Path, here: Any):
    configure(project, 'policies = ["policies"]')
    for name in ("b", "c"):
        shutil.copy(project / "policies" / "a.tcdp.yaml", project / "src" / f"{name}.tcdp.yaml")

    assert here("check").err.startswith("tcdp-audit: policy: ../../policies/a.tcdp.yaml, as ")


def test_files_without_a_table_and_those_between_the_policy_and_the_root_are_passed_over(project: Path, here: Any):
    configure(project, 'policies = ["policies"]')
    configure(project / "src", 'policies = ["nowhere"]')
    (project / "src" / "deep" / "pyproject.toml").write_text("[project]\nname = 'x'\n")

    assert here("check").code == 0


LOOSE = "version: 1\nrelease: release.csv\nattributes: {zip: {role: quasi_identifier}}\nexpect: [{k_anonymity: {}}]\n"


@pytest.fixture
def loose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy that demands nothing, in the current folder, which is in no repository."""
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "a.tcdp.yaml").write_text(LOOSE)
    (folder / "release.csv").write_text("zip\nx\nx\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("call", [[], ["--policy", "a.tcdp.yaml"], ["--policy", "../b/a.tcdp.yaml"], ["--quiet"]])
@pytest.mark.parametrize("levels", [1, 2])
def test_a_file_of_a_folder_above_loosens_nothing(loose: Path, here: Any, call: list[str], levels: int):
    configure(loose.parents[levels - 1], "allow-vacuous = true", 'reports = ["x.json"]', 'policies = ["a"]')
    answer = here("check", *call)
    assert answer.code == 3
    assert "sets" not in answer.err
    assert not list(loose.parents[1].rglob("x.json"))


def test_a_file_of_the_current_folder_counts_for_no_policy_elsewhere(loose: Path, here: Any):
    (loose / "sub").mkdir()
    for name in ("a.tcdp.yaml", "release.csv"):
        (loose / name).rename(loose / "sub" / name)
    configure(loose, "allow-vacuous = true")
    assert here("check", "--policy", "sub/a.tcdp.yaml").code == 3
    configure(loose, "allow-vacuous = true", 'policies = ["sub"]')
    answer = here("check")
    assert answer.code == 2
    assert "pyproject.toml: is neither in the folder of the policy that it names" in answer.err
    configure(loose, 'policies = ["sub"]')
    assert here("check").code == 3


@pytest.mark.parametrize("place", ["beside", "root"])
@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_what_a_file_that_counts_loosens_is_printed_and_in_the_result(
    loose: Path, here: Any, place: str, quiet: list[str]
):
    folder = loose if place == "beside" else loose.parents[1]
    (loose.parents[1] / ".git").mkdir()
    configure(folder, "allow-vacuous = true")
    answer = here("check", "--report", "x.json", "--report", "x.html", *quiet)
    assert answer.code == 0
    assert "pyproject.toml sets allow-vacuous = true\n" in answer.err
    assert json.loads(Path("x.json").read_text())["run"]["configuration"]["set"] == {"allow-vacuous": True}
    assert "pyproject.toml: allow-vacuous = true" in Path("x.html").read_text()
    assert here("verify", "x.html", "release.csv").code == 0
    reversed_ = here("verify", "release.csv", "x.html")
    assert reversed_.code == 2
    assert "release.csv: is no report; the report comes first: tcdp-audit verify x.html release.csv" in reversed_.err


def test_a_file_of_another_user_counts_for_nothing(loose: Path, here: Any, monkeypatch: pytest.MonkeyPatch):
    (loose.parents[1] / ".git").mkdir()
    configure(loose.parents[1], "allow-vacuous = true")
    asked = os.lstat

    def strange(path: Any, *arguments: Any, **options: Any) -> Any:
        result = asked(path, *arguments, **options)
        own = str(path).endswith("pyproject.toml")
        return SimpleNamespace(st_uid=4711) if own else result

    assert here("check").code == 0
    monkeypatch.setattr("os.lstat", strange)
    assert here("check").code == 3


@pytest.mark.parametrize("path", ["../x.json", "/tmp/x.json", "link/x.json", "a/../../x.json"])  # noqa: S108
@pytest.mark.parametrize("key", ["reports", "policies"])
def test_a_path_outside_its_folder_is_refused(loose: Path, here: Any, path: str, key: str):
    (loose / "link").symlink_to("..")
    configure(loose, f'{key} = ["{path}"]')
    if key == "policies":
        (loose / "b.tcdp.yaml").write_text(LOOSE)
    answer = here("check")
    assert answer.code == 2
    assert f"tool.tcdp-audit.{key}: {path!r} is outside the folder of this file" in answer.err


def test_policies_of_several_configurations_are_refused(loose: Path, here: Any):
    (loose / "sub").mkdir()
    (loose / "sub" / "b.tcdp.yaml").write_text(LOOSE.replace("release.csv", "../release.csv"))
    configure(loose, "allow-vacuous = true")
    answer = here("check", "--policy", "a.tcdp.yaml", "--policy", "sub")
    assert answer.code == 2
    assert "the policies have different configurations (no pyproject.toml, pyproject.toml)" in answer.err


@pytest.mark.long  # a repair
def test_the_folder_of_a_projects_reports_is_made(project: Path, here: Any):
    configure(project, 'policies = ["policies"]', 'reports = ["out/deep/{policy}.json"]')

    assert here("check").code == 0
    assert [one.name for one in (project / "out" / "deep").iterdir()] == ["a.json"]


def test_reports_of_a_project_are_not_those_of_a_repair(project: Path, here: Any):
    configure(project, 'policies = ["policies"]', 'reports = ["x.json"]')

    assert here("fix", "--output", "out.csv").code == 0
    assert not (project / "x.json").exists()


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (['polices = ["a"]'], "tool.tcdp-audit: unknown key 'polices'; did you mean 'policies'?"),
        (["zzz = 1"], "tool.tcdp-audit: unknown key 'zzz'; known are policies, reports, fail-on, "),
        (['policies = "a"'], "tool.tcdp-audit.policies: must be a list of texts"),
        (["policies = []"], "tool.tcdp-audit.policies: must be a list of texts"),
        (['allow-vacuous = "yes"'], "tool.tcdp-audit.allow-vacuous: must be true or false"),
        (["memory = 3"], "tool.tcdp-audit.memory: must be a text"),
        (
            ['fail-on = "all"', 'policies = ["policies"]'],
            "tool.tcdp-audit.fail-on: 'all' is not one of 'error', 'warning'.",
        ),
        (["policies = ["], "not TOML: "),
        (['policies = ["no/*.yaml"]'], "no/*.yaml: no file matches this pattern"),
    ],
)
def test_what_a_project_cannot_say(project: Path, here: Any, lines: list[str], sentence: str):
    configure(project, *lines)
    answer = here("check")

    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert "pyproject.toml" in answer.err or "pattern" in answer.err


def test_a_table_that_is_none(project: Path, here: Any):
    (project / "pyproject.toml").write_text("[tool]\ntcdp-audit = 3\n")

    assert here("check").err == "tcdp-audit: ../../pyproject.toml: tool.tcdp-audit must be a table\n"


def test_a_configuration_that_cannot_be_read_is_not_passed_over(project: Path, here: Any):
    (project / "pyproject.toml").symlink_to("nowhere.toml")
    dangling = here("check").err
    (project / "pyproject.toml").unlink()
    (project / "pyproject.toml").write_text(f"a = {'[' * 5000}")

    assert dangling == "tcdp-audit: ../../pyproject.toml: cannot be read: No such file or directory\n"
    assert here("check").err == "tcdp-audit: ../../pyproject.toml: not TOML that can be read: it is nested too deeply\n"


def test_a_folder_that_cannot_be_entered_is_passed_over(project: Path, here: Any, monkeypatch: pytest.MonkeyPatch):
    for path in (project / "policies").iterdir():
        shutil.copy(path, project / "src" / "deep")
    asked = os.stat

    def refused(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if Path(os.path.abspath(path)).parent in project.parents:  # noqa: PTH100 - resolving asks itself
            raise PermissionError(13, "Permission denied")
        return asked(path, *arguments, **options)

    (project / ".git").rmdir()
    monkeypatch.setattr("os.stat", refused)
    assert here("check", "--report", "x.sarif").code == 0
