"""The HTML reports: one file each, no script, no request. A frame with the verdict; all else is sections of blocks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from tcdp_audit.plugin._internal import (
    Block,
    embed_result,
    verdict_sentence,
    verdict_title,
)
from tcdp_audit.plugin.report import Audit, AuditComparison, Frontier, Group, Heading, tool
from tcdp_audit.plugin.sentences import Status, say, sentence_case, visible
from tcdp_audit_reports.first_screen import open_questions, particulars, tally, written_date
from tcdp_audit_reports.languages import in_plain_names, localised_page
from tcdp_audit_reports.people_exposed import known_facts, relation
from tcdp_audit_reports.reasons import reasons
from tcdp_audit_reports.sections.findings import rows
from tcdp_audit_reports.sections.grouped import MANY_ROWS, STYLES, demand_rows, groups_of
from tcdp_audit_reports.templating import blocks_as_html, fill_template, stylesheet, stylesheet_hash, template

CLAIMS = (
    "Both audits are taken at their word; nothing was computed again. This comparison contains no cell of a release."
)
CELLS = "This page contains no cell of a release but those that a policy's own lines name."


@in_plain_names
def render(audit: Audit) -> str:
    """The audit as one HTML file; the same audit gives the same bytes. Cost: linear in the outcomes."""
    result, audit = json.dumps(audit.as_json(), separators=(",", ":")), audit.with_known_facts()
    further = {"remedy.css": audit.change_log is not None, "scenarios.css": bool(audit.scenarios)}
    further["tables.css"] = any(one.cells is not None for one in audit.outcomes)
    further[STYLES] = bool(groups_of(audit)) or max(len(audit.columns), len(audit.figures)) > MANY_ROWS
    styles = ("report.css", *(name for name, applies in further.items() if applies))
    release = visible(audit.release.name)
    page = template().render(
        css=Markup(stylesheet(*styles)),  # noqa: S704 - the package's own files
        css_hash=stylesheet_hash(*styles),
        title=say("Disclosure audit: {word:text} – {release}", word=verdict_title(audit), release=release),
        word=verdict_title(audit),
        state=audit.verdict,
        sentence=verdict_sentence(audit),
        facts=known_facts(audit),
        relation=relation(audit),
        origin=_origin(audit),
        date=written_date(audit.audited_at),
        number=hashlib.sha256(result.encode()).hexdigest()[:8],
        particulars=particulars(audit),
        tally=tally(audit),
        reasons=reasons(audit),
        questions=open_questions(audit),
        rows=demand_rows(audit, rows(audit)),
        sections=_sections(audit),
        values=audit.shows_values,
        of_what="cells" if audit.has_records else "figures",
        has_records=audit.has_records,
        measures_figures=any(one.cells is not None and one.status is Status.MEASURED for one in audit.expectations),
        result=embed_result(result),
        tool=_tool(),
    )
    return localised_page(page)


def render_comparison(comparison: AuditComparison) -> str:
    """The comparison as HTML; the same comparison gives the same bytes. Cost: linear in the expectations."""
    frame = Frame(
        "Two disclosure audits compared", comparison.title, comparison.sentence, comparison.new.status, CLAIMS
    )
    return _page(frame, comparison.blocks())


def render_frontier(frontier: Frontier) -> str:
    """The frontier as HTML; the same frontier gives the same bytes. Cost: linear in the settings."""
    from tcdp_audit_reports.frontier_blocks import TITLE, frontier_blocks  # noqa: PLC0415 - only for a frontier

    state = {0: "measured", 1: "failed"}.get(frontier.exit_code, "error")  # it approves of nothing
    frame = Frame("The frontier of risk and loss", TITLE, f"{sentence_case(frontier.sentence)}.", state, CELLS)
    return _page(frame, frontier_blocks(frontier), written_date(frontier.made_at))


@dataclass(frozen=True)
class Frame:
    """Head, seal and foot of a page that is no report of an audit."""

    kicker: str  # the kind of document
    title: str
    sentence: str
    state: str  # of the seal: a status of an audit
    footer: str


def _page(frame: Frame, blocks: Iterable[Block], date: str = "") -> str:
    """A page with the report's frame: blocks before the first heading in its head, then a section for each heading."""
    above, *sections = _parts(blocks)
    page_in_english = fill_template(
        "page.html.j2",
        css=Markup(stylesheet("report.css", "page.css")),  # noqa: S704 - the package's own files
        css_hash=stylesheet_hash("report.css", "page.css"),
        frame=frame,
        date=date,
        above=blocks_as_html(above, "head"),
        sections=[
            {"name": f"s{place}", "title": visible(title.text), "html": blocks_as_html(content, f"s{place}")}
            for place, (title, *content) in enumerate(sections, 1)
        ],
        tool=_tool(),
    )
    return localised_page(page_in_english)


def _parts(blocks: Iterable[Block]) -> list[list[Any]]:
    """Blocks split before each heading, without the groups that only leave them out elsewhere."""
    parts: list[list[Any]] = [[]]
    for block in blocks:
        for one in block.blocks if isinstance(block, Group) and block.page_only else [block]:
            if isinstance(one, Heading):
                parts.append([])
            parts[-1].append(one)
    return parts


def _tool() -> str:
    return f"{tool()['name']} {tool()['version']}"


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
