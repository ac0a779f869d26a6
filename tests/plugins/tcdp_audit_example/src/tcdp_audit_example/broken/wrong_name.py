"""A check whose name no policy could hold."""

from dataclasses import replace

from tcdp_audit.plugin.check import hookimpl
from tcdp_audit_example.dominance import DOMINANCE


@hookimpl
def tcdp_audit_checks():
    """A name with a blank and a capital."""
    yield replace(DOMINANCE, name="Example Dominance")
