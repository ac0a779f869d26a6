"""The HTML reports: one file each, no script, no request. A frame with the verdict; all else is sections of blocks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from markupsafe import Markup

from tcdp_audit.plugin._internal import Block, embed_result, exposed_sentence, verdict_sentence, verdict_title
from tcdp_audit.plugin.report import Audit, AuditComparison, Frontier, tool
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_reports.first_screen import particulars, reasons, tally, written_date
from tcdp_audit_reports.sections.findings import rows
from tcdp_audit_reports.templating import blocks_as_html, fill_template, stylesheet, stylesheet_hash, template

CLAIMS = (
    "Both audits are taken at their word; nothing was computed again. This comparison contains no cell of a release."
)
CELLS = "This page contains no cell of a release but those that a policy's own lines name."


def render(audit: Audit) -> str:
    """The audit as one HTML file; the same audit gives the same bytes. Cost: linear in the outcomes."""
    result = json.dumps(audit.as_json(), separators=(",", ":"))
    further = {"remedy.css": audit.change_log is not None, "scenarios.css": bool(audit.scenarios)}
    styles = ("report.css", *(name for name, applies in further.items() if applies))
    return template().render(
        css=Markup(stylesheet(*styles)),  # noqa: S704 - the package's own files
        css_hash=stylesheet_hash(*styles),
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
        sections=_sections(audit),
        values=audit.shows_values,
        result=embed_result(result),
        tool=_tool(),
    )


def render_comparison(comparison: AuditComparison) -> str:
    """The comparison as HTML; the same comparison gives the same bytes. Cost: linear in the expectations."""
    sentence, blocks = comparison.sentence, [*comparison.blocks()]
    return _page("Two disclosure audits compared", comparison.title, sentence, blocks, CLAIMS)


def render_frontier(frontier: Frontier) -> str:
    """The frontier as HTML; the same frontier gives the same bytes. Cost: linear in the settings."""
    from tcdp_audit_reports.frontier_blocks import TITLE, frontier_blocks  # noqa: PLC0415 - only for a frontier

    blocks = [*frontier_blocks(frontier)]
    return _page("The frontier of risk and loss", TITLE, f"{frontier.sentence}.", blocks, CELLS)


def _page(kicker: str, title: str, sentence: str, blocks: Sequence[Block], footer: str) -> str:
    return fill_template(
        "page.html.j2",
        css=Markup(stylesheet("page.css")),  # noqa: S704 - the package's own file
        css_hash=stylesheet_hash("page.css"),
        kicker=kicker,
        title=visible(title),
        sentence=visible(sentence),
        content=blocks_as_html(blocks, "page", level=2),
        footer=f"{_tool()}. {footer}",
    )


def _tool() -> str:
    return f"{tool()['name']} {tool()['version']}"


def _relation(audit: Audit) -> str:
    """The relation of the agreed number to the others on the page; nothing where the verdict's sentence says it all."""
    relation = exposed_sentence(audit)
    return "" if relation in verdict_sentence(audit) else relation


def _origin(audit: Audit) -> str:
    if audit.change_log is None:
        return ""
    from tcdp_audit_reports.remedy.sentences import origin  # noqa: PLC0415 - only for a release that remedies made

    return origin(audit, audit.change_log)


def _sections(audit: Audit) -> list[dict[str, str]]:
    return [
        {
            "name": one.name,
            "title": visible(one.title),
            "html": Markup(one.html) or blocks_as_html(one.blocks, one.name),  # noqa: S704 - a section's own markup
        }
        for one in audit.sections(as_html=True)
    ]
