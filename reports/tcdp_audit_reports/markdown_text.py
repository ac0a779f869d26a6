"""Text and tables in Markdown: no name acts as markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tcdp_audit.plugin.sentences import visible

SPECIAL = re.compile(r"[\\`*_{}\[\]<>()#+!|~$&:@=-]")  # acts somewhere in Markdown, HTML in it, or GitHub's dialect


def escaped(text: str) -> str:
    """Text that no reader of Markdown takes for markup: every character with a meaning becomes an entity."""
    plain = " ".join(visible(text).split())
    return SPECIAL.sub(lambda found: found[0] if found[0] in "-:=()+" else f"&#{ord(found[0])};", plain)


def fenced(text: str) -> str:
    """Text that cannot close its fence."""
    return text.replace("```", "'''")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int | None = None) -> str:
    """A table of GitHub's dialect, its cells escaped already; columns after the first `left` are aligned right."""
    marks = ["---" if left is None or position < left else "---:" for position in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *rows))
