"""GitLab's code quality: what GitLab reads of it, and how grave what is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from report_samples import SALARY_POLICY, made_up, salaries
from run_samples import FITS_BOTH, run_of_several, with_outcomes, written_policy

from tcdp_audit import DataError, audit, load_policy
from tcdp_audit.core.base.outcome import SCHEMA, SUITE, Severity, Status
from tcdp_audit.core.results.reporter import Unaudited
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_reports import code_scanning


def issues(*results):
    return json.loads(code_scanning.render_code_quality(results))


def test_an_issue_has_what_gitlab_asks_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listed = issues(*run_of_several(Plugins.load(external=False), FITS_BOTH))

    assert len(listed) > 5
    for one in listed:
        assert set(one) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert one["location"]["lines"]["begin"] >= 1
        assert not one["location"]["path"].startswith(("/", "./"))
    assert len({one["fingerprint"] for one in listed}) == len(listed)
    assert {one["location"]["path"] for one in listed} == {
        "plain.tcdp.yaml",
        "hostile [x](y), 50%.tcdp.yaml",
        "wrong.tcdp.yaml",
    }


@pytest.mark.parametrize(
    ("outcome", "severity"),
    [
        (made_up(4, 5), "critical"),
        (made_up(None, 5, status=Status.ERROR), "blocker"),
        (made_up(4, 5, severity=Severity.WARNING), "minor"),
    ],
)
def test_severities(outcome, severity):
    reported = {one["check_name"]: one["severity"] for one in issues(with_outcomes(outcome))}

    assert reported["k_anonymity"] == severity


def test_a_release_that_passes_has_no_issue(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    policy = {**SALARY_POLICY, "expect": [{"distinct_l_diversity": {"l": 2}}]}

    assert issues(audit(salaries(), written_policy(policy, "a.tcdp.yaml"))) == []


def test_what_could_not_be_audited_blocks():
    (issue,) = issues(Unaudited(Path("x.tcdp.yaml"), DataError("release.csv: it is empty")))

    assert (issue["severity"], issue["check_name"]) == ("blocker", "audit")


@pytest.mark.parametrize(("key", "source"), [("schema", SCHEMA), ("suite", SUITE)])
def test_what_judges_quality_is_where_the_policy_names_it(tmp_path, monkeypatch, key, source):
    monkeypatch.chdir(tmp_path)
    policy = written_policy({**SALARY_POLICY, key: "quality.json"}, "a.tcdp.yaml")
    asked = made_up(None, None, status=Status.FAILED, check="quality", source=source, attribute="zip")
    result = replace(with_outcomes(asked), policy=load_policy(policy))
    (issue,) = [one for one in issues(result) if one["check_name"] == "quality"]

    assert policy.read_text().splitlines()[issue["location"]["lines"]["begin"] - 1].startswith(f"{key}:")
