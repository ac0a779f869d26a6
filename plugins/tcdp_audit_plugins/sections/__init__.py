"""Sections of reports that know the built-in checks by name: what applies only to some of them."""

from __future__ import annotations

from tcdp_audit.plugin.report import ReportSection
from tcdp_audit_plugins.sections.attacks import stories
from tcdp_audit_plugins.sections.differential_privacy import reading

SECTIONS = (
    ReportSection(name="attacks", title="How it could be used against a person", blocks=stories, order=610),
    ReportSection(name="differential_privacy", title="Read as differential privacy", blocks=reading, order=620),
)
