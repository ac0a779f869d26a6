"""The Markdown summary: verdict, tables, a paragraph an outcome. For pull requests and job summaries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tcdp_audit.plugin import (
    VERDICTS,
    Audit,
    Outcome,
    Rows,
    count,
    demanded,
    failing,
    observed,
    prose,
    sentence_case,
    state_of,
    tool,
    verdict_sentence,
)
from tcdp_audit_reports.finding import attribute_of
from tcdp_audit_reports.margin import margin_words
from tcdp_audit_reports.markdown_text import escaped, table

if TYPE_CHECKING:
    from tcdp_audit_reports.remedy import Repair

HEAD = (
    "Status",
    "Check",
    "Attribute",
    "Observed",
    "Demanded",
    "Margin",
    "Groups failing",
    "Records failing",
)
BANNER = "**This report contains cells of the release** (`--show-values`): treat it as you treat the data."


def render(audit: Audit) -> str:
    """The audit as Markdown; the same audit gives the same bytes. Cost: linear in the outcomes."""
    return "\n\n".join(_blocks(audit)) + "\n"


def _blocks(audit: Audit) -> Iterator[str]:
    release = audit.release
    yield f"# {VERDICTS[audit.status]}: {escaped(release.name)}"
    if any(one.cells is not None for outcome in audit.outcomes for one in outcome.worst):
        yield BANNER
    yield escaped(verdict_sentence(audit))
    remedy = None if audit.change_log is None else _repair(audit)
    if remedy is not None:
        yield escaped(remedy.origin)
    yield f"{count(release.records, 'record')}, {count(release.columns, 'column')}. {_provenance(audit)}"
    yield "## Expectations"
    yield _expectations(audit)
    for outcome in audit.expectations:
        yield _paragraph(audit, outcome)
    if audit.structure:
        yield "## Columns"
        yield table(("Status", "Demand", "Finding"), [_structural(one) for one in audit.structure])
    if remedy is not None:
        from tcdp_audit_reports.remedy.markdown import blocks  # noqa: PLC0415 - only for a release that remedies made

        yield from blocks(remedy)
    for title, parts in audit.sections:
        yield f"## {escaped(title)}"
        yield from map(_block, parts)


def _block(block: str | Rows) -> str:
    """A paragraph or a table that a plugin adds."""
    if isinstance(block, str):
        return escaped(block)
    rows = table([escaped(cell) for cell in block.head], [[escaped(cell) for cell in row] for row in block.body])
    return f"{escaped(block.caption)}\n\n{rows}" if block.caption else rows


def _repair(audit: Audit) -> Repair | None:
    from tcdp_audit_reports.remedy import repair  # noqa: PLC0415 - likewise

    return repair(audit)


def _provenance(audit: Audit) -> str:
    about = tool()
    place = "a table in memory, " if audit.release.in_memory else ""
    digest = f"{place}SHA-256 {audit.release.sha256 or 'unknown'}"
    return (
        f"Release: {digest}. Policy: {escaped(audit.policy.name)}, SHA-256 {audit.policy.sha256}. "
        f"Audited {audit.audited_at:%Y-%m-%d %H:%M} UTC with {about['name']} {about['version']}."
    )


def _expectations(audit: Audit) -> str:
    if not audit.expectations:
        return "The policy's expectations gave no outcome."
    return table(HEAD, [_row(audit, one) for one in audit.expectations], left=3)


def _row(audit: Audit, outcome: Outcome) -> list[str]:
    fails = failing(outcome)
    classes, records = ("–", "–") if fails is None else map(count, fails)
    texts = (
        sentence_case(state_of(outcome)),
        outcome.title or outcome.check,
        attribute_of(outcome, audit.plugins.checks.get(outcome.check)),
        observed(outcome),
        demanded(outcome),
        margin_words(outcome),
        classes,
        records,
    )
    return [escaped(text) for text in texts]


def _structural(outcome: Outcome) -> list[str]:
    texts = (
        sentence_case(state_of(outcome)),
        outcome.title or outcome.check,
        prose(outcome.message) or "Kept.",
    )
    return [escaped(text) for text in texts]


def _paragraph(audit: Audit, outcome: Outcome) -> str:
    attribute = attribute_of(outcome, audit.plugins.checks.get(outcome.check))
    name = f"{outcome.title or outcome.check}, {attribute}" if attribute != "–" else outcome.title or outcome.check
    sentence = f"**{escaped(name)}** ({state_of(outcome)}). {escaped(prose(outcome.message))}"
    cells = [
        f"- group {one.ordinal:,}: " + "; ".join(f"{escaped(k)}: {escaped(v)}" for k, v in one.cells.items())
        for one in outcome.worst
        if one.cells is not None
    ]
    return "\n".join([sentence, "", *cells]) if cells else sentence
