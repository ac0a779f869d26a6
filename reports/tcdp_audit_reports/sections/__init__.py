"""The built-in sections of reports, by ascending order: a module each, with `blocks` and, for fixed layouts, `html`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from tcdp_audit.plugin.report import Audit, ReportSection

LAID_OUT = frozenset({"demands", "coverage", "findings", "remedy", "glossary"})  # in HTML of their own
BUILT_IN = (  # name, title, order
    ("basis", "What this verdict rests on", 100),
    ("next_steps", "What to do next", 200),
    ("scenarios", "Who might attack", 250),
    ("demands", "What the policy demands, and what was found", 300),
    ("coverage", "What was checked, and what was not", 400),
    ("findings", "Findings, one by one", 500),
    ("remedy", "Remedy", 700),
    ("glossary", "Glossary", 800),
    ("appendix", "Appendix", 900),
)


def built_in_sections() -> Iterator[ReportSection]:
    """Every built-in section; its module is imported when it is written."""
    for name, title, order in BUILT_IN:
        yield _section(name, title, order)


def _section(name: str, title: str, order: int) -> ReportSection:
    return ReportSection(
        name=name,
        title=title,
        order=order,
        heading=_heading if name == "remedy" else None,
        blocks=lambda audit: _module(name).blocks(audit) if _applies(name, audit) else (),
        html=(lambda audit: _module(name).html(audit) if _applies(name, audit) else "") if name in LAID_OUT else None,
    )


def _applies(name: str, audit: Audit) -> bool:
    """Whether the audit has what a section is about, so that its module has to be imported."""
    return {"remedy": audit.change_log is not None, "scenarios": bool(audit.scenarios)}.get(name, True)


def import_sections() -> None:
    """Import the modules of sections, except those that few audits have."""
    for name, _, _ in BUILT_IN:
        if name not in ("remedy", "scenarios"):
            _module(name)


def _module(name: str) -> ModuleType:
    return import_module(f"{__name__}.{name}")


def _heading(audit: Audit) -> str:
    if audit.change_log is None:
        return "Remedy"
    from tcdp_audit_reports.remedy.sentences import heading  # noqa: PLC0415 - only for a release that remedies made

    return heading(audit, audit.change_log)
