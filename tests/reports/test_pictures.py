"""Pictures and tables of what an outcome's details hold: chosen by form, nothing left in the JSON alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from html_page import Page
from remedied_samples import attribute_loss, log_of
from report_samples import made_up

from tcdp_audit.core.base.outcome import Comparison, DisplayNames, Status
from tcdp_audit_reports.charts.pictures import pictures
from tcdp_audit_reports.finding_tables import nested_tables
from tcdp_audit_reports.remedy.losses import penalty_chart

SHARE = made_up(0.4, Fraction(1, 2), Comparison.AT_MOST, status=Status.PASSED)

ENTRY = {"value": "value 2", "in_group": 0.0, "in_reference": 0.5}


def with_details(**details):
    naming = DisplayNames(labels={"zip": "postcode"})
    return replace(SHARE, details=details, known=("zip", "age"), naming=naming)


def test_contributions_are_bars_with_their_table_and_labels():
    (chart,) = pictures(with_details(contributions={"age": 1, "zip": 3}))
    assert (chart.kind, chart.title) == ("bars", "Contributions")
    assert chart.data.body == [["postcode", "3"], ["age", "1"]]
    widths = [one.width for one in chart.drawing.areas]
    assert widths[0] == pytest.approx(3 * widths[1], abs=0.02)


def test_what_is_in_bars_is_in_no_other_table():
    outcome = with_details(contributions={"age": 1, "zip": 3}, interval=[0.1, 0.2])
    assert [one.caption for one in nested_tables(outcome)] == ["Interval"]


def test_ranks_keep_their_order():
    (chart,) = pictures(with_details(rank_of_true_match={"1": 2, "2": 1, "3-5": 9}))
    assert [row[0] for row in chart.data.body] == ["1", "2", "3-5"]


@pytest.mark.parametrize("numbers", [{"a": 0, "b": 0}, {"a": -1, "b": 2}, {"a": 1}])
def test_what_has_no_bars_has_a_table(numbers):
    outcome = with_details(contributions=numbers)
    assert pictures(outcome) == []
    assert [one.caption for one in nested_tables(outcome)] == ["Contributions"]


def test_shares_by_column_and_width_are_a_heat_map():
    at = [{"p": p, "worst": p / 10, "per_attribute": {"age": p / 100, "zip": p / 20}} for p in (1, 5, 10)]
    (chart,) = pictures(with_details(at=at))
    assert chart.kind == "heat"
    assert chart.data.body == [["postcode", "5%", "25%", "50%"], ["age", "1%", "5%", "10%"]]
    assert len(chart.drawing.areas) == 6
    assert {one.style for one in chart.drawing.areas} <= {f"heat-{tone}" for tone in range(10)}


def test_both_directions_stand_beside_each_other():
    figures = {"expected": 0.25, "tied": 3}
    chart, *_ = pictures(with_details(**figures, forth=figures, back={"expected": 0.5, "tied": 1}))
    assert chart.title == "In both directions"
    assert chart.data.body == [["Forth", "0.250"], ["Back", "0.500"]]


def test_every_class_of_a_picture_has_a_style(with_outcomes):
    at = [{"p": p, "per_attribute": {"age": p / 10, "zip": 0}} for p in range(10)]
    html = with_outcomes(with_details(at=at, contributions={"age": 1, "zip": 3})).render(".html")
    style = Page(html).named("style")[0].text
    classes = {one.attributes["class"] or "" for one in Page(html).named("rect")}
    used = {one for one in classes if one.startswith("heat")}
    assert len(used) > 5
    assert [name for name in used if f".{name} " not in style and f".{name}{{" not in style] == []


def test_hostile_names_in_details_are_text(with_outcomes):
    bad = "<script>alert(1)</script>"
    html = with_outcomes(with_details(contributions={bad: 1, "zip": 3}, more={bad: {"x": 1, "y": 2}})).render(".html")
    assert "<script" not in html
    assert Page(html).open == []


def test_the_worst_group_is_compared_with_the_table_once():
    values = [
        {"value": "value 1", "in_group": 0.75, "in_reference": 0.1},
        {"value": "value 2", "in_group": 0.0, "in_reference": 0.5},
    ]
    outcome = with_details(worst_group=values)
    (chart,) = pictures(outcome)
    assert (chart.kind, chart.title) == ("dumbbell", "The worst group against the whole table")
    assert chart.data.body == [["value 1", "75%", "10%"], ["value 2", "0%", "50%"]]
    assert len([one for one in chart.drawing.lines if one.style == "between"]) == 2
    assert nested_tables(outcome) == []


def worst_group(share):
    shares = ({"value": "value 1", "in_group": share, "in_reference": 0.1}, ENTRY)
    return replace(SHARE, details={"worst_group": list(shares)}, attribute="disease")


def test_the_same_worst_group_has_one_picture_and_others_refer_to_it(with_outcomes):
    one, other = worst_group(0.75), worst_group(0.5)
    html = with_outcomes(one, other, one, replace(one, attribute="salary")).render(".html")
    assert html.count('<figure class="chart dumbbell">') == 3
    assert html.count('under <a href="#e1">1. k_anonymity</a>') == 1
    assert html.count("is that of this demand, too") == 1


@pytest.mark.parametrize("shares", [[], [{"value": "value 1", "in_group": 1, "in_reference": 0.5}], [{"value": "x"}]])
def test_less_than_two_values_are_no_picture(shares):
    assert [one.kind for one in pictures(with_details(worst_group=shares))] == []


def test_shares_and_lists_of_names_are_facts(with_outcomes):
    outcome = with_details(expected=Fraction(1, 4), constant=["zip", "<b>"], unfailable=["at_most"])
    html = with_outcomes(outcome).render(".html")
    for name, value in (("expected", "0.250"), ("constant", "zip, &lt;b&gt;")):
        assert f"<dt>{name}</dt><dd><bdi>{value}</bdi></dd>" in html
    assert "<dt>unfailable</dt>" not in html


def test_no_share_of_a_dumbbell_is_on_the_axis():
    shares = [{"value": f"value {n}", "in_group": n / 50, "in_reference": n / 10} for n in range(1, 7)]
    (chart,) = pictures(with_details(worst_group=shares))
    (axis,) = (one.x1 for one in chart.drawing.lines if one.style == "axis")
    rows = [one.extent() for one in chart.drawing.labels if one.text.endswith("%") and one.y < chart.drawing.height - 8]
    assert len(rows) == 12
    assert [one for one in rows if one[0] <= axis <= one[1]] == []


def test_what_each_column_loses_has_a_picture_before_and_after(repaired_audit):
    page = Page(repaired_audit.render(".html"))
    (figure,) = (one for one in page.named("figure") if "What each column loses" in one.text)
    assert "dumbbell" in figure.attributes["class"]
    for name, before, after in (("zip", "0%", "50%"), ("age", "0%", "25%")):
        assert name + before + after in figure.text.replace("\n", "")


@pytest.mark.parametrize(
    "attributes",
    [
        None,
        {},
        {"zip": attribute_loss(1, 0.5)},
        {"zip": attribute_loss(0, 0), "age": attribute_loss(0, 0)},
        {"zip": {"certainty_penalty": {"before": 0, "after": 7}}, "age": {"certainty_penalty": 1}},
    ],
)
def test_without_shares_of_two_columns_there_is_no_picture(attributes):
    assert penalty_chart(log_of(loss={"attributes": attributes})) is None
