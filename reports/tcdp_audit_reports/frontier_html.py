"""A frontier as one HTML file: no script, no request."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Template
from markupsafe import Markup

from tcdp_audit.plugin._internal import points_table, remedies_table, settings_table, visible_lines
from tcdp_audit.plugin.report import Frontier, Rows, tool
from tcdp_audit.plugin.sentences import count, visible
from tcdp_audit_reports.compiled import compiled
from tcdp_audit_reports.frontier_map import chart
from tcdp_audit_reports.frontier_words import TITLE, reading, untried

TEMPLATES = Path(__file__).parent / "templates"


def render(frontier: Frontier) -> str:
    """The frontier as HTML; the same frontier gives the same bytes. Cost: linear in the settings."""
    about, release = tool(), frontier.release
    return _template().render(
        css=Markup(_stylesheet()),  # noqa: S704 - the package's own file
        css_hash=base64.b64encode(hashlib.sha256(_stylesheet().encode()).digest()).decode(),
        title=TITLE,
        sentence=visible(frontier.sentence),
        facts=[
            ("release", f"{visible(release.name)}: {count(release.records, 'record')}"),
            ("SHA-256", release.sha256 or "none"),
            ("policy", visible(frontier.policy or "given by a program")),
            ("seed", str(frontier.seed)),
            *([("run by", visible(frontier.run.by))] if frontier.run.by else []),
            ("made", frontier.made_at.isoformat().replace("+00:00", "Z")),
        ],
        chart=chart(frontier),
        untried=visible(untried(frontier)),
        settings=_plain(settings_table(frontier)),
        points=_plain(points_table(frontier, detailed=True)),
        remedies=_plain(remedies_table(frontier)),
        reading=[visible(one) for one in reading(frontier)],
        lines=[visible_lines(one.lines) for one in frontier.points],
        tool=f"{about['name']} {about['version']}",
    )


def _plain(rows: Rows) -> dict[str, Any]:
    """A table whose texts act on nothing."""
    return {
        "caption": visible(rows.caption),
        "head": list(map(visible, rows.head)),
        "body": [list(map(visible, row)) for row in rows.body],
    }


@cache
def _template() -> Template:
    return compiled(TEMPLATES / "frontier.html.j2")


@cache
def _stylesheet() -> str:
    text = (TEMPLATES / "frontier.css").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", text).strip()
