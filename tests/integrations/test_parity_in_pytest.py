"""The same figures and the same verdicts through pytest as natively, to the last bit."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from same_everywhere import native, policy, text

from tcdp_audit.core.base.outcome import Outcome, Status, number

pytest_plugins = ["pytester"]
WORDS = {  # of pytest, for the status of an outcome
    Status.PASSED: "passed",
    Status.FAILED: "failed",
    Status.MEASURED: "skipped",
    Status.ERROR: "error",
}


def _properties(outcome: Outcome) -> dict[str, object]:
    judged = {
        "check": outcome.check,
        "attribute": outcome.attribute,
        "status": outcome.status.value,
        "severity": outcome.severity.value,
        "observed": number(outcome.observed),
        "comparison": outcome.comparison and outcome.comparison.value,
        "threshold": number(outcome.threshold),
        "classes": outcome.classes and outcome.classes.total,
        "classes_failing": outcome.classes and outcome.classes.failing,
        "records": outcome.records and outcome.records.total,
        "records_failing": outcome.records and outcome.records.failing,
    }
    return {f"tcdp_audit.{name}": value for name, value in judged.items() if value is not None}


def test_pytest_gives_every_figure_and_verdict_of_the_native_audit(
    pytester: pytest.Pytester, inner_pytest: Callable[..., pytest.RunResult]
):
    expected = native()
    (pytester.path / "discharges.csv").write_text(text(), encoding="utf-8")
    (pytester.path / "same.tcdp.yaml").write_text(json.dumps({**policy(), "release": "discharges.csv"}), "utf-8")
    reports = inner_pytest().reprec.getreports("pytest_runtest_logreport")

    last = {one.nodeid: one for one in reports if one.when == "call" or one.failed}
    items = [one for name, one in last.items() if "columns" not in name and "verdict" not in name]
    assert len(items) == len(expected) == 24
    assert [dict(one.user_properties) for one in items] == [_properties(one) for one in expected]
    assert [_word(one) for one in items] == ["xfailed" if one.is_warning else WORDS[one.status] for one in expected]
    assert last["same.tcdp.yaml::verdict"].failed


def _word(report: pytest.TestReport) -> str:
    if report.failed and report.when == "setup":
        return "error"
    return "xfailed" if hasattr(report, "wasxfail") else report.outcome
