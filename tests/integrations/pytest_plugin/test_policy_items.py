"""Each outcome of an audit is one item, which says what came of it in the words of pytest and in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest

from tcdp_audit import audit
from tcdp_audit.core.base.outcome import COLUMN_DEMANDS
from tcdp_audit.integrations.pytest_plugin import answer

COLUMNS = len(COLUMN_DEMANDS)  # each is an item

pytest_plugins = ["pytester"]
Put, Run = Callable[..., Path], Callable[..., pytest.RunResult]
IDS = [
    *(f"columns::{name}" for name in COLUMN_DEMANDS),
    "k_anonymity",
    "k_anonymity[#2]",
    "distinct_l_diversity[cost]",
    "distinct_l_diversity[disease]",
    "t_closeness[cost]",
    "t_closeness[disease]",
    "verdict",
]
MEASURED = """\
version: 1
release: release.csv
attributes:
  zip: {role: quasi_identifier}
  disease: {role: insensitive}
  cost: {role: insensitive}
  extra: {role: insensitive}
expect:
  - k_anonymity: {}
"""


def _lines(result: pytest.RunResult) -> list[str]:
    assert "Traceback" not in result.stdout.str()
    assert ".py:" not in result.stdout.str()  # every place is one of the policy
    return result.outlines


def test_every_outcome_is_an_item_and_says_what_came_of_it(inner_pytest: Run, put: Put):
    put()
    result = inner_pytest("-rsx", "-p", "no:cacheprovider")

    result.assert_outcomes(passed=COLUMNS + 2, failed=3, xfailed=1, skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    lines = _lines(result)
    sentence = "2 of 5 records are in a group of fewer than 3 records with the same 'zip'; the smallest has 2 records."
    failed = f"release.tcdp.yaml:10: {sentence}"
    assert failed in lines
    assert any(line.startswith("release.tcdp.yaml:11: 2 of 5 records are in a group") for line in lines)
    assert any(line.startswith("release.tcdp.yaml:1: Not fit for release. 2 of 5 demands") for line in lines)
    assert any(line.startswith("SKIPPED [1] release.tcdp.yaml:13: measured: ") for line in lines)
    assert any(line.startswith("XFAIL release.tcdp.yaml::t_closeness[cost] - ") for line in lines)


def test_node_ids_are_known_before_anything_is_audited(inner_pytest: Run, put: Put, audits: list[Any]):
    put()
    result = inner_pytest("--collect-only", "-q")

    assert [line for line in result.outlines if "::" in line] == [f"release.tcdp.yaml::{name}" for name in IDS]
    assert audits == []


def test_the_items_of_columns_are_the_structural_outcomes_of_every_audit():
    attributes = {"a": {"role": "quasi_identifier"}}
    result = audit(pa.table({"a": ["x"]}), {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {}}]})
    assert tuple(one.check for one in result.structure) == COLUMN_DEMANDS


@pytest.mark.parametrize(
    ("arguments", "ran"),
    [
        (["release.tcdp.yaml::k_anonymity[#2]"], {"failed": 1}),
        pytest.param(["release.tcdp.yaml::distinct_l_diversity"], {"failed": 1, "passed": 1}, marks=pytest.mark.long),
        (["release.tcdp.yaml::columns"], {"passed": COLUMNS}),
        pytest.param(["-k", "verdict"], {"failed": 1, "deselected": COLUMNS + 6}, marks=pytest.mark.long),
        (["-m", "tcdp_audit(check='k_anonymity')"], {"failed": 1, "passed": 1, "deselected": COLUMNS + 5}),
        pytest.param(["-m", "not tcdp_audit"], {"deselected": COLUMNS + 7}, marks=pytest.mark.long),
        pytest.param(["--ignore-glob=*.tcdp.yaml"], {}, marks=pytest.mark.long),
    ],
)
def test_items_are_selected_as_tests_are(inner_pytest: Run, put: Put, arguments: list[str], ran: dict[str, int]):
    put()
    result = inner_pytest("--strict-markers", *arguments)
    result.assert_outcomes(**ran)


def test_what_failed_last_runs_again(inner_pytest: Run, put: Put):
    put()
    inner_pytest()
    put(release=RELEASE_OF_THREE)
    inner_pytest("--lf").assert_outcomes(passed=3)


RELEASE_OF_THREE = "zip,disease,cost,extra\n" + "".join(f"1,{d},{c},x\n" for c, d in enumerate(["a", "b", "c"]))


def test_a_warning_is_a_failure_where_expected_failures_are(inner_pytest: Run, put: Put):
    put()
    result = inner_pytest("--runxfail", "release.tcdp.yaml::t_closeness[cost]")
    result.assert_outcomes(failed=1)
    assert any(line.startswith("release.tcdp.yaml:12: ") for line in _lines(result))


def test_figures_are_properties_of_junit(pytester: pytest.Pytester, inner_pytest: Run, put: Put):
    put()
    inner_pytest("--junit-xml=junit.xml")
    cases = {case.get("name"): case for case in ET.parse(pytester.path / "junit.xml").iter("testcase")}  # noqa: S314 - our own
    assert list(cases) == [name.replace("columns::", "") for name in IDS]
    properties = {
        name: {one.get("name"): one.get("value") for one in case.iter("property")} for name, case in cases.items()
    }
    assert properties["k_anonymity[#2]"] == {
        "tcdp_audit.check": "k_anonymity",
        "tcdp_audit.status": "failed",
        "tcdp_audit.severity": "error",
        "tcdp_audit.observed": "2",
        "tcdp_audit.comparison": ">=",
        "tcdp_audit.threshold": "3",
        "tcdp_audit.classes": "2",
        "tcdp_audit.classes_failing": "1",
        "tcdp_audit.records": "5",
        "tcdp_audit.records_failing": "2",
    }
    assert properties["t_closeness[disease]"]["tcdp_audit.attribute"] == "disease"
    assert properties["verdict"]["tcdp_audit.status"] == "failed"
    assert len(properties["verdict"]["tcdp_audit.release_sha256"] or "") == 64
    failure = cases["k_anonymity[#2]"].find("failure")
    assert failure is not None
    assert (
        failure.get("message")
        == "2 of 5 records are in a group of fewer than 3 records with the same 'zip'; the smallest has 2 records."
    )


# Nothing passes that was not judged


def test_measurements_alone_are_an_error(inner_pytest: Run, put: Put):
    put(MEASURED)
    result = inner_pytest()
    result.assert_outcomes(passed=COLUMNS, skipped=1, errors=1)
    assert any(
        line.startswith("release.tcdp.yaml:1: Measured, not judged. The policy demands nothing that could fail")
        for line in _lines(result)
    )


def test_a_policy_that_holds_passes(inner_pytest: Run, put: Put):
    put(MEASURED.replace("{}", "{k: 2}"))
    result = inner_pytest()
    result.assert_outcomes(passed=COLUMNS + 2)
    assert result.ret == pytest.ExitCode.OK


def test_what_could_not_be_evaluated_is_an_error_and_no_failure(inner_pytest: Run, put: Put):
    put(MEASURED.replace("cost: {role: insensitive}", "cost: {role: sensitive, scale: numeric}").replace(
        "k_anonymity: {}", "t_closeness: {t: 0.5, attribute: cost, distance: ordered}"
    ), "zip,disease,cost,extra\n1,a,zanzibar,x\n1,b,2,x\n")  # fmt: skip
    result = inner_pytest()
    result.assert_outcomes(passed=COLUMNS - 1, failed=1, errors=2)
    lines = _lines(result)
    assert any(line.startswith("release.tcdp.yaml:9: cannot be evaluated: ") for line in lines)
    assert any(line.startswith("release.tcdp.yaml:1: Not fit for release. ") for line in lines)
    assert "zanzibar" not in result.stdout.str()


@pytest.mark.parametrize("demands", [COLUMN_DEMANDS[1:], (*COLUMN_DEMANDS, "another")], ids=["no item", "no outcome"])
def test_items_and_outcomes_that_do_not_match_are_an_error(
    inner_pytest: Run, put: Put, monkeypatch: pytest.MonkeyPatch, demands: tuple[str, ...]
):
    monkeypatch.setattr(answer, "COLUMN_DEMANDS", demands)
    put(MEASURED.replace("{}", "{k: 2}"))
    result = inner_pytest()
    result.assert_outcomes(passed=COLUMNS + 1 - (len(demands) < COLUMNS), errors=1 + (len(demands) > COLUMNS))
    name = "missing_columns" if len(demands) < COLUMNS else "another"
    assert (
        f"release.tcdp.yaml:1: the audit's outcomes and the policy's items differ in {name}; nothing is certain"
        in _lines(result)
    )


def test_a_status_that_is_not_known_is_no_pass(inner_pytest: Run, put: Put, monkeypatch: pytest.MonkeyPatch):
    def strange(outcomes: Any) -> Any:
        return {key: [{**one, "status": "splendid"} for one in some] for key, some in by_key(outcomes).items()}

    by_key = answer.by_key
    monkeypatch.setattr("tcdp_audit.integrations.pytest_plugin.answer.by_key", strange)
    put(MEASURED.replace("{}", "{k: 2}"))
    inner_pytest("-k", "not verdict").assert_outcomes(failed=COLUMNS + 1, deselected=1)
