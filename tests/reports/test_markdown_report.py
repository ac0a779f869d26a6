"""Markdown: tables keep their cells and no name acts as markup."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st
from report_samples import named_policy, named_table

from tcdp_audit import audit
from tcdp_audit_reports.markdown_report import escaped


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
def test_escaped_text_has_nothing_that_acts(text):
    shown = re.sub(r"&#\d+;", "", escaped(text))
    assert not re.search(r"[|`<>*_\[\]\\~&#\n\r\x00-\x1f]", shown)


def test_tables_have_as_many_cells_in_every_row(hostile_audit):
    rows = [line for line in hostile_audit.render(".md").splitlines() if line.startswith("|")]
    columns, stories = [5] * (2 + len(hostile_audit.columns)), [4] * (2 + 6)
    assert [row.count("|") for row in rows] == [*stories, *columns, *[9] * 5, *[4] * (2 + len(hostile_audit.structure))]


def test_a_row_has_the_figures(salary_audit):
    rows = salary_audit.render(".md").splitlines()
    assert "| Failed | t-closeness, ordered distance | salary | 0.375 | ≤ 0.2 | 1.9× over | 2 | 6 |" in rows


def test_hostile_names_are_entities(hostile_audit):
    text = hostile_audit.render(".md")
    assert "&#93;&#93;&#62;&#92;x1b" in text
    assert "<script" not in text


@pytest.mark.parametrize("values", [False, True])
def test_cells_come_only_with_a_banner(values):
    table = named_table(("a", "b"), lambda _, group: f"v{group}")
    text = audit(table, named_policy(("a", "b")), show_values=values).render(".md")
    assert ("**This report contains cells of the release**" in text) is values
    assert ("- group 1: a: v0" in text) is values
