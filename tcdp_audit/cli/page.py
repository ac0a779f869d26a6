"""The page of a check or a remedy: composed of the declaration in its code and of its guide, for a terminal or a site.

A declaration is a mapping, so that a page needs neither the check nor the libraries that it imports. `declarations`
makes it, and `built_in_pages` reads one from a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

from tcdp_audit.api import CHECK_SECTIONS, FORMULA_SEPARATOR, REMEDY_SECTIONS

SECTIONS = {"checks": CHECK_SECTIONS, "remedies": REMEDY_SECTIONS}
ENTRY = {"checks": "expect", "remedies": "remedy"}  # where a policy names it
TABLES = {"details": "detail", "notes": "note"}  # parts that are tables, with what their first column is
DOI = re.compile(r"doi:(10\.\d+/[^\s,;]+)")
NARROWEST = 40
INDENT = "  "


def page_of(declared: Mapping[str, Any], guide: Mapping[str, Any], *, for_terminal: bool = False) -> str:
    """The page of a check or a remedy as Markdown. A section without a text is left out.

    Args:
        declared: what its code declares: `kind`, `name`, `title`, `summary`, `parameters` and `conditions`.
        guide: the parts of its guide, by their names.
        for_terminal: formulas as text, and no links; otherwise as LaTeX, which sites of documentation set.
    """
    sections = _sections(declared, guide, for_terminal=for_terminal)
    parts = [f"## {heading}\n\n{text}" for heading, text in sections if text]
    return "\n\n".join([f"# {declared['title']}", declared["summary"], *parts]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines)


def laid_out(page: str) -> str:
    """A page as wide as the terminal."""
    return "\n".join(_lines(page.splitlines())) + "\n"


def wrapped(text: str, margin: str, further: str = "") -> list[str]:
    """A paragraph as wide as the terminal; `further` follows the margin in every line but the first."""
    width = max(get_terminal_size().columns, NARROWEST)
    return wrap(text, width, initial_indent=margin, subsequent_indent=margin + further, break_on_hyphens=False)


def _sections(
    declared: Mapping[str, Any], guide: Mapping[str, Any], *, for_terminal: bool
) -> Iterator[tuple[str, str]]:
    """Headings and texts, in the order of the page."""
    question, risk = guide.get("question"), guide.get("risk")
    yield "In plain words", f"{question}\n\nWithout this check: {risk}" if question and risk else ""
    for heading, part in SECTIONS[declared["kind"]].items():
        text = guide.get(part, "")
        if part == "definition":
            yield heading, f"{text}\n\n{_formula(guide, for_terminal=for_terminal)}"
            yield "Parameters", "\n\n".join([_parameters(declared), *declared["conditions"]])
        elif part == "method":
            yield heading, "\n\n".join([text, *declared["conditions"]])
            yield "Parameters", _parameters(declared) if declared["parameters"] else "None."
        elif part in TABLES:
            rows = [(f"`{name}`", one) for name, one in text.items()] if text else []
            yield heading, table((TABLES[part], "meaning"), rows) if rows else ""
        elif part == "example":
            yield heading, _code("yaml", [f"{ENTRY[declared['kind']]}:", *(f"  {line}" for line in text.splitlines())])
        elif part == "source" and not for_terminal:
            yield heading, DOI.sub(r"[doi:\1](https://doi.org/\1)", text)
        else:
            yield heading, text


def _parameters(declared: Mapping[str, Any]) -> str:
    rows = [(f"`{name}`", *words) for name, words in declared["parameters"].items()]
    return table(("parameter", "type", "default", "meaning"), rows)


def _formula(guide: Mapping[str, Any], *, for_terminal: bool) -> str:
    """A formula as LaTeX, a block a line; as text on terminals, and where it has no LaTeX."""
    if for_terminal or not guide.get("latex"):
        return _code("text", guide["formula"].split(FORMULA_SEPARATOR))
    return "\n\n".join(_code("math", [line]) for line in guide["latex"].splitlines())


def _code(language: str, lines: Sequence[str]) -> str:
    return "\n".join([f"```{language}", *lines, "```"])


def _lines(page: Sequence[str]) -> Iterator[str]:
    margin, fence = "", ""
    for line in page:
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
