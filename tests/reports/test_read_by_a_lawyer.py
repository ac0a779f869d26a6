"""What a lawyer who read the reports on linked tables and on a survey stumbled over."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from edition_samples import of_linked_tables
from linked_samples import clinic

from tcdp_audit import audit
from tcdp_audit.core.results.audit import Audit
from tcdp_audit_plugins.sections.attacks import stories
from tcdp_audit_reports.people_exposed import relation
from tcdp_audit_reports.policy_text import lines_to_paste
from tcdp_audit_reports.remedy.advice import trial_table
from tcdp_audit_reports.sections.basis import flipping
from tcdp_audit_reports.sections.columns import columns_table
from tcdp_audit_reports.sections.coverage import coverage
from tcdp_audit_reports.sections.findings import findings, rows
from tcdp_audit_reports.sections.unexamined import left


@pytest.fixture(scope="module")
def linked() -> Audit:
    return of_linked_tables()


@pytest.fixture(scope="module")
def three() -> Audit:
    return clinic()


def test_remedies_are_shown_by_attempt(linked: Audit) -> None:
    assert linked.remedy_trial is not None
    table = trial_table(linked, linked.remedy_trial)
    assert table is not None
    names, costs, results = zip(*table.body, strict=True)
    assert [name.partition(":")[0] for name in names] == ["1a", "1b", "2", "3", "1a, then"]
    assert results[0].startswith("It goes on with 1b. Not met after it: k-anonymity")
    assert costs[1].startswith("414 more records removed, together 759, ")
    assert costs[4].startswith("45 more records removed, together 390, ")
    assert "not known" not in costs


def test_a_step_says_what_it_was_applied_to(linked: Audit) -> None:
    assert linked.remedy_trial is not None
    assert linked.remedy_trial.log is not None
    first, second = linked.remedy_trial.log.steps
    assert "after" not in first.as_json()
    assert second.as_json()["after"] == [{"remedy": first.remedy, "parameters": {"rows": 1, "table": "visits"}}]


def test_the_advice_says_who_is_still_unique_and_where_its_lines_belong(linked: Audit) -> None:
    page = linked.render(".html")
    assert "quarter of the visit before others (without it, 53 patients are still unique)" in page
    assert "Add these lines to clinic.tcdp.yaml, then run the command." in page
    assert linked.remedy_trial is not None
    assert linked.remedy_trial.log is not None
    lines = lines_to_paste(linked.remedy_trial.log)
    assert lines is not None
    assert lines.sentence == "Add these lines to the policy to repair a later release alike."


def test_a_mean_chance_is_of_all_and_of_those_who_are_too_few(three: Audit) -> None:
    said = three.expectations[0].individual_impact
    assert "with a chance of 69% on average over all 200 patients (92.5% over these 147)." in said


def test_the_worst_is_said_of_the_people_whose_secret_is_certain(three: Audit) -> None:
    history, secret = "the whole history of one of 139 patients", "a value of the 'visits.diagnosis'"
    worst = f"who knows {history} knows {secret} for certain (demand 2)."
    assert f"Worst for one person: {worst}" in relation(three)


def test_a_share_is_of_the_patients_with_visits(three: Audit) -> None:
    row = rows(three)[1]
    assert (row.observed, row.demanded) == ("94.6% of patients with visits", "≤ 0%")


def test_a_finding_on_rows_says_what_a_group_is(three: Audit) -> None:
    said = (
        "Here a group is of records of visits that look alike, of patients with the same whole history; one patient "
        "can be in several."
    )
    assert [said in one.message for one in findings(three)] == [False, False, True]


def test_a_column_that_links_has_the_reason_of_the_one_above(linked: Audit) -> None:
    reasons = {row[0]: row[3] for row in columns_table(linked).body}
    assert reasons["patients.patient"] == reasons["visits.visit"] == "drawn for this release"
    assert reasons["visits.patient"] == "as for patients.patient"
    assert reasons["drugs.visit"] == "as for visits.visit"


def test_the_map_and_the_list_count_the_same_checks(three: Audit) -> None:
    quarters = [one for _, _, row in coverage(three, rows(three)) for one in row]
    numbers = [int(re.findall(r"^(\d+) more", one.unchecked)[0]) for one in quarters]
    assert sum(numbers) == len(left(three))


def test_the_neighbour_knows_the_whole_history(three: Audit) -> None:
    table = next(one for one in stories(three) if not isinstance(one, str))
    assert table.body[0][2].startswith("By the whole history of 'patients.sex', ")


MISSING = {
    "version": 1,
    "attributes": {"city": {"role": "quasi_identifier"}, "ill": {"role": "sensitive"}},
    "expect": [{"distinct_l_diversity": {"l": 2}}, {"homogeneity": {"at_most": 0}}, {"k_anonymity": {"k": 4}}],
}


def test_what_several_demands_count_alike_is_said_once() -> None:
    table = pa.table({"city": [*"aaabbbccdd"], "ill": [*"xxx", *"xyx", None, None, *"yy"]})
    said = relation(audit(table, MISSING))
    assert "demands 1 and 2 expose 7." in said
    assert said.count("in groups in which no one has a value") == 1
    assert "Demands 1–2 count 2 records in groups in which no one has a value" in said


def test_what_was_varied_is_named() -> None:
    table = pa.table({"city": [*"aabb"], "ill": ["x", None, "y", "z"]})
    result = audit(table, {**MISSING, "expect": [{"k_anonymity": {"k": 3}}]}, all_conventions=True)
    assert result.flips == ()
    assert flipping(result).endswith(
        "to count missing secrets change no result; the other assumptions below were not varied."
    )
