"""Known events: printed figures by hand, on generated and real tables, and plain Python over every choice of rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from history_tables import (
    T1,
    T4,
    Row,
    Table,
    f1,
    figures,
    inst_eval,
    outcome_of,
    pbcseq,
    plain_knowledge,
    plain_windows,
    supporters,
    synthetic,
    toy,
)
from hypothesis import given, strategies as st

from tcdp_audit import PolicyError, Status, audit
from tcdp_audit_plugins.checks.histories import nearby, sample
from tcdp_audit_plugins.checks.histories.combinations import Ordered
from tcdp_audit_plugins.checks.histories.knowledge import KnowledgeOfSize, known_at


def age_band(one: dict[str, str]) -> tuple[str, int]:
    return one["sex"], int(float(one["age"])) // 10


# --- printed figures -------------------------------------------------------------------------------------------------


def test_six_patients_by_month_and_ward():
    sizes = T1.with_time().knowledge(3)
    assert [figures(one, 3) for one in sizes] == [(3, 0, 0), (1, 2, 4), (1, 2, 4)]
    assert [one.confidence for one in sizes] == [Fraction(4, 5), 1, 1]
    assert known_at(sizes, T1.events().alike) == {"0": 0, "1": 0, "2": 2, "3": 0, "none": 4}


def test_six_patients_by_ward():
    assert [figures(one) for one in T1.knowledge(2)] == [(4, 0), (1, 1)]
    assert figures(T1.in_sequence(2)[1]) == (1, 2)
    assert [figures(one) for one in (T1.near(2, 0)[1], T1.near(2, 1)[1], T1.near(2, 2)[1])] == [(1, 2), (1, 2), (1, 1)]
    assert figures(T1.near(1, 1)[0])[0] == 3
    assert figures(T1.window(2)) == (1, 2)


def test_two_known_events_need_two_events():
    nearby = [[figures(one) for one in T4.near(2, days)] for days in (0, 1, 2)]
    assert nearby == [[(1, 3), (1, 3)], [(2, 0), (2, 0)], [(3, 0), (3, 0)]]
    assert figures(T4.knowledge(2)[1]) == (3, 0)


def test_two_thousand_patients_by_month_and_ward():
    sizes = f1().knowledge(4)
    assert [figures(one, 5, 20) for one in sizes[:3]] == [(169, 0, 0, 0), (4, 0, 4, 1371), (1, 618, 1000, 1378)]
    assert figures(sizes[3]) == (1, 680)
    assert [one.confidence for one in sizes[:2]] == [Fraction(61, 92), 1]
    assert known_at(sizes, f1().events().alike) == {"0": 0, "1": 0, "2": 0, "3": 618, "4": 62, "none": 1320}


def test_generated_visits_with_constant_values():
    sizes = synthetic(2000, label="month ward").knowledge(3)
    assert [figures(one, 5) for one in sizes] == [(1, 25, 196), (1, 982, 1215), (1, 1032, 1215)]
    assert figures(synthetic(2000, label="month ward").window(90), 5) == (1, 551, 944)


def test_generated_visits_by_day_and_ward():
    table = synthetic(400, label="day ward")
    assert [figures(one) for one in table.knowledge(2)] == [(1, 327), (1, 328)]
    assert figures(table.window(30), 5) == (1, 329, 335)


def test_generated_visits_by_ward():
    table = synthetic(400, label="ward")
    assert [figures(one) for one in table.knowledge(3)] == [(3, 0), (1, 4), (1, 21)]
    assert [figures(one)[1] for one in table.in_sequence(3)] == [0, 15, 87]
    nearby = [[figures(one, 5)[1:] for one in table.near(2, days)] for days in (0, 3, 30)]
    assert [one[0] for one in nearby] == [(327, 335), (281, 334), (24, 186)]
    assert [one[1] for one in nearby[1:]] == [(301, 334), (218, 270)]


def test_visits_of_a_trial(data: Path):
    table = pbcseq(data, age_band, lambda one: (int(one["day"]) // 365, one["edema"]))
    assert [figures(one) for one in table.knowledge(3)] == [(1, 39), (1, 120), (1, 154)]
    assert figures(table.window(730), 5)[1:] == (149, 250)

    coarse = pbcseq(data, lambda one: one["sex"], lambda one: int(one["day"]) // 365)
    assert [figures(one) for one in coarse.knowledge(2)] == [(1, 1), (1, 6)]
    assert figures(coarse.window(730), 5)[1:] == (12, 57)


def test_days_of_visits_of_a_trial(data: Path):
    table = pbcseq(data, lambda one: one["sex"], lambda _: ())
    assert [figures(one) for one in table.knowledge(2)] == [(36, 0), (32, 0)]
    nearby = {days: [figures(one, 5)[1:] for one in table.near(2, days)] for days in (0, 7, 30, 90)}
    assert [nearby[days][0] for days in (0, 7, 30)] == [(233, 269), (69, 171), (18, 52)]
    assert [nearby[days][1] for days in (7, 30, 90)] == [(210, 238), (106, 165), (20, 54)]


@pytest.mark.long
def test_ratings_of_lecturers(data: Path):
    sizes = inst_eval(data).knowledge(2)
    assert [figures(one, 5) for one in sizes] == [(1, 183, 739), (1, 1621, 2067)]


@pytest.mark.parametrize(
    ("how", "most", "supports"),
    [
        ("place", 2, [3, 2, 3, 3, 4, 4, 2]),
        ("place", 3, [2, 1, 2, 3, 3, 4, 1]),
        ("sequence", 2, [2, 2, 1, 2, 1, 3, 2]),
        ("sequence", 3, [1, 1, 1, 1, 1, 3, 1]),
        ("place and hour", 2, [1, 1, 1, 1, 1, 2, 1]),
    ],
)
def test_risks_of_scikit_mobility(data: Path, how: str, most: int, supports: list[int]):
    table = toy(data, hour=how == "place and hour")
    sizes = table.in_sequence(most) if how == "sequence" else table.knowledge(most)
    assert sizes[-1].supports.tolist() == supports


# --- plain Python ----------------------------------------------------------------------------------------------------

TIMES = st.one_of(st.none(), st.integers(-2, 4))


def tables(*, times: Any = TIMES, most: int = 9) -> st.SearchStrategy[Table]:
    rows = st.builds(Row, st.integers(0, 4), st.integers(0, 2), times, st.sampled_from([None, "x", "y"]))
    static = st.lists(st.integers(0, 1), min_size=5, max_size=5).map(lambda known: dict(enumerate(known)))
    return st.builds(Table, st.lists(rows, min_size=1, max_size=most), static)


def assert_equal(actual: list[KnowledgeOfSize], expected: list[dict[str, Any]], *, confidence: bool = True) -> None:
    assert [one.supports.tolist() for one in actual] == [[*one["supports"].values()] for one in expected]
    assert [one.combinations for one in actual] == [one["combinations"] for one in expected]
    if confidence:
        assert [one.confidence for one in actual] == [one["confidence"] for one in expected]


@given(tables(), st.integers(1, 4), st.integers(1, 3))
def test_by_definition(table: Table, most: int, block: int):
    assert_equal(table.knowledge(most, block=block), plain_knowledge(table, most))


@pytest.mark.long
@given(tables(times=st.integers(0, 3), most=8), st.integers(1, 4))
def test_sequences_by_definition(table: Table, most: int):
    assert_equal(table.in_sequence(most), plain_knowledge(table, most, how="sequence"), confidence=False)


@pytest.mark.long
@given(tables(most=7), st.integers(1, 3), st.integers(0, 3), st.integers(1, 3))
def test_tolerances_by_definition(table: Table, most: int, tolerance: int, block: int):
    expected = plain_knowledge(table, most, tolerance=tolerance)
    assert_equal(table.near(most, tolerance, block=block), expected)


@given(tables(), st.fractions(min_value=Fraction(1, 3), max_value=4))
def test_windows_by_definition(table: Table, length: Fraction):
    least = plain_windows(table, length)
    assert table.window(length).supports.tolist() == [least[unit] for unit in table.units]


# --- what holds of all -----------------------------------------------------------------------------------------------


@given(tables(times=st.integers(0, 4)), st.integers(1, 3))
def test_exact_times_single_out_more_than_their_order_and_that_more_than_none(table: Table, most: int):
    exact, order, none = table.with_time().knowledge(most), table.in_sequence(most), table.knowledge(most)
    for one, other, last in zip(exact, order, none, strict=True):
        assert (one.supports <= other.supports).all()
        assert (other.supports <= last.supports).all()


@given(tables(), st.integers(1, 3))
def test_no_tolerance_is_a_label_with_the_time(table: Table, most: int):
    near, exact = table.near(most, 0), table.with_time().knowledge(most)
    assert [one.supports.tolist() for one in near] == [one.supports.tolist() for one in exact]
    assert [(one.combinations, one.confidence) for one in near] == [(one.combinations, one.confidence) for one in exact]


@given(tables(), st.integers(1, 3))
def test_a_larger_tolerance_and_fewer_known_events_single_out_less(table: Table, most: int):
    by_tolerance = [table.near(most, tolerance) for tolerance in range(4)]
    for sizes in by_tolerance:
        for one, other in pairwise(sizes):
            assert (one.supports >= other.supports).all()
    for near, far in pairwise(by_tolerance):
        assert all((one.supports <= other.supports).all() for one, other in zip(near, far, strict=True))


@given(tables(times=st.integers(0, 4)), st.integers(1, 3))
def test_whole_histories_prove_all_parts(table: Table, most: int):
    whole: dict[Any, int] = {}
    histories = [
        (table.known(unit), sorted(row.label for row in table.rows if row.unit == unit)) for unit in table.units
    ]
    for own in histories:
        whole[repr(own)] = whole.get(repr(own), 0) + 1
    least = min(whole.values())
    assert all(int(one.supports.min()) >= least for one in table.knowledge(most))


@given(tables(times=st.integers(0, 4)), st.integers(1, 3), st.randoms(use_true_random=False))
def test_names_and_the_order_of_rows_change_nothing(table: Table, most: int, random: Any):
    rows = [Row(-row.unit, f"l{2 - row.label}", row.time, row.secret) for row in table.rows]  # type: ignore[operator]
    random.shuffle(rows)
    other = Table(rows, {-unit: f"s{known}" for unit, known in table.static.items()})
    for own, renamed in (
        (table.knowledge(most), other.knowledge(most)),
        (table.in_sequence(most), other.in_sequence(most)),
        (table.near(most, 1), other.near(most, 1)),
        ([table.window(2)], [other.window(2)]),
    ):
        assert [one.supports.tolist() for one in own] == [one.supports.tolist() for one in renamed]
        assert [(one.combinations, one.confidence) for one in own] == [
            (one.combinations, one.confidence) for one in renamed
        ]


@given(tables(times=st.integers(0, 4)), st.integers(1, 3))
def test_units_that_are_doubled_double_k(table: Table, most: int):
    rows = [*table.rows, *(Row(row.unit + 5, row.label, row.time, row.secret) for row in table.rows)]  # type: ignore[operator]
    double = Table(rows, {**table.static, **{unit + 5: known for unit, known in table.static.items()}})
    for own, doubled in (
        (table.knowledge(most), double.knowledge(most)),
        (table.in_sequence(most), double.in_sequence(most)),
        (table.near(most, 1), double.near(most, 1)),
    ):
        assert [one.confidence for one in own] == [one.confidence for one in doubled]
        assert [(one.supports * 2).tolist() for one in own] == [one.supports[:5].tolist() for one in doubled]


@given(tables(), st.integers(1, 3), st.integers(0, 2))
def test_one_more_row_of_another_unit_never_lowers_a_support(table: Table, most: int, label: int):
    more = Table([*table.rows, Row(0, label)], table.static)
    for one, other in zip(table.knowledge(most), more.knowledge(most), strict=False):
        assert (one.supports[1:] <= other.supports[1:]).all()


# --- values, shares and repeats --------------------------------------------------------------------------------------


def test_units_of_which_a_value_is_inferred():
    sizes = T1.with_time().knowledge(3, confidence=Fraction(3, 4))
    assert [int(one.inferred.sum()) for one in sizes] == [
        len(plain_inferred(T1.with_time(), size, Fraction(3, 4))) for size in (1, 2, 3)
    ]
    assert not T1.with_time().knowledge(3, confidence=Fraction(1))[2].inferred.any()


def plain_inferred(table: Table, most: int, share: Fraction) -> set[Any]:
    inferred = set()
    for unit in table.units:
        history = [row for row in table.rows if row.unit == unit]
        for size in range(min(1, len(history)), min(most, len(history)) + 1):
            for known in combinations(history, size):
                those = supporters(table, unit, known, "none", None)
                for value in {row.secret for row in table.rows} - {None}:
                    having = {row.unit for row in table.rows if row.secret == value} & {*those}
                    if Fraction(len(having), len(those)) > share:
                        inferred.add(unit)
    return inferred


@given(tables(), st.integers(1, 3), st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(1)]))
def test_inferred_units_by_definition(table: Table, most: int, share: Fraction):
    sizes = table.knowledge(most, confidence=share)
    expected = {table.units.index(one) for one in plain_inferred(table, most, share)}
    assert {*np.flatnonzero(sizes[-1].inferred).tolist()} == expected


def test_repeats_that_are_ignored_count_once():
    events = T1.with_time().events()
    once = events.once_each()
    assert (len(events.unit), len(once.unit)) == (13, 12)
    assert once.lengths.tolist() == [2] * 6


# --- whole audits ----------------------------------------------------------------------------------------------------


def test_an_audit_of_two_thousand_patients():
    result = outcome_of(f1(), "known_events", {"k": 5})
    assert (result.status, result.observed) == (Status.FAILED, 1)
    assert result.records is not None
    assert (result.records.total, result.records.failing) == (2000, 1000)
    assert [
        (one["size"], one["smallest_support"], one["alone"], one["exposed"]) for one in result.details["sizes"]
    ] == [
        (1, 169, 0, 0),
        (2, 4, 0, 4),
        (3, 1, 618, 1000),
    ]
    assert result.details["confidence"] == 1
    assert "narrows 1,000 of 2,000 patients down to fewer than 5 patients" in result.message
    assert "618 patients are found for certain, and no one by 2 events" in result.message


@pytest.mark.parametrize(
    ("k", "status"), [(3, Status.PASSED), (4, Status.PASSED), (5, Status.FAILED), (1, Status.MEASURED)]
)
def test_the_threshold_and_its_sides(k: int, status: Status):
    assert outcome_of(f1(), "known_events", {"k": k, "m": 2}).status is status


@pytest.mark.parametrize(
    ("parameters", "k", "exposed"),
    [
        ({"order": "sequence", "m": 2}, 1, 2),
        ({"tolerance": {"day": 1}, "m": 1}, 3, 0),
        ({"tolerance": {"day": "2.5"}, "m": 2}, 1, 1),
        ({"window": 2}, 1, 2),
        ({"m": 1, "attributes": ["label"]}, 4, 0),
        ({"repeats": "ignored"}, 4, 0),
    ],
)
def test_audits_of_six_patients_by_ward(parameters: dict[str, Any], k: int, exposed: int):
    result = outcome_of(T1, "known_events", {"k": 2, **parameters})
    assert result.records is not None
    assert (result.observed, result.records.failing) == (k, exposed)


@pytest.mark.parametrize(
    ("share", "status"), [("4/5", Status.PASSED), ("0.79", Status.FAILED), ("0.81", Status.PASSED)]
)
def test_the_share_of_a_value_and_its_sides(share: str, status: Status):
    result = outcome_of(T1.with_time(), "known_events", {"C": share, "m": 1})
    assert (result.status, result.details["confidence"]) == (status, Fraction(4, 5))


def test_named_values_only():
    shares = {"hiv": Fraction(4, 5), "gout": Fraction(1, 2)}
    for value, share in shares.items():
        result = outcome_of(T1.with_time(), "known_events", {"C": "1/2", "m": 1, "values": [value]})
        assert (result.status is Status.FAILED, result.details["confidence"]) == (value == "hiv", share)
    lacking = outcome_of(T1, "known_events", {"C": "1/2", "values": ["hiv", "measles"]})
    assert (lacking.status, "no event has 1 value of the 2" in lacking.message) == (Status.ERROR, True)
    assert "measles" not in lacking.message


@pytest.mark.parametrize(
    ("convention", "status"), [("excluded", Status.PASSED), ("own_category", Status.FAILED), ("fail", Status.FAILED)]
)
def test_a_missing_sensitive_value(convention: str, status: Status):
    table = Table([Row("p", "a", 1), Row("q", "a", 1), Row("r", "a", 1, "x")])
    policy = {"conventions": {"missing_sensitive": convention}}
    assert outcome_of(table, "known_events", {"C": "1/2"}, **policy).status is status


def test_values_that_are_all_missing_fail_too_where_one_does():
    table = Table([Row(unit, "a", 1) for unit in "pqr"])
    statuses = [
        outcome_of(table, "known_events", {"k": 2}, conventions={"missing_sensitive": convention}).status
        for convention in ("excluded", "fail")
    ]
    assert statuses == [Status.PASSED, Status.FAILED]


def test_dates_are_days():
    table = Table([Row("p", "a", "2024-02-28"), Row("q", "a", "2024-03-01"), Row("r", "a", "2024-03-02")])  # type: ignore[arg-type]
    rows = {"patient": ["p", "q", "r"], "day": [row.time for row in table.rows]}
    attributes = {"day": {"role": "quasi_identifier"}}
    supports = []
    for days in (0, 1, 2, 3):
        expect = [{"known_events": {"m": 1, "tolerance": {"day": days}}}]
        document = {"version": 1, "unit": "patient", "time": "day", "attributes": attributes, "expect": expect}
        supports.append(audit(pa.table(rows), document).expectations[0].details["distribution"])
    assert supports == [[[1.0, 3, 3]], [[1.0, 1, 1], [2.0, 2, 2]], [[2.0, 2, 2], [3.0, 1, 1]], [[3.0, 3, 3]]]


def test_events_without_a_time_are_left_out_of_an_order_and_counted():
    table = Table([Row("p", "a", 1), Row("p", "a"), Row("q", "a", 2)])
    result = outcome_of(table, "known_events", {"order": "sequence"})
    assert (result.observed, result.details["without_time"], result.details["largest_history"]) == (2, 1, 1)
    assert outcome_of(table, "known_events", {"window": 1}).details["without_time"] == 1


@pytest.mark.parametrize(
    ("parameters", "policy", "sentence"),
    [
        ({}, {"unit": None}, "does not say which rows are a person's"),
        ({"order": "sequence"}, {"time": None}, "needs the times of events"),
        ({"window": 3}, {"time": None}, "needs the times of events"),
        ({"tolerance": {"label": 3}}, {}, "which is not the time of events"),
        ({"tolerance": {"day": -1}}, {}, "at least 0"),
        ({"tolerance": {"day": 1}, "m": 4}, {}, "more than 3 events whose times may be wrong"),
        ({"tolerance": {"day": 1}, "order": "sequence"}, {}, "only their order is known"),
        ({"window": 0}, {}, "greater than 0"),
        ({"window": 1, "order": "sequence"}, {}, "not by the order of it"),
        ({"window": 1, "tolerance": {"day": 1}}, {}, "known without an error"),
        ({"m": 0}, {}, "at least 1"),
        ({"attributes": ["patient"]}, {}, "joins the rows of a unit"),
        ({}, {"conventions": {"missing_quasi_identifier": "wildcard"}}, "must not overlap"),
    ],
)
def test_what_it_cannot_measure_is_a_fault(parameters: dict[str, Any], policy: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        outcome_of(T1, "known_events", parameters, **policy)


# --- too many combinations -------------------------------------------------------------------------------------------

PAIRS = Table([Row(unit, label, unit // 6) for unit in range(12) for label in "ab"])


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tables have more combinations than are looked at, and few units are drawn."""
    monkeypatch.setattr(sample, "MOST", 10)
    monkeypatch.setattr(sample, "UNITS", 40)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("table", "parameters", "status", "observed"),
    [
        (f1(), {"k": 2}, Status.FAILED, 1),
        (f1(), {"C": "1/2"}, Status.FAILED, 1),
        (PAIRS, {"k": 12}, Status.PASSED, 12),  # as many share their whole history
        (PAIRS, {"k": 13}, Status.FAILED, 12),
        (T4, {"k": 2, "tolerance": {"day": 0}}, Status.FAILED, 1),
    ],
)
def test_a_sample_proves_a_failure_and_whole_histories_a_pass(
    table: Table, parameters: dict[str, Any], status: Status, observed: int
):
    result = outcome_of(table, "known_events", parameters)
    assert (result.status, result.observed, result.details["sampled"]) == (status, observed, True)
    assert outcome_of(table, "known_events", parameters) == result


