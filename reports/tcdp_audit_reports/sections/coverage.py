"""What was checked and what was not: Torra's map, the regulators' words, a plain line for each risk left open."""

from __future__ import annotations

from tcdp_audit.plugin.report import Audit
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_reports.finding import rows
from tcdp_audit_reports.markdown_text import escaped
from tcdp_audit_reports.pages import filled
from tcdp_audit_reports.sections.coverage_map import coverage
from tcdp_audit_reports.sections.open_risks import REGULATORS, open_risks, regulators


def html(audit: Audit) -> str:
    """The map, the regulators' three questions, and the risks that nothing was asked about."""
    return filled(
        "coverage.html.j2",
        coverage=coverage(audit, rows(audit)),
        questions=regulators(audit),
        sources=REGULATORS,
        open_risks=[(visible(title), visible(risk)) for title, risk in open_risks(audit)],
    )


def markdown(audit: Audit) -> str:
    """The same as lists."""
    asked = [f"- **{escaped(one.word)}** ({escaped(one.question)}): {escaped(one.answer)}" for one in regulators(audit)]
    open_ = [f"- {escaped(title)}: {escaped(risk)}" for title, risk in open_risks(audit)]
    parts = ["\n".join(asked)]
    if open_:
        parts += ["### Not examined", "\n".join(open_)]
    return "\n\n".join(parts)
