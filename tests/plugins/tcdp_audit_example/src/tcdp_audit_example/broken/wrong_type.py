"""A hook that yields the name of a check where the check is expected."""

from tcdp_audit.plugin.check import hookimpl


@hookimpl
def tcdp_audit_checks():
    """A text."""
    yield "example_dominance"
