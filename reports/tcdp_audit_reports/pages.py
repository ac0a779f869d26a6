"""The templates of the HTML report: one environment that escapes everything, one place that loads them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit_reports.compiled import compiled

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).parent / "templates"
FRAME = "report.html.j2"


@cache
def template(name: str = FRAME) -> Template:
    """A template of the folder, by default the frame; those of sections belong to its environment."""
    if name == FRAME:
        return compiled(TEMPLATES / FRAME)
    return template().environment.get_template(name)


def prepared() -> None:
    """Have every template of the report at hand."""
    for name in template().environment.list_templates(["j2"]):
        template(name)


def filled(name: str, **values: Any) -> str:
    """A template of the same folder, filled in; every text is escaped."""
    return template(name).render(**values)
