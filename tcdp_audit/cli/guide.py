"""A page of a check or a remedy on a terminal: its Markdown in lines no wider than that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from shutil import get_terminal_size
from textwrap import wrap

NARROWEST = 40
INDENT = "  "


def for_terminal(page: str) -> str:
    """The page as a person reads it."""
    return "\n".join(_lines(page.splitlines())) + "\n"


def _lines(page: Sequence[str]) -> Iterator[str]:
    margin, fence = "", ""
    for line in page[2:]:  # behind the comment that says who wrote it
        if line.startswith("```"):
            fence = "" if fence else line[3:]
        elif fence == "yaml" or not line:  # lines of a policy are never broken
            yield f"{margin}{line}".rstrip()
        elif line.startswith("## "):
            margin = INDENT
            yield line[3:]
        elif line.startswith("| `"):
            yield from _row(line)
        elif not line.startswith("| "):
            yield from wrapped(line.removeprefix("# "), margin)


def _row(line: str) -> Iterator[str]:
    """A parameter or a note, from its row in a table."""
    name, *cells = (cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1])
    if len(cells) == 1:
        yield from wrapped(f"{name.strip('`')}: {cells[0]}", INDENT)
        return
    kind, default, description = cells
    default = default if default == "required" else f"default {default}"
    yield from wrapped(f"{name.strip('`')}: {kind} ({default})", INDENT)
    yield from wrapped(description, INDENT * 2)


def wrapped(text: str, margin: str, further: str = "") -> list[str]:
    """A paragraph as wide as the terminal.

    Args:
        text: the paragraph.
        margin: what stands before every line.
        further: what stands before every line but the first as well.
    """
    width = max(get_terminal_size().columns, NARROWEST)
    return wrap(text, width, initial_indent=margin, subsequent_indent=margin + further, break_on_hyphens=False)
