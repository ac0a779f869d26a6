"""Reports of tables of figures: the tables drawn, their failing cells, and what is said where there are no records."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from itertools import product

import pytest
from figure_samples import EXPECT, POLICY, TABLE, audit_of, figure_audit, figure_plugins, outcomes, published_table
from html_page import Page
from report_samples import HOSTILE

from tcdp_audit.core.base.outcome import FailingCell, Status, Tally
from tcdp_audit.core.cells.table import CellState
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit_reports.cell_grids import LISTED, WHOLE, WIDE, grids, numbered_cells, published

OF_RECORDS = ("quasi-identifier", "neighbour", "0 records", "0 columns", "0 of 0", "tcdp-audit fix", "equivalence")


def text_of(page, section):
    return " ".join(page.with_id(f"section-{section}").text.split())


def section_of(audit):
    source = audit.render(".html")
    start = source.index('<section id="section-tables"')
    return Page(source), source[start : source.index("</section>", start)]


def big(shape, *, hidden=0.05, failing=30, seed=1):
    """A table of any shape with random figures, some hidden, some absent, and failing cells anywhere."""
    draw = random.Random(seed)  # noqa: S311 - a table to test on
    labels = [[*(f"c{number}" for number in range(size - 1)), "All"] for size in shape]
    cells = len([*product(*labels)])
    kinds = ("<10", "", "shown")
    texts = [draw.choices(kinds, (hidden, 0.1, 0.9 - hidden))[0] for _ in range(cells)]
    texts = [str(draw.randrange(10, 90)) if text == "shown" else text for text in texts]
    declared = {**TABLE, "dimensions": {f"d{number}": {"total": "All"} for number in range(len(shape))}}
    plugins = figure_plugins()
    policy = read_policy({**POLICY, "tables": {"big": declared}}, plugins)
    table = published_table("big", policy, labels, {"patients": texts})
    chosen = draw.sample(range(cells), min(failing, cells))
    named = tuple(FailingCell("big", table.labels(one), "patients", int(table.line[one]), "is known") for one in chosen)
    demand = replace(outcomes(policy)[1], failing_cells=named, cells=Tally(cells, len(named)))
    return audit_of(policy, plugins, {"big": table}, [demand])


def test_every_cell_is_drawn_with_what_the_file_says_of_it():
    audit = figure_audit()
    first, second = grids(audit, numbered_cells(audit))
    assert (first.title, first.heads, first.across) == ("admissions: patients", ("ward",), "age")
    assert first.columns == ("20-39", "40-59", "60+", "All")
    assert [row.labels for row in first.rows] == [("A",), ("B",), ("C",), ("All",)]
    assert [row.is_total for row in first.rows] == [False, False, False, True]
    kinds = [[(one.kind, one.text, one.numbers, one.state) for one in row.cells] for row in first.rows]
    shown = ("published", "•", (), "")
    assert kinds[0] == [shown, shown, ("hidden", "<10", (3,), "failed"), shown]
    assert kinds[1] == [shown, ("published", "•", (1,), "failed"), ("hidden", "<10", (2,), "failed"), shown]
    assert kinds[2] == kinds[3] == [shown] * 4
    assert (second.heads, second.across, second.columns) == (("age",), "", ("patients",))
    assert [row.cells[0].kind for row in second.rows] == ["published", "published", "absent", "published"]


def test_no_published_figure_is_repeated_unless_values_were_asked_for():
    page, section = section_of(figure_audit())
    cells = re.findall(r"<td[^>]*>(.*?)</td>", section)
    assert not re.search(r"\d", re.sub(r"<a [^>]*>\d+</a>|<svg.*?</svg>|&lt;10", "", "".join(cells)))
    assert "value" not in text_of(page, "tables")
    shown, section = section_of(figure_audit(values=True))
    assert "contains figures of the release" in shown.source
    assert all(f">{figure}</bdi>" in section for figure in (31, 24, 62, 4, 196, 59))
    assert "value 7" in text_of(shown, "tables")


def test_every_failing_cell_is_in_the_list_by_its_number_with_place_and_reason():
    page, section = section_of(figure_audit())
    links = re.findall(r'<a href="#(tables-\d+)">(\d+)</a>', section)
    assert links == [("tables-3", "3"), ("tables-1", "1"), ("tables-2", "2")]
    entries = [" ".join(page.with_id(f"tables-{number}").text.split()) for number in (1, 2, 3)]
    assert entries[0] == "ward B, age 40-59 patients of admissions, admissions.csv, line 7 Failed Counts of few people."
    computed = "is the total of ward B less 20-39 and 40-59."
    assert entries[1].endswith(f"admissions.csv, line 8 Failed Computed cells: {computed}")
    assert '<a href="#e1">Counts of few people</a>' in section
    assert {"e1", "e2"} <= {one.attributes.get("id") for one in page.elements}


def test_tables_are_read_without_colours_and_by_their_headers():
    page, section = section_of(figure_audit())
    headers = [one.attributes["scope"] for one in Page(section).named("th")]
    assert headers.count("colgroup") == 1
    assert headers.count("col") == 1 + 4 + 2
    assert headers.count("row") == 4 + 4
    assert section.count("fails<span>, </span>cell ") == 3
    assert section.count("hidden<span>: </span>") == 2
    assert 'aria-hidden="true" class="sign">–</span><span class="hidden">absent</span>' in section
    assert page.open == []


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_nothing_is_said_of_records_where_there_are_none(suffix):
    text = re.sub(r"<template.*?</template>|<style>.*?</style>", "", figure_audit().render(suffix), flags=re.DOTALL)
    assert [one for one in OF_RECORDS if one in text] == []
    assert "2 tables of figures with 19 cells were examined; the records behind them were not." in text
    assert "safe" not in text.replace("safely", "")


def test_the_first_screen_says_what_was_examined_and_which_cells_fail():
    page = Page(figure_audit().render(".html"))
    first = " ".join(page.with_id("verdict").text.split())
    assert "Not fit for release 2 tables of figures with 19 cells were examined" in first
    assert "admissions.csv16 cells, 2 hidden" in first
    assert "men.csv3 cells, 1 absent" in first
    assert "2 figures fail" in first
    assert "1 figure fails" in first


def test_steps_name_the_tables_to_change():
    text = text_of(Page(figure_audit().render(".html")), "next_steps")
    assert "Change the tables where they are made. In admissions (ward B, age 40-59); admissions (ward B," in text


def test_a_release_of_records_has_no_section_of_tables(salary_audit):
    source = salary_audit.render(".html")
    assert "section-tables" not in source
    assert ".figures" not in source


@pytest.mark.parametrize("shape", [(), (3,), (4, 3), (3, 3, 3), (2, 3, 2, 3), (2, 2, 2, 2, 2, 2, 3)])
def test_small_tables_are_drawn_whole(shape):
    audit = big(shape, failing=4)
    drawn = grids(audit, numbered_cells(audit))
    table = audit.figures["big"]
    if len(shape) < 7:
        assert sum(len(row.cells) for one in drawn for row in one.rows) == table.cells
        assert [one.note for one in drawn] == [""] * len(drawn)
    assert {number for one in drawn for row in one.rows for cell in row.cells for number in cell.numbers} == {
        *range(1, min(4, table.cells) + 1)
    }
    assert all(len(row.labels) == len(one.heads) <= 2 for one in drawn for row in one.rows)
    assert len({one.title for one in drawn}) == len(drawn)
    assert Page(audit.render(".html")).open == []


@pytest.mark.parametrize("seed", range(4))
def test_of_a_large_table_what_is_left_out_is_counted(seed):
    audit = big((120, 30), failing=60, seed=seed)
    (one,) = grids(audit, numbered_cells(audit))
    figures = audit.figures["big"].figures["patients"]
    drawn = [cell for row in one.rows for cell in row.cells]
    assert (len(one.rows), len(one.columns)) == (WHOLE, WIDE)
    fails, hidden = sum(bool(cell.state) for cell in drawn), sum(cell.kind == "hidden" for cell in drawn)
    rest = f"with {60 - fails:,} failing and {int(figures.hidden.sum()) - hidden:,} hidden cells"
    assert one.note == f"Not drawn: {120 - WHOLE} of 120 rows and {30 - WIDE} of 30 columns, {rest}."
    assert fails > 10


def test_a_large_table_without_marks_is_a_sentence():
    audit = big((90, 4), hidden=0, failing=0)
    assert "big: patients. Not drawn: 90 of 90 rows, with no failing or hidden cell." in text_of(
        Page(audit.render(".html")), "tables"
    )
    assert "No figure fails a demand that was examined." in audit.render(".md")


def test_of_very_many_failing_cells_the_first_are_listed_and_the_others_counted():
    audit = big((40, 30), failing=700)
    page, section = section_of(audit)
    assert section.count("<li id=") == LISTED
    assert "600 more cells are in the machine-readable result" in text_of(page, "tables")
    assert len(page.source) < 600_000
    links = {one.attributes["href"] for one in page.named("a")}
    ids = {one.attributes["id"] for one in page.elements if "id" in one.attributes}
    assert {link[1:] for link in links} <= ids


def test_hostile_labels_are_escaped():
    labels = [[*HOSTILE, "All"], ["x", "All"]]
    plugins = figure_plugins()
    policy = read_policy(
        {**POLICY, "tables": {"big": {**TABLE, "dimensions": {"d": {"total": "All"}, HOSTILE[0]: {}}}}}, plugins
    )
    table = published_table("big", policy, labels, {"patients": ["10"] * 10})
    cell = FailingCell("big", table.labels(0), "patients", 2, HOSTILE[3])
    audit = audit_of(policy, plugins, {"big": table}, [replace(outcomes(policy)[0], failing_cells=(cell,))])
    page = Page(audit.render(".html"))
    assert page.open == []
    assert "<script>alert(1)" not in page.source
    assert "\x1b" not in page.source + audit.render(".md")


def test_interval_of_a_figure_is_shown_as_far_as_it_is_known():
    audit = figure_audit()
    exact = audit.figures["admissions"].figures["patients"]
    assert published(exact, 0) == "31"
    rounded = replace(exact, low=exact.low - 2, high=exact.high + 1)
    assert published(rounded, 0) == "29–32"
    decimals = replace(exact, scale=200, low=exact.low * 200 - 1, high=exact.low * 200 + 1)
    assert published(decimals, 0) == "31"
    unbounded = replace(exact, high=exact.high + 2**62)
    assert published(unbounded, 0) == "31–∞"


def test_a_passed_demand_names_the_cells_that_it_counts_without_calling_them_failing():
    audit = figure_audit()
    allowed = [replace(one, status=Status.PASSED) if one.status is Status.FAILED else one for one in audit.outcomes]
    page, section = section_of(replace(audit, outcomes=tuple(allowed)))
    assert "No figure fails a demand that was examined, 3 figures are named by measurements." in text_of(page, "tables")
    assert "fails, cell" not in section
    assert "c-fails measured" in section


def test_impossible_cells_are_distinguished_from_absent_ones():
    audit = figure_audit()
    men = audit.figures["men"]
    figures = men.figures["patients"]
    state = figures.state.copy()
    state[2] = CellState.IMPOSSIBLE
    other = replace(men, figures={"patients": replace(figures, state=state)})
    _, section = section_of(replace(audit, figures={**audit.figures, "men": other}))
    assert 'class="sign">n/a</span><span class="hidden">impossible</span>' in section


def test_the_result_names_failing_cells_and_no_figure_of_them():
    result = json.loads(figure_audit().to_json())
    named = [one for outcome in result["outcomes"] for one in outcome.get("failing_cells", ())]
    assert named[0] == {
        "table": "admissions",
        "measure": "patients",
        "name": "ward B, age 40-59",
        "cell": {"ward": "B", "age": "40-59"},
        "line": 7,
        "says": "",
    }
    assert not any("figures" in one for one in named)
    assert len(EXPECT) == 4
    sizes = {"dimensions": 2, "measures": 1, "cells": 16, "hidden": 2, "absent": 0}
    assert result["tables_of_figures"]["admissions"] == sizes
