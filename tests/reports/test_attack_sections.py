"""Attack stories and the reading as differential privacy: counts of the outcomes, and nothing where there are none."""

from __future__ import annotations

import pyarrow as pa
import pytest
from report_samples import salaries

import tcdp_audit
from tcdp_audit.plugin.report import Rows
from tcdp_audit_plugins.sections import reading
from tcdp_audit_plugins.sections.attacks import STORIES, stories

ROLES = {
    "zip": {"role": "quasi_identifier"},
    "age": {"role": "quasi_identifier"},
    "salary": {"role": "sensitive", "scale": "numeric"},
    "disease": {"role": "sensitive"},
}


def audited(*expect):
    policy = {"version": 1, "unit_name": "person", "attributes": ROLES, "expect": list(expect)}
    return tcdp_audit.audit(salaries(), policy)


def reached(*expect):
    (table,) = (one for one in stories(audited(*expect)) if isinstance(one, Rows))
    return {row[0]: row[2] for row in table.body}


def test_every_check_that_has_a_story_is_registered():
    known = audited({"k_anonymity": {}}).plugins.checks
    assert {name for one in STORIES for name, _ in one.measured_by} <= set(known)


def test_the_neighbour_finds_as_many_as_stand_alone():
    reported = reached({"k_anonymity": {"k": 4}})
    assert reported["The neighbour"] == (
        "By 'zip' and 'age': no one is unique; the smallest group has 3; 9 people are in groups too small."
    )
    assert reported["The colleague"] == "Not counted: Homogeneity attack was not run."


def test_the_colleague_and_the_insider_count_people_by_column():
    reported = reached(
        {"homogeneity": {"attribute": "disease"}},
        {"background_knowledge": {"attribute": "disease"}},
        {"distinct_l_diversity": {"attribute": "disease"}},
    )
    assert reported["The colleague"] == (
        "0 people are in groups in which everyone has the same 'disease'. 'salary': not counted."
    )
    assert reported["The insider"].startswith("0 people: knowing one other member at most")


def test_anyone_who_knows_a_few_facts_is_a_neighbour_too():
    reported = reached({"lkc_privacy": {"L": 1}})
    assert reported["The neighbour"].startswith(
        "By a single column out of 'zip' and 'age': no one is unique; the smallest "
    )
    assert reported["The colleague"] == "0 people are in groups that have a single secret, by a single column."


def test_a_worst_group_is_reported_where_no_count_is():
    reported = reached({"basic_beta_likeness": {"attribute": "disease"}})
    assert reported["The gossip"] == (
        "In one group, a value of 'disease' is 3 times as common as in the whole file, the most of all groups."
    )


def test_the_gossip_is_given_a_count_of_people():
    reported = reached({"t_closeness": {"attribute": "disease"}})
    assert reported["The gossip"] == (
        "In the group furthest from the whole file, the mix of 'disease' differs from it by 44.4%."
    )


@pytest.mark.parametrize(
    ("worst", "says"),
    [
        (["x"] * 11 + ["y"], "11 of 12 have the same 'disease'; in the whole file 1 in 12 do."),
        (["x"] * 3, "3 of 3 have the same 'disease'; in the whole file fewer than 1 in 20 do."),
        (["x"], "of 1 person, 'disease' is known for certain; in the whole file fewer than 1 in 20 have the same."),
        ([None, *["x"] * 3], "3 of 3 have the same 'disease'; in the whole file fewer than 1 in 20 do."),
    ],
)
def test_the_gossip_reads_which_group_a_share_is_of(worst, says):
    others = ["y"] * 60 + ["z"] * 60
    table = pa.table({"zip": ["a"] * len(worst) + ["b"] * len(others), "disease": [*worst, *others]})
    roles = {name: ROLES[name] for name in ("zip", "disease")}
    policy = {"version": 1, "unit_name": "person", "attributes": roles, "expect": [{"t_closeness": {"t": 0.5}}]}
    (shown,) = (one for one in stories(tcdp_audit.audit(table, policy)) if isinstance(one, Rows))
    assert dict(row[::2] for row in shown.body)["The gossip"] == f"In the group furthest from the whole file, {says}"


def test_the_neighbour_of_a_demand_on_values_reads_the_smallest_group():
    reported = reached({"alpha_k_anonymity": {"alpha": 0.5, "k": 2, "attribute": "disease"}})
    assert reported["The neighbour"] == "By 'zip' and 'age': the smallest group has 3 people."


def test_the_data_broker_who_knows_the_masking_rules_rows_out():
    ages = {"version": 1, "rows_aligned": True, "attributes": {"age": {"role": "quasi_identifier", "scale": "numeric"}}}
    released, original = pa.table({"age": [30, 20, 40, 50]}), pa.table({"age": [20, 30, 40, 50]})

    def reported(**expect):
        audit = tcdp_audit.audit(released, {**ages, "expect": [expect]}, original)
        (table,) = (one for one in stories(audit) if isinstance(one, Rows))
        return table.body[-1][2]

    assert reported(rank_swap_attack={"links": "expected"}) == (
        "By how the file was masked all rows but one are ruled out for 0 records; guessing among what is left is right "
        "for 41.7%."
    )
    assert reported(k_confusion={"attack": {"rank_swap_attack": {}}}) == (
        "By how the file was masked, everyone may be one of 2 or more."
    )


def test_there_are_no_stories_without_outcomes():
    assert list(stories(audited({"delta_disclosure": {"attribute": "disease"}}))) == []


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_it_is_read_as_differential_privacy_only_where_asked_for(suffix):
    assert "Read as differential privacy" not in audited({"k_anonymity": {"k": 4}}).render(suffix)
    text = audited({"implied_epsilon": {"attribute": "disease"}}).render(suffix)
    assert "Read as differential privacy" in text
    assert "Only if all of this holds" in text


def test_an_infinite_epsilon_sets_no_limit():
    (table,) = (one for one in reading(audited({"implied_epsilon": {}})) if isinstance(one, Rows))
    assert [row[2] for row in table.body] == ["no limit follows"]
