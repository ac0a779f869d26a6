"""The table of conventions in the HTML report."""

from __future__ import annotations

import pyarrow as pa

import tcdp_audit
from tcdp_audit_reports.sections.appendix import conventions_tried
from tcdp_audit_reports.sections.basis import flipping

FIVE = pa.table({"sex": ["F", "F", "F", "M", "M"], "age": ["1", "1", None, "2", "2"]})
POLICY = {
    "version": 1,
    "attributes": {"sex": {"role": "quasi_identifier"}, "age": {"role": "quasi_identifier"}},
    "expect": [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 9}}],
}


def test_a_row_for_each_combination_and_a_sentence_on_what_flips():
    audit = tcdp_audit.audit(FIVE, POLICY, all_conventions=True)
    table = conventions_tried(audit)
    assert table.head == ("conventions", "1", "2")
    assert table.body == [
        ("as in the policy", "failed", "failed"),
        ("missing quasi-identifier: wildcard", "passed", "failed"),
        ("missing quasi-identifier: fail", "failed", "failed"),
    ]
    assert table.note == ""  # what the verdict rests on says it
    assert "Two other ways of counting were tried. The result changes for k-anonymity (demand 1)" in flipping(audit)


def test_a_release_without_missing_values_leaves_nothing_to_try():
    audit = tcdp_audit.audit(FIVE.slice(0, 2), POLICY, all_conventions=True)
    assert conventions_tried(audit).note == ""
    assert flipping(audit).startswith("No other way of counting could change this verdict")


def test_the_report_shows_it_only_where_it_was_asked_for():
    assert "Verdicts by convention" in tcdp_audit.audit(FIVE, POLICY, all_conventions=True).render(".html")
    assert "Verdicts by convention" not in tcdp_audit.audit(FIVE, POLICY).render(".html")


def test_a_demand_that_only_warns_warns_under_every_convention():
    expect = [{"k_anonymity": {"k": 9, "severity": "warning"}}]
    table = conventions_tried(tcdp_audit.audit(FIVE, {**POLICY, "expect": expect}, all_conventions=True))
    assert {row[1] for row in table.body} == {"warns"}


def test_a_line_of_several_demands_names_those_that_fail_under_each_convention():
    """The line fails under both, yet one of its demands differs: that is a result that changes."""
    table = pa.table({"a": list("1122"), "b": list("xyxy"), "s": list("pqpp"), "t": list("uvuv")})
    roles = {name: {"role": "insensitive"} for name in "ab"} | {name: {"role": "sensitive"} for name in "st"}
    intruders = {"one": {"knows": ["a"], "at_stake": ["s"]}, "two": {"knows": ["a", "b"], "at_stake": ["s"]}}
    expect = [{"distinct_l_diversity": {"l": 2, "attribute": "s"}}]
    policy = {"version": 1, "attributes": roles, "scenarios": intruders, "expect": expect}
    audit = tcdp_audit.audit(table, policy, all_conventions=True)
    shown = conventions_tried(audit)

    assert [one.status.value for one in audit.expectations] == ["failed", "failed"]
    assert shown.head == ("conventions", "1–2")
    assert all(len(one.demands[0]) == 2 for one in audit.variants)
    assert audit.as_json()["variants"][0]["demands"] == [["failed", "failed"]]
