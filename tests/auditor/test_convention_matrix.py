"""Every combination of conventions that applies, and which verdicts it flips."""

from __future__ import annotations

import pyarrow as pa
import pytest

import tcdp_audit
from tcdp_audit.cli.terminal import show_conventions
from tcdp_audit.core.base.audit_figures import flips

FIVE = pa.table(
    {"sex": ["F", "F", "F", "M", "M"], "age": ["1", "1", None, "2", "2"], "pay": ["1", "2", "3", "4", None]}
)
ROLES = {
    "sex": {"role": "quasi_identifier"},
    "age": {"role": "quasi_identifier"},
    "pay": {"role": "sensitive", "scale": "numeric"},
}


def audited(table, expect, **policy):
    document = {"version": 1, "attributes": ROLES, "expect": expect, **policy}
    return tcdp_audit.audit(table, document, all_conventions=True)


def test_a_missing_quasi_identifier_flips_k_anonymity():
    audit = audited(FIVE, [{"k_anonymity": {"k": 2}}])
    verdicts = {tuple(one.conventions.values()): one.verdicts[0].value for one in audit.variants}
    assert verdicts["own_category", "excluded"] == "failed"
    assert verdicts["wildcard", "excluded"] == "passed"
    assert verdicts["fail", "excluded"] == "failed"
    assert len(audit.variants) == 9
    assert flips(audit.variants) == [0]


def test_the_policy_s_own_combination_comes_first_and_agrees_with_its_outcomes():
    conventions = {"missing_quasi_identifier": "wildcard"}
    audit = audited(FIVE, [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2}}], conventions=conventions)
    assert audit.variants[0].declared
    assert audit.variants[0].conventions["missing_quasi_identifier"] == "wildcard"
    assert [one.status for one in audit.expectations] == list(audit.variants[0].verdicts)


def test_a_combination_that_does_not_suit_an_expectation_skips_it():
    roles = {**ROLES, "age": {"role": "sensitive"}}
    document = {
        "version": 1,
        "attributes": roles,
        "expect": [{"t_closeness": {"distance": "ordered", "attribute": "pay"}}],
    }
    whole = FIVE.set_column(2, "pay", pa.array(["1", "2", "3", "4", "5"]))
    whole = whole.set_column(1, "age", pa.array(["a", "b", "a", "b", "a"]))
    audit = tcdp_audit.audit(whole, document, all_conventions=True)
    assert [one.conventions for one in audit.variants] == [
        {"multiple_sensitive": "per_attribute"},
        {"multiple_sensitive": "others_as_quasi_identifiers"},
        {"multiple_sensitive": "joint"},
    ]
    assert [one.verdicts[0].value for one in audit.variants] == ["measured", "measured", "measured"]


def test_nothing_to_decide_leaves_one_combination():
    whole = FIVE.slice(0, 2)
    audit = audited(whole, [{"k_anonymity": {"k": 2}}])
    assert len(audit.variants) == 1
    assert audit.variants[0].conventions == {}
    assert flips(audit.variants) == []
    assert flips(()) == []


def test_variants_stand_in_the_json_only_where_they_were_asked_for():
    audit = audited(FIVE, [{"k_anonymity": {"k": 2}}])
    assert audit.as_json()["variants"][0]["verdicts"] == ["failed"]
    assert "variants" not in tcdp_audit.audit(FIVE, audit.policy).as_json()


@pytest.mark.parametrize(
    ("k", "said"), [(2, "k-anonymity: failed or passed, by convention"), (99, "No verdict changes")]
)
def test_the_terminal_says_which_verdicts_flip(capsys, k, said):
    audit = audited(FIVE, [{"k_anonymity": {"k": k}}])
    show_conventions(audit.policy, audit.variants)
    assert said in capsys.readouterr().out


def test_the_terminal_says_when_there_is_nothing_to_decide(capsys):
    audit = audited(FIVE.slice(0, 2), [{"k_anonymity": {"k": 2}}])
    show_conventions(audit.policy, audit.variants)
    assert "No convention could change a verdict" in capsys.readouterr().out


def test_checks_on_whole_tables_are_varied_like_all_others():
    attributes = {
        "sex": {"role": "quasi_identifier"},
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "pay": {"role": "sensitive", "scale": "numeric"},
    }
    released = pa.table({"sex": ["F", "F", "F", "M", "M"], "age": [1, 1, None, 2, 2], "pay": [1, 2, 3, 4, 9]})
    original = pa.table({"sex": ["F", "F", "F", "M", "M"], "age": [1, 1, 1, 2, 2], "pay": [1, 2, 3, 4, 5]})
    expect = [
        {"k_anonymity": {"k": 2}},
        {"sd_interval_disclosure": {"p": 1, "at_most": "4/5"}},
        {"rank_interval_disclosure": {"p": 1, "at_most": "3/4"}},
        {"distinct_l_diversity": {"l": 2}},
    ]
    document = {"version": 1, "rows_aligned": True, "attributes": attributes, "expect": expect}

    audit = tcdp_audit.audit(released, document, original, all_conventions=True)

    assert [one.status for one in audit.expectations] == list(audit.variants[0].verdicts)
    verdicts = {one.conventions["missing_quasi_identifier"]: [*map(str, one.verdicts)] for one in audit.variants}
    assert verdicts == {
        "own_category": ["failed", "passed", "failed", "failed"],
        "wildcard": ["passed", "passed", "failed", "passed"],
        "fail": ["failed", "failed", "failed", "failed"],
    }
    assert flips(audit.variants) == [0, 1, 3]
