"""What this plugin provides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tcdp_audit.plugin.check import ClassCheck, hookimpl
from tcdp_audit.plugin.remedy import Remedy
from tcdp_audit.plugin.report import Audit, Reporter
from tcdp_audit_example.dominance import DOMINANCE
from tcdp_audit_example.rare_classes import RARE_CLASSES


def _lines(audit: Audit) -> str:
    return "".join(f"{one.check}={one.status.value}\n" for one in audit.expectations)


@hookimpl
def tcdp_audit_checks() -> Iterator[ClassCheck[Any]]:
    """One check."""
    yield DOMINANCE


@hookimpl
def tcdp_audit_remedies() -> Iterator[Remedy[Any]]:
    """One remedy."""
    yield RARE_CLASSES


@hookimpl
def tcdp_audit_reporters() -> Iterator[Reporter]:
    """One report format."""
    yield Reporter(name="example_lines", title="Lines", suffix=".lines", render=_lines)
