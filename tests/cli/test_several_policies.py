"""Several policies in one run: each is audited, none takes another down, the worst exit code is the run's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

PASSES, FAILS, MEASURES, WRONG = "li07_table4", "li07_table3", "measures", "wrong"


@pytest.fixture
def folder(tmp_path: Path, papers: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One policy that passes, one that fails, one that only measures, and one that is wrong."""
    for path in [*papers.glob("li07_table[34].*"), papers / "li07_disease_hierarchy.csv"]:
        shutil.copy(path, tmp_path)
    policy = (papers / "li07_table3.tcdp.yaml").read_text()
    (tmp_path / f"{MEASURES}.tcdp.yaml").write_text(policy.split("expect:")[0] + "expect: [k_anonymity: {k: 1}]\n")
    (tmp_path / f"{WRONG}.tcdp.yaml").write_text(policy.replace("k_anonymity", "k_anonimity"))
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def policies(*names: str) -> list[str]:
    return [word for name in names for word in ("--policy", f"{name}.tcdp.yaml")]


@pytest.mark.parametrize(
    ("names", "code"),
    [
        ((PASSES,), 0),
        ((PASSES, FAILS), 1),
        ((FAILS, PASSES), 1),
        ((PASSES, WRONG), 2),
        ((WRONG, FAILS), 2),
        ((WRONG, MEASURES, PASSES), 3),
        ((PASSES, "nowhere"), 2),
    ],
)
@pytest.mark.usefixtures("folder")
def test_the_worst_exit_code_is_that_of_the_run(here: Any, names: tuple[str, ...], code: int):
    answer = here("check", *policies(*names))

    assert answer.code == code
    assert len(names) == 1 or f"Exit code {code}." in " ".join(answer.out.split())


@pytest.mark.usefixtures("folder")
def test_the_verdict_on_all_is_not_better_than_that_on_a_file_with_its_key(here: Any):
    text = Path(f"{PASSES}.tcdp.yaml").read_text(encoding="utf-8")
    Path("keyed.tcdp.yaml").write_text(text.replace("attributes:", "key: zip\nattributes:", 1), encoding="utf-8")
    answer = here("check", *policies(PASSES, "keyed"))
    assert answer.code == 0
    assert "✓ Fit once its key is dropped: zip. 2 policies: 2 met. Exit code 0." in " ".join(answer.out.split())
    assert answer.out.count("Fit for release") == 1  # of the first by itself


@pytest.mark.usefixtures("folder")
def test_a_wrong_policy_hides_no_result(here: Any):
    answer = here("check", *policies(WRONG, FAILS, PASSES), "--report", "all.junit.xml", "--report", "{policy}.json")
    suites = {suite.get("name"): suite for suite in ET.parse("all.junit.xml").getroot()}  # noqa: S314 - our own

    assert {name: (suite.get("failures"), suite.get("errors")) for name, suite in suites.items()} == {
        "wrong.tcdp.yaml": ("0", "1"),
        "li07_table3.tcdp.yaml": ("3", "0"),
        "li07_table4.tcdp.yaml": ("0", "0"),
    }
    assert {name: json.loads(Path(f"{name}.json").read_text())["status"] for name in (FAILS, PASSES)} == {
        FAILS: "failed",
        PASSES: "passed",
    }
    assert not Path("wrong.json").exists()
    assert answer.err.count("unknown check 'k_anonimity'") == 1
    assert "? error" in answer.out.split("── li07_table4.tcdp.yaml ──")[1]
    assert "3 policies: 1 met, 1 not met and 1 not audited completely. Exit code 2." in " ".join(answer.out.split())


