"""A hook that asks for an argument that no hook has."""

from tcdp_audit.plugin.check import hookimpl


@hookimpl
def tcdp_audit_checks(release):
    """Never asked."""
    yield release
