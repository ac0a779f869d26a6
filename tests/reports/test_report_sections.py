"""Sections that plugins add: in HTML and Markdown alike, escaped, and left out where they say nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

import tcdp_audit
from tcdp_audit import Audit, PluginError
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import hookimpl
from tcdp_audit.plugin.report import ReportSection, Rows

TABLE = pd.DataFrame({"zip": ["1", "1", "2", "2"]})
POLICY = {"version": 1, "attributes": {"zip": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {"k": 2}}]}


def audited(*sections: ReportSection) -> Audit:
    class Sections:
        @hookimpl
        def tcdp_audit_report_sections(self) -> Iterator[ReportSection]:
            yield from sections

    plugins = Plugins.load(external=False)
    plugins.register(Sections(), "sections")
    return tcdp_audit.audit(TABLE, POLICY, plugins=plugins)


def section(*blocks: Any, title: str = "Who signs") -> ReportSection:
    return ReportSection(name="signatures", title=title, blocks=lambda _: blocks)


def test_a_section_is_in_both_reports() -> None:
    rows = Rows(("office", "name"), (("data protection", "N. N."),), caption="Signatures")
    audit = audited(section("Signed before publication.", rows))
    html, markdown = audit.render(".html"), audit.render(".md")
    assert '<a href="#section-signatures">Who signs</a>' in html
    assert '<h2 id="h-signatures">Who signs</h2>' in html
    assert '<p class="intro">Signed before publication.</p>' in html
    assert "<caption>Signatures</caption>" in html
    assert '<th scope="row">data protection</th><td data-label="name">N. N.</td>' in html
    tail = markdown.split("## Who signs\n\n")[1]
    assert tail.startswith("Signed before publication.\n\n**Signatures**\n\n| office | name |\n")
    assert "| data protection | N. N. |" in tail


def test_nothing_that_a_section_says_is_markup() -> None:
    hostile = "<script>alert(1)</script>\x1b[31m|"
    audit = audited(section(hostile, Rows((hostile,), ((hostile,),), caption=hostile), title=hostile))
    for suffix in (".html", ".md"):
        text = audit.render(suffix)
        assert "<script>" not in text
        assert "\x1b" not in text


def test_a_section_that_says_nothing_is_left_out() -> None:
    assert "Who signs" not in audited(section()).render(".html")


def test_a_section_that_raises_is_its_plugins_error_and_changes_no_verdict() -> None:
    def raising(_: Audit) -> Iterator[str]:
        raise ValueError("marker-of-a-cell")
        yield ""

    audit = audited(ReportSection(name="raising", title="Raising", blocks=raising))
    assert audit.passed
    sentence = r"^the report section 'raising' raised ValueError in .* \(plugin 'sections'\)$"
    with pytest.raises(PluginError, match=sentence) as raised:
        audit.render(".html")
    assert "marker-of-a-cell" not in str(raised.value)
    assert audit.render(".json")


def test_a_section_of_something_else_is_refused() -> None:
    with pytest.raises(PluginError, match="the report section 'signatures' raised TypeError"):
        audited(section(3)).render(".md")


def test_a_table_has_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="another number of cells than the head"):
        Rows(("one", "two"), (("1",),))