@pytest.mark.long
def test_a_sample_has_one_of_four_patients_with_a_rare_pair(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sample, "MOST", 10)
    result = outcome_of(f1(), "known_events", {"k": 5, "m": 2})
    assert (result.status, result.observed, result.details["sampled_units"]) == (Status.FAILED, 4, 1000)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("table", "parameters", "sentence"),
    [
        (f1(), {"k": 2, "m": 2}, "9,429 combinations of at most 2 events are too many"),
        (PAIRS, {}, "36 combinations of at most 2 events"),
        (PAIRS, {"k": 5, "order": "sequence"}, "the smallest class of equal whole histories is of 1,"),  # without times
        (T4, {"k": 3, "m": 2, "tolerance": {"day": 2}}, "comparisons with combinations of at most 2 events"),
    ],
)
def test_what_neither_decides_is_an_error(table: Table, parameters: dict[str, Any], sentence: str):
    result = outcome_of(table, "known_events", parameters)
    assert (result.status, sentence in result.message) == (Status.ERROR, True)


def test_the_m_that_would_fit_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sample, "MOST", 9500)
    monkeypatch.setattr(sample, "UNITS", 1)
    assert "lower `m` to 2" in outcome_of(f1(), "known_events", {"m": 3}).message


@given(tables(most=7), st.integers(1, 3), st.integers(0, 3))
def test_pairs_of_unit_and_label_that_have_to_be_numbered_make_no_difference(table: Table, most: int, tolerance: int):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearby, "LIMIT", 0)
        numbered = table.near(most, tolerance)
    assert [one.supports.tolist() for one in numbered] == [one.supports.tolist() for one in table.near(most, tolerance)]


