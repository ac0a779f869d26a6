"""A section of the report: what has to be done before the release is published."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin.report import Audit, ReportSection, Rows
from tcdp_audit.plugin.sentences import Status


def checklist(audit: Audit) -> Iterator[str | Rows]:
    """A sentence, and a row for each outcome that fails or could not be measured."""
    open_points = [one for one in audit.outcomes if one.status in (Status.FAILED, Status.ERROR)]
    if not open_points:
        yield "Nothing is open: the head of the office can sign."
        return
    yield "Each of these points is settled before the head of the office signs."
    rows = [(one.check, one.attribute or "", one.message) for one in open_points]
    yield Rows(("check", "attribute", "what was found"), tuple(rows), caption="Open points")


CHECKLIST = ReportSection(name="checklist", title="Before publication", blocks=checklist)
