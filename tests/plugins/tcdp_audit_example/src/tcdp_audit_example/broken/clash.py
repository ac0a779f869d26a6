"""Brings a check under the name of a built-in one."""

from dataclasses import replace

from tcdp_audit.plugin.check import hookimpl
from tcdp_audit_example.dominance import DOMINANCE


@hookimpl
def tcdp_audit_checks():
    """A check that calls itself k_anonymity."""
    yield replace(DOMINANCE, name="k_anonymity")
