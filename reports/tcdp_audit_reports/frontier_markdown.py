"""A frontier as Markdown, for pull requests."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin._internal import points_table, remedies_table, settings_table, visible_lines
from tcdp_audit.plugin.report import Frontier, Rows
from tcdp_audit_reports.frontier_words import TITLE, reading, untried
from tcdp_audit_reports.markdown_text import escaped, fenced, table


def render(frontier: Frontier) -> str:
    """The frontier as Markdown; the same frontier gives the same bytes. Cost: linear in the settings."""
    return "\n\n".join(_blocks(frontier)) + "\n"


def _blocks(frontier: Frontier) -> Iterator[str]:
    yield f"# {TITLE}"
    yield f"{escaped(frontier.release.name)}: {escaped(frontier.sentence)}."
    if cut := untried(frontier):
        yield f"**{escaped(cut)}**"
    yield "## What each setting costs"
    yield from _table(settings_table(frontier))
    if frontier.points:
        yield "## The front"
        yield from _table(points_table(frontier, detailed=True))
        for place, one in enumerate(frontier.points, 1):
            yield f"Point {place}:"
            yield f"```yaml\n{fenced(visible_lines(one.lines)).rstrip()}\n```"
    yield "## What each remedy loses alone"
    yield from _table(remedies_table(frontier))
    yield "## Reading it"
    yield from map(escaped, reading(frontier))


def _table(rows: Rows) -> Iterator[str]:
    yield f"{escaped(rows.caption)}."
    yield table([escaped(one) for one in rows.head], [[escaped(cell) for cell in row] for row in rows.body])
