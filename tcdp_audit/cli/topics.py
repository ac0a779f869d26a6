"""What `explain` knows besides checks and remedies: policies, roles, findings on columns, profiles, exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tcdp_audit.cli.page import wrapped

TOPICS = Path(__file__).with_name("generated")  # by `python -m tools.generate`, from the documentation
ROLES = ("identifier", "quasi_identifier", "sensitive", "insensitive")  # all of them are in "attributes"


def topics() -> list[str]:
    """The names of the topics."""
    return sorted([*ROLES, *(path.stem for path in TOPICS.glob("*.txt"))])


def topic(name: str) -> str | None:
    """A topic as wide as the terminal; None where there is none of this name. Blanks and underscores are hyphens."""
    known = {one.replace("_", "-"): one for one in topics()}.get(name.replace("_", "-").replace(" ", "-"))
    if known is None:
        return None
    file = "attributes" if known in ROLES else known
    return "\n".join(_lines((TOPICS / f"{file}.txt").read_text(encoding="utf-8"))) + "\n"


def _lines(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or not line:  # an example is never broken
            yield f"  {line}".rstrip()
        else:
            yield from wrapped(line, "", "  " if line.startswith("- ") else "")
