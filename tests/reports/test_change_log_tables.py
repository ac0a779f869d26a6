"""What was lost, what else was tried and what to paste: tables and lines of a remediation, without cells."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

import pytest
from remedied_samples import FAR, LOSS, SIZE_BEFORE, log_of, step

from tcdp_audit_reports.policy_text import lines_to_paste
from tcdp_audit_reports.remedy.candidates import tried_table
from tcdp_audit_reports.remedy.losses import attribute_table, loss_table, retained_table


def test_every_measure_has_its_row_and_what_is_not_defined_has_none():
    table = loss_table(log_of(step()))
    assert table.body == [
        ["Mean loss of an entry", "–", "0.375"],
        ["Discernibility, sum of squared class sizes", "27", "73"],
        ["Average class size over k = 5", "0.600", "1.60"],
        ["Normalised certainty penalty, mean", "0", "0.500"],
        ["IL1s, deviation of numbers", "–", "0.125"],
        ["Relative error of counts by one column and by two", "–", "0.500"],
        ["Overlap of intervals of effects, mean", "–", "0.500"],
        ["Propensity score, mean squared error", "–", "0.050"],
        ["Records suppressed", "0", "1"],
    ]
    assert table.note.startswith("The propensity score’s error is 2 times what two samples of one population")


def test_a_measure_that_is_not_known_here_appears_by_its_name():
    table = loss_table(log_of(step(), loss={"new_measure": 0.5, "pair": {"before": 1, "after": float("inf")}}))
    assert table.body == [["New measure", "–", "0.500"], ["Pair", "1", "∞"], ["Records suppressed", "0", "1"]]


def test_without_a_propensity_score_the_reason_is_reported():
    given = {**LOSS["propensity"], "value": None, "ratio": None, "reason": "every record is alike"}
    table = loss_table(log_of(step(), loss={**LOSS, "propensity": given}))
    assert table.note == "No propensity score: every record is alike."
    assert "Propensity score, mean squared error" not in [row[0] for row in table.body]


def test_numbers_that_are_left_out_are_counted():
    given = {**LOSS["il1s"], "cells_left_out": 1200}
    assert loss_table(log_of(step(), loss={**LOSS, "il1s": given})).note.startswith(
        "IL1s is over 8 entries with a number before and after; 1,200 more have none. The propensity"
    )


def test_nothing_measured_makes_no_tables():
    log = log_of(step(), loss={}, cells={})
    assert (loss_table(log), attribute_table(log)) == (None, None)


def test_attributes_have_their_cells_and_figures():
    table = attribute_table(log_of(step()))
    assert table.head == (
        *("attribute", "entries changed", "share of entries", "loss", "penalty before", "penalty after"),
        *("distance of distributions", "information retained", "IL1s"),
    )
    assert table.body == [
        ["zip", "8", "100%", "0.500", "0", "0.500", "0.250", "0.750", "–"],
        ["age", "3", "37.5%", "0.250", "0", "0.250", "0.250", "0.750", "0.125"],
    ]
    assert table.note.startswith("Penalty: ")


def test_what_columns_tell_of_sensitive_ones_has_a_row_each():
    table = retained_table(log_of(step()))
    assert table.head == ("attribute", "sensitive", "before", "after")
    assert table.body == [["zip", "salary", "1.50", "0.500"], ["age", "salary", "1.50", "0.500"]]
    assert retained_table(log_of(step(), loss={"attributes": {"zip": {"mutual_information": {}}}})) is None


def test_a_column_that_only_changed_has_a_row_too():
    table = attribute_table(log_of(step(), cells={"zip": 8, "notes\x1b": 2, "same": 0}, loss={}))
    assert table.body == [["zip", "8", "100%"], ["notes\\x1b", "2", "25.0%"]]


TAKEN = step("cutting", loss=0.25)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (step(error="k >= 5 needs 5 records; at most k = 3"), "k ≥\u00a05 needs 5 records; at most k = 3."),
        (step(error="the hierarchy ends."), "The hierarchy ends."),
        (step(failing=[FAR], loss=0.1), "One demand is still not met: t-closeness on salary."),
        (
            step(failing=[FAR, SIZE_BEFORE, SIZE_BEFORE, FAR, FAR]),
            "Five demands are still not met: t-closeness on salary, k-anonymity, k-anonymity and two more.",
        ),
        (step(loss=0.5), "It passes, and loses 50% of the detail where the one taken loses 25%."),
        (step(loss=0.25, title="Twin"), "It passes with the same loss; the one taken came first."),
        (step(), "It was not needed: the release passes without it."),
    ],
)
def test_why_a_remedy_was_not_taken_is_a_sentence(other, why):
    assert [row[2] for row in tried_table(log_of(TAKEN, tried=(other, TAKEN))).body] == [why]


def test_an_error_that_came_again_is_reported_once_and_many_rows_are_counted():
    again = [step("a", error="No."), step("a", error="No."), *(step(f"b{number}", loss=1.0) for number in range(14))]
    table = tried_table(log_of(TAKEN, tried=tuple(again)))
    assert len(table.body) == 12
    assert table.note == "3 more are in the machine-readable result."
    assert tried_table(log_of(TAKEN, tried=(TAKEN,))) is None
    assert table.caption == "What else was tried, and why it was not taken"
    assert tried_table(log_of(tried=tuple(again))).caption == "What was tried, and why it was not taken"


def test_parameters_are_words_and_values_are_counted():
    given = {"limit": Fraction(1, 50), "whole": True, "levels": {"zip": 1}, "values": ["planted"], "loss": "ncp"}
    row = tried_table(log_of(TAKEN, tried=(step(parameters=given),))).body[0]
    assert row[1] == "limit 0.02, whole yes, levels for 1 attribute, values 1 value, loss ncp"


class Kind(StrEnum):
    NCP = "ncp"


def test_the_lines_name_the_remedies_and_no_list_of_values():
    given = {"t": Fraction("1.5"), "loss": Kind.NCP, "values": ["planted", "planted too"]}
    reported = lines_to_paste(log_of(step(parameters=given, lines=("- expected_t: {epsilon: 1}",))))
    assert reported.policy == (
        "remedy:\n  - cutting: {t: 1.5, loss: ncp, values: [2 values not shown]}\nexpect:\n  - expected_t: {epsilon: 1}"
    )
    assert reported.sentence == (
        "Add these lines to the policy to repair a later release alike. "
        ""
        "Add the lines under expect to the policy before you audit this release. "
        "Lists of values are counted here, not shown."
    )


def test_lines_that_cannot_be_read_are_not_shown():
    assert lines_to_paste(log_of(step(lines=("- [planted: {",)))) is None
    assert lines_to_paste(log_of(step(parameters={"one": object()}))) is None
