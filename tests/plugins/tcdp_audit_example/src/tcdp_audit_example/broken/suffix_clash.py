"""Brings a report format for an extension that is taken."""

from tcdp_audit.plugin.check import hookimpl
from tcdp_audit.plugin.report import Reporter


@hookimpl
def tcdp_audit_reporters():
    """A format for `.json`."""
    yield Reporter(name="other_json", title="Another", suffix=".json", render=lambda _: "{}")