def test_policies_of_one_name_are_distinguished(folder: Path, here: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    for name, release in (("a", "li07_table4"), ("b", "li07_table3")):
        Path(name).mkdir()
        shutil.copy(f"{release}.csv", f"{name}/li07_table4.csv")
        shutil.copy("li07_disease_hierarchy.csv", name)
    shutil.copy("li07_table4.tcdp.yaml", "a/p.tcdp.yaml")
    Path("b/p.tcdp.yaml").symlink_to("../a/p.tcdp.yaml")
    answer = here("check", "--policy", "a", "--policy", "b", "--report", "x.junit.xml", "--format", "github")
    suites = ET.parse("x.junit.xml").getroot()  # noqa: S314 - our own

    assert answer.code == 1
    assert [suite.get("name") for suite in suites] == ["a/p.tcdp.yaml", "b/p.tcdp.yaml"]
    assert [suite.get("failures") != "0" for suite in suites] == [False, True]
    table = Path("summary.md").read_text().replace("&#95;", "_").splitlines()
    assert table[2:4] == [
        "| a/p.tcdp.yaml | li07_table4.csv | Fit for release |",
        "| b/p.tcdp.yaml | li07_table4.csv | Not fit for release |",
    ]


@pytest.mark.usefixtures("folder")
def test_no_name_of_a_policy_begins_a_line_of_its_own(here: Any):
    Path("a\n::add-mask::x.tcdp.yaml").write_text("version: 1\n")
    answer = here("check", *policies(PASSES, "a\n::add-mask::x"))

    assert answer.code == 2
    assert answer.err.startswith(r"tcdp-audit: a\n::add-mask::x.tcdp.yaml: ")
    assert "\n::" not in answer.out + answer.err


@pytest.mark.usefixtures("folder")
def test_each_audit_is_printed_under_its_policy(here: Any):
    out = here("check", *policies(FAILS, PASSES)).out

    reported = [
        "── li07_table3.tcdp.yaml ──",
        "✗ Not fit for release.",
        "── li07_table4.tcdp.yaml ──",
        "✓ Fit for release.",
    ]
    assert sorted(reported, key=out.index) == reported


@pytest.mark.usefixtures("folder")
def test_one_release_is_audited_under_each_policy(here: Any):
    answer = here("check", "li07_table3.csv", *policies(FAILS, PASSES), "--report", "{policy}.json")

    assert answer.code == 1
    for name in (FAILS, PASSES):
        result = json.loads(Path(f"{name}.json").read_text())
        assert (result["status"], result["release"]["uri"]) == ("failed", "li07_table3.csv")


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_a_report_that_holds_one_audit_is_refused_for_several(folder: Path, here: Any, suffix: str):
    answer = here("check", *policies(FAILS, PASSES), "--report", f"report{suffix}")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        f"tcdp-audit: report{suffix}: a report in {suffix} holds one audit, and 2 policies are audited; "
        "put {policy} into its name for a report of each\n"
    )
    assert not list(folder.glob("report*"))


def test_reports_of_two_policies_never_share_a_file(folder: Path, here: Any):
    (folder / "other").mkdir()
    shutil.copytree(folder, folder / "other" / "x", ignore=shutil.ignore_patterns("other"))
    names = policies(PASSES, f"other/x/{PASSES}")

    answer = here("check", *names, "--report", "{policy}.html")

    assert answer.code == 2
    assert "name the same file" in answer.err
    assert not (folder / f"{PASSES}.html").exists()


@pytest.mark.usefixtures("folder")
def test_reports_of_wrong_policies_never_share_a_file_either(here: Any):
    Path("other").mkdir()
    shutil.copy(f"{WRONG}.tcdp.yaml", "other")
    Path("wrong.sarif").write_text(Path(f"{WRONG}.tcdp.yaml").read_text())

    both = here("check", *policies(WRONG, f"other/{WRONG}"), "--report", "{policy}.junit.xml")
    own = here("check", "--policy", "wrong.sarif", "--report", "{policy}.sarif")

    assert both.err == "tcdp-audit: wrong.junit.xml: --report and --report name the same file\n"
    assert not Path("wrong.junit.xml").exists()
    assert "wrong.sarif: --report must be a file of its own; this is the policy" in own.err
    assert "k_anonimity" in Path("wrong.sarif").read_text()


