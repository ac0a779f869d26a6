"""Two audits beside each other as Markdown, for pull requests."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin._internal import title_in
from tcdp_audit.plugin.report import AuditComparison, Change
from tcdp_audit_reports.markdown_text import escaped, table


def render(comparison: AuditComparison) -> str:
    """The comparison as Markdown; the same comparison gives the same bytes. Cost: linear in the expectations."""
    return "\n\n".join(_blocks(comparison)) + "\n"


def _blocks(comparison: AuditComparison) -> Iterator[str]:
    was, now = (escaped(title_in(one.result)) for one in (comparison.old, comparison.new))
    yield f"# Still: {now}" if was == now else f"# Was: {was}. Is: {now}"
    yield escaped(comparison.sentence)
    for name, one, verdict in (("Old", comparison.old, was), ("New", comparison.new, now)):
        yield f"**{name}** {escaped(one.path.name)}: {escaped(one.release.name)}, {verdict}"
    if comparison.expectations:
        yield "## Expectations"
        head = ("Change", "Expectation", "Attribute", "Was", "Is", "Demand")
        yield table(head, [_row(one) for one in comparison.expectations])
    for title, facts in (("Columns", comparison.changed_columns), ("What else differs", comparison.changed_facts)):
        if facts:
            yield f"## {title}"
            yield table(
                ("What", "Was", "Is"), [[escaped(text) for text in (one.name, one.old, one.new)] for one in facts]
            )


def _row(change: Change) -> list[str]:
    sides = [f"{change.observed(one)} ({change.state(one)})" if one else "–" for one in (change.old, change.new)]
    demands = "; ".join(line for line in (change.parameters, change.demands) if line)
    return [escaped(text) for text in (change.kind, change.title, change.attribute or "–", *sides, demands)]
