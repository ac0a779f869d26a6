"""Pictures and tables of what an outcome's details hold: chosen by form, nothing left in the JSON alone."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from random import Random

import pyarrow as pa
import pytest
from html_page import Page
from remedied_samples import attribute_loss, log_of
from report_samples import made_up

from tcdp_audit import audit
from tcdp_audit.core.base.outcome import Comparison, DisplayNames, Status
from tcdp_audit_reports.charts import dumbbell
from tcdp_audit_reports.charts.dumbbell import beliefs
from tcdp_audit_reports.charts.pictures import pictures
from tcdp_audit_reports.fact_labels import Labels
from tcdp_audit_reports.finding_tables import nested_tables
from tcdp_audit_reports.remedy.losses import penalty_chart
from tcdp_audit_reports.sections.appendix import flow_of

SHARE = made_up(0.4, Fraction(1, 2), Comparison.AT_MOST, status=Status.PASSED)

ENTRY = {"value": "value 2", "in_group": 0.0, "in_reference": 0.5}


def with_details(**details):
    naming = DisplayNames(labels={"zip": "postcode"})
    return replace(SHARE, details=details, known=("zip", "age"), naming=naming)


NAMED = Labels.of(None)


def drawn(outcome):
    worst = dumbbell.chart(outcome)
    return [*([] if worst is None else [worst]), *pictures(outcome, NAMED)]


def tables(outcome):
    return nested_tables(outcome, NAMED)


def test_contributions_are_bars_with_their_table_and_labels():
    (chart,) = drawn(with_details(contributions={"age": 1, "zip": 3}))
    assert (chart.kind, chart.title) == ("bars", "Contributions")
    assert chart.data.body == [["postcode", "3"], ["age", "1"]]
    widths = [one.width for one in chart.drawing.areas]
    assert widths[0] == pytest.approx(3 * widths[1], abs=0.02)


def test_what_is_in_bars_is_in_no_other_table():
    outcome = with_details(contributions={"age": 1, "zip": 3}, interval=[0.1, 0.2])
    assert [one.caption for one in tables(outcome)] == ["Interval"]


def test_ranks_keep_their_order():
    (chart,) = drawn(with_details(rank_of_true_match={"1": 2, "2": 1, "3-5": 9}))
    assert [row[0] for row in chart.data.body] == ["1", "2", "3-5"]


@pytest.mark.parametrize("numbers", [{"a": 0, "b": 0}, {"a": -1, "b": 2}, {"a": 1}, {"a": 3, "b": 3}])
def test_what_has_no_bars_has_a_table(numbers):
    outcome = with_details(contributions=numbers)
    assert drawn(outcome) == []
    assert [one.caption for one in tables(outcome)] == ["Contributions"]


def test_shares_by_column_and_width_are_a_heat_map():
    at = [{"p": p, "worst": p / 10, "per_attribute": {"age": p / 100, "zip": p / 20}} for p in (1, 5, 10)]
    (chart,) = drawn(with_details(at=at))
    assert chart.kind == "heat"
    assert chart.data.body == [["postcode", "5%", "25%", "50%"], ["age", "1%", "5%", "10%"]]
    assert len(chart.drawing.areas) == 6
    assert {one.style for one in chart.drawing.areas} <= {f"heat-{tone}" for tone in range(10)}


def test_both_directions_stand_beside_each_other():
    figures = {"expected": 0.25, "tied": 3}
    chart, *_ = drawn(with_details(**figures, forth=figures, back={"expected": 0.5, "tied": 1}))
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
    (chart,) = drawn(outcome)
    assert (chart.kind, chart.title) == ("dumbbell", "The worst group against the whole table")
    assert chart.data.body == [["value 1", "75%", "10%"], ["value 2", "0%", "50%"]]
    assert len([one for one in chart.drawing.lines if one.style == "between"]) == 2
    assert tables(outcome) == []


def worst_group(share):
    shares = ({"value": "value 1", "in_group": share, "in_reference": 0.1}, ENTRY)
    return replace(SHARE, details={"worst_group": list(shares)}, attribute="disease")


def test_the_same_worst_group_has_one_picture_and_others_refer_to_it(with_outcomes):
    one, other = (replace(worst_group(share), status=Status.FAILED) for share in (0.75, 0.5))
    html = with_outcomes(one, other, one, replace(one, attribute="salary")).render(".html")
    assert html.count('<figure class="chart dumbbell">') == 3
    assert html.count('is the one in the picture of <a href="#e1">1. k_anonymity</a>.') == 1


def test_a_demand_that_is_met_has_the_table_of_a_picture_and_no_picture(with_outcomes):
    html = with_outcomes(worst_group(0.75)).render(".html")
    assert '<figure class="chart dumbbell">' not in html
    assert "75%" in html


@pytest.mark.parametrize("shares", [[], [{"value": "value 1", "in_group": 1, "in_reference": 0.5}], [{"value": "x"}]])
def test_less_than_two_values_are_no_picture(shares):
    assert [one.kind for one in drawn(with_details(worst_group=shares))] == []


def test_shares_and_lists_of_names_are_facts(with_outcomes):
    outcome = with_details(expected=Fraction(1, 4), constant=["zip", "<b>"], unfailable=["at_most"])
    html = with_outcomes(outcome).render(".html")
    for name, value in (("expected share of right links", "0.250"), ("constant", "postcode, &lt;b&gt;")):
        assert f"<dt>{name}</dt><dd><bdi>{value}</bdi></dd>" in html
    assert "<dt>unfailable</dt>" not in html


def test_no_share_of_a_dumbbell_is_on_the_axis():
    shares = [{"value": f"value {n}", "in_group": n / 50, "in_reference": n / 10} for n in range(1, 7)]
    (chart,) = drawn(with_details(worst_group=shares))
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


# Item 22: beliefs B0, B1 and B2


def believing(in_group: float, in_reference: float, values: int = 9):
    shares = [{"value": "value 1", "in_group": in_group, "in_reference": in_reference}, ENTRY]
    return replace(SHARE, details={"worst_group": shares, "domain_size": values}, attribute="disease")


@pytest.mark.parametrize(
    ("in_group", "in_reference"),
    [(0.33, 0.11), (0.0, 0.22), (0.5, 0.5)],
)
def test_item_22_the_worst_group_has_three_beliefs_in_percent_and_words(in_group, in_reference):
    assert beliefs(believing(in_group, in_reference)) == (
        f"A stranger holds value 1 with 11% (B0), a reader of the whole table with {round(100 * in_reference)}% (B1), "
        f"a finder of the worst group with {round(100 * in_group)}% (B2)."
    )


def test_item_22_a_guess_among_many_values_is_not_zero():
    assert "A stranger holds value 1 with 0.08% (B0)" in beliefs(believing(0.33, 0.11, 1200))


def _beliefs_are_counted(seed: int) -> None:
    """A small random table: the words beside the shares that plain counting gives for one of the worst classes."""
    random = Random(seed)  # noqa: S311 - the same tables every time
    classes = [[random.choice("uvwxy") for _ in range(random.randint(1, 7))] for _ in range(random.randint(2, 4))]
    everyone = [value for own in classes for value in own]
    cells = [(place, value) for place, own in enumerate(classes) for value in own]
    table = pa.table({"zip": [place for place, _ in cells], "disease": [value for _, value in cells]})
    roles = {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive", "scale": "nominal"}}
    policy = {"version": 1, "attributes": roles, "expect": [{"t_closeness": {"distance": "equal"}}]}
    (outcome,) = audit(table, policy, show_values=True).expectations

    def gaps(own):
        return {
            one: Fraction(own.count(one), len(own)) - Fraction(everyone.count(one), len(everyone)) for one in everyone
        }

    distance = {place: sum(map(abs, gaps(own).values())) / 2 for place, own in enumerate(classes)}
    worst = [own for place, own in enumerate(classes) if distance[place] == max(distance.values())]
    expected = set()
    for own in worst:
        differ = gaps(own)
        for value in (one for one in differ if differ[one] == max(differ.values())):
            shares = Fraction(everyone.count(value), len(everyone)), Fraction(own.count(value), len(own))
            percents = [round(100 * float(one)) for one in (Fraction(1, len(set(everyone))), *shares)]
            expected.add((value, *percents))
    (said,) = SAID.findall(beliefs(outcome))
    value, *percents = said
    assert (value, *map(int, percents)) in expected


SAID = re.compile(r"A stranger holds (.+?) with (\d+)% \(B0\).*? with (\d+)% \(B1\).*? with (\d+)% \(B2\)")


def test_item_22_beliefs_are_the_shares_that_counting_gives():
    for seed in range(20):
        _beliefs_are_counted(seed)


@pytest.mark.long
def test_item_22_beliefs_on_500_more_tables():
    for seed in range(1000, 1500):
        _beliefs_are_counted(seed)


def test_item_22_beliefs_are_in_the_page_and_in_the_text(with_outcomes):
    audit = with_outcomes(replace(believing(0.33, 0.11), status=Status.FAILED))

    assert "a finder of the worst group with 33% (B2)" in audit.render(".html")
    assert "a finder of the worst group with 33% (B2)" in audit.render(".md")


def test_what_the_step_between_beliefs_means_is_said_once_in_the_glossary(with_outcomes):
    html = with_outcomes(*[replace(believing(0.33, 0.11), status=Status.FAILED)] * 2).render(".html")

    assert html.count("t-closeness limits the step from B1 to B2.") == 1


@pytest.mark.parametrize("details", [{}, {"domain_size": 9}, {"worst_group": [ENTRY]}])
def test_item_22_without_shares_or_a_number_of_values_there_are_no_beliefs(details):
    assert beliefs(with_details(**details)) == ""


# Item 24: the flow of the worst group in the appendix

MOVES = [
    {"from": 1, "to": 2, "share": "1/3", "cost": "1/2"},
    {"from": 1, "to": 3, "share": "1/8", "cost": "1"},
]


def test_item_24_a_flow_is_in_the_appendix_with_its_sum(with_outcomes):
    outcome = replace(SHARE, details={"flow": MOVES, "domain_size": 3}, attribute="disease", observed=7 / 24)

    (table,) = flow_of(outcome, 4)

    assert table.caption == "4. k_anonymity, disease"
    assert table.body == [
        ["1 to 2", "1/3", "1/2", "1/6"],
        ["1 to 3", "1/8", "1", "1/8"],
        ["all", "", "", "7/24 (0.292)"],
    ]
    html = with_outcomes(outcome).render(".html")
    assert "How the worst groups differ" in html
    assert "7/24 (0.292)" in html
    assert tables(outcome) == []


def test_item_24_a_flow_of_many_values_is_not_listed(with_outcomes):
    outcome = replace(SHARE, details={"flow": [], "domain_size": 31}, attribute="disease")

    assert "How the worst groups differ" not in with_outcomes(outcome).render(".html")


def test_item_24_without_a_flow_the_appendix_has_nothing_of_it(with_outcomes):
    assert list(flow_of(SHARE, 1)) == []
    assert "How the worst groups differ" not in with_outcomes(SHARE).render(".html")


@pytest.mark.parametrize(
    "flow",
    [3, [3], [{"from": 1}], [{**MOVES[0], "share": "1/0"}], [{**MOVES[0], "cost": 0.5}], [{**MOVES[0], "to": "x"}]],
)
def test_item_24_what_only_has_the_name_of_a_flow_is_none(with_outcomes, flow):
    outcome = with_details(flow=flow)

    assert list(flow_of(outcome, 1)) == []
    assert "How the worst groups differ" not in with_outcomes(outcome).render(".html")
