"""A policy's expectation suite: what fails, what passes, and that nothing passes silently or shows a cell."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gx_hosts
import pandas as pd
import pytest
from gx_hosts import gx, ours

from tcdp_audit import Outcome, PolicyError, Severity, Status, UsageError, audit
from tcdp_audit.cli import main
from tcdp_audit.core.base.outcome import SUITE
from tcdp_audit.integrations.great_expectations.suites import suite_of

CELL = "zqcellzq"
PROGRESS = re.compile(r"tcdp-audit: \w+, 100% done, after \d+ s")  # on a busy machine, importing it takes long
ATTRIBUTES = {
    "zip": {"role": "quasi_identifier"},
    "n": {"role": "insensitive"},
    "none": {"role": "insensitive"},
    "disease": {"role": "sensitive"},
}
FRAME = pd.DataFrame(
    {
        "zip": ["02139", "02139", "10115", "10115"],
        "n": [1, 2, 3, 4],
        "none": [None, None, None, ""],
        "disease": ["flu", "gout", "flu", f"{CELL}1"],
    }
)
POLICY = {"version": 1, "attributes": ATTRIBUTES, "expect": [{"k_anonymity": {"k": 2}}]}
Audited = Callable[..., Any]


def wants(kind: str, severity: str = "critical", **kwargs: Any) -> dict[str, Any]:
    return {"type": kind, "kwargs": kwargs, "severity": severity}


NOT_NULL = wants("expect_column_values_to_not_be_null", column="disease")
IN_SET = wants("expect_column_values_to_be_in_set", column="disease", value_set=["flu", "gout"])


@pytest.fixture
def audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Audited:
    """Audit a release under a policy with a suite, which stands in the current folder."""

    def run(*expectations: dict[str, Any], release: Any = FRAME, expect: Any = None, **suite: Any) -> Any:
        monkeypatch.chdir(tmp_path)
        content = {"name": "quality", "expectations": list(expectations), **suite}
        Path("quality.json").write_text(json.dumps(content))
        asked = POLICY if expect is None else {**POLICY, "expect": expect}
        return audit(release, {**asked, "suite": "quality.json"})

    return run


def _of_suite(result: Any) -> list[Outcome]:
    return [one for one in result.outcomes if one.source == SUITE]


def test_a_suite_that_holds_is_one_passed_outcome(audited: Audited):
    result = audited(NOT_NULL, wants("expect_table_row_count_to_equal", value=4))

    (one,) = _of_suite(result)
    assert result.passed
    assert (one.check, one.status, one.records.total) == ("great_expectations_suite", Status.PASSED, 4)
    assert one.message == "All 4 records keep the suite, which has 2 expectations."
    assert one.details == {"expectations": 2}


def test_each_failure_is_an_outcome_with_its_column_and_counts(audited: Audited):
    result = audited(NOT_NULL, IN_SET, wants("expect_table_row_count_to_equal", "warning", value=5))

    first, second = _of_suite(result)
    assert (first.status, first.severity, first.attribute) == (Status.FAILED, Severity.ERROR, "disease")
    assert (first.records.total, first.records.failing) == (4, 1)
    assert first.message == (
        "Column 'disease' does not keep expectation 2, expect_column_values_to_be_in_set, in 1 of 4 records."
    )
    assert second.message == "The table does not keep expectation 3, expect_table_row_count_to_equal."
    assert second.is_warning
    assert result.status == "failed"
    assert CELL not in result.to_json()


def test_values_of_the_suite_and_of_the_release_stay_out_of_logs(audited: Audited, caplog: pytest.LogCaptureFixture):
    crashing = wants("expect_column_values_to_be_between", column="disease", min_value=0, max_value=1)
    with caplog.at_level(logging.DEBUG):
        result = audited(crashing, IN_SET, wants("expect_column_max_to_be_between", column="n", max_value=1))

    crashed, _, largest = _of_suite(result)
    assert crashed.status is Status.ERROR
    assert crashed.message == (
        "Column 'disease' could not be evaluated by expectation 1, expect_column_values_to_be_between: "
        "it raised an exception."
    )
    assert largest.observed is None
    assert result.status == "error"
    assert CELL not in caplog.text + result.to_json() + result.render(".html")
    assert logging.getLogger("great_expectations").level != logging.CRITICAL + 1


def test_an_expectation_that_sees_no_value_is_an_error(audited: Audited):
    nothing = wants("expect_column_values_to_be_in_set", column="none", value_set=["a"])
    no_record = {**IN_SET, "kwargs": {**IN_SET["kwargs"], "row_condition": "n > 9", "condition_parser": "pandas"}}

    result = audited(nothing, no_record)

    assert [one.status for one in _of_suite(result)] == [Status.ERROR, Status.ERROR]
    assert _of_suite(result)[0].message.startswith(
        "Column 'none' has no value that could be evaluated by expectation 1"
    )


@pytest.mark.parametrize(
    "kwargs", [{"column": "none"}, {"column": "n", "row_condition": "n > 9", "condition_parser": "pandas"}]
)
@pytest.mark.parametrize(
    ("kind", "demand"),
    [
        ("expect_column_distinct_values_to_be_in_set", {"value_set": [1]}),
        ("expect_column_unique_value_count_to_be_between", {"max_value": 3}),
        ("expect_column_sum_to_be_between", {"max_value": 3}),
    ],
)
def test_a_figure_of_no_value_is_no_pass(audited: Audited, kwargs: Any, kind: str, demand: Any):
    release = FRAME.assign(none=pd.Series([None] * 4, dtype="Int64"))

    (one,) = _of_suite(audited(wants(kind, **kwargs, **demand), release=release))

    assert one.status is Status.ERROR
    assert one.message == f"Column '{kwargs['column']}' has no value that could be evaluated by expectation 1, {kind}."


def test_a_divergence_is_bounded_by_its_threshold(audited: Audited):
    shares = {"values": ["flu", "gout", f"{CELL}1"], "weights": [0.5, 0.25, 0.25]}
    kind = "expect_column_kl_divergence_to_be_less_than"

    (one,) = _of_suite(audited(wants(kind, column="disease", partition_object=shares, threshold=0.1)))

    assert one.status is Status.PASSED
    with pytest.raises(PolicyError, match="demands nothing: it has no `threshold`"):
        audited(wants(kind, column="disease", partition_object=shares, threshold=None))


def test_the_type_and_the_presence_of_a_column_need_no_value(audited: Audited):
    release = FRAME.assign(none=pd.Series([None] * 4, dtype="float64"))
    presence = wants("expect_column_proportion_of_non_null_values_to_be_between", column="none", max_value=0)
    kind = wants("expect_column_values_to_be_of_type", column="none", type_="float64")

    (one,) = _of_suite(audited(presence, kind, release=release))

    assert one.status is Status.PASSED


@pytest.mark.parametrize(
    ("expectations", "sentence"),
    [
        ([], "it demands nothing: it has no expectation"),
        ([wants("expect_unheard_of")], "expectation 1, expect_unheard_of, is not known here"),
        ([NOT_NULL, wants("expect_unheard_of")], "expectation 2, expect_unheard_of, is not known here"),
        ([wants("expect_column_values_to_not_be_null", colum="a")], "column: field required; colum: extra fields not"),
        ([{**NOT_NULL, "kwargs": {"column": "zip", "mostly": 0}}], "cannot fail: `mostly` is 0"),
        ([wants("expect_table_row_count_to_be_between")], "demands nothing: it has no `min_value` and no `max_value`"),
        ([wants("expect_column_values_to_not_be_in_set", column="zip", value_set=[])], "it has no `value_set`"),
        ([wants("expect_column_values_to_be_in_type_list", column="n", type_list=None)], "it has no `type_list`"),
        ([wants("expect_table_row_count_to_equal", value={"$PARAMETER": "n"})], "has a parameter without a value"),
        ([{"kwargs": {}}], "expectation 1 has no `type`"),
        ([{**NOT_NULL, "sevirity": "low"}], "is not sound"),
    ],
)
def test_a_suite_that_demands_nothing_or_is_unknown_is_a_fault(
    audited: Audited, expectations: list[dict[str, Any]], sentence: str
):
    with pytest.raises(PolicyError, match=sentence) as raised:
        audited(*expectations)
    assert str(raised.value).startswith("policy: suite: quality.json: ")


def test_a_suite_with_its_parameters(audited: Audited):
    asked = wants("expect_table_row_count_to_equal", value={"$PARAMETER": "n"})

    assert audited(asked, suite_parameters={"n": 4}).passed
    assert not audited(asked, suite_parameters={"n": 5}).passed


def test_fewer_results_than_expectations_are_an_error(audited: Audited, monkeypatch: pytest.MonkeyPatch):
    from tcdp_audit.core.quality import great_expectations as quality

    whole = quality._Validator.graph_validate
    monkeypatch.setattr(quality._Validator, "graph_validate", lambda *a, **b: whole(*a, **b)[:1])

    (one,) = _of_suite(audited(NOT_NULL, NOT_NULL))

    assert (one.status, one.message) == (Status.ERROR, "1 of 2 expectations were evaluated.")


def test_an_exception_of_great_expectations_is_an_error(audited: Audited, monkeypatch: pytest.MonkeyPatch):
    from tcdp_audit.core.quality import great_expectations as quality

    def crash(*_: Any, **__: Any) -> None:
        raise RuntimeError(CELL)

    monkeypatch.setattr(quality._Validator, "graph_validate", crash)
    result = audited(NOT_NULL)

    assert [one.message for one in _of_suite(result)] == [
        "Great Expectations raised RuntimeError; nothing was evaluated."
    ]
    assert CELL not in result.to_json()


def test_quality_is_no_demand_on_disclosure(audited: Audited):
    result = audited(NOT_NULL, expect=[{"k_anonymity": {}}])

    assert result.status == "measured"
    assert result.exit_code() == 3


def test_expectations_of_ours_may_be_in_it(audited: Audited):
    suite = suite_of(POLICY).to_json_dict()["expectations"]
    stricter = {**suite[1], "kwargs": {**suite[1]["kwargs"], "k": 3}}

    assert audited(*suite).passed
    (one,) = _of_suite(audited(stricter))
    assert "expect_table_to_be_k_anonymous, in all 4 records" in one.message


def test_the_callers_context_stays(audited: Audited):
    mine = gx.get_context(mode="ephemeral")
    mine.suites.add(gx.ExpectationSuite(name="mine"))

    audited(NOT_NULL)

    from great_expectations.data_context.data_context.context_factory import project_manager

    assert project_manager.get_current_project() is mine


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A context in files with a suite in its store."""
    monkeypatch.chdir(tmp_path)
    saved = gx.get_context(mode="file", project_root_dir=tmp_path)
    column = gx.expectations.ExpectColumnValuesToBeInSet(column="disease", value_set=["flu", "gout"])
    saved.suites.add(gx.ExpectationSuite(name="quality", expectations=[column]))
    return tmp_path