# --- nothing passes for want of events -------------------------------------------------------------------------------

WITHOUT_TIME = Table(
    [*(Row(unit, "a", 1, secret) for unit, secret in zip("pqrs", "xyzw", strict=True)), Row("t", "a", None, "hiv")],
    {**dict.fromkeys("pqrs", "young"), "t": "old"},
)


@pytest.mark.parametrize("parameters", [{"order": "sequence"}, {"window": 7}])
def test_a_unit_without_a_time_is_known_by_what_is_always_known_of_it(parameters: dict[str, Any]):
    alone = outcome_of(WITHOUT_TIME, "known_events", {"k": 2, **parameters})
    assert (alone.status, alone.observed, alone.records and alone.records.failing) == (Status.FAILED, 1, 1)
    inferred = outcome_of(WITHOUT_TIME, "known_events", {"C": "1/2", **parameters})
    assert (inferred.status, inferred.details["confidence"]) == (Status.FAILED, 1)
    assert inferred.records is not None
    assert inferred.records.failing == 1


@pytest.mark.parametrize("parameters", [{"order": "sequence"}, {"window": 7}])
def test_events_without_any_time_are_an_error(parameters: dict[str, Any]):
    table = Table([Row(unit, "a", None, "x") for unit in "pqr"])
    result = outcome_of(table, "known_events", {"k": 2, **parameters})
    assert (result.status, "no event has a time" in result.message) == (Status.ERROR, True)


