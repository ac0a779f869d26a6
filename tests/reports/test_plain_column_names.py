"""A report names columns in one way: by label, or by a name that is a plain word; only other names have quotes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from html_page import Page

from tcdp_audit import audit

TABLE = pa.table(
    {"age": list("aabbcc"), "db040": list("xyxyxy"), "length_of_stay": list("pqpqrs"), "town": list("uuuuvv")}
)
ROLES: dict[str, Any] = {
    "age": {"role": "quasi_identifier"},
    "db040": {"role": "quasi_identifier"},
    "town": {"role": "quasi_identifier", "label": "place & home"},
    "length_of_stay": {"role": "sensitive", "label": "length of stay"},
}
POLICY = {"version": 1, "attributes": ROLES, "expect": [{"k_anonymity": {"k": 2}}]}


@pytest.fixture(params=["en", "de"])
def page(request: pytest.FixtureRequest) -> str:
    return str(audit(TABLE, POLICY).render(".html", language=request.param))


def test_words_and_labels_have_no_quotes(page: str) -> None:
    text = Page(page).with_id("verdict").text + Page(page).with_id("section-findings").text

    for quoted in ("'age'", "„age“", "'length_of_stay'", "„length_of_stay“", "„place", "'place"):
        assert quoted not in text
    assert "length of stay" in text
    assert "place &amp; home" in page


def test_a_name_that_is_no_word_keeps_its_quotes(page: str) -> None:
    assert "'db040'" in page or "„db040“" in page


def test_the_machine_readable_result_is_as_it_was() -> None:
    result = audit(TABLE, POLICY)
    before = result.to_json()
    result.render(".html")

    assert result.to_json() == before
    assert "'age'" in before


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_a_report_after_it_has_its_own_names(suffix: str) -> None:
    audit(TABLE, POLICY).render(suffix)
    others = {name: {**role, "label": "years"} if name == "age" else role for name, role in ROLES.items()}

    rendered = audit(TABLE, {**POLICY, "attributes": others}).render(suffix)

    assert "person’s years" in rendered or "years, " in rendered
    assert "age," not in rendered.partition("db040")[0][-40:]