@pytest.mark.parametrize("folder", [".", "gx"])
def test_a_suite_in_the_store_of_a_context(context: Path, folder: str):
    before = sorted(context.rglob("*"))

    result = audit(FRAME, {**POLICY, "suite": {"context": folder, "name": "quality"}})

    assert [one.status for one in _of_suite(result)] == [Status.FAILED]
    assert _of_suite(result)[0].parameters == {"suite": f"quality in {folder}"}
    assert sorted(context.rglob("*")) == before


@pytest.mark.parametrize(
    ("folder", "change", "sentence"),
    [
        ("nowhere", lambda text: text, "the folder has no great_expectations.yml"),
        ("gx", lambda text: text.replace("TupleFilesystem", "Database"), "does not keep its suites in files"),
        ("gx", lambda text: text.replace("expectations_store_name", "e"), "does not say where the suites are"),
        (
            "gx",
            lambda text: text.replace("base_directory: expectations", "base_directory: e"),
            "cannot be read: No such",
        ),
    ],
)
def test_a_context_that_has_no_such_suite_is_a_fault(
    context: Path, folder: str, change: Callable[[str], str], sentence: str
):
    path = context / "gx" / "great_expectations.yml"
    path.write_text(change(path.read_text()))

    with pytest.raises(PolicyError, match=sentence):
        audit(FRAME, {**POLICY, "suite": {"context": folder, "name": "quality"}})


