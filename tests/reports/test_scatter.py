"""Groups by size and value: a mark in each cell, the line of the demand, labels beside lines, and the data."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from report_samples import made_up

from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.plugin.report import Chart
from tcdp_audit_reports.charts.drawing import NARROW, Measured
from tcdp_audit_reports.charts.scatter import chart
from tcdp_audit_reports.sections.findings import BY_SIZE

GRID = {
    "sizes": [1, 4, 16, 64],
    "figures": [0.0, 0.25, 0.5, 0.75],
    "groups": [[0, 2, 9], [0, None, 1], [1, 1, 4], [2, 0, 1]],
}


def measured(threshold: str | None = "0.3", comparison: Comparison = Comparison.AT_MOST) -> Measured:
    demand = None if threshold is None else Fraction(threshold)
    return Measured([(0.1, 1, 40), (0.4, 4, 20)], demand, comparison, None, "distance from the table")


def drawn(outcome, of: Measured) -> Chart:
    drawing = chart(outcome, of)
    assert drawing is not None
    return drawing


def with_grid(**changes):
    return replace(made_up(0.4, Fraction(1, 2), Comparison.AT_MOST), details={"by_size": {**GRID, **changes}})


def test_each_cell_has_a_mark_as_large_as_its_groups_are_many():
    drawing = drawn(with_grid(), measured()).drawing
    assert len(drawing.points) == len(GRID["groups"])
    assert drawing.points[0].radius == max(one.radius for one in drawing.points)
    assert drawing.points[1].y < drawing.points[0].y < drawing.points[2].y < drawing.points[3].y  # infinite on top
    assert drawing.points[0].x == drawing.points[1].x < drawing.points[2].x < drawing.points[3].x


def test_all_groups_are_in_the_table():
    table = drawn(with_grid(), measured()).data
    assert table.head == ("value", "1 to 3", "4 to 15", "16 to 63")
    assert [row[0] for row in table.body] == [
        "infinite",
        "0.500 to below 0.750",
        "0.250 to below 0.500",
        "0 to below 0.250",
    ]
    assert [row[1:] for row in table.body] == [["1", "0", "0"], ["9", "0", "0"], ["0", "4", "0"], ["0", "0", "1"]]


@pytest.mark.parametrize(("comparison", "word"), [(Comparison.AT_MOST, "allowed"), (Comparison.AT_LEAST, "demanded")])
def test_the_line_of_the_demand_is_named_where_no_line_is(comparison, word):
    drawing = drawn(with_grid(), measured("0.3", comparison)).drawing
    (label,) = (one for one in drawing.labels if one.style == "limit-label")
    assert label.text == f"{word}: 0.3"
    limit = max(one.y1 for one in drawing.lines if one.style == "limit")
    (area,) = drawing.areas
    assert limit in {area.y, area.y + area.height}
    assert (area.y + area.height == limit) == (word == "allowed")
    assert not [one for one in drawing.lines if one.style == "grid" and abs(one.y1 - label.y) < 12]


def test_without_a_demand_there_is_no_line():
    drawing = drawn(with_grid(), measured(None)).drawing
    assert not drawing.areas
    assert not [one for one in drawing.lines if one.style == "limit"]


@pytest.mark.parametrize("columns", [3, 11])
def test_labels_stand_beside_lines_and_apart_on_a_phone(columns):
    sizes = [4**power for power in range(columns + 1)]
    groups = [[column, column % 3, 1] for column in range(columns)]
    drawing = drawn(with_grid(sizes=sizes, groups=groups), measured()).drawing
    left = min(one.x1 for one in drawing.lines if one.style == "grid")
    assert all(one.x <= left - 1 for one in drawing.labels if one.anchor == "end" and one.style == "tick")
    under = [one.extent() for one in drawing.labels if one.anchor == "middle"]
    assert all(one[1] < other[0] for one, other in pairwise(under))
    assert max(one.y for one in drawing.labels) < drawing.height
    assert all(one.radius * 200 / NARROW < (100 - left) / len(sizes) for one in drawing.points)


@pytest.mark.parametrize(
    "wrong",
    [
        {"groups": [[0, 0, 1], [0, 1, 1]]},  # one size
        {"groups": [[0, 0, 1], [1, 0, 1]]},  # one row
        {"groups": [[0, 0, 1], [1, 9, 1]]},
        {"groups": [[7, 0, 1], [1, 1, 1]]},
        {"groups": [[0, 0, "1"], [1, 1, 1]]},
        {"groups": ["abc"]},
        {"sizes": [4, 1, 16, 64]},
        {"figures": ["a", "b", "c", "d"]},
        {"sizes": [*range(400)]},
        {"more": 1},
    ],
)
def test_what_is_no_grid_has_no_picture(wrong):
    assert chart(with_grid(**wrong), measured()) is None


def test_a_report_has_the_pictures_of_those_that_matter_most(with_outcomes):
    rows = [[0.1, 1, 40], [0.4, 4, 20]]
    outcome = made_up(0.4, Fraction("0.3"), Comparison.AT_MOST, check="t_closeness", distribution=rows, failing=(4, 20))
    outcome = replace(outcome, details={**outcome.details, "by_size": GRID}, parameters={"t": "0.3"})
    html = with_outcomes(*[outcome] * (BY_SIZE + 3)).render(".html")
    drawn = re.findall(r'<figure class="chart scatter">.*?</figure>', html, flags=re.DOTALL)
    assert len(drawn) == BY_SIZE
    assert max(map(len, drawn)) < 4_000
