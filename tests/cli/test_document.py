"""Blocks of the document model on a terminal: what is below what, what is wrapped, and what is left out."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from tcdp_audit.cli.document import VisibleConsole, print_blocks, print_conclusion
from tcdp_audit.core.results.document import Block, Definitions, Group, Heading, Items, Lines, Paragraph, Rows


def printed(*blocks: Block, below: bool = False) -> str:
    text = StringIO()
    print_blocks(VisibleConsole(file=text, width=30), blocks, below=below)
    return text.getvalue()


def test_paragraphs_go_on_and_other_blocks_begin_below_an_empty_line():
    text = printed("One.", Paragraph("two", lead="And:"), Heading("Three"), Items(["four"]), "Five.", Lines("k: 2\n"))
    assert text == "One.\nAnd: two\n\nThree:\n- four\nFive.\n\nk: 2\n"
    assert printed("One.", below=True) == "\nOne.\n"


def test_further_lines_of_an_entry_begin_below_its_first_word():
    entry = Paragraph("a text that is longer than a line\nand its detail", lead="Remedy:")
    assert printed(Items([entry], ordered=True)).splitlines() == [
        "1. Remedy: a text that is",
        "   longer than a line",
        "   and its detail",
    ]


def test_a_table_has_no_blanks_at_the_ends_of_its_lines():
    rows = Rows(("policy", "records"), [("a", "1,000"), ("b\ndetail", "2")], numeric_from=1, note="Two.")
    assert printed(rows).splitlines() == ["policy  records", "a         1,000", "b             2", "detail", "Two."]
    assert printed(Definitions([("key", "a value")])) == "key  a value\n"


def test_lines_are_never_wrapped_so_that_they_can_be_copied():
    assert printed(Lines(f"a: {'x' * 60}", "Lines")) == f"Lines:\na: {'x' * 60}\n"


def test_groups_for_pages_are_left_out_and_others_are_dissolved():
    assert printed(Group(["shown"]), Group(["too long"], page_only=True)) == "shown\n"


def test_no_text_acts_as_markup_or_on_the_terminal():
    hostile = "[red]a\x1b[31m\nb"
    text = printed(hostile, Items([hostile]), Rows((hostile, "x"), [(hostile, hostile)], caption=hostile))
    assert "\x1b" not in text
    assert "[red]" in text


def test_a_conclusion_has_the_mark_of_its_state():
    text = StringIO()
    print_conclusion(Console(file=text, width=80), "failed", "Not fit.", "One demand fails.")
    assert text.getvalue() == "\n✗ Not fit. One demand fails.\n"
