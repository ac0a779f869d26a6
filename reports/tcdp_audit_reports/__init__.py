"""The built-in reporters. They know the audit's words and no check by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from tcdp_audit.plugin.check import hookimpl
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.report import Reporter, ReportSection

if TYPE_CHECKING:
    from tcdp_audit.plugin.report import Audit, AuditComparison, Frontier, Unaudited

    Results: TypeAlias = Sequence[Audit | Unaudited]


def _lazy(module: str, function: str = "render") -> Callable[[Any], Any]:
    """The function of a module that is imported when a report is written: some import jinja2, which is slow."""

    def render(result: Any) -> Any:
        return getattr(import_module(f"{__name__}.{module}"), function)(result)

    return render


def _document(suffix: str, title: str, library: str, package: str) -> Reporter:
    """A format for paper, of a library that is an extra."""
    module = f"documents.{suffix[1:]}_report"

    def require() -> None:
        if find_spec(library) is None:
            raise UsageError(f'a report in {suffix} needs {package}; pip install "tcdp-audit[{suffix[1:]}]"')

    def written(function: str) -> Callable[[Any], bytes]:
        def render(result: Any) -> bytes:
            require()
            content: bytes = _lazy(module, function)(result)
            return content

        return render

    return Reporter(
        name=suffix[1:],
        title=title,
        suffix=suffix,
        render=written("render"),
        render_comparison=written("render_comparison"),
        render_frontier=written("render_frontier"),
        prepare=lambda: import_module(f"{__name__}.{module}"),
        require=require,
    )


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
    """Formats of an audit a file (JSON, HTML, Markdown, PDF, Word, ODCS), and of a run a file (all others)."""
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
    yield _document(".pdf", "PDF report", "typst", "Typst")
    yield _document(".docx", "Word report", "docx", "python-docx")
    yield _of_run("junit", "JUnit XML", ".junit.xml", _lazy("junit_report"))
    yield _of_run("sarif", "SARIF 2.1.0", ".sarif", _lazy("code_scanning"))
    yield _of_run(
        "code_quality", "GitLab code quality", ".codequality.json", _lazy("code_scanning", "render_code_quality")
    )
    yield _of_run("openlineage", "OpenLineage events", ".openlineage.jsonl", _lazy("catalogues", "render_openlineage"))
    yield Reporter(name="odcs", title="ODCS contract", suffix=".odcs.yaml", render=_lazy("catalogues", "render_odcs"))


@hookimpl
def tcdp_audit_report_sections() -> Iterator[ReportSection]:
    """The sections of HTML and Markdown reports, after their first lines."""
    from tcdp_audit_reports.sections import built_in_sections  # noqa: PLC0415 - only for reports

    yield from built_in_sections()
