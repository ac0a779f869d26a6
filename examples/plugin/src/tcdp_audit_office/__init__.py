"""An office's own rules: what this plugin yields to tcdp-audit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tcdp_audit.plugin.check import AttackCheck, ClassCheck, TableCheck, hookimpl
from tcdp_audit.plugin.remedy import Remedy
from tcdp_audit.plugin.report import ReportSection
from tcdp_audit_office.best_guess import BEST_GUESS
from tcdp_audit_office.checklist import CHECKLIST
from tcdp_audit_office.enough_records import ENOUGH_RECORDS
from tcdp_audit_office.majority import MAJORITY
from tcdp_audit_office.top_coding import TOP_CODING


@hookimpl
def tcdp_audit_checks() -> Iterator[ClassCheck[Any] | AttackCheck[Any] | TableCheck[Any]]:
    """A check of each kind."""
    yield BEST_GUESS
    yield MAJORITY
    yield ENOUGH_RECORDS


@hookimpl
def tcdp_audit_remedies() -> Iterator[Remedy[Any]]:
    """A remedy."""
    yield TOP_CODING


@hookimpl
def tcdp_audit_report_sections() -> Iterator[ReportSection]:
    """A section of the report."""
    yield CHECKLIST
