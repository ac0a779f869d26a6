"""Spark: a DataFrame of the caller's, or `spark:` and a path of Parquet files or a table's name.

lookup       distinct cells, and what encodes cells by them
worker       what runs on the executors
partitions   the plan: one exchange, counted rows, work on each partition
engine       the table as an engine, its columns of single cells grouped
opening      a session, a path (keys of folders are text, no file is left out), a table of the catalogue
faults       what goes wrong, in sentences
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tcdp_audit.plugin.engine import EngineOpener, UsageError

if TYPE_CHECKING:
    from tcdp_audit.plugin.engine import Engine

SCHEME = "spark:"


def accepts(table: Any) -> bool:
    """Whether it is a DataFrame of Spark's, of a classic session or of Connect, or a location on a cluster."""
    if isinstance(table, str):
        return table.startswith(SCHEME)
    return type(table).__name__ == "DataFrame" and type(table).__module__.startswith("pyspark.sql.")


def opened(table: Any, name: str, memory: int) -> Engine:
    """The engine over it.

    Raises:
        UsageError: Spark is not installed, or there is nothing after the scheme.
        DataError: Spark cannot read the table.
    """
    if find_spec("pyspark") is None or find_spec("pandas") is None:  # Spark's workers import pandas
        raise UsageError('spark: needs Spark; pip install "tcdp-audit[spark]"')
    from tcdp_audit_plugins.engines.spark.opening import engine_over  # noqa: PLC0415 - imports Spark

    return engine_over(table, name, memory)


SPARK = EngineOpener(
    name="spark",
    title="Spark",
    summary="A Spark DataFrame, or spark:PATH for Parquet files and spark:TABLE for a table of the catalogue.",
    accepts=accepts,
    open=opened,
)
