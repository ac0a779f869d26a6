"""The terminal: eighty columns, plain where it is no terminal, and no name read as markup."""

from __future__ import annotations

import io
from dataclasses import replace
from fractions import Fraction

import pytest
from report_samples import HOSTILE, made_up, named_policy, named_table
from rich.console import Console

from tcdp_audit import audit
from tcdp_audit.cli.document import console
from tcdp_audit.cli.terminal import print_audit
from tcdp_audit.core.base.outcome import Comparison, Status, UsualThreshold
from tcdp_audit.core.base.words import visible


def reported(result, written=(), *, brief=False, seconds=None, **settings):
    terminal = Console(file=io.StringIO(), highlight=False, **{"width": 80, **settings})
    print_audit(terminal, result, written, brief=brief, seconds=seconds)
    return terminal.file.getvalue()


@pytest.mark.parametrize("which", ["salary_audit", "hostile_audit"])
def test_lines_are_at_most_eighty_columns(which, request):
    lines = reported(request.getfixturevalue(which), force_terminal=True, color_system=None).splitlines()
    assert max(map(len, lines)) <= 80


def test_long_names_are_cut_on_a_terminal_and_nowhere_else(with_outcomes):
    result = with_outcomes(made_up(1, 5, title="t" * 200, attribute="salary"))
    lines = reported(result, force_terminal=True, color_system=None).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.endswith("t…salary         1       ≥ 5")]
    assert [line for line in reported(result).splitlines() if line.split()[2:4] == ["t" * 200 + ":", "salary"]]


def test_one_line_for_each_demand_and_a_sentence_below_those_to_act_on(salary_audit):
    lines = reported(salary_audit).splitlines()
    demands = [
        number for number, line in enumerate(lines) if line[:2] in ("✗ ", "✓ ", "▲ ", "○ ") and line[2:3].islower()
    ]
    assert len(demands) == len(salary_audit.expectations) + 1  # and the schema checks
    for number, one in zip(demands[1:], salary_audit.expectations, strict=True):
        has_more = one.status is Status.FAILED or bool(one.laxer_than or one.implied_by)
        assert lines[number + 1].startswith(" " * 12) is has_more
        assert reported(salary_audit).count(one.message[:20]) == (one.status is Status.FAILED)


def test_a_demand_that_is_lax_or_implied_has_one_line_of_at_most_80_columns(with_outcomes):
    usual = (UsualThreshold(Fraction(11), "usual", "a book"), UsualThreshold(Fraction(20), "demanded", "p@1", "p@1"))
    lax = replace(made_up(6, 5, status=Status.PASSED), laxer_than=usual)
    weak = replace(made_up(6, 5, status=Status.PASSED), implied_by=f"k-anonymity of at least 9 on {'x' * 90} in line 7")
    lines = reported(with_outcomes(lax, weak)).splitlines()
    assert f"{'':12}laxer than usual (≥ 11) and than a profile demands (≥ 20)" in lines
    assert f"{'':12}implied by k-anonymity in line 7" in lines


def test_brief_is_what_a_reader_has_to_act_on(salary_audit):
    lines = reported(salary_audit, brief=True).splitlines()
    assert not [line for line in lines if line.startswith(("✓ passed", "○", "status"))]
    assert [line[:10] for line in lines if line[:1] in "✗▲?" and line[2:3].islower()] == ["✗ failed  "]


def test_the_last_line_counts_and_says_how_long_it_took(salary_audit):
    assert reported(salary_audit, seconds=1.234).splitlines()[-1] == "1 failed, 4 passed, 1 measured in 1.2 s"
    assert reported(salary_audit).splitlines()[-1] == "1 failed, 4 passed, 1 measured"


def test_what_a_sample_represents_is_reported_whether_it_passed_or_not(with_outcomes):
    sentence = "Estimated from 9 of 90 released records."
    whole = made_up(0.1, 0.5, Comparison.AT_MOST, status=Status.PASSED, message="Of all records.")
    sampled = replace(whole, message=sentence, details={"estimate": {}})

    text = reported(with_outcomes(sampled, whole))

    assert sentence in text
    assert "Of all records" not in text


def test_the_verdict_comes_last_and_reports_before_it(salary_audit):
    lines = reported(salary_audit, ["report.html"]).splitlines()
    assert "written: report.html" in lines
    assert lines[lines.index("written: report.html") + 2].startswith(
        "✗ Not fit for release. 1 of 5 demands fails. 6 of 9"
    )


def test_a_row_has_shape_word_and_figures(salary_audit):
    rows = [line.split() for line in reported(salary_audit, width=120).splitlines()]
    assert ["✗", "failed", "t-closeness,", "ordered", "distance:", "salary", "0.375", "≤", "0.2"] in rows


def test_names_are_not_markup(hostile_audit):
    text = reported(hostile_audit, ["[red]report[/red].html"])
    assert "]]>\\x1b[31m\\u202eevil" in text
    assert "written: [red]report[/red].html" in text
    assert "\x1b" not in text


def test_colour_only_on_a_terminal_that_wants_it(salary_audit, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in reported(salary_audit, force_terminal=True, color_system="standard")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in reported(salary_audit, force_terminal=True, color_system="standard")


def test_what_is_no_terminal_gets_plain_text(salary_audit, capsys):
    print_audit(console(), salary_audit, [])
    assert "\x1b" not in capsys.readouterr().out


def test_an_output_without_unicode_still_gets_the_verdict(salary_audit, monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    print_audit(console(), salary_audit, [])
    assert b"Not fit for release" in raw.getvalue()


@pytest.mark.parametrize("values", [False, True])
def test_cells_only_where_asked_for(values):
    table = named_table(HOSTILE, lambda _, group: f"marker{group}")
    assert ("marker0" in reported(audit(table, named_policy(HOSTILE), show_values=values))) is values


@pytest.mark.parametrize("label", HOSTILE)
def test_a_label_is_neither_markup_nor_obeyed(label):
    names = ("street", "disease")
    policy = named_policy(names)
    policy["attributes"]["disease"]["label"] = label
    text = reported(audit(named_table(names, lambda _, group: f"v{group}"), policy))
    assert visible(label) in " ".join(text.split())
    assert "\x1b" not in text
    assert "\u202e" not in text
