"""The exact number is behind each rounded one, and a figure at its threshold reads as the threshold."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator
from fractions import Fraction
from math import pi
from typing import Any

import pyarrow as pa
import pytest
from html_page import Page
from report_samples import SALARY_POLICY, made_up, salaries

import tcdp_audit
from tcdp_audit.core.base.outcome import Comparison, Status
from tcdp_audit.core.base.words import Rounded, figure, percent
from tcdp_audit_reports.finding_tables import whole_percents

AT_MOST = Comparison.AT_MOST


def numbers_of(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from numbers_of(one)
    elif isinstance(value, int | float):
        yield float(value)


def test_a_page_has_the_exact_number_behind_each_rounded_one(salary_audit: tcdp_audit.Audit) -> None:
    page, held = Page(salary_audit.render(".html")), {*numbers_of(salary_audit.as_json())}
    exact = [(one.attributes["value"], one.attributes["title"], one.text) for one in page.named("data")]
    assert len(exact) > 1
    for value, title, text in exact:
        assert value == title != text
        assert float(value) in held
        assert float(text.replace(",", "")) == pytest.approx(float(value), rel=0.01)


def test_shares_of_values_have_nothing_behind_them() -> None:
    release = pa.concat_tables([salaries()] * 4)  # shares of few people are not shown
    html = tcdp_audit.audit(release, SALARY_POLICY).render(".html")
    tables = re.findall(r'<figure class="chart dumbbell">.*?</figure>', html, re.DOTALL)
    assert tables
    assert all("<data" not in one for one in tables)


def test_a_figure_keeps_its_number_where_it_has_more_digits() -> None:
    assert (figure(pi), figure(pi).exact) == ("3.14", repr(pi))
    assert type(figure(0.25)) is type(figure(12.0)) is type(percent(0.5)) is str
    assert percent(1 / 3).exact == repr(1 / 3)
    again = pickle.loads(pickle.dumps(figure(pi)))  # noqa: S301 - its own
    assert (again, again.exact, type(again)) == ("3.14", repr(pi), Rounded)


@pytest.mark.parametrize("format_", [".html", ".md", ".json", ".junit.xml", ".sarif"])
def test_a_figure_at_its_threshold_reads_as_it_was_typed(format_: str, with_outcomes: Any) -> None:
    outcome = made_up(0.1, Fraction("0.1"), AT_MOST, status=Status.PASSED, check="suda", message="At most 0.1.")
    text = with_outcomes(outcome).render(format_)
    assert not re.search(r"0\.10000000|0\.0999999", text)
    assert not re.search(r"\b0\.100\b", text)


@pytest.mark.parametrize("typed", ["0.1", "0.3", "0.7", "1.1", "2.5", "0.05", "1e-05"])
def test_every_decimal_reads_as_itself_at_its_threshold(typed: str) -> None:
    threshold = Fraction(typed)
    assert Fraction(figure(float(threshold), threshold)) == threshold
    assert figure(float(threshold), threshold) == repr(float(typed))


def test_a_share_at_its_threshold_has_all_digits_of_it() -> None:
    assert percent(0.1234, Fraction("0.1234")) == "12.34%"
    assert percent(1 / 3, Fraction(1, 3)) == "33.3%"


@pytest.mark.parametrize("shares", [[0.345, 0.335, 0.32], [1 / 3] * 3, [0.2, 0.3, 0.5], [1.0], [0.005] * 200])
def test_shares_of_the_risk_add_up(shares: list[float]) -> None:
    texts = whole_percents(shares)
    assert sum(int(one.rstrip("%")) for one in texts) == 100
    assert all(abs(int(text.rstrip("%")) - 100 * share) < 1 for text, share in zip(texts, shares, strict=True))


def test_the_result_inside_the_page_has_numbers_as_they_are(salary_audit: tcdp_audit.Audit) -> None:
    result = json.loads(salary_audit.render(".json"))
    assert 0.375 in {*numbers_of(result)}
