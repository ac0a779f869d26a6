"""Parquet files on a cluster, read as the file reader reads them, and files of which only a log says what counts.

Spark guesses the types of folders' keys (`zip=01` and `zip=1` are one integer), lets a key hide a column of the files,
leaves out files that lie in folders without a key, and leaves out keys that a pattern stands for. Here keys are text,
and the others are refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql.types import StringType, StructField, StructType

from tcdp_audit.plugin._internal import require_one_version
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit_plugins.engines.spark.faults import condition_of, on_cluster

_MAGIC = re.compile(r"[*?\[{]")
_OWN_LISTS = ("InMemoryFileIndex", "CatalogFileIndex")  # of files that Spark found by itself, in no log
_DENIED = ("AccessControl", "AccessDenied", "Permission denied", "Forbidden")


def read_parquet(session: Any, location: str, shown: str) -> Any:
    """The Parquet files of a path as a frame.

    Args:
        session: the session.
        location: the path, which may have a pattern.
        shown: what messages call it.

    Raises:
        UsageError: Spark would not read all files and keys that are there.
    """
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
                f"{shown}: column {key!r} stands in the files and as a key in the names of their folders; "
                "leave it out of one"
            )
        if key not in (name.lower() for name in names):
            raise UsageError(
                f"{shown}: Spark leaves out the key {key!r} of the folders that this pattern names; name the folder "
                "above them"
            )


def require_version_of_frame(frame: Any, shown: str) -> None:
    """Refuse a frame whose files a table format manages, where Spark read them without the format's log.

    Raises:
        UsageError: its files hold the rows of earlier versions.
    """
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
