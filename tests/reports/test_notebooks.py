"""What a notebook displays of an audit: short, escaped, the figures of the JSON, and no cell whatever was asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from math import inf

import pyarrow as pa
import pytest
from html_page import Page

from tcdp_audit import Audit, Outcome, Status, UsageError, audit, fix, measure
from tcdp_audit.core.base.notebook import LINES, ROWS, SHAPES
from tcdp_audit.core.base.phrases import demanded, observed, state_of
from tcdp_audit.core.base.words import visible

MARK = "zanzibar"
ELEMENTS = {*["div", "p", "span", "strong", "br", "table", "thead", "tbody", "tr", "th", "td"]}
PLANTED = pa.table({"zip": [f"{MARK}1"] * 3 + [f"{MARK}2"] * 3, "illness": [f"{MARK}{i}" for i in range(6)]})
POLICY = {
    "version": 1,
    "attributes": {
        "zip": {"role": "quasi_identifier"},
        "illness": {"role": "sensitive", "scale": "nominal", "hierarchy": {"*": {"all": [f"{MARK}0", f"{MARK}1"]}}},
    },
    "expect": [{"k_anonymity": {"k": 4}}, {"skewness": {"at_most": "1.1", "sensitive_values": [f"{MARK}0"]}}],
    "remedy": [{"mondrian": {}}],
}


def test_an_audit_is_a_few_lines_of_text(salary_audit: Audit):
    lines = repr(salary_audit).splitlines()

    assert lines[0] == "<Audit of release (9 records, 4 columns): failed>"
    assert lines[1:] == ["✗ t_closeness on 'salary': failed, observed 0.375, demanded ≤ 0.2"]


def test_of_many_failures_the_first_are_named(with_outcomes: Callable[..., Audit]):
    failed = Outcome(check="k_anonymity", status=Status.FAILED, message="too few")
    lines = repr(with_outcomes(*[failed] * (LINES + 2))).splitlines()

    assert lines[-1] == "… and 2 more"
    assert len(lines) == LINES + 2


def test_an_outcome_is_one_line_of_text():
    outcome = measure("t_closeness", PLANTED, quasi_identifiers="zip", attribute="illness", t="0.4")

    assert repr([outcome]) == "[<Outcome t_closeness on 'illness': failed, observed 0.500, demanded ≤ 0.4>]"


@pytest.mark.parametrize("which", ["salary_audit", "hostile_audit", "repaired_audit"])
def test_the_table_is_complete_and_has_the_figures_of_the_result(which: str, request: pytest.FixtureRequest):
    audited: Audit = request.getfixturevalue(which)
    html = audited._repr_html_()
    page = Page(html)

    assert {one.name for one in page.elements} <= ELEMENTS
    assert {name for one in page.elements for name in one.attributes} <= {"style", "scope", "aria-hidden", "title"}
    assert "url(" not in html
    cells = [one.text for one in page.named("td")]
    rows = [tuple(cells[start : start + 5]) for start in range(0, len(cells), 5)]
    expected = [(SHAPES[state_of(one)], observed(one), demanded(one), *_failing(one)) for one in audited.expectations]
    assert [(state[0], *figures) for state, *figures in rows[: len(expected)]] == expected
    assert [note for one in audited.outcomes if one.blocks and (note := visible(one.note)) not in _plain(page)] == []


def _failing(outcome: Outcome) -> tuple[str, str]:
    """As the JSON has them."""
    actual = [outcome.as_json()[kind] for kind in ("classes", "records")]
    groups, records = (None if one is None else one["failing"] for one in actual)
    return ("–", "–") if None in (groups, records) else (f"{groups:,}", f"{records:,}")


def _plain(page: Page) -> str:
    return page.elements[0].text.replace("≥\u00a0", ">= ").replace("≤\u00a0", "<= ")


def test_a_table_has_the_worst_rows_of_many(with_outcomes: Callable[..., Audit]):
    passed = Outcome(check="distinct_l_diversity", status=Status.PASSED)
    failed = Outcome(check="k_anonymity", status=Status.FAILED, message="too few")
    html = with_outcomes(*[passed] * ROWS, failed)._repr_html_()

    assert html.index("k_anonymity") < html.index("distinct_l_diversity")
    assert html.count("<tr>") == 1 + ROWS
    assert "… and 1 outcome more" in html


def test_a_frame_has_a_row_an_outcome(salary_audit: Audit):
    frame = salary_audit.to_frame()

    assert len(frame) == len(salary_audit.outcomes)
    assert list(frame["check"]) == [one.check for one in salary_audit.outcomes]
    assert list(frame["kind"].unique()) == ["columns", "expectation"]
    t = frame[frame["status"] == "failed"].iloc[0]
    assert (t["check"], t["observed"], t["comparison"], t["threshold"]) == ("t_closeness", 0.375, "<=", 0.2)
    assert (t["groups_failing"], t["groups"], t["records_failing"], t["records"]) == (2, 3, 6, 9)
    assert [str(frame[name].dtype) for name in ("observed", "threshold", "records")] == ["float64", "float64", "Int64"]
    assert frame["records"].isna().sum() == len(salary_audit.structure)


def test_infinity_is_infinity_in_a_frame(with_outcomes: Callable[..., Audit]):
    frame = with_outcomes(Outcome(check="delta_disclosure", status=Status.MEASURED, observed=inf)).to_frame()

    assert frame["observed"].iloc[-1] == inf


def test_without_pandas_it_is_named(salary_audit: Audit, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"^to_frame: needs pandas; pip install pandas$"):
        salary_audit.to_frame()


def test_none_of_it_holds_a_cell_though_values_were_asked_for():
    audited = audit(PLANTED, POLICY, show_values=True)
    assert MARK in audited.render(".html")
    assert any(MARK in one.message for one in audited.structure)
    assert any(MARK in str(dict(worst.cells or {})) for one in audited.expectations for worst in one.worst)

    repaired = fix(PLANTED.drop_columns("illness"), {**POLICY, "attributes": {"zip": POLICY["attributes"]["zip"]},
                                                      "expect": POLICY["expect"][:1]})  # fmt: skip
    reported = [
        repr(audited),
        audited._repr_html_(),
        audited.to_frame().to_csv(),
        repr(repaired),
        repaired._repr_html_(),
    ]
    reported += [repr(one) + one._repr_html_() + repr(one.worst) for one in audited.outcomes]
    reported += [repr(audited.policy), repr(repaired.log), repr(repaired.log.steps)]
    assert [text for text in reported if MARK in text] == []


def test_names_that_would_act_are_written_out():
    name = "a\x1b[31m\u202e<b>"
    audited = audit(pa.table({name: ["x"]}), {**POLICY, "attributes": {name: {"role": "quasi_identifier"}},
                                              "expect": [{"k_anonymity": {"k": 2}}], "remedy": None})  # fmt: skip
    shown = replace(audited.expectations[0], attribute=name)

    for text in (repr(shown), shown._repr_html_()):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<b>" not in shown._repr_html_()
