"""The built-in checks, one file a family."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit import hookimpl
from tcdp_audit.check import Check
from tcdp_audit_plugins.checks import k_anonymity, l_diversity, t_closeness


@hookimpl
def tcdp_audit_checks() -> Iterator[Check]:
    """Every built-in check."""
    yield from k_anonymity.CHECKS
    yield from l_diversity.CHECKS
    yield from t_closeness.CHECKS
