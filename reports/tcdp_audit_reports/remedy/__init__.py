"""The repair of a release for every report format: sentences, tables and charts made from the log of changes."""

from tcdp_audit_reports.remedy.section import Repair, repair

__all__ = ["Repair", "repair"]
