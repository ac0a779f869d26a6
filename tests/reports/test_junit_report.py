"""JUnit XML: what every outcome becomes, how cases are counted, and that no name breaks it.

The schemas in circulation contradict each other (one has no `error`, most have neither `file` nor properties of a
case), so what readers rely on is asserted here.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from report_samples import HOSTILE, SALARY_POLICY, made_up, salaries
from run_samples import FITS_BOTH, run_of_several, salary_result, with_outcomes, written_policy

from tcdp_audit import DataError, audit
from tcdp_audit.core.base.outcome import Severity, Status
from tcdp_audit.core.results.reporter import Unaudited
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_reports import junit_report


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def parsed(*results):
    return ET.fromstring(junit_report.render(results).encode())  # noqa: S314 - our own


def cases(root):
    return {case.get("name"): case for case in root.iter("testcase")}


def verdict(case):
    return [child.tag for child in case if child.tag != "properties"]


def test_a_suite_for_each_policy_and_a_case_for_each_outcome(folder):  # noqa: ARG001 - the current folder
    first = audit(salaries(), written_policy(SALARY_POLICY, "a.tcdp.yaml"))
    second = audit(salaries(), written_policy(SALARY_POLICY, "b.tcdp.yaml"))
    root = parsed(first, second)

    assert [suite.get("name") for suite in root] == ["a.tcdp.yaml", "b.tcdp.yaml"]
    assert len(list(root[0].iter("testcase"))) == len(first.outcomes)
    assert root.get("tests") == str(len(first.outcomes) + len(second.outcomes))
    for tag, attribute in junit_report.COUNTED.items():
        assert root.get(attribute) == str(len(list(root.iter(tag))))
        assert root[0].get(attribute) == str(len(list(root[0].iter(tag))))


def test_a_case_is_at_its_line_and_has_its_figures(folder):  # noqa: ARG001 - the current folder
    policy = written_policy(SALARY_POLICY, "a.tcdp.yaml")
    case = cases(parsed(audit(salaries(), policy)))["entropy_l_diversity[disease]"]
    line = int(case.get("line"))
    figures = {one.get("name"): one.get("value") for one in case.iter("property")}

    assert "entropy_l_diversity" in policy.read_text().splitlines()[line - 1]
    assert (case.get("file"), case.get("classname")) == ("a.tcdp.yaml", "a.expectations")
    assert figures["observed"], figures["threshold"] == ("3", "3")
    assert (figures["classes.total"], figures["classes.failing"], figures["records.total"]) == ("3", "0", "9")


def test_a_case_of_a_column_is_at_its_declaration(folder):  # noqa: ARG001 - the current folder
    policy = Path("a.tcdp.yaml")
    policy.write_text(
        "version: 1\n\nattributes:\n  zip: {role: quasi_identifier}\n  disease:\n    role: sensitive\n"
        "  salary: {role: insensitive, scale: numeric}\nexpect: [k_anonymity: {k: 2}]\n"
    )
    result = audit(salaries().set_column(2, "salary", [["none"] * 9]), policy)
    failing = [one for one in parsed(result).iter("testcase") if verdict(one) == ["failure"]]

    assert [(one.get("name"), one.get("line"), one.get("classname")) for one in failing] == [
        ("undeclared_columns", "3", "a.columns"),
        ("wrong_scale", "3", "a.columns"),
    ]


def test_equal_names_are_distinguished():
    listed = [case.get("name") for case in parsed(salary_result()).iter("testcase")]

    assert len(set(listed)) == len(listed)
    assert {"t_closeness[salary]", "t_closeness[salary] #2", "t_closeness[disease]"} <= set(listed)


@pytest.mark.parametrize(
    ("outcome", "expected", "sentence"),
    [
        (made_up(4, 5), ["failure"], "A sentence."),
        (made_up(5, 5, status=Status.PASSED), [], ""),
        (made_up(None, 5, status=Status.ERROR), ["error"], "A sentence."),
        (made_up(4, 5, severity=Severity.WARNING), ["skipped"], "A warning: A sentence."),
        (made_up(4, None, status=Status.MEASURED), ["skipped"], "Measured, not judged: A sentence."),
        (made_up(4, None, status=Status.SKIPPED), ["skipped"], "Skipped, not judged: A sentence."),
    ],
)
def test_what_an_outcome_becomes(outcome, expected, sentence):
    case = cases(parsed(with_outcomes(outcome)))["k_anonymity"]

    assert verdict(case) == expected
    assert [child.get("message") for child in case if child.tag != "properties"] == [sentence] * len(expected)


def test_a_failure_says_what_was_observed():
    outcome = made_up(0.5, Fraction(3, 8), status=Status.FAILED)
    case = cases(parsed(with_outcomes(outcome)))["k_anonymity"]

    assert case.find("failure").text == "A sentence.\nobserved 0.500, demanded ≥ 0.375"


def test_an_audit_without_any_expectation_is_an_error():
    result = with_outcomes()
    root = parsed(result)

    assert result.status == "error"
    assert root.get("errors") == "1"
    assert verdict(cases(root)["audit"]) == ["error"]


def test_a_policy_that_could_not_be_audited_is_an_error():
    root = parsed(Unaudited(Path("x.tcdp.yaml"), DataError("release.csv: it is empty")))

    assert (root.get("tests"), root.get("errors")) == ("1", "1")
    assert root.find(".//error").get("message") == "release.csv: it is empty"


def test_each_fault_of_a_wrong_policy_has_its_line(folder):  # noqa: ARG001 - the current folder
    root = parsed(*run_of_several(Plugins.load(external=False), FITS_BOTH))
    wrong = root[2]

    assert [(one.get("file"), one.get("line")) for one in wrong.iter("testcase")] == [("wrong.tcdp.yaml", "4")]
    assert "unknown check 'class_sise'" in wrong.find(".//error").get("message")


def test_no_time_is_invented():
    assert ' time="' not in junit_report.render([salary_result()])


@pytest.mark.parametrize("name", [*HOSTILE, "\ufffe\uffff", "a\x00b", "\ud800", "]]>&lt;\u202e"])
def test_no_name_breaks_the_file(name):
    outcome = made_up(1, 2, attribute=name, message=f"It is {name}.", title=name)
    text = junit_report.render([replace(salary_result(), outcomes=(outcome,), exposed=None)])

    assert "<script>" not in text
    assert not set(text) & set("\x00\x1b\u202e\ufffe\uffff\ud800")
    (case,) = ET.fromstring(text.encode()).iter("testcase")  # noqa: S314 - our own
    assert verdict(case) == ["failure"]
