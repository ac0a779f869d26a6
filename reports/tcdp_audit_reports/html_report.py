"""The HTML report: one file, no script, no request. All is prepared here; the template only lays it out."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from tcdp_audit.plugin import VERDICTS, Audit, Rows, Table, count, tool, verdict_sentence, visible
from tcdp_audit_reports.certificate import reasons, structure_rows, tally
from tcdp_audit_reports.chart import Table as ShownTable
from tcdp_audit_reports.compiled import compiled
from tcdp_audit_reports.conventions_tried import conventions_tried
from tcdp_audit_reports.coverage import coverage
from tcdp_audit_reports.finding import Pairs, findings, plain
from tcdp_audit_reports.policy_text import shown_policy

if TYPE_CHECKING:
    from jinja2 import Template

    from tcdp_audit_reports.remedy import Repair

TEMPLATES = Path(__file__).parent / "templates"
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
TOKENS = ("suppressed_tokens", "missing_tokens")  # conventions that are cells themselves


def render(audit: Audit) -> str:
    """The audit as one HTML file; the same audit gives the same bytes. Cost: linear in the outcomes."""
    values = any(one.cells is not None for outcome in audit.outcomes for one in outcome.worst)
    sections = findings(audit)
    policy, withheld = shown_policy(audit.policy.text, show_values=values)
    result = _inert(audit.as_json())
    remedied = audit.change_log is not None
    return template().render(
        css=Markup(stylesheet(remedied=remedied)),  # noqa: S704 - the package's own files
        css_hash=stylesheet_hash(remedied=remedied),
        word=VERDICTS[audit.status],
        state=audit.status,
        sentence=verdict_sentence(audit),
        date=_date(audit.audited_at),
        number=hashlib.sha256(result.encode()).hexdigest()[:8],
        release=visible(audit.release.name),
        about_release=f"{count(audit.release.records, 'record')}, {count(audit.release.columns, 'column')}",
        particulars=_particulars(audit),
        tally=tally(audit),
        reasons=reasons(audit),
        findings=sections,
        expectations=count(len(sections), "expectation"),
        remedy=_repair(audit) if remedied else None,
        sections=_sections(audit),
        structure=structure_rows(audit),
        coverage=coverage(audit, sections),
        policy="\n".join(map(visible, policy.splitlines())),
        policy_name=visible(audit.policy.name),
        withheld=withheld,
        values=values,
        conventions=_conventions(audit),
        conventions_tried=conventions_tried(audit),
        environment=_environment(audit),
        result=result,
        tool=_tool(),
    )


@cache
def template() -> Template:
    """The page."""
    return compiled(TEMPLATES / "report.html.j2")


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


def _repair(audit: Audit) -> Repair | None:
    from tcdp_audit_reports.remedy import repair  # noqa: PLC0415 - only for a release that remedies made

    return repair(audit)


def _sections(audit: Audit) -> list[dict[str, Any]]:
    """What plugins add: a title, and blocks of which each is a paragraph or a table."""
    return [{"title": visible(title), "blocks": [_block(one) for one in blocks]} for title, blocks in audit.sections]


def _block(block: str | Rows) -> tuple[str, ShownTable | None]:
    if isinstance(block, str):
        return visible(block), None
    rows = [[visible(cell) for cell in row] for row in block.body]
    return "", ShownTable(visible(block.caption), tuple(map(visible, block.head)), rows)


def _inert(result: Any) -> Markup:
    """JSON that no parser of HTML takes for markup: in its strings `<`, `>` and `&` are escapes."""
    text = json.dumps(result, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - nothing in it can open a tag or an entity


def _date(moment: datetime) -> str:
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def _tool() -> str:
    about = tool()
    return f"{about['name']} {about['version']}"


def _particulars(audit: Audit) -> list[tuple[str, list[str]]]:
    """What was audited, by which policy, when and with what."""
    policy = audit.policy
    external = [info for info in audit.plugins.infos if info.is_external]
    plugins = count(len(external), "external plugin") if external else "built-in plugins only"
    log = audit.change_log
    repaired = [] if log is None or not log.steps else [("Repaired from", _described(log.input))]
    compared = [(f"Compared with {name}", _described(table)) for name, table in audit.companions.items()]
    return [
        ("Release", _described(audit.release)),
        *repaired,
        *compared,
        ("Policy", [visible(policy.name), _short(policy.sha256)]),
        ("Audited", [f"{_date(audit.audited_at)}, {audit.audited_at:%H:%M} UTC", _tool(), plugins]),
    ]


def _described(table: Table) -> list[str]:
    return [
        visible(table.name),
        f"{count(table.records, 'record')}, {count(table.columns, 'column')}",
        *(["a table in memory"] if table.in_memory else []),
        *([_short(table.sha256)] if table.sha256 else []),
    ]


def _short(digest: str) -> str:
    return f"SHA-256 {digest[:12]}…"


def _conventions(audit: Audit) -> Pairs:
    """The policy's conventions; tokens that stand for a cell are counted, not shown."""
    conventions = audit.policy.conventions.model_dump()
    pairs = [(plain(name), plain(value)) for name, value in conventions.items() if name not in TOKENS]
    tokens = [(plain(name), f"{len(conventions[name]):,} declared") for name in TOKENS if name in conventions]
    return [*pairs, *tokens, ("unit of privacy", visible(audit.policy.document.unit or "one record"))]


def _environment(audit: Audit) -> Pairs:
    about = tool()
    libraries = [(name, version) for name, version in about["libraries"].items()]
    plugins = [
        (
            f"plugin {info.name}",
            visible(f"{info.distribution} {info.version}".strip()) + (", not in use" if info.error else ""),
        )
        for info in audit.plugins.infos
    ]
    digests = [
        ("release's content" if audit.release.in_memory else "release", audit.release.sha256 or "unknown"),
        ("policy", audit.policy.sha256),
    ]
    sums = [(f"SHA-256 of the {name}", digest) for name, digest in digests]
    return [("auditor", _tool()), ("Python", about["python"]), *libraries, *plugins, *sums]