@pytest.mark.usefixtures("folder")
def test_a_report_takes_the_place_of_no_policys_files(here: Any):
    before = Path("li07_table4.csv").read_text()
    Path("li07_table4.csv").rename("release.sarif")
    Path("li07_table4.tcdp.yaml").write_text(
        Path("li07_table4.tcdp.yaml").read_text().replace("li07_table4.csv", "release.sarif")
    )

    answer = here("check", *policies(FAILS, PASSES), "--report", "release.sarif")

    assert answer.code == 2
    assert "release.sarif: --report must be a file of its own" in answer.err
    assert Path("release.sarif").read_text() == before


@pytest.mark.parametrize(
    "options", [["--json"], ["--json", "--format", "github"], ["--json", "--format", "gitlab"]], ids=str
)
@pytest.mark.usefixtures("folder")
def test_standard_output_holds_one_result(here: Any, options: list[str]):
    answer = here("check", *policies(FAILS, PASSES), *options)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("tcdp-audit: --json ")


@pytest.mark.usefixtures("folder")
def test_quiet_is_quiet(here: Any):
    assert here("check", *policies(FAILS, PASSES), "--quiet") == (1, "", "")


@pytest.mark.usefixtures("folder")
def test_a_wrong_policy_alone_is_reported_as_ever_and_reported(here: Any):
    answer = here("check", *policies(WRONG), "--report", "x.sarif", "--report", "x.html")
    (run,) = json.loads(Path("x.sarif").read_text())["runs"]

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("tcdp-audit: wrong.tcdp.yaml:")
    assert [one["executionSuccessful"] for one in run["invocations"]] == [False]
    assert [one["level"] for one in run["results"]] == ["error"]
    assert not Path("x.html").exists()


@pytest.mark.usefixtures("folder")
def test_folders_and_patterns_stand_for_policies(here: Any):
    code, out, _ = here("check", "--policy", "li07*.tcdp.yaml", "--policy", f"{PASSES}.tcdp.yaml")

    assert code == 1
    assert out.count("──\n") == 2
    assert here("check", "--policy", ".").out.count("records, ") == 3


@pytest.mark.usefixtures("folder")
def test_fix_repairs_under_one_policy(here: Any):
    Path("pyproject.toml").write_text('[tool.tcdp-audit]\npolicies = ["li07*.tcdp.yaml"]\n')
    answer = here("fix", "--output", "out.csv")

    assert answer.code == 2
    assert "2 policies: one release is repaired under one" in answer.err
    assert not Path("out.csv").exists()


@pytest.mark.usefixtures("folder")
def test_gitlab_gets_json_and_nothing_else(here: Any):
    answer = here("check", *policies(FAILS, PASSES), "--format", "gitlab")
    issues = json.loads(answer.out)

    assert (answer.code, answer.err) == (1, "")
    assert [one["check_name"] for one in issues] == ["k_anonymity", "distinct_l_diversity", "t_closeness"]
    assert here("check", *policies(PASSES), "--format", "gitlab") == (0, "[]\n", "")


@pytest.mark.usefixtures("folder")
def test_a_format_that_is_left_out_is_missed_before_the_work(here: Any):
    answer = here("check", *policies(FAILS), "--format", "gitlab", "-p", "no:reports")

    assert (answer.code, answer.out) == (2, "")
    assert "no report format" in answer.err


@pytest.mark.usefixtures("folder")
def test_a_release_that_cannot_be_read_hides_no_result(here: Any):
    Path("li07_table3.csv").write_text("zip,age\n1\n")
    answer = here("check", *policies(FAILS, PASSES), "--report", "x.sarif")
    (run,) = json.loads(Path("x.sarif").read_text())["runs"]

    assert answer.code == 3
    assert answer.err.startswith("tcdp-audit: li07_table3.tcdp.yaml: li07_table3.csv:2: ")
    assert "✓ Fit for release." in answer.out
    assert [one["executionSuccessful"] for one in run["invocations"]] == [False, True]
