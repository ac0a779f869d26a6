"""Engines: where the table lives. `open_engine` picks one for whatever the caller has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tcdp_audit.engines.base import Column, Engine

__all__ = ["Column", "Engine", "open_engine"]


def open_engine(release: Any, memory: int, name: str = "release") -> Engine:
    """An engine for a path, a pandas, polars or pyarrow table, or a DuckDB relation.

    Args:
        release: the table.
        memory: budget in bytes.
        name: what the table is called in messages where it has no path.

    Raises:
        UsageError: the file does not exist, or the object is no table.
        DataError: it exists and cannot be read as a table.
    """
    from tcdp_audit.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - a database engine will not need DuckDB

    if isinstance(release, str | Path):
        return DuckDBEngine.from_path(Path(release), memory)
    return DuckDBEngine.from_frame(release, name, memory)
