"""Rebucketize: neighbours joined until classes keep the policy, on every scale, and as few as need be."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from bucketized import PLUGINS, distance_of, quasi_identifiers, sensitive
from hypothesis import assume, given, reject, settings, strategies as st

from tcdp_audit import PolicyError, audit, fix, load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit.core.remedy.treatment import apply_treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.repair.fixing import Remediation
from tcdp_audit_plugins.remedies.rebucketize import REBUCKETIZE, concerns

GRADES = ["none", "low", "medium", "high", "severe"]
PLACES = {"anywhere": {"north": ["oslo", "turku"], "south": ["rome", "bari"]}}
MULTIPLICATIVE = {"distance": "multiplicative", "attribute": "value"}


def _bins(numbers: list[int], width: int) -> list[str]:
    return [f"[{number // width * width}, {number // width * width + width})" for number in numbers]


def _fixed(columns: Mapping[str, Any], attributes: Mapping[str, Any], *expect: Any, **remedy: Any) -> Remediation:
    policy = {
        "version": 1,
        "attributes": dict(attributes),
        "expect": list(expect),
        "remedy": [{"rebucketize": remedy}],
    }
    return fix(pa.table(dict(columns)), policy, keep_order=True)


@pytest.mark.parametrize(
    ("declaration", "cells", "k", "expected"),
    [
        (
            {"scale": "numeric"},
            ["[20, 25)", "[25, 30)", "[30, 35)", "[60, 65)", "[65, 70]"],
            2,
            ["[20, 35)"] * 3 + ["[60, 70]"] * 2,
        ),
        ({"scale": "numeric"}, [20, 21, 22, 60, 61], 2, ["[20, 22)"] * 2 + ["[22, 61]"] * 3),
        (
            {"scale": "numeric"},
            ["(20, 25]", "(25, 30]", "(30, 35]", "(35, 40]"],
            2,
            ["(20, 30]"] * 2 + ["(30, 40]"] * 2,
        ),
        ({"scale": "numeric"}, ["[20, 25)", "*", "[25, 30)", "*"], 2, ["[20, 30)", "*", "[20, 30)", "*"]),
        ({"scale": "numeric"}, ["<20", "[20, 25)", ">=25"], 3, ["[-inf, inf]"] * 3),
        ({"scale": "numeric"}, [20, 22, None, None], 2, ["[20, 22]", "[20, 22]", "*", "*"]),
        (
            {"scale": "ordinal", "order": GRADES},
            ["severe", "[none, low]", "medium", "high"],
            2,
            ["[high, severe]", "[none, medium]", "[none, medium]", "[high, severe]"],
        ),
        (
            {"scale": "nominal", "hierarchy": PLACES},
            ["oslo", "turku", "rome", "bari"],
            2,
            ["north"] * 2 + ["south"] * 2,
        ),
        ({"scale": "nominal", "hierarchy": PLACES}, ["oslo", "turku", "rome"], 2, ["anywhere"] * 3),
        (
            {"scale": "nominal"},
            ["{a, b}", "c", "d", "d", "{a, b}"],
            2,
            ["{a, b}", "{c, d}", "{c, d}", "{c, d}", "{a, b}"],
        ),
    ],
)
def test_a_quasi_identifier_gets_the_most_buckets_that_pass(
    declaration: Mapping[str, Any], cells: list[Any], k: int, expected: list[str]
) -> None:
    attributes = {"q": {"role": "quasi_identifier", **declaration}}
    remediation = _fixed({"q": cells}, attributes, {"k_anonymity": {"k": k}}, attribute="q")
    assert remediation.passed, remediation.log.tried
    assert remediation.released["q"].to_pylist() == expected


def test_the_other_columns_stay() -> None:
    ages = [21, 22, 26, 27, 33, 34, 61, 62, 66, 69, 71, 74]
    columns = {"age": _bins(ages, 5), "sex": ["f", "m"] * 6, "value": [*range(12)]}
    attributes = {"age": {"role": "quasi_identifier", "scale": "numeric"}, **quasi_identifiers(["sex"])}
    remediation = _fixed(columns, {**attributes, "value": sensitive()}, {"k_anonymity": {"k": 2}}, attribute="age")
    assert remediation.passed
    assert remediation.released.select(["sex", "value"]).to_pydict() == {
        "sex": columns["sex"],
        "value": columns["value"],
    }
    assert remediation.released["age"].to_pylist() == ["[20, 35)"] * 6 + ["[60, 75)"] * 6
    assert remediation.log.steps[0].notes == {"values": 6, "buckets": 2, "trials": 4}
    assert set(remediation.log.steps[0].notes) == set(REBUCKETIZE.guide.notes)


def _applied(
    columns: Mapping[str, Any], attributes: Mapping[str, Any], expect: list[Any], *, audited: bool = True, **remedy: Any
) -> pa.Table:
    """The release after one application, whether or not it passes."""
    policy = load_policy({"version": 1, "attributes": dict(attributes), "expect": expect}, PLUGINS)
    table = pa.table(dict(columns))
    outcomes = audit(table, policy, plugins=PLUGINS).outcomes if audited else ()
    with open_engine(table, 2**28) as engine:
        view = RemedyView(Release(engine, policy), outcomes, 0, lambda _: outcomes)
        return apply_treatment(table, view, REBUCKETIZE.apply(view, REBUCKETIZE.parameters.model_validate(remedy)))


def _classes(table: pa.Table) -> dict[str, Counter[str]]:
    actual: dict[str, Counter[str]] = defaultdict(Counter)
    for place, value in zip(table["place"].to_pylist(), table["value"].to_pylist(), strict=True):
        actual[place][value] += 1
    return actual


def test_a_sensitive_attribute_is_joined_until_its_classes_are_close() -> None:
    """Each class lacks most of ten bins, which is infinitely far; of few wide ones it has what the table has."""
    numbers = np.random.default_rng(2).integers(0, 100, 90).tolist()
    columns = {"place": [f"p{n % 6}" for n in range(90)], "value": _bins(numbers, 10)}
    attributes = {**quasi_identifiers(["place"]), "value": sensitive()}
    expect = {"t_closeness": {"t": 4, **MULTIPLICATIVE}}
    remediation = _fixed(columns, attributes, expect, attribute="value")
    assert remediation.passed
    assert remediation.released["place"].to_pylist() == columns["place"]
    assert distance_of(_classes(remediation.released)) <= 4
    buckets = len(set(remediation.released["value"].to_pylist()))
    assert remediation.log.steps[0].notes["buckets"] == buckets == 4
    one_more = _classes(_applied(columns, attributes, [expect], attribute="value", buckets=buckets + 1))
    assert any(len(held) < 5 for held in one_more.values()) or distance_of(one_more) > 4


@pytest.mark.long
@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from("ab"), st.booleans()), min_size=8, max_size=60),
    st.integers(2, 6),
)
def test_classes_pass_and_one_bucket_more_would_not(records: list[tuple[int, str, bool]], k: int) -> None:
    numbers, places, values = zip(*records, strict=True)
    ages = _bins([5 * number for number in numbers], 5)
    columns = {"age": ages, "place": places, "value": [str(value) for value in values]}
    attributes = {
        **quasi_identifiers(["place"]),
        **quasi_identifiers(["age"], "numeric"),
        "value": sensitive("nominal"),
    }
    expect = [{"k_anonymity": {"k": k}}]

    def smallest(table: pa.Table) -> int:
        return min(Counter(zip(table["age"].to_pylist(), table["place"].to_pylist(), strict=True)).values())

    assume(smallest(pa.table(columns)) < k and len(set(numbers)) > 1)
    if min(Counter(places).values()) < k:
        with pytest.raises(RemedyError, match="does not help: even 1 of them do not pass"):
            _applied(columns, attributes, expect, audited=False, attribute="age")
        reject()
    released = _applied(columns, attributes, expect, audited=False, attribute="age")
    assert smallest(released) >= k
    buckets = len(set(released["age"].to_pylist()))
    if buckets + 1 < len(set(numbers)):
        assert smallest(_applied(columns, attributes, expect, audited=False, attribute="age", buckets=buckets + 1)) < k


def test_a_fixed_number_of_buckets_is_left_to_the_audit() -> None:
    columns = {"place": ["a", "b"] * 6, "value": [*range(12)]}
    attributes = {**quasi_identifiers(["place"]), "value": sensitive()}
    released = _applied(columns, attributes, [{"k_anonymity": {"k": 2}}], attribute="value", buckets=3)
    assert released["value"].to_pylist() == ["[0, 4)"] * 4 + ["[4, 8)"] * 4 + ["[8, 11]"] * 4


def test_many_values_are_joined_first() -> None:
    values = np.random.default_rng(0).permutation(2000).tolist()
    attributes = {"q": {"role": "quasi_identifier", "scale": "numeric"}}
    released = _applied({"q": values}, attributes, [{"k_anonymity": {"k": 7}}], attribute="q")
    assert min(Counter(released["q"].to_pylist()).values()) >= 7
    assert len(set(released["q"].to_pylist())) > 100


@pytest.mark.parametrize(
    ("columns", "expect", "remedy", "reason"),
    [
        (
            {"q": ["1"], "value": ["5"]},
            {"k_anonymity": {"k": 2}},
            {"attribute": "value"},
            "'value' has only one value that could be joined",
        ),
        (
            {"q": ["a", "b", "a", "b"], "value": ["[1, 5)", "[3, 9)"] * 2},
            {"k_anonymity": {"k": 3}},
            {"attribute": "value"},
            "generalised values of 'value' overlap, so that they have no neighbours",
        ),
        (
            {"q": ["a", "b", "a", "b"], "value": ["1", "2", "3", "4"]},
            {"k_anonymity": {"k": 3}},
            {"attribute": "value"},
            "nothing that fails concerns 'value'; name `buckets` to join its values anyway",
        ),
        (
            {"q": ["a", "b", "a", "b"], "value": ["1", "2", "1", "2"]},
            {"t_closeness": {"t": 2, **MULTIPLICATIVE}},
            {"attribute": "value"},
            "joining the 2 values of 'value' does not help: 2 is the least there can be",
        ),
        (
            {"q": ["a", "b", "a", "b"], "value": ["1", "2", "3", "2"]},
            {"t_closeness": {"t": 1, **MULTIPLICATIVE}},
            {"attribute": "value"},
            "joining the 3 values of 'value' does not help: even 2 of them do not pass",
        ),
        (
            {"q": ["a", "b", "a", "b"], "value": ["1", "2", "3", "4"]},
            {"k_anonymity": {"k": 3}},
            {"attribute": "value", "buckets": 4},
            "'value' has 4 different values already; joining them leaves fewer, not 4",
        ),
    ],
)
def test_what_cannot_be_joined_is_refused(
    columns: Mapping[str, Any], expect: Mapping[str, Any], remedy: Mapping[str, Any], reason: str
) -> None:
    attributes = {**quasi_identifiers(["q"]), "value": sensitive()}
    with pytest.raises(RemedyError, match=re.escape(reason)):
        _applied(columns, attributes, [expect], **remedy)


def test_a_plan_names_what_is_in_buckets_and_fails() -> None:
    columns = {
        "age": _bins([*range(20, 60)], 5),
        "zip": [f"z{n % 2}" for n in range(40)],
        "town": ["north", "rome"] * 20,
        "colour": ["{blue, red}", "green"] * 20,
        "grade": ["low"] * 40,
        "value": _bins([*range(40)], 8),
        "other": _bins([*range(40)], 8),
    }
    attributes: dict[str, Any] = {
        **quasi_identifiers(["zip", "town", "colour"]),
        **quasi_identifiers(["age"], "numeric"),
        "grade": {"role": "quasi_identifier", "scale": "ordinal", "order": GRADES},
        "value": sensitive(),
        "other": sensitive(),
    }
    attributes["town"]["hierarchy"] = PLACES
    expect = [{"k_anonymity": {"k": 3}}, {"t_closeness": {"t": 2, **MULTIPLICATIVE}}]
    policy = load_policy({"version": 1, "attributes": attributes, "expect": expect}, PLUGINS)
    table = pa.table(columns)
    outcomes = audit(table, policy, plugins=PLUGINS).outcomes
    with open_engine(table, 2**28) as engine:
        view = RemedyView(Release(engine, policy), outcomes, 0, lambda _: ())
        proposed = [one["attribute"] for one in REBUCKETIZE.suggest_parameters(view, outcomes)]
        assert proposed == ["age", "colour", "town", "value"]
        assert list(REBUCKETIZE.suggest_parameters(view, ())) == []


def test_a_column_is_not_concerned_by_one_whose_name_holds_its_name() -> None:
    """An outcome on several attributes names them as `a × b`, and so may a column be called."""
    names = ["a", "a × b", "b"]
    attributes = {**quasi_identifiers(["zip"]), **{name: sensitive() for name in names}}
    table = pa.table({"zip": ["x", "x", "y", "y"], **{name: _bins([1, 9, 1, 9], 4) for name in names}})
    expect = [{"distinct_l_diversity": {"l": 3, "attribute": "a × b"}}]
    policy = load_policy({"version": 1, "attributes": attributes, "expect": expect}, PLUGINS)
    outcome = audit(table, policy, plugins=PLUGINS).expectations[0]
    with open_engine(table, 2**28) as engine:
        view = RemedyView(Release(engine, policy), (outcome,), 0, lambda _: ())
        assert outcome.blocks
        assert [name for name in names if concerns(view, outcome, view.attribute(name))] == ["a × b"]
        assert list(REBUCKETIZE.suggest_parameters(view, (outcome,))) == [{"attribute": "a × b"}]


def test_attributes_read_together_are_all_concerned() -> None:
    names = ["a", "b", "c"]
    attributes = {**quasi_identifiers(["zip"]), **{name: sensitive() for name in names}}
    table = pa.table({"zip": ["x"], **{name: [1] for name in names}})
    document = {"version": 1, "attributes": attributes, "conventions": {"multiple_sensitive": "joint"}}
    policy = load_policy({**document, "expect": [{"distinct_l_diversity": {"l": 3}}]}, PLUGINS)
    outcome = audit(table, policy, plugins=PLUGINS).expectations[0]
    with open_engine(table, 2**28) as engine:
        view = RemedyView(Release(engine, policy), (outcome,), 0, lambda _: ())
        assert outcome.attribute == "a × b × c"
        assert all(concerns(view, outcome, view.attribute(name)) for name in names)


@pytest.mark.parametrize(
    ("remedy", "fault"),
    [
        ({"attribute": "age"}, "the policy declares no attribute 'age'"),
        ({"attribute": "hours"}, "'hours' is neither sensitive nor a quasi-identifier: its role is insensitive"),
        ({"attribute": "grade"}, "neighbours of 'grade' need its order"),
        ({"attribute": "q", "buckets": 0}, "must be at least 1"),
    ],
)
def test_faults_are_detected_before_any_data_are_read(remedy: Mapping[str, Any], fault: str) -> None:
    policy = {
        "version": 1,
        "attributes": {
            **quasi_identifiers(["q"]),
            "hours": {"role": "insensitive"},
            "grade": {"role": "sensitive", "scale": "ordinal"},
        },
        "expect": [{"k_anonymity": {"k": 2}}],
        "remedy": [{"rebucketize": dict(remedy)}],
    }
    with pytest.raises(PolicyError, match=re.escape(fault)):
        load_policy(policy, PLUGINS)
