"""The built-in reporters. They know the audit's words and no check by name."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin import Audit, Reporter, hookimpl


def _json(audit: Audit) -> str:
    return audit.to_json()


def _html(audit: Audit) -> str:
    from tcdp_audit_reports.html_report import render  # noqa: PLC0415 - imports jinja2

    return render(audit)


def _compile_html() -> None:
    from tcdp_audit_reports.html_report import template  # noqa: PLC0415 - imports jinja2

    template()


def _markdown(audit: Audit) -> str:
    from tcdp_audit_reports.markdown_report import render  # noqa: PLC0415 - only when asked for

    return render(audit)


@hookimpl
def tcdp_audit_reporters() -> Iterator[Reporter]:
    """JSON, HTML and Markdown."""
    yield Reporter(name="json", title="JSON result", suffix=".json", render=_json)
    yield Reporter(name="html", title="HTML report", suffix=".html", render=_html, prepare=_compile_html)
    yield Reporter(name="markdown", title="Markdown summary", suffix=".md", render=_markdown)
