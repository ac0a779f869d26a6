"""Every finding: a sentence about the release, one about a person, the picture that fits, its data."""

from __future__ import annotations

from collections.abc import Sequence

from tcdp_audit.plugin._internal import state_of
from tcdp_audit.plugin.report import Audit
from tcdp_audit.plugin.sentences import Outcome, count, prose
from tcdp_audit_reports.finding import Finding, attribute_of, findings
from tcdp_audit_reports.markdown_text import escaped
from tcdp_audit_reports.pages import filled


def html(audit: Audit) -> str:
    """An article for each of the policy's expectations."""
    shown = findings(audit)
    return filled("findings.html.j2", findings=shown, briefly=_briefly(shown))


def _briefly(shown: Sequence[Finding]) -> str:
    """Why most have no pictures, in a report of very many."""
    whole = sum(not one.is_brief for one in shown)
    if whole == len(shown):
        return ""
    told = f"Of {count(len(shown), 'result')} the {whole:,} that matter most have pictures and tables"
    return f"{told}; the machine-readable result in this file has all."


def markdown(audit: Audit) -> str:
    """A paragraph for each."""
    return "\n\n".join(_paragraph(audit, one) for one in audit.expectations)


def _paragraph(audit: Audit, outcome: Outcome) -> str:
    attribute = attribute_of(outcome, audit.plugins.checks.get(outcome.check))
    name = f"{outcome.title or outcome.check}, {attribute}" if attribute != "–" else outcome.title or outcome.check
    parts = [f"**{escaped(name)}** ({state_of(outcome)}). {escaped(prose(outcome.message))}"]
    if outcome.individual_impact:
        parts.append(escaped(prose(outcome.individual_impact)))
    cells = [
        f"- group {one.ordinal:,}: " + "; ".join(f"{escaped(k)}: {escaped(v)}" for k, v in one.cells.items())
        for one in outcome.worst
        if one.cells is not None
    ]
    return "\n".join([" ".join(parts), "", *cells]) if cells else " ".join(parts)
