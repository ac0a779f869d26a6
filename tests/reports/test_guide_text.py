"""Texts of guides: what is rendered without the library of Markdown is what it renders."""

from __future__ import annotations

from hypothesis import example, given, strategies as st
from markdown_it import MarkdownIt

from tcdp_audit.core.base.words import visible
from tcdp_audit_reports import guide_text
from tcdp_audit_reports.guide_text import MARKS, inline

LIBRARY = MarkdownIt("zero").enable(["backticks", "emphasis"])
PIECES = st.sampled_from(
    ["a", "B", "9", "é", " ", "_", "*", "`", "`k`", "`a_b: {c}`", "'", '"', "<", "&", "\\", ".", "—"]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)


@given(TEXTS.filter(MARKS.search))
@example("x`a`_y_`b`z")
@example("``a``")
@example("`k``k`")
def test_every_text_is_what_the_library_makes_of_it(text):
    assert inline(text) == LIBRARY.renderInline(visible(text))


def test_code_alone_needs_no_library(monkeypatch):
    monkeypatch.setattr(guide_text, "_markdown", lambda: None)
    assert inline("r_1 of `k_map` isn't <b>") == "r_1 of <code>k_map</code> isn't &lt;b&gt;"
