"""The margin of an outcome: doublings to the safe side, with zero and infinity."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest
from report_samples import made_up

from tcdp_audit.core.base.outcome import Comparison, Status
from tcdp_audit.core.base.phrases import doublings
from tcdp_audit_reports.charts.margin import margin_bar, margin_words

AT_LEAST, AT_MOST, BELOW = Comparison.AT_LEAST, Comparison.AT_MOST, Comparison.BELOW


@pytest.mark.parametrize(
    ("observed", "threshold", "comparison", "expected", "reported"),
    [
        (1, 8, AT_LEAST, -3.0, "8× short"),
        (10, 5, AT_LEAST, 1.0, "2× to spare"),
        (0.4, "1/5", AT_MOST, -1.0, "2× over"),
        (0.05, "1/5", AT_MOST, 2.0, "4× to spare"),
        (5, 5, AT_LEAST, 0.0, "exactly met"),
        (0, 5, AT_LEAST, -inf, "none was found"),
        (inf, 2, AT_MOST, -inf, "nothing bounds it"),
        (inf, 2, AT_LEAST, inf, "nothing bounds it"),
        (0, "1/5", AT_MOST, inf, "none was found"),
        (0.1, 0, AT_MOST, -inf, "none is allowed"),
        (0, 0, AT_MOST, 0.0, "exactly met"),
        (1.0001, 1, AT_MOST, -0.000144, "under 1% over"),
        (1.05, 1, AT_MOST, -0.070389, "5% over"),
    ],
)
def test_doublings_and_their_words(observed, threshold, comparison, expected, reported):
    status = Status.FAILED if reported.endswith(("short", "over")) else Status.PASSED
    outcome = made_up(observed, threshold, comparison, status=status)
    assert doublings(outcome) == pytest.approx(expected, abs=1e-6)
    assert margin_words(outcome) == reported


def test_a_strict_demand_is_missed_at_the_limit():
    assert margin_words(made_up(0.2, "1/5", BELOW)) == "at the limit"


def test_a_failure_with_a_good_headline_figure_says_so():
    assert margin_words(made_up(9, 5, AT_LEAST)) == "fails otherwise"


@pytest.mark.parametrize(
    ("status", "expected"),
    [(Status.MEASURED, "no demand set"), (Status.ERROR, "could not be run"), (Status.SKIPPED, "skipped")],
)
def test_without_a_judgement_there_is_no_bar(status, expected):
    outcome = made_up(None, None, status=status)
    assert (margin_bar(outcome), margin_words(outcome)) == (None, expected)


def test_what_a_sample_leaves_open_is_not_decided():
    outcome = replace(made_up(0.3, "3/10", AT_LEAST, status=Status.ERROR), details={"estimate": {}})
    assert (margin_bar(outcome), margin_words(outcome)) == (None, "not decided")


def test_a_negative_figure_has_no_ratio():
    outcome = made_up(-1, 5, AT_LEAST)
    assert (doublings(outcome), margin_words(outcome)) == (None, "not met")


@pytest.mark.parametrize(("observed", "left", "width"), [(0.625, 0, 50.0), (2.5, 33.33, 16.67), (10, 50, 16.67)])
def test_the_bar_starts_at_the_demand_and_ends_at_three_doublings(observed, left, width):
    status = Status.PASSED if observed >= 5 else Status.FAILED
    bar = margin_bar(made_up(observed, 5, AT_LEAST, status=status)).areas[0]
    assert (bar.x, bar.width, bar.style) == (left, width, f"m-{status.value}")


@pytest.mark.parametrize(("observed", "parts"), [(0.5, [(10, 40), (0, 7)]), (500, [(50, 40), (93, 7)])])
def test_a_bar_beyond_three_doublings_has_a_gap(observed, parts):
    status = Status.PASSED if observed >= 5 else Status.FAILED
    bars = margin_bar(made_up(observed, 5, AT_LEAST, status=status)).areas
    assert [(one.x, one.width) for one in bars] == parts
