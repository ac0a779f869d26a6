"""The Markdown summaries: of an audit, a comparison, a frontier. For pull requests and job summaries."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin._internal import exposed_sentence, verdict_sentence, verdict_title
from tcdp_audit.plugin.report import Audit, AuditComparison, Frontier, tool
from tcdp_audit.plugin.sentences import count
from tcdp_audit_reports.markdown_blocks import blocks_as_markdown, escaped

BANNER = "**This report contains cells of the release** (`--show-values`): treat it as you treat the data."


def render(audit: Audit) -> str:
    """The audit as Markdown; the same audit gives the same bytes. Cost: linear in the outcomes."""
    return "\n\n".join(_parts(audit)) + "\n"


def render_comparison(comparison: AuditComparison) -> str:
    """The comparison as Markdown; the same comparison gives the same bytes. Cost: linear in the expectations."""
    blocks = blocks_as_markdown(comparison.blocks(), level=2)
    return f"# {escaped(comparison.title)}\n\n{escaped(comparison.sentence)}\n\n{blocks}\n"


def render_frontier(frontier: Frontier) -> str:
    """The frontier as Markdown; the same frontier gives the same bytes. Cost: linear in the settings."""
    from tcdp_audit_reports.frontier_blocks import TITLE, frontier_blocks  # noqa: PLC0415 - only for a frontier

    sentence = f"{escaped(frontier.release.name)}: {escaped(frontier.sentence)}."
    return f"# {TITLE}\n\n{sentence}\n\n{blocks_as_markdown(frontier_blocks(frontier), level=2)}\n"


def _parts(audit: Audit) -> Iterator[str]:
    release = audit.release
    yield f"# {escaped(verdict_title(audit))}: {escaped(release.name)}"
    if audit.shows_values:
        yield BANNER
    yield escaped(verdict_sentence(audit))
    if relation := exposed_sentence(audit):
        yield escaped(relation)
    if audit.change_log is not None:
        from tcdp_audit_reports.remedy.sentences import origin  # noqa: PLC0415 - only where remedies made the release

        yield escaped(origin(audit, audit.change_log))
    yield f"{count(release.records, 'record')}, {count(release.columns, 'column')}. {_provenance(audit)}"
    for section in audit.sections():
        if content := blocks_as_markdown(section.blocks):
            yield f"## {escaped(section.title)}"
            yield content


def _provenance(audit: Audit) -> str:
    about = tool()
    place = "a table in memory, " if audit.release.in_memory else ""
    digest = f"{place}SHA-256 {audit.release.sha256 or 'unknown'}"
    return (
        f"Release: {digest}. Policy: {escaped(audit.policy.name)}, SHA-256 {audit.policy.sha256}. "
        f"Audited {audit.audited_at:%Y-%m-%d %H:%M} UTC with {about['name']} {about['version']}."
    )
