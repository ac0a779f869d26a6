"""The built-in sections of reports: a file each. They stand in HTML and Markdown alike, by ascending order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from tcdp_audit.plugin.report import Audit, ReportSection

BUILT_IN = (  # name, title, order
    ("basis", "What this verdict rests on", 100),
    ("next_steps", "What to do next", 200),
    ("demands", "What the policy demands, and what was found", 300),
    ("coverage", "What was checked, and what was not", 400),
    ("findings", "Findings, one by one", 500),
    ("remedy", "Remedy", 700),
    ("words", "Words", 800),
    ("appendix", "Appendix", 900),
)


def built_in_sections() -> Iterator[ReportSection]:
    """Every built-in section; its module is imported when it is written."""
    for name, title, order in BUILT_IN:
        yield ReportSection(
            name=name,
            title=title,
            order=order,
            heading=_heading if name == "remedy" else None,
            html=_written_by(name, "html"),
            markdown=_written_by(name, "markdown"),
        )


def imported() -> None:
    """Import what writes them."""
    for name, _, _ in BUILT_IN:
        import_module(f"{__name__}.{name}")


def _written_by(name: str, form: str) -> Callable[[Audit], str]:
    """The function of the section's module that writes it."""
    return lambda audit: str(getattr(import_module(f"{__name__}.{name}"), form)(audit))


def _heading(audit: Audit) -> str:
    if audit.change_log is None:
        return "Remedy"
    from tcdp_audit_reports.remedy.sentences import heading  # noqa: PLC0415 - only for a release that remedies made

    return heading(audit, audit.change_log)
