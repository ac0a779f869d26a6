"""Tables of Spark: a frame of the caller's, a path, or a table of the catalogue.

Parquet files on a cluster, read as the file reader reads them, and files of which only a log says what counts.

Spark guesses the types of folders' keys (`zip=01` and `zip=1` are one integer), lets a key hide a column of the files,
leaves out files that lie in folders without a key, and leaves out keys in place of which a pattern is given. Here keys
are text, and the others are refused.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from subprocess import DEVNULL
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from tcdp_audit.plugin._internal import require_one_version
from tcdp_audit.plugin.engine import Engine, UsageError, redact_errors
from tcdp_audit_plugins.engines import SPARK_SCHEME
from tcdp_audit_plugins.engines.spark.engine import SparkEngine
from tcdp_audit_plugins.engines.spark.faults import condition_of, on_cluster, without_warning_of_pandas

_CONNECT = {"SPARK_REMOTE", "SPARK_API_MODE"}  # where these are set, Java is started by others or elsewhere
_MAGIC = re.compile(r"[*?\[{]")
_OWN_LISTS = ("InMemoryFileIndex", "CatalogFileIndex")  # of files that Spark found by itself, in no log
_DENIED = ("AccessControl", "AccessDenied", "Permission denied", "Forbidden")


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
    location = given.removeprefix(SPARK_SCHEME)
    if not location:
        raise UsageError("spark: names no table; write spark:PATH for Parquet files, or spark:TABLE")
    shown = without_credentials(location)
    session, close = _session()
    try:
        with on_cluster(shown):
            frame = read_parquet(session, location, shown) if _is_path(location) else session.table(location)
        require_version_of_frame(frame, shown)
        return SparkEngine(frame, shown, f"{SPARK_SCHEME}{shown}", close)
    except BaseException:
        close()
        raise


def _is_path(location: str) -> bool:
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
    """Leave a session open that the caller owns."""


def read_parquet(session: Any, location: str, shown: str) -> Any:
    """The Parquet files of a path as a frame; a UsageError where Spark would leave out files or keys."""
    frame = session.read.parquet(location)
    everything = session.read.option("recursiveFileLookup", "true").parquet(location)  # without keys
    files = everything.inputFiles()
    if set(files) != set(frame.inputFiles()):
        raise UsageError(f"{shown}: files lie in folders that Spark leaves out; keep one table in one folder")
    keys = _keys(files, location, shown)
    if not keys:
        return frame
    _require_columns(keys, [name.lower() for name in everything.schema.names], frame.schema.names, shown)
    fields = [StructField(one.name, StringType()) if one.name.lower() in keys else one for one in frame.schema]
    return session.read.schema(StructType(fields)).parquet(location)


def _keys(files: Sequence[str], location: str, shown: str) -> set[str]:
    """The keys of the folders below a path, or below where its pattern begins, in lower case."""
    keys = {tuple(_key(folder) for folder in _folders_below(location, file) if folder.find("=") > 0) for file in files}
    if len(keys) > 1:
        raise UsageError(f"{shown}: files lie in folders of different keys; give all files the same ones")
    return {key for one in keys for key in one}


def _key(folder: str) -> str:
    return unquote(folder.partition("=")[0]).lower()


def _folders_below(location: str, file: str) -> list[str]:
    start = unquote(urlsplit(location).path) if "://" in location else re.sub(r"^file:", "", location)
    start = start if "://" in location else os.path.abspath(start)  # noqa: PTH100 - no path of this machine, perhaps
    magic = _MAGIC.search(start)
    start = start[: magic.start()].rpartition("/")[0] if magic else start
    return _path(file).removeprefix(start).split("/")[:-1]


def _path(file: str) -> str:
    """The path of a file that Spark names by its URI."""
    return unquote(urlsplit(file).path)


def _require_columns(keys: set[str], own: Sequence[str], names: Sequence[str], shown: str) -> None:
    """Insist that each key is a column, and no column of the files is hidden by it."""
    for key in sorted(keys):
        if key in own:
            raise UsageError(
                f"{shown}: column {key!r} is in the files and is a key in the names of their folders; "
                "leave it out of one"
            )
        if key not in (name.lower() for name in names):
            raise UsageError(
                f"{shown}: Spark leaves out the key {key!r} of the folders that this pattern names; name the folder "
                "above them"
            )


def require_version_of_frame(frame: Any, shown: str) -> None:
    """Raise a UsageError for a frame whose files hold the rows of earlier versions: a table format manages them."""
    with on_cluster(shown):
        files = frame.inputFiles() if any(name in _plan(frame) for name in _OWN_LISTS) else []
        for start in {_start(file) for file in files}:
            paths = [_path(file) for file in files if _start(file) == start]
            require_one_version(shown, paths, partial(_holds, frame, start))


def _plan(frame: Any) -> str:
    """The plan of a frame as Spark writes it, of a classic session or of Connect."""
    if hasattr(frame, "_jdf"):
        return str(frame._jdf.queryExecution().toString())  # noqa: SLF001 - `explain` prints it
    return str(frame._explain_string(extended=True))  # noqa: SLF001 - as `explain` does


def _start(file: str) -> str:
    """The scheme of a URI and the machine or bucket that it names."""
    parts = urlsplit(file)
    return f"{parts.scheme}://{parts.netloc}"


def _holds(frame: Any, start: str, folder: str, logs: Sequence[str]) -> bool:
    """Whether a folder of a store has something that fits one of some patterns, asked of Spark's own file system."""
    pattern = re.sub(r"([\\*?\[\]{}^,])", r"\\\1", start + folder).rstrip("/") + f"/{{{','.join(logs)}}}"
    try:
        frame.sparkSession.read.format("binaryFile").load(pattern).schema  # noqa: B018 - it looks for the path
    except Exception as error:
        if condition_of(error) == "PATH_NOT_FOUND" or any(sign in str(error) for sign in _DENIED):
            return False
        raise
    return True
