"""A frontier as a page: the map, the tables, the lines of every point, and names that act on nothing."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "frontiers"))
from frontier_samples import K, T, frontier_of, trial
from html_page import Page

from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.results.frontier import Frontier, remedies_table
from tcdp_audit.core.results.setting_trial import Attempt, VariedDemand
from tcdp_audit_reports.charts.labelled_scatter import box_of
from tcdp_audit_reports.frontier_blocks import STEPS, chart
from tcdp_audit_reports.html_report import render_frontier as html
from tcdp_audit_reports.markdown_report import render_frontier as markdown

F = Fraction
OWN, LAX, STRICT = (F(5), F(1, 5)), (F(3), F(1, 2)), (F(10), F(1, 10))
GRID = [(k, t) for k in K.levels for t in T.levels]


def sample() -> Frontier:
    return frontier_of(
        [
            trial(OWN, (5, 0.19), 0.2),
            trial(LAX, (3, 0.4), 0.05),
            trial(STRICT, (40, 0.09), 0.4),
            trial((F(10), F(1, 2)), (10, 0.45), 0.1),
        ],
        GRID,
        untried=(GRID[2],),
    )


def test_the_map_has_a_step_for_each_level_of_the_other_demand():
    result = chart(sample())
    assert result is not None
    drawing = result.drawing
    assert [len(drawing.marks[one]) for one in ("of-front", "of-own")] == [3, 1]
    names = {label.text for label in drawing.labels}
    assert {"1: t ≤ 0.5", "3: t ≤ 0.2", "4: t ≤ 0.1", "2", "the policy: 5", "k ≥ 3", "k ≥ 5", "k ≥ 10"} <= names
    stairs = [line for line in drawing.lines if line.style == "frontier-step"]
    assert all(line.x1 <= line.x2 and line.y1 <= line.y2 for line in stairs)  # never back, never riskier
    assert len(result.data.body) == 4


def test_every_mark_is_inside_and_the_safer_the_lower():
    drawing = chart(sample())
    assert drawing is not None
    points = sorted((one for marks in drawing.drawing.marks.values() for one in marks), key=lambda one: one.x)
    assert all(0 <= one.x <= 100 and 0 < one.y < drawing.drawing.height for one in points)
    first, second, third, last = (one.y for one in points)
    assert first < second < last  # k = 3, 10, 40
    assert first < third < second  # k = 5


def test_a_single_demand_has_one_step_without_a_name():
    of_one = frontier_of(
        [trial((F(1, 5),), (0.19,), 0.2), trial((F(1, 2),), (0.4,), 0.1)],
        demands=(T,),
        settings=((F(1, 5),), (F(1, 2),)),
    )
    drawing = chart(of_one)
    assert drawing is not None
    assert {"1", "2"} <= {label.text for label in drawing.drawing.labels}
    riskier, safer = sorted((one for marks in drawing.drawing.marks.values() for one in marks), key=lambda one: one.x)
    assert riskier.y < safer.y


def test_too_many_stairs_are_reported():
    many = VariedDemand("l", "l", "l", Comparison.AT_LEAST, F(1), tuple(map(F, range(1, 13))))
    trials = [trial((F(5), F(l)), (20 - l, l), l / 20) for l in range(1, 13)]
    drawing = chart(frontier_of(trials, demands=(K, many), settings=((F(5), F(1)),)))
    assert drawing is not None
    assert drawing.data.note == f"{STEPS} of 12 step lines are drawn."


def test_without_a_figure_there_is_no_map():
    assert chart(frontier_of([])) is None
    assert chart(frontier_of([trial(OWN, (float("inf"), 0.1), 0.1)])) is None
    assert "<figure" not in html(frontier_of([]))
    assert "The front" not in markdown(frontier_of([]))


def test_no_name_of_a_threshold_is_under_a_step():
    drawing = chart(sample())
    assert drawing is not None
    names = [one for one in drawing.drawing.labels if one.text.startswith("k ≥")]
    assert {one.text for one in names} == {"k ≥ 3", "k ≥ 5", "k ≥ 10"}
    steps = [one for one in drawing.drawing.lines if one.style in ("frontier-step", "limit")]
    for name in names:
        left, right, top, bottom = box_of(name)
        assert not [
            one
            for one in steps
            if one.x1 < right and one.x2 > left and min(one.y1, one.y2) < bottom and max(one.y1, one.y2) > top
        ], name.text


def test_remedies_are_named_in_words_and_settings_are_in_order():
    settings = [(F(k), F(1, 5)) for k in (11, 3, 50, 10)]
    attempt = Attempt("mondrian", "Mondrian partitioning", "{}", 0.1, keeps=True)
    trials = [trial(one, (float(one[0]), 0.1), 0.1, attempts=(attempt,)) for one in settings]
    rows = remedies_table(frontier_of(trials, settings))
    assert [row[0].split(",")[0] for row in rows.body] == ["k ≥ 3", "k ≥ 10", "k ≥ 11", "k ≥ 50"]
    both = trial(
        OWN,
        (5, 0.1),
        0.1,
        remedies=("suppression: {at_most: 0.05}", "mondrian: {}"),
        titles=("Suppression", "Mondrian"),
    )
    assert both.name == "Suppression (at most: 0.05) + Mondrian"
    assert "  - suppression: {at_most: 0.05}\n" in both.lines


def test_the_page_has_the_frame_of_a_report():
    page = Page(html(sample()))
    links = {one.attributes["href"] for one in page.named("a")}
    assert {f"#{one.attributes['id']}" for one in page.named("section")} <= links
    assert "seal measured" in {one.attributes.get("class") for one in page.named("svg")}  # it approves of nothing
    above = next(one for one in page.named("dl") if one.attributes["class"] == "particulars")
    assert re.search(r"Made\d+ [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC", above.text)
    assert not any("`" in one.text or "{}" in one.text for one in page.elements if one.name in ("p", "td", "th"))


def test_the_page_has_lines_settings_and_what_was_not_tried():
    result = sample()
    page = html(result)
    assert page == html(result)
    assert page.count("<details><summary><bdi>Policy lines") == 4
    assert "Not tried, for want of time: 1 setting of 9: k ≥ 3, t ≤ 0.1." in page
    assert "* 20.0% (3)" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_markdown_has_the_same():
    text = markdown(sample())
    assert text.startswith("# What other thresholds would cost\n\nrelease: 9 settings, 4 points")
    assert text.count("```yaml\nexpect:\n  - k_anonymity: {k: 5}\nremedy:\n  - mondrian: {}\n```") == 4
    assert "**Not tried, for want of time" in text


def test_names_act_on_nothing():
    hostile = VariedDemand("t:<b>|x", "<i>t</i>", "t", Comparison.AT_MOST, F(1, 5), T.levels)
    bad = trial(OWN, (5, 0.19), 0.2, remedies=("a: {x: '<script>```'}",), constant_columns=("<b>\x1b",))
    frontier = frontier_of([bad], demands=(K, hostile))
    page, text = html(frontier), markdown(frontier)
    assert not re.search(r"<(b|i|script)>", page)
    assert "\x1b" not in page + text
    assert "<b>" not in text.replace("```yaml", "").split("## The front")[0]
