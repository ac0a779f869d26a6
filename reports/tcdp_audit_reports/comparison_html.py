"""Two audits beside each other as one HTML file: no script, no request."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Template
from markupsafe import Markup

from tcdp_audit.plugin._internal import title_in
from tcdp_audit.plugin.report import AuditComparison, Change, Fact, tool
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_reports.compiled import compiled

TEMPLATES = Path(__file__).parent / "templates"


def render(comparison: AuditComparison) -> str:
    """The comparison as HTML; the same comparison gives the same bytes. Cost: linear in the expectations."""
    about = tool()
    return _template().render(
        css=Markup(_stylesheet()),  # noqa: S704 - the package's own file
        css_hash=base64.b64encode(hashlib.sha256(_stylesheet().encode()).digest()).decode(),
        was=title_in(comparison.old.result),
        now=title_in(comparison.new.result),
        direction=comparison.verdict.value,
        sentence=visible(comparison.sentence),
        sides=[_side(name, one) for name, one in (("Old", comparison.old), ("New", comparison.new))],
        changes=[_row(one) for one in comparison.expectations],
        tables=[
            ("Columns", _facts(comparison.changed_columns)),
            ("What else differs", _facts(comparison.changed_facts)),
            ("What is the same", _facts([one for one in comparison.facts if one.is_same])),
        ],
        tool=f"{about['name']} {about['version']}",
    )


def _side(name: str, audit: Any) -> tuple[str, str]:
    """Which audit it is, and what came of it."""
    verdict = title_in(audit.result)
    return name, f"{visible(audit.path.name)}: {visible(audit.release.name)}, {verdict}"


def _row(change: Change) -> dict[str, Any]:
    """An expectation as the template lays it out."""
    return {
        "kind": change.kind,
        "title": change.title,
        "about": [line for line in (change.attribute, change.parameters, change.demands) if line],
        "was": (change.observed(change.old), change.state(change.old)),
        "now": (change.observed(change.new), change.state(change.new)),
    }


def _facts(facts: Iterable[Fact]) -> list[tuple[str, ...]]:
    return [tuple(map(visible, (one.name, one.old, one.new))) for one in facts]


@cache
def _template() -> Template:
    return compiled(TEMPLATES / "comparison.html.j2")


@cache
def _stylesheet() -> str:
    text = (TEMPLATES / "comparison.css").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", text).strip()
