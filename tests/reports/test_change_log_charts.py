"""The plots of a remediation: the remedies that were tried, and the search for levels of hierarchies."""

from __future__ import annotations

import pytest
from remedied_samples import FAR, SIZE_BEFORE, lattice_notes, log_of, step

from tcdp_audit_reports.charts.labelled_scatter import BASE, TOP
from tcdp_audit_reports.remedy import candidates, search

CUT = step("cutting", loss=0.25)
DEAR = step("generalising", loss=0.5, parameters={"limit": 0})
DEARER = step("generalising", loss=0.75, parameters={"limit": 0.01})
SHORT = step("swapping", failing=[FAR], loss=0.125)
ROWS = [
    [0.0, 0.5, False, [0, 0]],
    [0.25, 0.04, False, [0, 1]],
    [0.375, 0.02, True, [1, 0]],
    [0.5, 0.0, True, [1, 1]],
    [1.0, 0.0, True, [2, 1]],
]


def points(drawing):
    return sorted((one.style, one.x, one.y) for one in drawing.points)


def test_every_measured_remedy_is_a_mark_at_its_loss_and_what_it_leaves():
    """Losses reach from 0 to 0.5 over 96 % of the width; two demands stood against the input."""
    chart = candidates.chart(log_of(CUT, tried=(DEAR, SHORT, CUT)))
    assert points(chart.drawing) == [
        ("fill-passed", 50.0, BASE),
        ("mark-open", 26.0, (BASE + TOP) / 2),
        ("mark-plain", 98.0, BASE),
        ("ring", 2.0, TOP),
    ]
    names = {one.text for one in chart.drawing.labels}
    assert {"cutting: taken", "generalising", "swapping", "before the repair", "passes", "1", "2"} <= names
    assert chart.title == "Two of three remedies that were tried pass; the one that loses least was used"
    assert chart.data.body == [
        ["cutting", "0.250", "0", "yes"],
        ["generalising", "0.500", "0", "no"],
        ["swapping", "0.125", "1", "no"],
        ["before the repair", "0", "2", "–"],
    ]


@pytest.mark.parametrize(
    ("taken", "tried", "title"),
    [
        (CUT, (SHORT,), "One of two remedies that were tried passes"),
        (DEAR, (DEAR, CUT), "Both remedies that were tried pass"),
        (
            SHORT,
            (step("cutting", failing=[FAR, SIZE_BEFORE], loss=0.5),),
            "None of the two remedies that were tried passes",
        ),
    ],
)
def test_the_title_says_only_what_is_so(taken, tried, title):
    assert candidates.chart(log_of(taken, tried=tried)).title == title


def test_remedies_of_one_name_are_called_by_their_parameters():
    called = [row[0] for row in candidates.chart(log_of(DEAR, tried=(DEAR, DEARER))).data.body]
    assert called == ["limit 0", "limit 0.010", "before the repair"]
    called = [row[0] for row in candidates.chart(log_of(DEAR, tried=(DEAR, DEARER, CUT))).data.body]
    assert called == ["generalising, limit 0", "generalising, limit 0.010", "cutting", "before the repair"]


@pytest.mark.parametrize("tried", [(), (CUT,), (step("other", error="It cannot."),)])
def test_fewer_than_two_measured_remedies_make_no_plot(tried):
    assert candidates.chart(log_of(CUT, tried=tried)) is None


def test_every_combination_that_was_looked_at_is_a_dot():
    """Shares up to six times the limit of 2 % are drawn, on an axis to 15 % that is 216 pixels high."""
    notes = lattice_notes(ROWS, [1, 0], suppressed=2, nodes=8)
    chart = search.chart(log_of(step(notes=notes, parameters={"suppression": 0.02}), records=100))
    assert chart.title == "3 of 5 ways to generalise that were looked at keep the policy; the one taken loses least"
    assert chart.subtitle.endswith("Filled dots keep the policy. 4 of 5 are drawn; 3 more needed no look.")
    assert points(chart.drawing) == [
        ("cloud", 26.0, 182.4),
        ("cloud-good", 50.0, 240.0),
        ("cloud-good", 98.0, 240.0),
        ("fill-passed", 38.0, 211.2),
    ]
    assert [(one.y1, one.style) for one in chart.drawing.lines if one.style == "limit"] == [(211.2, "limit")]
    assert {"taken", "at most 2% may be suppressed", "5%", "10%"} <= {one.text for one in chart.drawing.labels}
    assert chart.data.head == ("levels (a0, a1)", "normalised certainty penalty", "suppressed")
    assert chart.data.body == [["1 · 0", "0.375", "2.0%"], ["1 · 1", "0.500", "0%"], ["2 · 1", "1", "0%"]]


def test_without_a_limit_there_is_no_line_and_the_failing_share_goes_up():
    chart = search.chart(log_of(step(notes=lattice_notes(ROWS, [1, 1]))))
    assert [one for one in chart.drawing.lines if one.style == "limit"] == []
    assert chart.title == "3 of 5 ways to generalise that were looked at keep the policy"


def test_a_selection_of_a_search_is_called_one():
    """The combination that was taken is drawn even where it is not in the selection."""
    rows = [[number / 100, 0.3, False, [number]] for number in range(90)]
    notes = {**lattice_notes(rows, [0]), "levels": {"a": [95, 99]}, "loss": 0.95, "evaluated": 500, "nodes": 900}
    chart = search.chart(log_of(step(notes=notes)))
    assert chart.title == "500 ways to generalise were looked at"
    assert chart.subtitle.endswith("91 of 500 are drawn; 400 more needed no look.")
    assert [one.style for one in chart.drawing.points].count("fill-passed") == 1


def test_a_thousand_dots_at_few_places_are_drawn_once():
    rows = [[number % 4 / 4, 0.5, False, [number]] for number in range(999)]
    chart = search.chart(log_of(step(notes=lattice_notes([*rows, [0.9, 0.0, True, [999]]], [999]))))
    assert len(chart.drawing.points) == 5


@pytest.mark.parametrize(
    "notes",
    [
        {},
        {"lattice": []},
        {"lattice": "0.5", "levels": {"a": [1, 2]}, "loss": 0.5},
        {"lattice": [[0.5, 0.1, True]], "levels": {"a": [1, 2]}, "loss": 0.5},
        {"lattice": [[0.5, "x", True, [1]]], "levels": {"a": [1, 2]}, "loss": 0.5},
        {"lattice": [[float("inf"), 0.1, True, [1]]], "levels": {"a": [1, 2]}, "loss": 0.5},
        {"lattice": ROWS, "loss": 0.5},
        {"lattice": ROWS, "levels": {"a": ["x", 2]}, "loss": 0.5},
        {"lattice": ROWS, "levels": {"a": [1, 2]}},
    ],
)
def test_something_else_by_that_name_is_no_search(notes):
    assert search.chart(log_of(step(notes=notes))) is None
