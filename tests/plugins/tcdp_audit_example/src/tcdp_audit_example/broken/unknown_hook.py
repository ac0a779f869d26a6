"""A hook that does not exist: its name lacks a letter."""

from tcdp_audit.plugin.check import hookimpl


@hookimpl
def tcdp_audit_check():
    """Never asked."""
    yield None
