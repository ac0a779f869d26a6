"""The HTML report: one file, no script, no request. A frame with the verdict; all else are sections."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache

from markupsafe import Markup

from tcdp_audit.plugin._internal import exposed_sentence, packed, verdict_sentence, verdict_title
from tcdp_audit.plugin.report import Audit, FilledSection, Rows, tool
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_reports.certificate import reasons, tally
from tcdp_audit_reports.chart import Table as ShownTable
from tcdp_audit_reports.finding import rows
from tcdp_audit_reports.pages import TEMPLATES, filled, template
from tcdp_audit_reports.particulars import particulars, written_date


def render(audit: Audit) -> str:
    """The audit as one HTML file; the same audit gives the same bytes. Cost: linear in the outcomes."""
    result = json.dumps(audit.as_json(), separators=(",", ":"))
    remedied = audit.change_log is not None
    return template().render(
        css=Markup(stylesheet(remedied=remedied)),  # noqa: S704 - the package's own files
        css_hash=stylesheet_hash(remedied=remedied),
        word=verdict_title(audit),
        state=audit.verdict,
        sentence=verdict_sentence(audit),
        relation=_relation(audit),
        origin=_origin(audit),
        date=written_date(audit.audited_at),
        number=hashlib.sha256(result.encode()).hexdigest()[:8],
        release=visible(audit.release.name),
        particulars=particulars(audit),
        tally=tally(audit),
        reasons=reasons(audit),
        rows=rows(audit),
        sections=[_section(one) for one in audit.sections("html")],
        values=any(one.cells is not None for outcome in audit.outcomes for one in outcome.worst),
        result=packed(result),
        tool=f"{tool()['name']} {tool()['version']}",
    )


@cache
def stylesheet(*, remedied: bool = False) -> str:
    """The stylesheet without comments and line ends; with what a remedied release needs on top."""
    names = ("report.css", "remedy.css") if remedied else ("report.css",)
    text = "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)
    css = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", css)).strip()


def stylesheet_hash(*, remedied: bool = False) -> str:
    """What the content security policy allows, and nothing else."""
    return base64.b64encode(hashlib.sha256(stylesheet(remedied=remedied).encode()).digest()).decode()


def _relation(audit: Audit) -> str:
    """How the agreed number stands to the others on the page; nothing where the verdict's sentence says it all."""
    relation = exposed_sentence(audit)
    return "" if relation in verdict_sentence(audit) else relation


def _origin(audit: Audit) -> str:
    """What kind of release this is, where remedies made it."""
    if audit.change_log is None:
        return ""
    from tcdp_audit_reports.remedy.sentences import origin  # noqa: PLC0415 - only for a release that remedies made

    return origin(audit, audit.change_log)


def _section(section: FilledSection) -> dict[str, str]:
    """A section with its markup: its own, or that of its paragraphs and tables."""
    content = section.content
    html = content if isinstance(content, str) else filled("blocks.html.j2", blocks=[_block(one) for one in content])
    return {"name": section.name, "title": visible(section.title), "html": Markup(html)}  # noqa: S704 - a section's own


def _block(block: str | Rows) -> tuple[str, ShownTable | None]:
    if isinstance(block, str):
        return visible(block), None
    cells = [[visible(cell) for cell in row] for row in block.body]
    return "", ShownTable(visible(block.caption), tuple(map(visible, block.head)), cells)
