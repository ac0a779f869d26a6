"""`tcdp-audit check`: the exit code is the verdict, stdout has what was asked for, stderr what is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

RELEASE = "zip,disease\n010,flu\n010,asthma\n021,flu\n021,flu\n"
POLICY = """
version: 1
release: release.csv
attributes:
  zip: {{role: quasi_identifier, scale: nominal}}
  disease: {{role: sensitive, scale: nominal}}
expect:
  - {expectation}
"""


@pytest.fixture
def policy(tmp_path: Path) -> Any:
    """A policy file of one expectation beside a release of two classes of two."""

    def write(expectation: str) -> Path:
        (tmp_path / "release.csv").write_text(RELEASE)
        path = tmp_path / "policy.tcdp.yaml"
        path.write_text(POLICY.format(expectation=expectation))
        return path

    return write


def test_a_release_that_is_not_there_has_the_place_in_the_policy_that_names_it(here: Any, policy: Any):
    path = policy("k_anonymity: {k: 2}")
    path.with_name("release.csv").unlink()

    answer = here("check", "--policy", path)
    assert answer.code == 2
    assert "policy.tcdp.yaml:3: release: " in answer.err
    assert answer.err.endswith("release.csv: no such file\n")


@pytest.mark.parametrize(
    ("expectation", "options", "code"),
    [
        ("k_anonymity: {k: 2}", [], 0),
        ("k_anonymity: {k: 3}", [], 1),
        ("k_anonymity: {k: 3, severity: warning}", [], 3),
        ("k_anonymity: {k: 3, severity: warning}", ["--allow-vacuous"], 0),
        ("k_anonymity: {k: 2, severity: warning}", ["--fail-on", "warning"], 0),
        ("k_anonymity: {k: 1}", [], 3),
        ("k_anonymity: {k: 1}", ["--allow-vacuous"], 0),
        ("k_anonymity: {k: 3, severity: warning}", ["--fail-on", "warning"], 1),
        ("k_anonymity: {k: 0}", [], 2),
        ("k_anonimity: {k: 2}", [], 2),
        ("k_anonymity: {}", [], 3),
        ("k_anonymity: {}", ["--allow-vacuous"], 0),
    ],
)
def test_the_exit_code_is_the_verdict(expectation: str, options: list[str], code: int, here: Any, policy: Any):
    path = policy(expectation)

    assert here("check", "--policy", path, "--quiet", *options).code == code
    assert here("check", "--policy", path, "--json", *options).code == code


@pytest.mark.parametrize(("k", "code"), [(2, 0), (3, 1)])
def test_it_is_the_exit_code_of_the_process(k: int, code: int, process: Any, policy: Any):
    policy(f"k_anonymity: {{k: {k}}}")

    answer = process("check", "--quiet")  # the single policy of the folder

    assert answer == (code, "", "")


def test_quiet_prints_errors_only(here: Any, policy: Any):
    assert here("check", "--policy", policy("k_anonymity: {k: 3}"), "--quiet") == (1, "", "")
    answer = here("check", "no_such.csv", "--policy", policy("k_anonymity: {k: 3}"), "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert "no_such.csv: no such file" in answer.err


def test_json_prints_the_result_and_nothing_else(process: Any, policy: Any):
    answer = process("check", "--policy", policy("k_anonymity: {k: 3}"), "--json")
    result = json.loads(answer.out)

    assert (answer.code, answer.err) == (1, "")
    assert result["status"] == "failed"
    (outcome,) = (one for one in result["outcomes"] if one["check"] == "k_anonymity")
    assert (outcome["observed"], outcome["threshold"], outcome["status"]) == (2, 3, "failed")


def test_reports_are_written_by_their_extension(here: Any, policy: Any, tmp_path: Path):
    result = tmp_path / "result.json"

    answer = here("check", "--policy", policy("k_anonymity: {k: 2}"), "--report", result)

    assert answer.code == 0
    assert str(result) in answer.out.replace("\n", "")
    assert json.loads(result.read_text(encoding="utf-8"))["status"] == "passed"


@pytest.mark.parametrize("report", ["report.odt", "report", "no/such/folder/report.json"])
def test_a_report_that_cannot_be_written_stops_the_work_before_it_begins(
    report: str, here: Any, policy: Any, tmp_path: Path
):
    path = policy("k_anonymity: {k: 2}")
    before = sorted(tmp_path.iterdir())

    answer = here("check", tmp_path / "release.csv", "--policy", path, "--report", tmp_path / report)

    assert (answer.code, answer.out) == (2, "")
    assert report.rsplit("/", 1)[0] in answer.err
    assert sorted(tmp_path.iterdir()) == before


def test_the_release_on_the_command_line_wins(here: Any, policy: Any, tmp_path: Path):
    path = policy("k_anonymity: {k: 2}")
    (tmp_path / "other.csv").write_text("zip,disease\n010,flu\n")

    assert here("check", tmp_path / "other.csv", "--policy", path, "--quiet").code == 1


def test_values_are_shown_only_where_they_are_asked_for(here: Any, policy: Any):
    path = policy("k_anonymity: {k: 3}")

    assert '"021"' not in here("check", "--policy", path, "--json").out
    assert '"zip": "021"' in here("check", "--policy", path, "--json", "--show-values").out
