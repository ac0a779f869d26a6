"""What the engine is opened on: a frame of the caller's, a path, or a table of the catalogue."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from subprocess import DEVNULL
from typing import Any
from urllib.parse import urlsplit

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from tcdp_audit.plugin.engine import Engine, UsageError, redact_errors
from tcdp_audit_plugins.engines.spark import SCHEME
from tcdp_audit_plugins.engines.spark.engine import SparkEngine
from tcdp_audit_plugins.engines.spark.faults import on_cluster, without_warning_of_pandas
from tcdp_audit_plugins.engines.spark.files import read_parquet, require_version_of_frame

_CONNECT = {"SPARK_REMOTE", "SPARK_API_MODE"}  # where these are set, Java is started by others or elsewhere


@redact_errors()
def engine_over(given: Any, name: str, memory: int) -> Engine:  # noqa: ARG001 - the work is done where the memory is another
    """An engine on a Spark DataFrame, or on `spark:` and a path of Parquet files or a table's name.

    Raises:
        UsageError: there is nothing after the scheme, no such table, or one whose folder holds earlier versions.
        DataError: Spark cannot read it.
    """
    if not isinstance(given, str):
        require_version_of_frame(given, name)
        return SparkEngine(given, name, f"memory:{name}")
    location = given.removeprefix(SCHEME)
    if not location:
        raise UsageError("spark: names no table; write spark:PATH for Parquet files, or spark:TABLE")
    shown = without_credentials(location)
    session, close = _session()
    try:
        with on_cluster(shown):
            frame = read_parquet(session, location, shown) if _is_path(location) else session.table(location)
        require_version_of_frame(frame, shown)
        return SparkEngine(frame, shown, f"{SCHEME}{shown}", close)
    except BaseException:
        close()
        raise


def _is_path(location: str) -> bool:
    """Whether it is a path and not a table of the catalogue."""
    return "/" in location or os.sep in location or location.endswith(".parquet")


def without_credentials(location: str) -> str:
    """A location without user, password and query, for messages and provenance."""
    if "://" not in location:
        return location
    parts = urlsplit(location)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _session() -> tuple[Any, Callable[[], None]]:
    """The session that is there, or one of our own and how to stop it."""
    with on_cluster("spark"), without_warning_of_pandas():
        active = SparkSession.getActiveSession()
        if active is not None:
            return active, _nothing
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # what `python3` is has no tcdp-audit, as a rule
        settings: dict[str, Any] = {"spark.app.name": "tcdp-audit", "spark.ui.showConsoleProgress": "false"}
        if not _CONNECT & set(os.environ):
            _start_java(settings)
        session = SparkSession.builder.config(map=settings).getOrCreate()
        return session, session.stop


def _start_java(settings: dict[str, Any]) -> None:
    """Start Java without what it writes: Spark's log quotes cells, and its warnings are about other things.

    Where the program has started it before, its log is turned off.
    """
    if SparkContext._gateway is not None:  # noqa: SLF001 - there is no other way to see it
        settings["spark.log.level"] = "OFF"
        return
    conf = SparkConf().setAll([*settings.items()])
    SparkContext(conf=conf, gateway=launch_gateway(conf, {"stderr": DEVNULL}))


def _nothing() -> None:
    """The session is somebody else's."""
