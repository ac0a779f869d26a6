"""Facts of a column: missing tokens, what is a number, what is a measurement, scales and orders."""

from __future__ import annotations

import numpy as np
import pytest
from test_draft_hierarchies import facts

from tcdp_audit.core.policy.model import Scale
from tcdp_audit.drafting.column import ORDERS, SAMPLE, missing_tokens, order_of, scale_of, tokens_of
from tcdp_audit.drafting.vocabulary import topic_of


def scale(name: str, values: list[object]) -> Scale | None:
    return scale_of(facts(name, values), topic_of(name))[0]


def test_tokens_that_occur_are_named_as_they_stand():
    columns = [facts("a", ["x", "?", " NA "]), facts("b", ["1", "-", "NULL"]), facts("c", [1, 2])]

    assert missing_tokens(columns) == ["", " NA ", "-", "?", "NULL"]


def test_tokens_that_may_be_values_are_left():
    assert tokens_of(facts("country", ["NA", "DE", "FR", "ZA"])) == set()
    assert tokens_of(facts("allergy", ["None", "nuts", "-"])) == set()
    assert tokens_of(facts("note", ["NA", "NULL"])) == set()  # nothing else is there: who knows


def test_values_without_tokens_are_counted():
    column = facts("a", ["x", "x", "y", "?"])
    column = type(column)(column.name, column.raw, 5, frozenset({"?"}))

    assert (column.distinct, column.filled, column.unique_share, column.missing_share) == (2, 3, 1 / 3, 2 / 5)


def test_numbers_that_were_given_out_are_no_measurement():
    rng = np.random.default_rng(0)
    income: list[object] = np.exp(rng.normal(10, 1, 2000)).astype(int).tolist()
    in_turn: list[object] = list(range(5000, 7000))
    drawn: list[object] = rng.integers(10**8, 10**9, 2000).tolist()
    heights: list[object] = rng.normal(1700, 80, 2000).astype(int).tolist()

    assert [facts("x", one).is_measurement for one in (income, in_turn, drawn, heights)] == [True, False, False, True]
    assert facts("x", ["1.5", "2.25"]).is_measurement
    assert not facts("x", ["00123", "00456", "90000"]).is_measurement
    assert not facts("x", ["a"]).is_measurement


def test_a_text_that_is_no_number_in_the_last_of_many_is_detected():
    many: list[object] = [str(one) for one in range(SAMPLE * 2)]

    assert facts("x", many).is_numeric
    assert not facts("x", [*many, "x"]).is_numeric


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("age", ["39", "50"], Scale.NUMERIC),
        ("age", ["20-29", "30-39"], Scale.NUMERIC),
        ("age", ["young", "old"], Scale.NOMINAL),
        ("age", ["39", "unknown"], Scale.NOMINAL),
        ("zip", ["02139", "94105"], Scale.NOMINAL),
        ("zip", [2139, 94105], Scale.NOMINAL),
        ("sex", [1, 2], Scale.NOMINAL),
        ("income", ["<=50K", ">50K"], Scale.NOMINAL),
        ("income", [1000, 2000], Scale.NUMERIC),
        ("birth_year", [1931, 1987], Scale.NUMERIC),
        ("dob", ["1931-01-01"], Scale.NOMINAL),
        ("severity", ["mild", "severe"], Scale.ORDINAL),
        ("bmi", [18.5, 31.25], Scale.NUMERIC),
        ("x", [1, 2, 3], None),
        ("x", ["a"], None),
    ],
)
def test_the_scale_follows_the_word_where_all_values_have_it(name: str, values: list[object], expected: Scale | None):
    assert scale(name, values) is expected


def test_a_number_beyond_64_bits_is_a_code():
    assert not facts("income", [str(2**70), "1"]).is_numeric


def test_an_order_is_written_whole_and_in_the_columns_own_capitals():
    assert order_of(facts("x", ["Low", "Very High"]))[0] == "Very Low"
    assert order_of(facts("x", ["Low", "High", "VERY HIGH"])) == ()
    assert list(order_of(facts("x", ["Low", "High"]))) == ["Very low", "Low", "Medium", "High", "Very high"]
    assert list(order_of(facts("x", ["LOW", "MODERATE"]))) == ["LOW", "MODERATE", "HIGH"]
    assert order_of(facts("x", ["low", "purple"])) == ()
    assert all(len(set(one)) == len(one) for one in ORDERS)