def test_a_key_that_occurs_twice_is_a_fault(tmp_path: Path):
    path = tmp_path / "quality.json"
    path.write_text(json.dumps({"expectations": [NOT_NULL]}).replace('"column": ', '"column": "none", "column": '))

    with pytest.raises(PolicyError, match="is not JSON in UTF-8 in which each key occurs once"):
        audit(FRAME, {**POLICY, "suite": str(path)})


def test_a_report_takes_no_place_of_the_suite(audited: Audited):
    result = audited(NOT_NULL)

    with pytest.raises(UsageError, match="this is the suite"):
        result.write("quality.json")


def test_on_the_command_line(context: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    FRAME.to_csv("release.csv", index=False)
    whole = {**POLICY, "suite": {"context": ".", "name": "quality"}}
    (context / "p.tcdp.yaml").write_text(json.dumps(whole))
    monkeypatch.setattr("sys.argv", ["tcdp-audit", "check", "release.csv", "--policy", "p.tcdp.yaml"])

    assert main() == 1
    assert "does not keep expectation 1" in " ".join(capsys.readouterr().out.split())


def test_where_every_warning_is_an_error(context: Path):
    FRAME.to_csv("release.csv", index=False)
    whole = {**POLICY, "suite": {"context": ".", "name": "quality"}}
    (context / "p.tcdp.yaml").write_text(json.dumps(whole))
    command = [sys.executable, "-W", "error", "-m", "tcdp_audit", "check", "release.csv", "--policy", "p.tcdp.yaml"]

    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    complaints = [line for line in ran.stderr.splitlines() if not PROGRESS.fullmatch(line)]
    assert (ran.returncode, complaints) == (1, [])
    assert "does not keep expectation 1" in " ".join(ran.stdout.split())


def test_both_judges_of_quality_are_asked(audited: Audited, tmp_path: Path):
    import pandera.pandas as pa

    audited(NOT_NULL)
    (tmp_path / "schema.yaml").write_text(pa.DataFrameSchema({"n": pa.Column(int, pa.Check.lt(4))}).to_yaml())

    result = audit(FRAME, {**POLICY, "schema": "schema.yaml", "suite": "quality.json"})

    assert {one.source: one.status for one in result.outcomes if one.is_schema} == {
        "pandera schema": Status.FAILED,
        SUITE: Status.PASSED,
    }
    assert gx_hosts.COLUMNS in {made.expectation_type for made in vars(ours.expectation)["CLASSES"].values()}
