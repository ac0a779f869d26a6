"""Markdown as the tests read it: fenced blocks, sections, tables, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block: its language, its text, and the line it begins on."""

    language: str
    text: str
    line: int


def documents() -> list[Path]:
    """Every Markdown file of the documentation and of the examples."""
    folders = (ROOT / "docs", ROOT / "examples")
    return sorted([*ROOT.glob("*.md"), *(path for folder in folders for path in folder.rglob("*.md"))])


def name_of(path: Path) -> str:
    """The path of a file from the project's folder, for test ids."""
    return path.relative_to(ROOT).as_posix()


def read(name: str) -> str:
    """A file of the project as text."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, *languages: str) -> list[Block]:
    """The fenced blocks of some languages, in order."""
    every_block = [Block(m[1], m[2], text.count("\n", 0, m.start()) + 2) for m in FENCED.finditer(text)]
    return [block for block in every_block if block.language in languages]


def prose(text: str) -> str:
    """The text without its fenced blocks."""
    return FENCED.sub("", text)


def links(text: str) -> list[str]:
    """The targets of the links and images of a text."""
    return LINK.findall(prose(text))


def anchors(text: str) -> set[str]:
    """The anchors that a link may name after `#`: the headings, as the common renderers write them."""
    headings = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def section(text: str, heading: str) -> str:
    """The text under a heading, up to the next one of its rank or above."""
    rank = len(heading) - len(heading.lstrip("#"))
    match = re.search(rf"^{re.escape(heading)}$(.*?)(?=^#{{1,{rank}}} |\Z)", text, re.MULTILINE | re.DOTALL)
    assert match, f"no section {heading!r}"
    return match[1]


def rows(text: str) -> Iterator[list[str]]:
    """The cells of every row of every table, without its head."""
    for line in prose(text).splitlines():
        if line.startswith(("| `", "| [")):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def code(cell: str) -> list[str]:
    """The code spans of a text."""
    return re.findall(r"`([^`]+)`", cell)
