"""Pages in Markdown, and the two pages that list them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tcdp_audit.guide_page.page import Block, Code, Page, Parameters, Prose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tcdp_audit.check.kinds import Check
    from tcdp_audit.remedy.remedy import Remedy

GENERATED = "<!-- Written by `python -m tcdp_audit.guide_page docs` from the checks and remedies themselves. -->"


def markdown(page: Page) -> str:
    """The documentation page of a check or a remedy."""
    head = f"# {page.title}\n\n{page.kind} `{page.name}`. {page.lead}"
    told = [f"## {one.heading}\n\n" + "\n\n".join(map(_block, one.blocks)) for one in page.sections]
    return "\n\n".join([GENERATED, head, *told]) + "\n"


def index_of_checks(checks: Mapping[str, Check]) -> str:
    """The page that lists all checks."""
    rows = [(f"[`{name}`]({name}.md)", one.title, one.quarter.value) for name, one in sorted(checks.items())]
    return f"""{GENERATED}

# Checks

Every check that a policy may expect; `tcdp-audit explain CHECK` shows the same page.

{_table(("check", "title", "disclosure"), rows)}

What the auditor asks of every release by itself: [structure](../structure.md).
"""


def index_of_remedies(remedies: Mapping[str, Remedy[Any]]) -> str:
    """The page that lists all remedies."""
    rows = [(f"[`{name}`]({name}.md)", one.title, one.summary) for name, one in sorted(remedies.items())]
    return f"""{GENERATED}

# Remedies

Every remedy that a [policy](../policy.md#remedies) may name; `tcdp-audit explain REMEDY` shows the same page.

{_table(("remedy", "title", "what it changes"), rows)}

None of them judges itself: after each the whole release is audited again.
"""


def _block(block: Block) -> str:
    if isinstance(block, Prose):
        return block.text
    if isinstance(block, Code):
        return "\n".join([f"```{block.language}", *block.lines, "```"])
    if isinstance(block, Parameters):
        rows = [(f"`{one.name}`", one.kind, one.default, one.description) for one in block.parameters]
        return _table(("parameter", "type", "default", "meaning"), rows)
    return _table(("note", "meaning"), [(f"`{name}`", meaning) for name, meaning in block.meanings.items()])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines)
