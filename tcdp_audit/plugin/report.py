"""Write a report or a section of one: audits, comparisons and frontiers, and the blocks to write them in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.base.audit_figures import ColumnRisk as ColumnRisk
    from tcdp_audit.core.base.outcome import Tally as Tally, WorstClass as WorstClass
    from tcdp_audit.core.base.provenance import Run as Run, Table as Table, tool as tool
    from tcdp_audit.core.release.release import AuditedColumn as AuditedColumn
    from tcdp_audit.core.results.audit import Audit as Audit
    from tcdp_audit.core.results.change_log import ChangeLog as ChangeLog, Step as Step
    from tcdp_audit.core.results.comparison import AuditComparison as AuditComparison
    from tcdp_audit.core.results.document import (
        Chart as Chart,
        Definitions as Definitions,
        Group as Group,
        Heading as Heading,
        Items as Items,
        Lines as Lines,
        Paragraph as Paragraph,
        Rows as Rows,
    )
    from tcdp_audit.core.results.findings import ToolFinding as ToolFinding
    from tcdp_audit.core.results.frontier import Frontier as Frontier
    from tcdp_audit.core.results.reporter import (
        Reporter as Reporter,
        ReportSection as ReportSection,
        Unaudited as Unaudited,
    )
    from tcdp_audit.core.results.setting_trial import RemedyTrial as RemedyTrial
else:
    __getattr__, __dir__ = on_first_use(__name__)