def test_more_combinations_than_a_float_holds_are_too_many():
    table = Table([Row(unit, number) for unit in "pq" for number in range(1100)])
    amounts = Ordered.of(table.events(), 550).amounts(550)
    assert sample.too_many(amounts)
    assert np.isfinite(amounts).all()


@pytest.mark.parametrize(
    "demand", [{"C": 1}, {"k": 1, "C": 1}, {"k": 1, "window": 2}, {"C": 1, "values": ["hiv"], "m": 1}]
)
def test_what_every_release_keeps_is_measured(demand: dict[str, Any]):
    assert outcome_of(T1, "known_events", demand).status is Status.MEASURED


ONLY_OF_UNITS = {"static": {"role": "quasi_identifier", "of": "unit"}, "day": {"role": "insensitive"}}


@pytest.mark.parametrize(
    ("parameters", "attributes"),
    [({}, ONLY_OF_UNITS), ({"attributes": ["day"], "order": "sequence"}, {"day": {"role": "insensitive"}})],
)
def test_events_of_which_nothing_is_known_are_an_error(parameters: dict[str, Any], attributes: dict[str, Any]):
    result = outcome_of(T1, "known_events", {"k": 2, **parameters}, attributes=attributes, unit_released=False)
    assert (result.status, "no column is known of an event" in result.message) == (Status.ERROR, True)


