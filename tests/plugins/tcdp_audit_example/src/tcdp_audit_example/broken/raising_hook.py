"""A hook that yields a check and then raises."""

from dataclasses import replace

from tcdp_audit.plugin.check import hookimpl
from tcdp_audit_example.dominance import DOMINANCE


@hookimpl
def tcdp_audit_checks():
    """Gets half way."""
    yield replace(DOMINANCE, name="half_way")
    raise RuntimeError("the rest is missing")
