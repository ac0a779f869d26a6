"""The built-in engines other than the embedded one, a folder each. Libraries are imported when they are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tcdp_audit.plugin.check import hookimpl
from tcdp_audit_plugins.engines.database import DATABASE
from tcdp_audit_plugins.engines.remote import REMOTE_FILES
from tcdp_audit_plugins.engines.spark import SPARK
from tcdp_audit_plugins.engines.statistics import STATISTICAL_FILES

if TYPE_CHECKING:
    from tcdp_audit.plugin.engine import EngineOpener


@hookimpl
def tcdp_audit_engines() -> Iterator[EngineOpener]:
    """Every built-in engine."""
    yield DATABASE
    yield REMOTE_FILES
    yield STATISTICAL_FILES
    yield SPARK
