"""The hooks that a plugin may implement. Every hook yields frozen specifications and nothing else.

A plugin is a module (or object) behind an entry point of group `tcdp_audit`::

    from tcdp_audit import hookimpl

    @hookimpl
    def tcdp_audit_checks():
        yield MY_CHECK
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from tcdp_audit.check.kinds import Check
    from tcdp_audit.remedy.remedy import Remedy
    from tcdp_audit.reporter import Reporter

PROJECT = "tcdp_audit"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def tcdp_audit_checks() -> Iterable[Check]:  # type: ignore[empty-body]
    """Yield the checks that this plugin provides."""


@hookspec
def tcdp_audit_remedies() -> Iterable[Remedy[Any]]:  # type: ignore[empty-body]
    """Yield the remedies that this plugin provides."""


@hookspec
def tcdp_audit_reporters() -> Iterable[Reporter]:  # type: ignore[empty-body]
    """Yield the report formats that this plugin provides."""
