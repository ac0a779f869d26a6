"""The Markdown summary: the verdict, then every section. For pull requests and job summaries."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin._internal import exposed_sentence, verdict_sentence, verdict_title
from tcdp_audit.plugin.report import Audit, FilledSection, Rows, tool
from tcdp_audit.plugin.sentences import count
from tcdp_audit_reports.markdown_text import escaped, table

BANNER = "**This report contains cells of the release** (`--show-values`): treat it as you treat the data."


def render(audit: Audit) -> str:
    """The audit as Markdown; the same audit gives the same bytes. Cost: linear in the outcomes."""
    return "\n\n".join(_blocks(audit)) + "\n"


def _blocks(audit: Audit) -> Iterator[str]:
    release = audit.release
    yield f"# {escaped(verdict_title(audit))}: {escaped(release.name)}"
    if any(one.cells is not None for outcome in audit.outcomes for one in outcome.worst):
        yield BANNER
    yield escaped(verdict_sentence(audit))
    if relation := exposed_sentence(audit):
        yield escaped(relation)
    if audit.change_log is not None:
        from tcdp_audit_reports.remedy.sentences import origin  # noqa: PLC0415 - only where remedies made the release

        yield escaped(origin(audit, audit.change_log))
    yield f"{count(release.records, 'record')}, {count(release.columns, 'column')}. {_provenance(audit)}"
    for section in audit.sections("markdown"):
        yield f"## {escaped(section.title)}"
        yield from _content(section)


def _content(section: FilledSection) -> Iterator[str]:
    """A section's own Markdown, or its paragraphs and tables."""
    if isinstance(section.content, str):
        yield section.content
    else:
        yield from map(_block, section.content)


def _block(block: str | Rows) -> str:
    """A paragraph or a table that a plugin adds."""
    if isinstance(block, str):
        return escaped(block)
    rows = table([escaped(cell) for cell in block.head], [[escaped(cell) for cell in row] for row in block.body])
    return f"{escaped(block.caption)}\n\n{rows}" if block.caption else rows


def _provenance(audit: Audit) -> str:
    about = tool()
    place = "a table in memory, " if audit.release.in_memory else ""
    digest = f"{place}SHA-256 {audit.release.sha256 or 'unknown'}"
    return (
        f"Release: {digest}. Policy: {escaped(audit.policy.name)}, SHA-256 {audit.policy.sha256}. "
        f"Audited {audit.audited_at:%Y-%m-%d %H:%M} UTC with {about['name']} {about['version']}."
    )
