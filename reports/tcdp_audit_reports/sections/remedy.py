"""What remedies did to the release; nothing where none came before the audit."""

from __future__ import annotations

from tcdp_audit.plugin.report import Audit
from tcdp_audit_reports.pages import filled


def html(audit: Audit) -> str:
    """Before and after, what was lost, what else was tried."""
    if audit.change_log is None:
        return ""
    from tcdp_audit_reports.remedy import repair  # noqa: PLC0415 - only for a release that remedies made

    remedy = repair(audit)
    return "" if remedy is None else filled("remedy.html.j2", remedy=remedy)


def markdown(audit: Audit) -> str:
    """The same as paragraphs and tables."""
    if audit.change_log is None:
        return ""
    from tcdp_audit_reports.remedy import repair  # noqa: PLC0415 - likewise
    from tcdp_audit_reports.remedy.markdown import blocks  # noqa: PLC0415 - likewise

    remedy = repair(audit)
    return "" if remedy is None else "\n\n".join(blocks(remedy))
