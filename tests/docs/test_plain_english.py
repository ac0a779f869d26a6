"""Pages are written in the English of a reference manual: none uses the project's former private idiom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from banned_words import BANNED, Banned, in_name, in_prose
from documents import FENCED, ROOT, name_of

GENERATED = ("checks", "remedies")  # written from the guides of checks and remedies, which are among the pages
HISTORICAL = ("decisions",)  # records of their day
OUTPUT = ("console", "text")  # what programs print, which tests of their own hold
PRINTED = re.compile(r"^(?!>>>|\.\.\.).*$", re.MULTILINE)  # lines of an interactive example that Python prints
ALLOWED = (  # phrases of the field, of other programs, and verdicts that the program prints
    "Fit to stay inside",
)
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        *(ROOT / "examples").rglob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "how-to").glob("*.md"),
        *(ROOT / "plugins").rglob("*.md"),
    ]
)


def _blank(match: re.Match[str]) -> str:
    """As many characters and lines, without any word."""
    return re.sub(r"[^\n]", " ", match[0])


def _typed(block: re.Match[str]) -> str:
    """A fenced block without what a program prints."""
    if block[1] in OUTPUT:
        return _blank(block)
    return PRINTED.sub(_blank, block[0]) if ">>>" in block[0] else block[0]


def prose_of(text: str) -> str:
    """A page without output of programs, code spans, addresses, and titles of decisions; positions are the page's."""
    text = FENCED.sub(_typed, text)
    text = re.sub(r"\[[^\]]*\]\((?:\.\./)?(?:docs/)?decisions/[^)]*\)", _blank, text)
    text = re.sub(r"\]\([^)\s]*\)|`[^`\n]+`|<!--.*?-->", _blank, text)
    return re.sub("|".join(map(re.escape, ALLOWED)), _blank, text)


def uses(path: Path) -> Iterator[tuple[int, Banned]]:
    """The lines of a page that use a banned word, with the word."""
    text = prose_of(path.read_text(encoding="utf-8"))
    for position, banned in in_prose(text):
        yield text.count("\n", 0, position) + 1, banned


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_uses_a_banned_word(page: Path):
    messages = [f"{name_of(page)}:{line}: {banned.word!r}; write: {banned.better}" for line, banned in uses(page)]

    assert not messages, "\n".join(messages)


def test_the_generated_pages_and_the_decisions_are_the_only_ones_left_out():
    folders = {path.name for path in (ROOT / "docs").iterdir() if path.is_dir() and list(path.glob("*.md"))}

    assert folders == {"how-to", *GENERATED, *HISTORICAL}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The audit tells nobody.", ["nobody", "tells"]),
        ("A standard is no stand.", ["stand"]),
        ("Who has the file alone cannot check it.", ["who"]),
        ("Who vouches for it? Anyone who signs.", []),
        ("So on through the list. So only one is left.", ["so on", "so on through"]),
        ("Then are compared: digests", ["then are"]),
        ("`told` is code, [it](stands.md) an address", []),
        ("```console\n$ tell\n```\n", []),
        ("```yaml\nk: 5  # tell nobody\n```\n", ["nobody", "tell"]),
        ("```python\n>>> told = 1\nWhoever knows\n```\n", ["told"]),
    ],
)
def test_uses_of_words_are_detected(text: str, words: list[str]):
    assert sorted(banned.word for _, banned in in_prose(prose_of(text))) == words


def test_parts_of_identifiers_are_detected():
    assert in_name("told_by_classes") == ["told"]
    assert in_name("NotedRecords") == ["noted"]
    assert in_name("standard_deviation") == []
    assert in_name("HTMLStair2") == ["stair"]


def test_every_word_has_a_better_one_and_one_entry():
    assert all(banned.better and banned.word == banned.word.lower() for banned in BANNED)
    assert len({(banned.word, banned.starts) for banned in BANNED}) == len(BANNED)
