"""What `explain` knows besides checks and remedies: policies, roles, findings on columns, profiles, exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tcdp_audit.cli.guide import wrapped

TOPICS = Path(__file__).with_name("pages") / "topics"  # written by `python -m tcdp_audit.cli.guide_page`


def topics() -> list[str]:
    """The names of the topics."""
    return sorted(path.stem for path in TOPICS.glob("*.txt"))


def topic(name: str) -> str | None:
    """A topic as wide as the terminal; None where there is none of this name. Blanks and underscores are hyphens."""
    found = {one.replace("_", "-"): one for one in topics()}.get(name.replace("_", "-").replace(" ", "-"))
    if found is None:
        return None
    return "\n".join(_lines((TOPICS / f"{found}.txt").read_text(encoding="utf-8"))) + "\n"


def _lines(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or not line:  # an example is never broken
            yield f"  {line}".rstrip()
        else:
            yield from wrapped(line, "", "  " if line.startswith("- ") else "")
