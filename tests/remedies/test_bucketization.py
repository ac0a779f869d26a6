"""Bucketization as a remedy: labels on every scale, missing values, what is refused, and what a policy may ask."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from bucketized import Bucketized, bucketized, distance_of, quasi_identifiers, sensitive
from hypothesis import given, reject, settings, strategies as st

from tcdp_audit import PolicyError, Status, audit, fix, load_policy
from tcdp_audit.core.encoding.domain import RawDomain
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit.core.remedy.view import Attribute, RemedyView
from tcdp_audit_plugins.remedies._shared.buckets import Buckets
from tcdp_audit_plugins.remedies.bucketization import BUCKETIZATION
from tcdp_audit_plugins.remedies.bucketization.apply import largest_ratio

REGIONS = {"anywhere": {"north": ["oslo", "turku", "umea"], "south": {"rome": None, "bari": None}}}
GRADES = ["none", "low", "medium", "high", "severe"]
PLACE = quasi_identifiers(["place"])


def _bucketized(
    values: list[Any],
    declaration: Mapping[str, Any] | None = None,
    places: list[Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    **remedy: Any,
) -> Bucketized:
    table = pa.table({"place": places or [f"p{n % 2}" for n in range(len(values))], "value": values})
    return bucketized(table, {**PLACE, "value": declaration or sensitive()}, conventions, **remedy)


@pytest.mark.parametrize(
    ("declaration", "values", "expected"),
    [
        (sensitive(), [17, 90, 38, 37], ["[17, 38)", "[38, 90]", "[38, 90]", "[17, 38)"]),
        (sensitive(), [0.5, 2.0, -1.25, 7.75], ["[-1.25, 2)", "[2, 7.75]", "[-1.25, 2)", "[2, 7.75]"]),
        (sensitive(), [3, 3, 8, 8], ["[3, 8)", "[3, 8)", "8", "8"]),
        (
            sensitive(),
            ["[20, 35)", "[35, 50)", "[50, 65)", "[65, 80)"],
            ["[20, 50)", "[20, 50)", "[50, 80)", "[50, 80)"],
        ),
        (
            sensitive("ordinal", order=GRADES),
            ["severe", "low", "medium", "low"],
            ["[medium, severe]", "low", "[medium, severe]", "low"],
        ),
        (
            sensitive("nominal", hierarchy=REGIONS),
            ["bari", "oslo", "turku", "rome"],
            ["south", "north", "north", "south"],
        ),
        (sensitive("nominal"), ["b", "a", "a", "c"], ["{b, c}", "a", "a", "{b, c}"]),
    ],
)
def test_a_bucket_is_called_by_what_it_covers(
    declaration: Mapping[str, Any], values: list[Any], expected: list[str]
) -> None:
    released = _bucketized(values, declaration, ["here"] * 4, t=1.5, k=2)
    assert released.table["value"].to_pylist() == expected
    assert released.audit().passed


def test_a_bucket_across_the_hierarchy_is_called_by_its_parts() -> None:
    values = ["bari", "bari", "bari", "rome", "oslo", "turku", "turku", "umea", "umea", "umea", "narvik", "narvik"]
    regions = {"anywhere": {"north": ["oslo", "turku", "umea", "narvik"], "south": ["rome", "bari"]}}
    released = _bucketized(values, sensitive("nominal", hierarchy=regions), ["here"] * 12, t=1.5, k=2)
    assert (
        released.table["value"].to_pylist()
        == ["{narvik, south}"] * 4 + ["{oslo, turku, umea}"] * 6 + ["{narvik, south}"] * 2
    )


def test_means_stand_in_for_numbers_on_request() -> None:
    released = _bucketized([1, 2, 6, 9], t=1.5, k=2, release="means")
    assert released.table["value"].to_pylist() == [1.5, 1.5, 7.5, 7.5]
    assert released.audit().passed


def test_classes_that_fit_keep_their_cells() -> None:
    """Each of four places holds a class of every emphasis: only the confidential column has to change."""
    places = [f"p{number}" for number in range(4) for _ in range(12)]
    released = _bucketized([*range(12)] * 4, places=places, t=2, k=4)
    assert released.table["place"].to_pylist() == places
    assert released.notes == {
        "buckets": 3,
        "smallest_bucket": 16,
        "largest_bucket": 16,
        "classes": 12,
        "emphasised": 4,
        "smallest_class": 4,
        "largest_class": 4,
        "distance": 1.5,
    }
    assert set(released.notes) == set(BUCKETIZATION.guide.notes)


def test_a_record_without_a_value_does_not_count() -> None:
    values = [1, 2, None, 3, 4, None, 5, 6, 7, 8]
    released = _bucketized(values, t=1.5, k=4)
    assert [cell is None for cell in released.table["value"].to_pylist()] == [cell is None for cell in values]
    assert released.audit().passed
    assert (released.notes["classes"], released.notes["smallest_class"]) == (2, 5)


def test_a_missing_value_that_counts_is_a_bucket() -> None:
    conventions = {"missing_sensitive": "own_category"}
    released = _bucketized([1, 2, None, 3, 4, None, 5, 6, None, 7, 8, None], conventions=conventions, t=1.5, k=4)
    assert released.audit().passed
    assert Counter(released.table["value"].to_pylist()) == {"[1, 5)": 4, "[5, 8]": 4, None: 4}
    assert released.notes["classes"] == 3
    assert released.notes["distance"] == 1.5


def test_a_missing_quasi_identifier_suppresses_its_class() -> None:
    released = _bucketized([1, 2] * 4, places=["a", "a", "b", "b", "b", "b", None, None], t=1, k=2)
    assert released.table["place"].to_pylist() == ["a", "a", "b", "b", "b", "b", "*", "*"]


@pytest.mark.parametrize(
    ("values", "remedy", "reasons"),
    [
        (
            [*range(40)],
            {"t": 4, "k": 10},
            [
                "N >= b k fails, because 40 records are too few for a class of 10 for each of 5 buckets, 50 records",
                "The nearest that can: k = 8 with t = 4; t = 3.99 with k = 10; buckets = 4 with t = 4, k = 10",
            ],
        ),
        (
            [1] * 99 + [2],
            {"t": 1.5, "k": 5},
            [
                "n q / t <= n p <= n q t fails, because in a class of n = 5 records bucket 2, whose share q",
                "of the table is 0.01, must have from 0.0333333 to 0.075 records, and no whole number lies between",
                "no larger class does better. The nearest that can: nothing, in a table like this",
            ],
        ),
        (
            [1] * 25 + [2] * 15,
            {"t": 1, "k": 5},
            ["must have from 3.125 to 3.125 records", "The nearest that can: t = 1.08 with k = 5"],
        ),
        (
            [1, 2] * 5,
            {"t": 1.2, "k": 3},
            ["the least that a class of 5 records may have of each bucket adds up to 6", "t = 1.25 with k = 3"],
        ),
        (
            [1] * 4 + [2] * 8 + [3] * 8,
            {"t": 1.2, "k": 4, "buckets": 3},
            [
                "the most that a class of 6 records may have of each bucket adds up to 5",
                "buckets = 2 with t = 1.2, k = 4",
            ],
        ),
        (
            [1] * 5 + [2] * 7,
            {"t": 1.2, "k": 4},
            ["classes of 6 records, or one more, cannot take up all records of every bucket", "t = 1.25 with k = 4"],
        ),
        ([7] * 12, {"t": 2, "k": 4}, ["'value' has only one value, so there is nothing to join into buckets"]),
        (
            [1, 2, 3] * 8,
            {"t": 2, "k": 4, "buckets": 4},
            ["4 buckets of 'value' cannot be made: it has only 3 different values; the nearest that can: buckets = 3"],
        ),
        (
            ["[1, 5)", "[3, 9)"] * 6,
            {"t": 2, "k": 4},
            ["generalised values of 'value' overlap, so that they cannot be cut into buckets"],
        ),
        (
            ["[1, 5)", "[5, 9)"] * 6,
            {"t": 2, "k": 4, "release": "means"},
            ["bucket means need numbers, and 'value' holds other values"],
        ),
    ],
)
def test_what_cannot_be_attained_is_refused_with_the_reason(
    values: list[Any], remedy: Mapping[str, Any], reasons: list[str]
) -> None:
    with pytest.raises(RemedyError) as refused:
        _bucketized(values, **remedy)
    assert [reason for reason in reasons if reason not in str(refused.value)] == [], str(refused.value)


def test_a_missing_value_that_the_policy_does_not_accept_is_not_supplied() -> None:
    with pytest.raises(RemedyError, match="3 records have no value in 'value', which the policy does not accept"):
        _bucketized([1, 2, None] * 3, conventions={"missing_sensitive": "fail"}, t=2, k=2)


def test_the_proof_counts_whole_records() -> None:
    """Shares of 3/5 and 2/5 where the table has halves; then a class without the second bucket."""
    declaration = AttributeDeclaration.model_validate(sensitive())
    attribute = Attribute(
        "value",
        declaration,
        domain_of("value", RawDomain(np.array([1, 2]), np.array([5, 5]), 0), declaration, Conventions())[0],
        np.array([0, 0, 0, 1, 1, 0, 0, 1, 1, 1]),
    )
    buckets = Buckets(attribute, np.array([0, 1]))
    assert largest_ratio(np.repeat([0, 1], 5), 2, buckets) == Fraction(5, 4)
    assert largest_ratio(np.repeat([0, 1], [3, 7]), 2, buckets) is None


QUARTERS = st.fractions(Fraction(5, 4), 4, max_denominator=4)
RECORDS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(0, 9), st.integers(0, 12) | st.none()),
    min_size=60,
    max_size=100,
)


@pytest.mark.long
@settings(max_examples=60)
@given(RECORDS, QUARTERS, st.integers(2, 4), st.booleans())
def test_what_is_released_keeps_t_and_k_exactly(
    records: list[tuple[str | None, int, int | None]], t: Fraction, more: int, counts: bool
) -> None:
    k = int(t) + more  # fewer than there are buckets can never be attained
    place, age, value = zip(*records, strict=True)
    table = pa.table({"place": pa.array(place, pa.string()), "age": age, "value": pa.array(value, pa.int64())})
    attributes = {**PLACE, **quasi_identifiers(["age"], "numeric"), "value": sensitive()}
    conventions = {"missing_sensitive": "own_category"} if counts else {}
    try:
        released = bucketized(table, attributes, conventions, t=t, k=k)
    except RemedyError:
        reject()  # what is refused, and rightly, is the matter of other tests
    labels = [cell or ("missing" if counts else None) for cell in released.table["value"].to_pylist()]
    assert [label in (None, "missing") for label in labels] == [one is None for one in value]
    relabelled = Bucketized(released.table.set_column(2, "value", pa.array(labels)), released.notes, released.policy)
    classes = relabelled.classes()
    assert distance_of(classes) <= t
    assert min(sum(held.values()) for held in classes.values()) >= k


def test_most_tables_with_room_for_their_classes_are_released() -> None:
    released = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        values, places = generator.integers(0, 9, 60).tolist(), generator.choice(list("abc"), 60).tolist()
        with contextlib.suppress(RemedyError):
            _bucketized(values, places=places, t=2, k=6)
            released += 1
    assert released >= 10


def test_the_same_seed_gives_the_same_release() -> None:
    values = np.random.default_rng(3).integers(0, 30, 200).tolist()
    places = np.random.default_rng(4).choice(list("abcdefgh"), 200).tolist()
    one, two = (_bucketized(values, places=places, t=2, k=5) for _ in range(2))
    assert one.table.equals(two.table)


def test_a_policy_is_repaired_without_a_named_remedy() -> None:
    table = pa.table({"place": [f"p{n % 40}" for n in range(240)], "value": [n * n % 241 for n in range(240)]})
    expect = [{"k_anonymity": {"k": 5}}, {"t_closeness": {"t": 2, "attribute": "value", "distance": "multiplicative"}}]
    attributes = {**PLACE, "value": sensitive()}
    remediation = fix(table, {"version": 1, "attributes": attributes, "expect": expect})
    assert remediation.passed
    assert [step.remedy for step in remediation.log.steps] == ["bucketization"]
    assert remediation.log.steps[0].parameters == {"attribute": "value", "k": 5, "t": 2}


@pytest.mark.parametrize(
    ("expect", "proposals"),
    [
        (
            [{"k_anonymity": {"k": 3}}, {"t_closeness": {"t": 3.5, "distance": "multiplicative"}}],
            [{"t": Fraction(7, 2), "k": 4}, {"t": Fraction(7, 2), "k": 3, "buckets": 3}],
        ),
        ([{"implied_epsilon": {"at_most": 1}}], [{"t": Fraction(1_648_721, 1_000_000), "k": 2}]),
        ([{"t_closeness": {"t": 0.2}}, {"k_anonymity": {"k": 3}}], []),
    ],
)
def test_a_plan_takes_t_and_k_from_the_policy(expect: list[Any], proposals: list[Mapping[str, Any]]) -> None:
    table = pa.table({"place": [f"p{n % 40}" for n in range(240)], "value": [*range(240)]})
    policy = load_policy({"version": 1, "attributes": {**PLACE, "value": sensitive()}, "expect": expect})
    outcomes = audit(table, policy).expectations
    assert outcomes[-1].status is Status.FAILED or not proposals
    with open_engine(table, 2**28) as engine:
        view = RemedyView(Release(engine, policy), outcomes, 0, lambda _: ())
        assert list(BUCKETIZATION.suggest_parameters(view, outcomes)) == [
            {"attribute": "value", **one} for one in proposals
        ]


@pytest.mark.parametrize(
    ("remedy", "declaration", "conventions", "fault"),
    [
        ({"attribute": "age"}, {}, {}, "the policy declares no attribute 'age'"),
        ({"attribute": "place"}, {}, {}, "'place' is not sensitive: its role is quasi_identifier"),
        ({}, {"scale": "ordinal"}, {}, "buckets of 'value' need its order"),
        ({"release": "means"}, {"scale": "nominal"}, {}, "means need numbers; 'value' is nominal"),
        ({"t": 0.5}, {}, {}, "must be at least 1"),
        ({"buckets": 1}, {}, {}, "must be at least 2"),
        ({"release": "medians"}, {}, {}, "must be one of 'labels' or 'means'"),
        ({}, {}, {"reference": "original"}, "bucketization needs `reference: release`"),
    ],
)
def test_faults_are_detected_before_any_data_are_read(
    remedy: Mapping[str, Any], declaration: Mapping[str, Any], conventions: Mapping[str, Any], fault: str
) -> None:
    policy = {
        "version": 1,
        "original": "original.csv",
        "rows_aligned": True,
        "attributes": {**PLACE, "value": {**sensitive(), **declaration}},
        "conventions": conventions,
        "expect": [{"k_anonymity": {"k": 2}}],
        "remedy": [{"bucketization": {"attribute": "value", "t": 2, "k": 4, **remedy}}],
    }
    with pytest.raises(PolicyError, match=re.escape(fault)):
        load_policy(policy)
