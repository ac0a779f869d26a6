"""What users of a release feel: counts, means, and what columns tell. Examples by hand."""

from __future__ import annotations

import numpy as np
import pytest
from information_loss_reference import TREE, loss_of, loss_of_lists

from tcdp_audit.core.information_loss.counting import CountingError, counting_error

NUMERIC = {"scale": "numeric"}
SENSITIVE = {"role": "sensitive"}


def test_counts_of_ranges_are_spread_over_the_values_before():
    before, after = {"age": [20, 20, 30, 40]}, {"age": ["[20, 30]", "[20, 30]", "[20, 30]", "*"]}
    actual = loss_of(before, after, age=NUMERIC).counting_queries
    assert actual == CountingError(pytest.approx((0.25 + 0.5 + 1) / 3), pytest.approx((0.25 + 0.5 + 1) / 3), None, 3)


def test_counts_of_sets_and_labels_are_spread_over_what_they_cover():
    before = {"town": ["a", "a", "b", "c"], "colour": ["red", "blue", "green", "green"]}
    after = {"town": ["{a, b}", "{a, b}", "b", "d"], "colour": ["warm", "cold", "cold", "green"]}
    actual = loss_of(before, after, colour={"hierarchy": TREE}).counting_queries
    towns = [1 / 2, 1, 1]  # a has 1 of 2, b 2 of 1, c 0 of 1: a set gives half a record to each of its members
    colours = [0, 0, 0]  # warm is red alone here, cold is half blue and half green
    assert actual.one_way == pytest.approx(sum([*towns, *colours]) / 6)
    # of town and colour: before a-red, a-blue, b-green, c-green are 1 each
    after_pairs = np.array([[0.5, 0.25, 0.25], [0.5, 0.75, 0.75], [0, 0, 0]])  # towns by red, blue, green
    before_pairs = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 1]])
    assert actual.two_way == pytest.approx(np.abs(after_pairs - before_pairs).mean())
    assert actual.queries == 6 + 9


def test_of_many_values_the_frequent_ones_and_all_others_are_counted():
    towns = [f"t{number:02}" for number in range(25)]
    before = [*towns, *towns[:20]]  # 20 towns twice, five once
    actual = loss_of({"town": before}, {"town": ["t00"] * 45}).counting_queries
    assert actual.queries == 21
    assert actual.value == pytest.approx((43 / 2 + 20 * 1) / 21)  # t00 45 of 2, the others none


def test_of_many_numbers_ten_ranges_are_counted():
    ages = list(range(100))
    same = loss_of({"age": ages}, {"age": ages[::-1]}, records_retained=ages[::-1], age=NUMERIC).counting_queries
    halves = loss_of({"age": ages}, {"age": ["[0, 49]"] * 50 + ["[50, 99]"] * 50}, age=NUMERIC).counting_queries
    moved = loss_of({"age": ages}, {"age": [age + 10 for age in ages]}, age=NUMERIC).counting_queries
    assert (same.queries, same.value) == (10, 0)
    assert (halves.queries, halves.value) == (10, pytest.approx(0))  # within each half all ages are as frequent
    assert moved.value == pytest.approx((1 + 1) / 10)  # the first range is empty, the last has twice as many


def test_small_counts_are_compared_with_a_thousandth_of_all_records():
    before = ["a"] * 9_998 + ["b"] * 2
    actual = loss_of({"town": before}, {"town": ["a"] * 10_000}).counting_queries
    assert actual.value == pytest.approx((2 / 9_998 + 2 / 10) / 2)


def test_suppressed_records_and_cells_count_nowhere():
    before = {"town": ["a", "a", "b", "b"], "age": [1, 1, 1, 1]}
    actual = loss_of(
        before, {"town": ["a", "b", "*"], "age": ["1", "*", "1"]}, records_retained=[0, 2, 3], age=NUMERIC
    ).counting_queries
    assert actual.one_way == pytest.approx((1 / 2 + 1 / 2 + 2 / 4) / 3)
    assert actual.two_way == pytest.approx((1 / 2 + 2 / 2) / 2)


def test_without_values_there_are_no_queries():
    none = CountingError(None, None, None, 0)
    assert loss_of({"age": ["*", "*"]}, {"age": ["*", "*"]}, age=NUMERIC).counting_queries == none
    assert counting_error([], 5) == none


def test_information_retained_is_the_share_of_the_entropy():
    before = {"town": ["a", "b", "c", "d"]}
    assert loss_of(before, {"town": ["{a, b}", "{a, b}", "c", "d"]}).mutual_information_retained["town"] == 0.75
    assert loss_of(before, {"town": ["d", "c", "b", "a"]}).mutual_information_retained["town"] == 1  # only renamed
    assert loss_of(before, {"town": ["*"] * 4}).mutual_information_retained["town"] == 0
    # one bit in each of the two records that tell something, of two bits in each of four
    suppressed = loss_of(before, {"town": ["a", "b", "*"]}, records_retained=[0, 1, 2])
    assert suppressed.mutual_information_retained["town"] == pytest.approx(0.25)
    assert loss_of({"town": ["a", "a"]}, {"town": ["a", "*"]}).mutual_information_retained["town"] is None


