"""Files of SPSS, Stata and SAS, read by pyreadstat: value labels, declared missing values, dates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit.plugin._internal import scheme_of
from tcdp_audit.plugin.engine import EngineOpener

if TYPE_CHECKING:
    from tcdp_audit.plugin.engine import Engine

SUFFIXES = (".dta", ".por", ".sas7bdat", ".sav", ".xpt", ".zsav")


def is_statistical(table: Any) -> bool:
    """Whether a table is a file of SPSS, Stata or SAS on this machine, by its extension."""
    return isinstance(table, str | Path) and not scheme_of(table) and Path(table).suffix.lower() in SUFFIXES


def open_statistical(table: Any, _: str, memory: int) -> Engine:
    """The embedded engine over a file of SPSS, Stata or SAS."""
    from tcdp_audit_plugins.engines.statistics.reading import open_with_pyreadstat  # noqa: PLC0415 - imports pyarrow

    return open_with_pyreadstat(Path(table), memory)


STATISTICAL_FILES = EngineOpener(
    name="statistical_files",
    title="SPSS, Stata and SAS",
    summary="Files of SPSS (.sav, .zsav, .por), Stata (.dta) and SAS (.sas7bdat, .xpt); needs tcdp-audit[statistics].",
    accepts=is_statistical,
    open=open_statistical,
)
