"""The Markdown summaries: of an audit, a comparison, a frontier. For pull requests and job summaries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tcdp_audit.plugin._internal import (
    Block,
    summary_blocks,
    verdict_sentence,
    verdict_title,
)
from tcdp_audit.plugin.report import (
    Audit,
    AuditComparison,
    Chart,
    Definitions,
    Frontier,
    Group,
    Heading,
    Items,
    Lines,
    Paragraph,
    Rows,
    tool,
)
from tcdp_audit.plugin.sentences import sentence_case, visible
from tcdp_audit_reports.languages import in_plain_names, language_note, localised
from tcdp_audit_reports.people_exposed import known_facts, relation
from tcdp_audit_reports.policy_text import stated

BANNER = "**This report contains cells of the release** (`--show-values`): treat it as you treat the data."


@in_plain_names
def render(audit: Audit) -> str:
    """The audit as Markdown; the same audit gives the same bytes. Cost: linear in the outcomes."""
    return "\n\n".join(_parts(audit.with_known_facts())) + "\n"


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
        yield BANNER if audit.has_records else BANNER.replace("cells of", "figures of")
    yield escaped(verdict_sentence(audit))
    if facts := " ".join(known_facts(audit)).strip():
        yield escaped(facts)
    if exposed := relation(audit):
        yield escaped(exposed)
    if audit.change_log is not None:
        from tcdp_audit_reports.remedy.sentences import origin  # noqa: PLC0415 - only where remedies made the release

        yield escaped(origin(audit, audit.change_log))
    yield f"{sentence_case(audit.size)}. {_provenance(audit)}"
    if pairs := stated(audit):
        yield blocks_as_markdown([Definitions(pairs)])
    for section in audit.sections():
        if content := blocks_as_markdown(section.blocks):
            yield f"## {escaped(section.title)}"
            yield content
    if note := language_note():
        yield escaped(note)


def _provenance(audit: Audit) -> str:
    about = tool()
    place = "a table in memory, " if audit.release.in_memory else ""
    digest = f"{place}SHA-256 {audit.release.sha256 or 'unknown'}"
    return (
        f"Release: {digest}. Policy: {escaped(audit.policy.name)}, SHA-256 {audit.policy.sha256}. "
        f"Audited {audit.audited_at:%Y-%m-%d %H:%M} UTC with {about['name']} {about['version']}."
    )


SPECIAL = re.compile(r"[\\`*_{}\[\]<>()#+!|~$&:@=-]")  # acts somewhere in Markdown, HTML in it, or GitHub's dialect
PLAIN_MIDWAY = "-:=()+"  # of these, what acts only where a table or a list begins


def blocks_as_markdown(blocks: Iterable[Block], *, level: int = 3) -> str:
    """Blocks as Markdown, an empty line between them; without charts and groups that are for pages only."""
    parts = (_markdown(one, level) for one in summary_blocks([*blocks], folds=True))
    return "\n\n".join(part for part in parts if part)


def escaped(text: str) -> str:
    """Text that no reader of Markdown takes for markup: every character with a meaning becomes an entity."""
    plain = " ".join(visible(localised(text)).split())
    return SPECIAL.sub(lambda match: match[0] if match[0] in PLAIN_MIDWAY else f"&#{ord(match[0])};", plain)


def _markdown(block: Block, level: int) -> str:
    match block:
        case str():
            return escaped(block)
        case Paragraph():
            lines = f"\n\n{_fenced(block.lines)}" if block.lines else ""
            return f"{_line(block)}{lines}"
        case Heading():
            return f"{'#' * level} {escaped(block.text)}"
        case Items():
            return _items(block)
        case Definitions():
            return "\n".join(f"- **{escaped(name)}**: {escaped(text)}" for name, text in block.pairs)
        case Rows():
            return _table(block)
        case Lines():
            title = f"{escaped(block.title)}:\n\n" if block.title else ""
            return f"{title}{_fenced(block.text)}"
        case Group():
            inner = blocks_as_markdown(block.blocks, level=level)
            return f"<details><summary>{escaped(block.folded)}</summary>\n\n{inner}\n\n</details>"
        case Chart():
            return ""


def _line(block: Paragraph) -> str:
    """Its lead, its text, and what to type."""
    lead = f"**{escaped(block.lead)}**" if block.lead else ""
    code = f"`{' '.join(visible(block.code).replace('`', chr(39)).split())}`" if block.code else ""
    return " ".join(part for part in (lead, escaped(block.text), code) if part)


def _items(block: Items) -> str:
    entries = [Paragraph(one) if isinstance(one, str) else one for one in block.entries]
    marks = [f"{number}." if block.ordered else "-" for number in range(1, len(entries) + 1)]
    return "\n".join(f"{mark} {_line(one)}{_inside(one.lines)}" for mark, one in zip(marks, entries, strict=True))


def _inside(lines: str) -> str:
    """Lines as a block within an entry of a list."""
    return "".join(f"\n{f'    {line}'.rstrip()}" for line in ["", *_fenced(lines).splitlines()]) if lines else ""


def _fenced(text: str) -> str:
    """Lines that cannot close their fence."""
    lines = "\n".join(map(visible, text.splitlines())).replace("```", "'''").rstrip()
    return f"```yaml\n{lines}\n```"


def _table(rows: Rows) -> str:
    """A table of GitHub's dialect below its caption, figures aligned right; details of a cell follow its first line."""
    marks = ["---" if rows.numeric_from is None or at < rows.numeric_from else "---:" for at in range(len(rows.head))]
    lines = [_row([escaped(one) for one in rows.head]), _row(marks), *(_row([*map(_cell, row)]) for row in rows.body)]
    caption = f"**{escaped(rows.caption)}**" if rows.caption else ""
    return "\n\n".join(part for part in (caption, "\n".join(lines), escaped(rows.note)) if part)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return "; ".join(map(escaped, text.split("\n")))