def test_whole_histories_are_those_of_the_columns_that_are_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sample, "MOST", 1)
    monkeypatch.setattr(sample, "UNITS", 1)
    table = Table([*(Row(unit, "a", 1) for unit in range(50)), Row(50, "rare", 1)])
    attributes = {"label": {"role": "insensitive"}}
    policy = {"attributes": attributes, "time": None}
    result = outcome_of(table, "known_events", {"k": 2, "attributes": ["label"]}, **policy)
    assert (result.status, "whole histories is of 1," in result.message) == (Status.ERROR, True)


def test_a_sample_without_order_proves_no_inference_from_an_order(monkeypatch: pytest.MonkeyPatch):
    histories = {"p": "ab", "q": "ba", "r": "aba", "s": "aba", "t": "a", "u": "a", "v": "b", "w": "b"}
    rows = [
        Row(unit, label, day, "hiv" if unit in "pq" else None)
        for unit, labels in histories.items()
        for day, label in enumerate(labels)
    ]
    parameters = {"C": "2/5", "order": "sequence", "m": 2}
    assert outcome_of(Table(rows), "known_events", parameters).status is Status.PASSED
    monkeypatch.setattr(sample, "MOST", 1)
    assert outcome_of(Table(rows), "known_events", parameters).status is Status.ERROR


@pytest.mark.parametrize("window", [Fraction(1, 10**30), 10**30])
def test_windows_of_any_length_are_counted(window: Fraction | int):
    table = Table([Row("p", "a", 10**18), Row("q", "a", 10**18), Row("r", "a", 10**18 + 1)])
    assert table.window(window).supports.tolist() == ([2, 2, 1] if window < 1 else [3, 3, 3])


def test_a_tolerance_beyond_all_times_finds_every_event_with_the_same_columns():
    rows = [Row(unit, "a", sign * (4 * 10**18)) for unit, sign in zip("pqrs", (-1, 1, 1, 0), strict=True)]
    for tolerance in ("8000000000000000000", 10**30):
        parameters = {"k": 4, "m": 1, "tolerance": {"day": tolerance}}
        assert outcome_of(Table(rows), "known_events", parameters).status is Status.PASSED
    nearer = outcome_of(Table(rows), "known_events", {"k": 4, "m": 1, "tolerance": {"day": "7999999999999999999"}})
    assert nearer.observed == 2
