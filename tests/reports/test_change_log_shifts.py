"""Before and after on the axis of margins, and outcomes of two audits side by side."""

from __future__ import annotations

from fractions import Fraction

import pytest
from remedied_samples import FAR, NEAR, SIZE_AFTER, SIZE_BEFORE, log_of, remedied, step
from report_samples import made_up

from tcdp_audit.core.base.outcome import STRUCTURE, Comparison, Outcome, Status
from tcdp_audit_reports.remedy import shifts
from tcdp_audit_reports.remedy.shifts import side_by_side

MEASURED = made_up(0.5, None, Comparison.AT_MOST, status=Status.MEASURED, check="homogeneity")
BROKEN = made_up(None, 5, status=Status.ERROR)


@pytest.fixture
def rows(salary_audit):
    """The rows of outcomes before and after."""
    return lambda before, after: shifts.shifts(
        remedied(salary_audit, log := log_of(step(), before=tuple(before)), *after), log
    )


def test_a_row_has_both_figures_and_the_way_in_words(rows):
    row = rows([SIZE_BEFORE], [SIZE_AFTER])[0]
    assert (row.number, row.target, row.title, row.demanded) == ("1", "e1", "k-anonymity", "≥ 5")
    assert (row.before, row.after, row.state) == ("1", "8", "passed")
    assert row.words == "5× short before, 1.6× to spare after"


def test_marks_stand_at_doublings_of_the_demand(rows):
    """Sixteen percent a doubling from the centre: 1/4 of the demand is two to the left, 8/5 less than one right."""
    bar = rows([made_up(2, 8)], [made_up(16, 8, status=Status.PASSED)])[0].bar
    assert [(one.style, one.x) for one in bar.points] == [("ring", 18.0), ("fill-passed", 66.0)]
    assert [(one.x1, one.x2) for one in bar.lines if one.style == "move"] == [(18.0, 66.0)]
    assert [one.x1 for one in bar.lines if one.style == "track"] == [0, 2.0, 18.0, 34.0, 66.0, 82.0, 98.0]


def test_marks_beyond_the_axis_stand_at_its_end_and_the_caption_says_so(salary_audit):
    log = log_of(step(), before=(made_up(0, 5),))
    far = remedied(salary_audit, log, made_up(500, 5, status=Status.PASSED))
    assert [one.x for one in shifts.shifts(far, log)[0].bar.points] == [2.0, 98.0]
    assert shifts.caption(far, log).endswith("; marks at an end are beyond a factor of eight.")
    near = log_of(step(), before=(SIZE_BEFORE,))
    assert shifts.caption(remedied(salary_audit, near, SIZE_AFTER), near).endswith("each tick a factor of two.")


def test_marks_at_one_place_are_both_seen(rows):
    bar = rows([SIZE_AFTER], [SIZE_AFTER])[0].bar
    assert [(one.style, one.radius) for one in bar.points] == [("ring", 8), ("fill-passed", 5.5)]


@pytest.mark.parametrize(
    ("before", "after", "marks", "words"),
    [
        (BROKEN, SIZE_AFTER, ["fill-passed"], "could not be run before, 1.6× to spare after"),
        (SIZE_BEFORE, BROKEN, ["ring"], "5× short before, could not be run after"),
        (MEASURED, MEASURED, None, "no demand set"),
        (
            FAR,
            made_up(0.3, "1/5", Comparison.AT_MOST, check="t_closeness", attribute="salary"),
            ["ring", "fill-failed"],
            "4× over before, 1.5× over after",
        ),
    ],
)
def test_outcomes_without_a_figure_have_no_mark(rows, before, after, marks, words):
    row = rows([before], [after])[0]
    assert row.words == words
    assert (None if row.bar is None else [one.style for one in row.bar.points]) == marks


def test_expectations_are_paired_by_check_attribute_and_demand():
    two = [made_up(1, 5, parameters={"k": 5}), made_up(1, 9, parameters={"k": 9})]
    other = made_up(3, 9, parameters={"k": Fraction(9)})
    assert list(side_by_side([*two, FAR], [NEAR, other, two[0], two[0]])) == [
        (FAR, NEAR),
        (two[1], other),
        (two[0], two[0]),
        (None, two[0]),
    ]


def test_what_is_asked_of_the_columns_has_a_row_only_where_it_changed(salary_audit):
    def column(status: Status) -> Outcome:
        return Outcome(check="written_twice", title="Written in one way", status=status, source=STRUCTURE)

    log = log_of(step(), before=(column(Status.PASSED), SIZE_BEFORE))
    audit = remedied(salary_audit, log, column(Status.FAILED), SIZE_AFTER)
    result = shifts.shifts(audit, audit.change_log)
    assert [(one.number, one.title, one.state) for one in result] == [
        ("1", "k-anonymity", "passed"),
        ("", "Written in one way", "failed"),
    ]
    assert result[1].target == f"s{len(salary_audit.structure) + 1}"
