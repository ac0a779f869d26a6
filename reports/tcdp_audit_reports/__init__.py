"""The built-in reporters. They know the audit's words and no check by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from tcdp_audit.plugin.check import hookimpl
from tcdp_audit.plugin.report import Reporter, ReportSection

if TYPE_CHECKING:
    from tcdp_audit.plugin.report import Audit, AuditComparison, Frontier, Unaudited

    Results: TypeAlias = Sequence[Audit | Unaudited]


def _lazy(module: str, function: str = "render") -> Callable[[Any], str]:
    """The function of a module that is imported when a report is written: some import jinja2, which is slow."""

    def render(result: Any) -> str:
        text: str = getattr(import_module(f"{__name__}.{module}"), function)(result)
        return text

    return render


def _as_json(result: Audit | AuditComparison | Frontier) -> str:
    return result.to_json()


def _compile_html() -> None:
    from tcdp_audit_reports.sections import import_sections  # noqa: PLC0415 - likewise
    from tcdp_audit_reports.templating import prepare_templates  # noqa: PLC0415 - imports jinja2

    prepare_templates()
    import_sections()


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
        render=_as_json,
        render_comparison=_as_json,
        render_frontier=_as_json,
    )
    yield Reporter(
        name="html",
        title="HTML report",
        suffix=".html",
        render=_lazy("html_report"),
        render_comparison=_lazy("html_report", "render_comparison"),
        render_frontier=_lazy("html_report", "render_frontier"),
        prepare=_compile_html,
    )
    yield Reporter(
        name="markdown",
        title="Markdown summary",
        suffix=".md",
        render=_lazy("markdown_report"),
        render_comparison=_lazy("markdown_report", "render_comparison"),
        render_frontier=_lazy("markdown_report", "render_frontier"),
    )
    yield _of_run("junit", "JUnit XML", ".junit.xml", _lazy("junit_report"))
    yield _of_run("sarif", "SARIF 2.1.0", ".sarif", _lazy("code_scanning"))
    yield _of_run(
        "code_quality", "GitLab code quality", ".codequality.json", _lazy("code_scanning", "render_code_quality")
    )


@hookimpl
def tcdp_audit_report_sections() -> Iterator[ReportSection]:
    """The sections of HTML and Markdown reports, after their first lines."""
    from tcdp_audit_reports.sections import built_in_sections  # noqa: PLC0415 - only for reports

    yield from built_in_sections()
