"""Reports of every kind: kept whole under version control, and within budgets of words, pages and repetitions."""

from __future__ import annotations

import os
import re
from functools import cache

import pytest
from edition_samples import BUDGETS, EXAMPLES
from report_words import Words, words
from test_demo_report import GOLDEN, normalised

REPEATED = 5  # sentences of more than eight words that may stand twice
IN_ORDER = ("columns", "next_steps", "unexamined", "basis", "demands", "findings", "coverage", "glossary", "appendix")


@cache
def page(which: str) -> str:
    """The report of one of the samples."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SOURCE_DATE_EPOCH", "1767225600")
        return BUDGETS[which][0]().render(".html")


@pytest.mark.parametrize("which", BUDGETS)
def test_it_is_as_it_was(which: str) -> None:
    text = normalised(page(which)).replace(str(EXAMPLES), "EXAMPLES")
    text = re.sub(r'(?<="proof":\{"sha256":")[0-9a-f]{64}', "DIGEST", text)  # of the paths as well
    if os.environ.get("TCDP_AUDIT_GOLDEN") == "write":
        (GOLDEN / f"{which}.html").write_text(text, encoding="utf-8")
    assert text == (GOLDEN / f"{which}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("which", BUDGETS)
def test_it_has_few_words_and_says_little_twice(which: str) -> None:
    counted = words(page(which), printed=False)
    assert counted.words <= BUDGETS[which][1]
    assert len(counted.repeated) <= REPEATED, counted.repeated
    assert counted.private == {}


@pytest.mark.long
@pytest.mark.parametrize("which", BUDGETS)
def test_it_has_few_pages(which: str, chromium: str) -> None:
    assert chromium
    assert (words(page(which)).pages or 99) <= BUDGETS[which][2]


@pytest.mark.parametrize("which", BUDGETS)
def test_sections_are_in_the_order_of_a_readers_questions(which: str) -> None:
    sections = re.findall(r'<section id="section-(\w+)"', page(which))
    assert [name for name in sections if name in IN_ORDER] == [name for name in IN_ORDER if name in sections]
    assert {"next_steps", "basis", "demands", "glossary"} < {*sections}


def test_repetitions_and_private_words_are_counted() -> None:
    said = "<p>This sentence has more than eight words, and stands twice here.</p>"
    counted: Words = words(f"<main>{said}{said}<p>Shapley told us.</p><p>{'word ' * 40}</p></main>", printed=False)
    assert [*counted.repeated.values()] == [2]
    assert counted.private == {"shapley": 1, "told": 1}


def test_an_open_question_keeps_the_seal_from_saying_more_than_a_program_can_tell() -> None:
    assert "Fit as far as a program can tell" in page("profile")
