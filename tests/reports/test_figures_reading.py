"""What a lay reader asks of a report on tables of figures is answered, and no figure of them is printed."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest
from edition_samples import EXAMPLES
from figure_samples import figure_audit
from html_page import Page
from test_demo_report import visible_text

import tcdp_audit
from tcdp_audit.core.base.outcome import Status
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.comparison import compare
from tcdp_audit.core.results.written import read_audit
from tcdp_audit_reports.people_exposed import relation
from tcdp_audit_reports.sections.basis import flipping
from tcdp_audit_reports.sections.coverage import regulators
from tcdp_audit_reports.sections.unexamined import unexamined

OUTPUTS = EXAMPLES / "outputs/outputs.tcdp.yaml"
SMALLEST, DIFFERENCE = "13", "8"  # the smallest published count, and the one difference of fewer than ten


@cache
def outputs() -> Audit:
    return tcdp_audit.audit(None, OUTPUTS)


@cache
def text() -> str:
    return " ".join(visible_text(outputs().render(".html")).split())


def section(name: str) -> str:
    return " ".join(Page(outputs().render(".html")).with_id(f"section-{name}").text.split())


def test_the_figures_that_a_verdict_rests_on_are_in_the_json_alone():
    frequency, _, difference = outputs().expectations
    assert (frequency.observed, difference.observed) == (float(SMALLEST), float(DIFFERENCE))
    observed = [one["observed"] for one in json.loads(outputs().render(".json"))["outcomes"] if one["cells"]]
    assert {float(SMALLEST), float(DIFFERENCE)} <= {*filter(None, observed)}


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_the_threshold_replaces_them(suffix):
    page = outputs().render(suffix)
    shown = " ".join((visible_text(page) if suffix == ".html" else page.replace("&#60;", "<")).split())
    assert "Each of 28 published counts is of at least 10 patients, as demanded." in shown
    assert "< 10" in shown
    assert f"at least {SMALLEST}" not in shown
    words = shown.replace("|", " ").split()
    assert SMALLEST not in words
    assert DIFFERENCE not in words
    assert "1.2×" not in shown  # the factor to ten would give eight away


def test_a_row_has_no_figure_of_the_tables_either():
    frequency, derived, difference = outputs().expectations
    assert [one.as_row().observed for one in (frequency, derived, difference)] == ["≥ 10", "1", "< 10"]
    assert [one.bound_met for one in (frequency, derived, difference)] == ["≥ 10", "", "< 10"]


def test_a_comparison_of_two_audits_has_none(tmp_path):
    (tmp_path / "a.json").write_text(outputs().render(".json"), encoding="utf-8")
    written = read_audit(tmp_path / "a.json")
    changes = compare(written, written, {}).expectations
    assert [one.observed(one.new) for one in changes] == ["≥ 10", "1", "< 10"]


def test_a_measurement_without_a_demand_still_has_its_figure():
    audit = figure_audit()
    assert audit.expectations[3].as_row().observed == "4"
    assert "repeats no published figure but those that the policy only measures" in visible_text(audit.render(".html"))
    assert "The text of this report repeats no published figure; the result inside has" in text()


def test_the_first_screen_says_how_many_people_each_failing_cell_is_of_and_names_the_worst():
    first = " ".join(Page(outputs().render(".html")).with_id("verdict").text.split())
    most = "People exposed. At most 18 patients: fewer than 10 in each of 2 failing figures, and some may be in both."
    assert most in first
    assert (
        "A reader learns that they are so few; anyone who knows one may recognise this patient by ward, age and"
        in first
    )
    assert (
        "Worst for one patient: anyone in ward South, age 80+, is one of at most 9 (demand 2); the tables hide how "
        "many, and every reader can compute it." in first
    )


def test_without_a_failing_count_no_one_is_exposed():
    audit = figure_audit()
    assert "At most 4 people: fewer than 5 in the failing figure." in audit.render(".md")
    met = replace(audit, outcomes=tuple(one for one in audit.outcomes if one.status is not Status.FAILED))
    assert "Fewer than" not in met.render(".md")


def test_it_says_what_is_secret_and_which_questions_are_about_records():
    contents = section("columns")
    assert (
        "Must stay secret: every count of fewer than 10 patients, published or computed; 1 is hidden (<10 means 1 to "
        "9)." in contents
    )
    assert "No records are released: there is no column of secrets" in contents
    assert "and no record to find." in contents
    assert "The riskiest category is age 80+, in which all failing figures are." in contents
    assert "No table or column is there that the policy does not declare." in contents


def test_the_next_step_is_a_command_that_runs_and_says_what_is_not_known():
    steps = section("next_steps")
    assert "tcdp-audit check --policy outputs.tcdp.yaml --try-remedies --report REPORT.html" in steps
    assert ".csv, " not in steps
    assert steps.startswith(
        "What to do next Find out which change helps, and what it costs. The cost is not known yet."
    )
    assert (
        "Change the tables where they are made. In admissions (ward South, age 80+). In no table: age 80+, sex other "
        "than male, which is the total of age 80+ of 'admissions' less sex male of 'men'; change one of the tables"
        in steps
    )
    assert steps.index("Change the tables") < steps.index("Audit all tables together again.")
    assert "margin" not in steps


def test_assumptions_stand_where_the_verdict_rests():
    basis = section("basis")
    assert (
        "Demands 2 and 3 fail by adding up published figures alone: no other way of counting makes the release fit. "
        "Other descriptions of the tables and limits were not tried, and may change the verdict." in basis
    )
    assert "--conventions" not in basis  # they are of records
    assert "A reader is taken to know every released table of figures" in basis
    assert "A total is taken to count hidden figures, too." in basis
    assert "A cell that a file does not have is taken to be of no one." in basis
    assert "A reader knows that <10 means 1 to 9." in basis
    assert "If the policy describes a table wrongly, this verdict may be wrong." in basis
    assert "or a model" not in text()


def test_what_was_not_examined_names_the_records_and_the_figures_that_are_no_counts():
    named = section("unexamined")
    assert "The figures were not compared with the records that they were made from" in named
    assert "mean_days of stay is no count: no demand on counts looks at it." in named


def test_cells_and_figures_that_stand_in_no_table_are_counted_apart():
    assert "2 figures fail: 1 in tables of 29 cells, and 1 that stands in no table and can be computed." in text()
    assert "age 80+, sex other than male in no table: patients" in text()
    assert "3 figures fail, in tables of 19 cells." in visible_text(figure_audit().render(".html"))


def test_a_number_of_a_cell_cannot_be_read_as_a_count():
    assert "Failing figures: no. 1 ward South, age 80+" in text()
    assert "Failing figures: no. 2 age 80+, sex other than male" in text()


def test_a_demand_that_allows_no_cell_is_in_words():
    assert "Derivable small counts 1 cell none allowed not met 1" in text()


def test_a_demand_that_is_met_speaks_of_tables():
    assert (
        "Derivable small counts and Differences of tables fail on the same tables; that is no contradiction: each asks "
        "something else." in text()
    )
    assert "on the same columns" not in text()


def test_a_definition_of_several_paragraphs_has_no_characters_of_code():
    assert "\\n" not in text()
    page = outputs().render(".html")
    assert "<p>Counts that follow from a published share" in page


def test_any_reader_and_a_neighbour_are_distinguished():
    stories = section("attacks")
    assert "Finds that figures are of fewer than 10 patients (demands 2 and 3)." in stories
    assert "Knows then that the patient is one of at most 9." in stories


def test_a_table_of_a_subgroup_says_so():
    assert "about admitted 2025 and sex: male" in section("columns")


def test_the_regulators_question_speaks_of_no_record_and_no_chance():
    answer = regulators(outputs())[0]
    assert answer.question == "Is a figure of so few people that one may be recognised?"
    assert answer.answer.startswith("There are no records to pick from. Asked by Cell frequency, ")
    assert "as a chance" not in text()


def test_checks_of_noise_of_rounding_and_of_models_are_not_asked_of_plain_tables():
    left = unexamined(outputs())
    assert {"noise_epsilon", "perturbation_bounds", "rounding_unpicked", "regression_output"}.isdisjoint(left)
    assert "dominance" in left
    assert (
        "Checks of other kinds of data: 1 of rounded figures, 2 of figures with noise and 1 of fitted models" in text()
    )


def test_figures_of_many_cells_have_no_upper_number_where_not_all_are_named():
    audit = outputs()
    first, second, third = audit.expectations
    many = replace(second, cells=replace(second.cells, failing=2))
    sentence = relation(replace(audit, outcomes=(*audit.structure, first, many, third)))
    assert sentence.startswith("Fewer than 10 in each of 2 failing figures")


def test_what_follows_by_limits_alone_is_not_said_to_follow_by_sums():
    audit = outputs()
    second = audit.expectations[1]
    assert [one.details["by_sums"] for one in audit.expectations[1:]] == [1, 1]
    unsure = replace(second, details={**second.details, "by_sums": 0})
    outcomes = tuple(unsure if one is second else one for one in audit.outcomes)
    assert "Demand 3 fails by adding up published figures alone" in flipping(replace(audit, outcomes=outcomes))
