"""The built-in sections of reports, by ascending order: a module each, with `blocks` and, for fixed layouts, `html`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from types import ModuleType

from tcdp_audit.plugin._internal import Block
from tcdp_audit.plugin.report import Audit, ReportSection

LAID_OUT = frozenset({"tables", "demands", "coverage", "findings", "remedy", "glossary"})  # in HTML of their own
BUILT_IN = (  # name, title, order
    ("scenarios", "Who might attack", 90),
    ("columns", "What is in the file", 200),
    ("next_steps", "What to do next", 300),
    ("remedy", "Remedy", 350),
    ("unexamined", "What was not examined", 400),
    ("basis", "What this verdict rests on", 500),
    ("demands", "What the policy demands", 550),
    ("tables", "The tables", 560),
    ("findings", "Findings, one by one", 570),
    ("coverage", "Annex A: What was checked", 800),
    ("not_run", "Annex B: Checks that were not run", 820),
    ("glossary", "Annex C: Glossary", 850),
    ("appendix", "Annex D: The policy and the run", 900),
)
MODULES = {"not_run": "unexamined"}  # of the one with two sections


def built_in_sections() -> Iterator[ReportSection]:
    """Every built-in section; its module is imported when it is written."""
    for name, title, order in BUILT_IN:
        yield _section(name, title, order)


def _section(name: str, title: str, order: int) -> ReportSection:
    return ReportSection(
        name=name,
        title=title,
        order=order,
        heading={"remedy": _heading, "tables": _heading_of_tables, "columns": _heading_of_columns}.get(name),
        blocks=lambda audit: _blocks(name, audit) if _applies(name, audit) else (),
        html=(lambda audit: _module(name).html(audit) if _applies(name, audit) else "") if name in LAID_OUT else None,
    )


def _applies(name: str, audit: Audit) -> bool:
    """Whether the audit has what a section is about, so that its module has to be imported."""
    has_cells = bool(audit.figures) or any(one.failing_cells for one in audit.outcomes)
    return {"remedy": audit.change_log is not None, "scenarios": bool(audit.scenarios), "tables": has_cells}.get(
        name, True
    )


def import_sections() -> None:
    """Import the modules of sections, except those that few audits have."""
    for name, _, _ in BUILT_IN:
        if name not in ("remedy", "scenarios", "tables"):
            _module(name)


def _module(name: str) -> ModuleType:
    return import_module(f"{__name__}.{MODULES.get(name, name)}")


def _blocks(name: str, audit: Audit) -> Iterable[Block]:
    """The blocks of a section by the function of its name, or by `blocks`."""
    module = _module(name)
    return getattr(module, name if name in MODULES else "blocks")(audit)


def _heading_of_columns(audit: Audit) -> str:
    return "What is in the file" if audit.has_records else "What is in the tables"


def _heading_of_tables(audit: Audit) -> str:
    return "The tables" if audit.figures else "The models"


def _heading(audit: Audit) -> str:
    if audit.change_log is None:
        return "Remedy"
    from tcdp_audit_reports.remedy.sentences import heading  # noqa: PLC0415 - only for a release that remedies made

    return heading(audit, audit.change_log)
