"""Pages of the documentation that `explain` prints, so that an installation explains its policies by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tcdp_audit.api import COLUMN_DEMANDS

SECTIONS = {  # a topic, its page, and its heading there; without one the whole page
    "policy": ("policy.md", ""),
    "attributes": ("policy.md", "## Attributes"),
    "conventions": ("policy.md", "## Conventions"),
    "expectations": ("policy.md", "## Expectations"),
    "exit-codes": ("cli.md", "## Exit codes"),
    "profile": ("profiles.md", ""),
}
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def topic_pages(documentation: Path) -> dict[str, str]:
    """Every topic as text, by its name, from the folder with the pages."""
    texts = {page: (documentation / page).read_text(encoding="utf-8") for page, _ in SECTIONS.values()}
    pages = {topic: _plain(_section(texts[page], heading)) for topic, (page, heading) in SECTIONS.items()}
    structure = (documentation / "structure.md").read_text(encoding="utf-8")
    return pages | {name: _plain(_finding(structure, name)) for name in COLUMN_DEMANDS}


def _section(text: str, heading: str) -> str:
    """A section with its sections, or the whole page."""
    if not heading:
        return text
    start = text.index(f"{heading}\n")
    end = text.find("\n## ", start + 1)
    return text[start:] if end < 0 else text[start:end]


def _finding(text: str, name: str) -> str:
    """One of the findings on columns, from the table of them and the text around it."""
    intro = text.partition("\n## ")[0].splitlines()
    rows = [line for line in intro if line.startswith("|")]
    wanted = (line for line in intro if not line.startswith("|") or line in rows[:2] or line.startswith(f"| `{name}`"))
    return "\n".join(wanted)


def _plain(markdown: str) -> str:
    """Markdown without links and tables: a paragraph a line, items of lists and examples unchanged."""
    return "\n\n".join(_block(block) for block in _blocks(markdown.splitlines())) + "\n"


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Paragraphs, lists, tables and examples; an example may have blank lines."""
    block: list[str] = []
    fenced = False
    for line in lines:
        fenced ^= line.startswith("```")
        if line or fenced:
            block.append(line)
        elif block:
            yield "\n".join(block)
            block = []
    if block:
        yield "\n".join(block)


def _block(text: str) -> str:
    lines = text.splitlines()
    if lines[0].startswith("```"):
        return text
    if lines[0].startswith("|"):
        return "\n".join(_rows(lines))
    joined = re.sub(r"\n(?!- )\s*", " ", text)
    return LINK.sub(r"\1", joined.lstrip("# "))


def _rows(lines: Sequence[str]) -> Iterator[str]:
    """The rows of a table: `- key (value; default none): meaning`."""
    titles, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    for row in rows:
        middle = list(zip(titles, row, strict=True))[1:-1]
        between = [f"{title} {cell}" if title == "default" else cell for title, cell in middle]
        details = f" ({'; '.join(between)})" if between else ""
        yield LINK.sub(r"\1", f"- {row[0]}{details}: {row[-1]}").replace("\\|", "|")
