"""The core: roles, conventions, reference distributions, attributes read together, and never a vacuous pass."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import tcdp_audit
from tcdp_audit import DataError, Status, UsageError
from tcdp_audit.core.base.guide_file import Guide
from tcdp_audit.core.check.threshold import Parameters
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import ClassCheck, DisclosureType, Threshold, hookimpl
from tcdp_audit.plugin.sentences import Comparison

TABLE = pa.table(
    {
        "zip": ["a", "a", "a", "b", "b", "b"],
        "disease": ["flu", "flu", "cold", "flu", "cold", "cold"],
        "pay": [1, 2, 3, 4, 5, 6],
    }
)
ROLES = {
    "zip": {"role": "quasi_identifier"},
    "disease": {"role": "sensitive"},
    "pay": {"role": "sensitive", "scale": "numeric"},
}


def audit(table, expect, attributes=ROLES, original=None, **policy):
    return tcdp_audit.audit(table, {"version": 1, "attributes": attributes, "expect": expect, **policy}, original)


def only(table, check, parameters, **more):
    return audit(table, [{check: parameters}], **more).expectations[0]


def with_conventions(**conventions):
    return {"conventions": conventions}


def test_without_an_attribute_a_check_runs_on_each_sensitive_one():
    outcomes = audit(TABLE, [{"distinct_l_diversity": {"l": 2}}]).expectations
    assert [(one.attribute, one.observed) for one in outcomes] == [("disease", 2), ("pay", 3)]


def test_attributes_read_together_are_one_combination():
    outcome = only(TABLE, "distinct_l_diversity", {"l": 3}, **with_conventions(multiple_sensitive="joint"))
    assert (outcome.attribute, outcome.observed, outcome.status) == ("disease × pay", 3, Status.PASSED)


def test_a_combination_with_a_missing_part_is_missing():
    table = TABLE.set_column(2, "pay", pa.array([None, None, None, 4, 5, 6]))
    outcome = only(table, "distinct_l_diversity", {"l": 1}, **with_conventions(multiple_sensitive="joint"))
    assert (outcome.observed, outcome.status, outcome.classes.failing) == (0, Status.FAILED, 1)


def test_others_as_quasi_identifiers_groups_by_what_the_intruder_knows():
    known = with_conventions(multiple_sensitive="others_as_quasi_identifiers")
    outcome = only(TABLE, "distinct_l_diversity", {"attribute": "pay"}, **known)
    assert (outcome.observed, outcome.classes.total) == (1, 4)


def test_the_original_is_the_reference_where_the_policy_says_so():
    original = pa.table({"disease": ["flu", "flu", "flu", "cold"], "pay": [1, 1, 1, 9]})
    closeness = {"attribute": "disease"}
    outcome = only(TABLE, "t_closeness", closeness, original=original, **with_conventions(reference="original"))
    assert outcome.observed == pytest.approx(float(Fraction(2, 3) - Fraction(1, 4)), abs=1e-15)
    assert outcome.conventions["reference"] == "original"


def test_values_that_only_the_original_has_belong_to_the_domain():
    original = pa.table({"pay": [1, 2, 3, 4, 5, 6, 7]})
    closeness = {"attribute": "pay", "distance": "ordered"}
    outcome = only(TABLE, "t_closeness", closeness, original=original, **with_conventions(reference="original"))
    p, q = [Fraction(1, 3)] * 3 + [Fraction(0)] * 4, [Fraction(1, 7)] * 7
    exact = sum(abs(sum(p[: i + 1]) - sum(q[: i + 1])) for i in range(7)) / 6
    assert outcome.observed == float(exact)


def test_attributes_read_together_are_compared_with_the_original_s_combinations():
    original = TABLE.set_column(2, "pay", pa.array([6, 5, 4, 3, 2, 1]))
    conventions = with_conventions(reference="original", multiple_sensitive="joint")
    assert only(TABLE, "t_closeness", {}, original=original, **conventions).observed == 1
    assert only(TABLE, "t_closeness", {}, original=TABLE, **conventions).observed == 0.5


def test_an_original_without_the_attribute_is_an_error():
    conventions = with_conventions(reference="original")
    outcome = only(TABLE, "t_closeness", {"attribute": "pay"}, original=TABLE.select(["zip"]), **conventions)
    assert (outcome.status, outcome.message) == (
        Status.ERROR,
        "cannot be evaluated: the original has no column 'pay'",
    )


def test_no_original_is_an_error():
    outcome = only(TABLE, "t_closeness", {"attribute": "pay"}, **with_conventions(reference="original"))
    assert outcome.message == "cannot be evaluated: the reference is the original, and no original is given"


@pytest.mark.parametrize(
    ("distribution", "observed"),
    [
        ("uniform", Fraction(1, 6)),
        ({"flu": "1/4", "cold": 0.75}, Fraction(5, 12)),
        ({"flu": 1, "new": 1}, Fraction(2, 3)),
    ],
)
def test_a_declared_reference_is_taken_exactly(distribution, observed):
    attributes = {**ROLES, "disease": {"role": "sensitive", "distribution": distribution}}
    conventions = with_conventions(reference="declared")
    outcome = only(TABLE, "t_closeness", {"attribute": "disease"}, attributes=attributes, **conventions)
    assert outcome.observed == float(observed)


def test_a_declared_reference_with_too_many_digits_is_an_error():
    attributes = {**ROLES, "disease": {"role": "sensitive", "distribution": {"flu": 0.1234567890123456789, "cold": 1}}}
    conventions = with_conventions(reference="declared")
    outcome = only(TABLE, "t_closeness", {"attribute": "disease"}, attributes=attributes, **conventions)
    assert outcome.status is Status.ERROR
    assert "too many digits" in outcome.message


def test_a_missing_value_has_no_place_in_a_declared_reference():
    table = TABLE.set_column(1, "disease", pa.array(["flu", None, "cold", "flu", "cold", "cold"]))
    attributes = {**ROLES, "disease": {"role": "sensitive", "distribution": "uniform"}}
    conventions = with_conventions(reference="declared", missing_sensitive="own_category")
    outcome = only(table, "t_closeness", {"attribute": "disease"}, attributes=attributes, **conventions)
    assert "no place for missing values" in outcome.message


def test_a_missing_value_has_no_place_in_an_order():
    table = TABLE.set_column(2, "pay", pa.array([1, None, 3, 4, 5, 6]))
    conventions = with_conventions(missing_sensitive="own_category")
    outcome = only(table, "t_closeness", {"attribute": "pay", "distance": "ordered"}, **conventions)
    assert outcome.status is Status.ERROR
    assert "have no place in its order" in outcome.message


@pytest.mark.parametrize(("convention", "k"), [("own_category", 1), ("wildcard", 2)])
def test_a_missing_quasi_identifier(convention, k):
    table = pa.table({"sex": ["F", "F", "F", "M", "M"], "age": ["1", "1", None, "2", "2"]})
    roles = {"sex": {"role": "quasi_identifier"}, "age": {"role": "quasi_identifier"}}
    conventions = with_conventions(missing_quasi_identifier=convention)
    assert only(table, "k_anonymity", {}, attributes=roles, **conventions).observed == k


@pytest.mark.parametrize("convention", ["missing_quasi_identifier", "missing_sensitive"])
def test_missing_values_that_the_policy_refuses_fail_whatever_is_measured(convention):
    column = 0 if convention == "missing_quasi_identifier" else 1
    name = TABLE.column_names[column]
    table = TABLE.set_column(column, name, pa.array(["a", "a", "a", "b", "b", None]))
    outcome = only(table, "distinct_l_diversity", {"attribute": "disease"}, **with_conventions(**{convention: "fail"}))
    assert outcome.status is Status.FAILED
    assert outcome.message.startswith(
        f"1 record has no value in the {'quasi-identifier' if column == 0 else 'sensitive'}"
    )


def test_a_missing_value_that_the_policy_refuses_hides_no_group_that_fails():
    table = TABLE.set_column(1, "disease", pa.array(["flu", "flu", "flu", "flu", None, "cold"]))
    outcome = only(
        table, "distinct_l_diversity", {"attribute": "disease", "l": 2}, **with_conventions(missing_sensitive="fail")
    )
    failing = (outcome.records.failing, outcome.classes.failing)
    assert failing == (3, 1)
    assert outcome.message == (
        "1 record has no value in the sensitive attribute 'disease'; 3 of 6 records are in a group that fails"
    )


def test_a_class_whose_sensitive_values_are_all_missing_fails_every_threshold():
    table = TABLE.set_column(1, "disease", pa.array([None, None, None, "flu", "cold", "cold"]))
    closeness = only(table, "t_closeness", {"attribute": "disease", "t": 1})
    assert (closeness.observed, closeness.status, closeness.records.failing) == (float("inf"), Status.FAILED, 3)
    assert only(table, "distinct_l_diversity", {"attribute": "disease", "l": 1}).observed == 0


def test_an_attribute_that_is_missing_throughout_cannot_be_evaluated():
    table = TABLE.set_column(1, "disease", pa.array([None] * 6, pa.string()))
    outcome = only(table, "distinct_l_diversity", {"attribute": "disease", "l": 1})
    assert (outcome.status, outcome.message) == (
        Status.ERROR,
        "cannot be evaluated: column 'disease' has no value in any record",
    )


def test_an_entity_counts_once():
    table = pa.table({"zip": ["a"] * 5, "disease": ["x", "x", "x", "x", "y"], "person": ["p"] * 4 + ["q"]})
    roles = {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}}
    by_rows = {"unit": "person", **with_conventions(known_rows="one")}
    assert only(table, "k_anonymity", {}, attributes=roles, **by_rows).observed == 2
    effective = only(table, "entropy_l_diversity", {"l": 2}, attributes=roles, **by_rows)
    assert (effective.observed, effective.status) == (2, Status.PASSED)
    assert only(table, "k_anonymity", {}, attributes={**roles, "person": {"role": "insensitive"}}).observed == 5


def test_records_without_an_entity_count_as_one_entity():
    table = pa.table({"zip": ["a"] * 4, "person": ["p", None, None, None]})
    roles = {"zip": {"role": "quasi_identifier"}}
    for known, least in (("one", 2), ("all", 1)):  # of two histories, one row and three
        assert only(table, "k_anonymity", {"known_rows": known}, attributes=roles, unit="person").observed == least


def test_suppressed_records_are_exempt_only_if_their_sensitive_cells_are_too():
    table = pa.table({"zip": ["a", "a", "*", "*"], "disease": ["x", "y", "*", "x"]})
    roles = {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}}
    counted = only(table, "k_anonymity", {}, attributes=roles)
    exempt = only(table, "k_anonymity", {}, attributes=roles, **with_conventions(suppressed="exempt"))
    assert (counted.observed, counted.records.total) == (2, 4)
    assert (exempt.observed, exempt.records.total) == (1, 3)
    closeness = only(table, "t_closeness", {}, attributes=roles, **with_conventions(suppressed="exempt"))
    assert closeness.observed == float(Fraction(1, 3))


def test_a_release_of_suppressed_records_alone_is_no_pass():
    table = pa.table({"zip": ["*"] * 9, "disease": ["*"] * 9})
    roles = {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}}
    for suppressed in ("counted", "exempt"):
        result = audit(table, [{"k_anonymity": {"k": 2}}], roles, **with_conventions(suppressed=suppressed))
        assert result.status == "error"
        assert result.exit_code() == 3


def test_an_empty_release_is_no_pass():
    with pytest.raises(DataError, match="no records"):
        audit(TABLE.slice(0, 0), [{"k_anonymity": {"k": 2}}])


def test_a_release_without_its_quasi_identifiers_is_no_pass():
    result = audit(TABLE.drop(["zip"]), [{"k_anonymity": {"k": 1}}])
    assert [one.status for one in result.expectations] == [Status.ERROR]
    assert result.exit_code() == 3


def test_a_policy_that_demands_nothing_is_measured_not_passed():
    result = audit(TABLE, [{"k_anonymity": {}}])
    assert (result.status, result.passed, result.exit_code(), result.exit_code(allow_vacuous=True)) == (
        "measured",
        False,
        3,
        0,
    )


def test_allow_vacuous_does_not_excuse_a_failure():
    assert audit(TABLE, [{"k_anonymity": {"k": 9}}]).exit_code(allow_vacuous=True) == 1


def test_a_warning_fails_only_where_it_is_asked_to():
    result = audit(TABLE, [{"k_anonymity": {"k": 9, "severity": "warning"}}, {"k_anonymity": {"k": 2}}])
    assert (result.status, result.exit_code(), result.exit_code(fail_on_warning=True)) == ("passed", 0, 1)
    assert [one.is_warning for one in result.expectations] == [True, False]


def test_undeclared_columns_identifiers_and_missing_columns_fail_the_audit():
    attributes = {**ROLES, "name": {"role": "identifier"}, "age": {"role": "insensitive"}}
    table = TABLE.append_column("name", pa.array(list("uvwxyz"))).append_column("extra", pa.array(range(6)))
    result = audit(table, [{"k_anonymity": {"k": 1}}], attributes)
    failed = {one.check: one.details["columns"] for one in result.structure if one.status is Status.FAILED}
    assert failed == {"missing_columns": ["age"], "undeclared_columns": ["extra"], "present_identifiers": ["name"]}
    assert result.exit_code() == 1


def test_a_misspelt_column_is_reported_with_the_one_that_was_intended():
    attributes = {**ROLES, "ilness": {"role": "insensitive"}}
    table = TABLE.append_column("illness", pa.array(range(6)))
    outcomes = {one.check: one for one in audit(table, [{"k_anonymity": {"k": 1}}], attributes).structure}
    assert outcomes["missing_columns"].message == (
        "the policy declares column 'ilness', which the release does not have; did you mean 'illness'?"
    )


def test_values_written_in_two_ways_are_a_warning():
    table = TABLE.set_column(1, "disease", pa.array(["flu", " flu", "cold", "Cold", "cold", "cold"]))
    result = audit(table, [{"k_anonymity": {"k": 2}}])
    assert [one.check for one in result.warnings] == ["text_variants", "undemanded_sensitive"]
    assert result.exit_code() == 0


def test_failures_are_raised_with_their_sentences():
    result = audit(TABLE, [{"k_anonymity": {"k": 9}}])
    with pytest.raises(tcdp_audit.TcdpAuditError, match="k_anonymity: All 6 records") as raised:
        result.raise_for_failures()
    assert raised.value.exit_code == 1
    audit(TABLE, [{"k_anonymity": {"k": 3}}]).raise_for_failures()


def test_a_call_without_a_release_is_refused():
    with pytest.raises(UsageError, match="no release"):
        audit(None, [{"k_anonymity": {"k": 1}}])


def test_measure_gives_one_outcome():
    outcome = tcdp_audit.measure(
        "t_closeness", TABLE, quasi_identifiers=["zip"], attribute="pay", scale="numeric", distance="ordered"
    )
    assert outcome.observed == 0.3
    ordinal = tcdp_audit.measure(
        "t_closeness",
        TABLE,
        quasi_identifiers=["zip"],
        attribute="disease",
        scale="ordinal",
        order=["cold", "flu"],
        distance="ordered",
        conventions={"missing_sensitive": "fail"},
        t="1/6",
    )
    assert (ordinal.observed, ordinal.status) == (float(Fraction(1, 6)), Status.PASSED)


def test_measure_raises_where_there_is_no_answer():
    with pytest.raises(tcdp_audit.CheckError, match="is not in the release"):
        tcdp_audit.measure("k_anonymity", TABLE, quasi_identifiers=["nowhere"])


@pytest.mark.parametrize("memory", [2**26, None])
def test_the_answer_does_not_depend_on_shards_or_memory(memory):
    rng = np.random.default_rng(7)
    table = pa.table(
        {
            "zip": rng.integers(0, 60, 5000).astype(str),
            "disease": rng.integers(0, 5, 5000).astype(str),
            "pay": rng.integers(0, 300, 5000),
        }
    )
    expect = [{"k_anonymity": {"k": 80}}, {"t_closeness": {"t": 0.05}}, {"entropy_l_diversity": {"l": 4.9}}]
    policy = {"version": 1, "attributes": ROLES, "expect": expect}
    one = tcdp_audit.audit(table, policy, shards=1)
    seven = tcdp_audit.audit(table, policy, shards=7, memory=memory)
    assert one.as_json()["outcomes"] == seven.as_json()["outcomes"]


def test_worst_classes_name_their_cells_only_where_they_were_asked_for():
    policy = {"version": 1, "attributes": ROLES, "expect": [{"k_anonymity": {"k": 9}}]}
    hidden = tcdp_audit.audit(TABLE, policy).expectations[0]
    shown = tcdp_audit.audit(TABLE, policy, show_values=True).expectations[0]
    assert [one.cells for one in hidden.worst] == [None, None]
    assert sorted(one.cells["zip"] for one in shown.worst) == ["a", "b"]
    assert "cells" not in hidden.as_json()["worst"][0]
    assert shown.as_json()["worst"][0]["cells"].keys() == {"zip"}


class AtLeast(Parameters):
    at_least: int | None = None


def raising(*_):
    raise ValueError("a cell: SECRET")


def test_an_error_of_a_check_is_reported_without_its_text_and_spares_the_others():
    check = ClassCheck(
        name="raising",
        title="Raising",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=AtLeast,
        thresholds=(Threshold("at_least", Comparison.AT_LEAST, raising),),
        guide=Guide("d", "f", "r", "c", "s", "- raising: {}"),
    )
    plugins = Plugins.load()

    class Module:
        @hookimpl
        def tcdp_audit_checks(self):
            yield check

    plugins.register(Module(), "raising_plugin")
    policy = {"version": 1, "attributes": ROLES, "expect": [{"raising": {}}, {"k_anonymity": {"k": 3}}]}
    result = tcdp_audit.audit(TABLE, policy, plugins=plugins)
    first, second = result.expectations
    assert (first.status, second.status) == (Status.ERROR, Status.PASSED)
    assert first.message.startswith("the check raised ValueError in test_auditor.py, line ")
    assert "SECRET" not in str(result.as_json())
    assert result.exit_code() == 3


def test_checks_on_the_whole_table_refuse_to_leave_records_out():
    policy = {
        "version": 1,
        "rows_aligned": True,
        "attributes": {"zip": {"role": "quasi_identifier"}, "pay": {"role": "quasi_identifier", "scale": "numeric"}},
        "conventions": {"suppressed": "exempt"},
        "expect": [{"rank_interval_disclosure": {"p": 10, "attributes": ["pay"]}}],
    }
    with pytest.raises(tcdp_audit.PolicyError, match="would leave some out"):
        tcdp_audit.audit(TABLE.drop(["disease"]), policy, TABLE)


def test_values_that_a_parameter_names_are_counted_in_the_evidence():
    result = audit(TABLE, [{"skewness": {"attribute": "disease", "sensitive_values": ["flu"], "at_most": "1.9"}}])
    (outcome,) = result.expectations
    assert (outcome.status, outcome.parameters["sensitive_values"]) == (Status.PASSED, "1 value")
    assert "flu" not in str(result.as_json())
