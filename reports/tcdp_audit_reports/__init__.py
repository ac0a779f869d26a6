"""The built-in reporters. They know the audit's words and no check by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from tcdp_audit.plugin.check import hookimpl
from tcdp_audit.plugin.report import Reporter, ReportSection

if TYPE_CHECKING:
    from tcdp_audit.plugin.report import Audit, AuditComparison, Frontier, Unaudited

    Results: TypeAlias = Sequence[Audit | Unaudited]


def _json(audit: Audit) -> str:
    return audit.to_json()


def _html(audit: Audit) -> str:
    from tcdp_audit_reports.html_report import render  # noqa: PLC0415 - imports jinja2

    return render(audit)


def _compile_html() -> None:
    from tcdp_audit_reports.sections import import_sections  # noqa: PLC0415 - likewise
    from tcdp_audit_reports.templating import prepare_templates  # noqa: PLC0415 - imports jinja2

    prepare_templates()
    import_sections()


def _markdown(audit: Audit) -> str:
    from tcdp_audit_reports.markdown_report import render  # noqa: PLC0415 - only when asked for

    return render(audit)


def _junit(results: Results) -> str:
    from tcdp_audit_reports.junit_report import render  # noqa: PLC0415 - only when asked for

    return render(results)


def _sarif(results: Results) -> str:
    from tcdp_audit_reports.sarif_report import render  # noqa: PLC0415 - only when asked for

    return render(results)


def _code_quality(results: Results) -> str:
    from tcdp_audit_reports.code_quality import render  # noqa: PLC0415 - only when asked for

    return render(results)


def _compared_html(comparison: AuditComparison) -> str:
    from tcdp_audit_reports.html_report import render_comparison  # noqa: PLC0415 - imports jinja2

    return render_comparison(comparison)


def _compared_markdown(comparison: AuditComparison) -> str:
    from tcdp_audit_reports.markdown_report import render_comparison  # noqa: PLC0415 - only when asked for

    return render_comparison(comparison)


def _compared_json(comparison: AuditComparison) -> str:
    return comparison.to_json()


def _frontier_html(frontier: Frontier) -> str:
    from tcdp_audit_reports.html_report import render_frontier  # noqa: PLC0415 - imports jinja2

    return render_frontier(frontier)


def _frontier_markdown(frontier: Frontier) -> str:
    from tcdp_audit_reports.markdown_report import render_frontier  # noqa: PLC0415 - only when asked for

    return render_frontier(frontier)


def _frontier_json(frontier: Frontier) -> str:
    return frontier.to_json()


def _of_run(name: str, title: str, suffix: str, render: Callable[[Results], str]) -> Reporter:
    """A format that holds all audits of a run; an audit by itself is a run of one."""
    return Reporter(name=name, title=title, suffix=suffix, render=lambda one: render([one]), render_several=render)


@hookimpl
def tcdp_audit_reporters() -> Iterator[Reporter]:
    """JSON, HTML and Markdown, an audit a file; JUnit XML, SARIF and GitLab's code quality, a run a file."""
    yield Reporter(
        name="json",
        title="JSON result",
        suffix=".json",
        render=_json,
        render_comparison=_compared_json,
        render_frontier=_frontier_json,
    )
    yield Reporter(
        name="html",
        title="HTML report",
        suffix=".html",
        render=_html,
        render_comparison=_compared_html,
        render_frontier=_frontier_html,
        prepare=_compile_html,
    )
    yield Reporter(
        name="markdown",
        title="Markdown summary",
        suffix=".md",
        render=_markdown,
        render_comparison=_compared_markdown,
        render_frontier=_frontier_markdown,
    )
    yield _of_run("junit", "JUnit XML", ".junit.xml", _junit)
    yield _of_run("sarif", "SARIF 2.1.0", ".sarif", _sarif)
    yield _of_run("code_quality", "GitLab code quality", ".codequality.json", _code_quality)


@hookimpl
def tcdp_audit_report_sections() -> Iterator[ReportSection]:
    """What HTML and Markdown reports consist of, after their first lines."""
    from tcdp_audit_reports.sections import built_in_sections  # noqa: PLC0415 - only for reports

    yield from built_in_sections()