def test_an_emptied_column_reveals_nothing_however_few_cells_that_took():
    before = {"town": ["a"] * 99 + ["b"]}
    for after, records_retained in ((["a"] * 99, range(99)), (["a"] * 100, None), (["a"] * 99 + ["*"], None)):
        loss = loss_of(before, {"town": after}, records_retained=records_retained)
        assert loss.total == pytest.approx(0.01)
        assert loss.mutual_information_retained["town"] == 0


def test_what_is_missing_before_and_after_is_no_loss():
    cells = {"town": ["a", "b", None, "*"]}
    assert loss_of(cells, cells).mutual_information_retained["town"] == 1


def test_information_on_a_sensitive_attribute():
    before = {"town": ["a", "a", "b", "b"], "disease": ["x", "x", "y", "y"]}
    after = {"town": ["a", "{a, b}", "{a, b}", "b"], "disease": ["x", "x", "y", "y"]}
    actual = loss_of(before, after, disease=SENSITIVE).mutual_information
    assert actual["disease"] == {}
    assert (actual["town"]["disease"].before, actual["town"]["disease"].after) == (1, pytest.approx(0.5))
    half = loss_of(before, {"town": ["a", "b"], "disease": ["x", "y"]}, records_retained=[0, 2], disease=SENSITIVE)
    assert half.mutual_information["town"]["disease"].after == 0.5  # one bit in half of the records
    gone = loss_of(before, {"town": [], "disease": []}, records_retained=[], disease=SENSITIVE).mutual_information
    assert gone["town"]["disease"].after == 0


def test_errors_of_means_are_in_standard_deviations():
    before = {"a": [0, 2, 4], "b": [7, 7, 7], "c": [1, 2, 3]}
    after = {"a": ["[2, 4]", "*", "4"], "b": [8, 8, 8], "c": ["*", "*", "*"]}
    actual = loss_of(before, after, **dict.fromkeys("abc", NUMERIC)).mean_error
    assert actual.attributes == {"a": pytest.approx((3.5 - 2) / 2)}
    assert actual.value == pytest.approx(0.75)
    assert loss_of({"town": ["a"]}, {"town": ["b"]}).mean_error.value is None


def test_the_largest_change_of_a_correlation():
    before = {"a": [1, 2, 3], "b": [1, 2, 3], "c": [3, 1, 2]}
    actual = loss_of(before, {**before, "b": [3, 2, 1]}, **dict.fromkeys("abc", NUMERIC)).correlation_change
    assert (actual.pairs, actual.largest) == (3, pytest.approx(2))
    assert actual.value == pytest.approx((2 + 0 + 1) / 3)


def test_declared_tables_are_measured_like_all_others():
    before = {"town": ["a", "a", "b", "c"], "colour": ["red", "blue", "green", "green"], "age": [20, 20, 30, 40]}
    after = {"town": ["{a, b}", "{a, b}", "b", "*"], "colour": ["warm", "cold", "cold", "green"], "age": before["age"]}
    asked = [["town"], ["town", "colour"], ["age", "colour", "town"]]
    loss = loss_of_lists(
        before,
        after,
        policy={"utility": {"counts": [{"by": by} for by in asked]}},
        age=NUMERIC | {"role": "insensitive"},
        colour={"hierarchy": TREE},
    )
    one, two, three = loss.declared_counts

    assert (one.value, one.largest, one.queries) == (pytest.approx((0.5 + 1 + 1) / 3), 1, 3)
    assert (two.queries, three.queries) == (9, 27)
    # warm is red alone, cold is half blue and half green; a set is half of each
    expected = np.zeros((3, 3, 3))  # towns, colours (red, blue, green), ages
    expected[:2, 0, 0] += 0.5
    expected[:2, 1, 0] += 0.25
    expected[:2, 2, 0] += 0.25
    expected[1, 1:, 1] += 0.5
    true = np.zeros((3, 3, 3))
    true[0, 0, 0] = true[0, 1, 0] = true[1, 2, 1] = true[2, 2, 2] = 1
    assert two.value == pytest.approx(np.abs(expected.sum(axis=2) - true.sum(axis=2)).mean())
    assert (three.value, three.largest) == (pytest.approx(np.abs(expected - true).mean()), 1)
    assert loss.counting_queries.queries == 6 + 9  # of quasi-identifiers and sensitive attributes, as ever


def test_a_declared_table_without_values_says_why():
    policy = {"utility": {"counts": [{"by": ["age", "town"]}, {"by": ["age"]}]}}
    loss = loss_of_lists({"age": ["*", "*"]}, {"age": ["*", "*"]}, policy=policy, town={})
    assert [one.reason for one in loss.declared_counts] == [
        "column 'town' is not in the release",
        "column 'age' has no value in the release before the repair",
    ]
    assert loss.as_json()["counting_queries"]["tables"][1]["value"] is None
