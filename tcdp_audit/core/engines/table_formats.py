"""Folders of Delta Lake, Iceberg, Hudi and the like: they keep files of every version, and only a log says which count.

Read as plain Parquet, such a folder gives the rows of all versions: a table of unique people that was overwritten three
times has k = 4. A file belongs to such a table if a folder above it, however far, holds the table's log, so it does not
matter whether the table, a partition of it, one of its files, a pattern, a link or a folder around it is named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath

from tcdp_audit.core.base.errors import UsageError

_SEVEN = "[0-9]" * 7
_LOGS = (  # of each format, as patterns below a folder
    ("Delta Lake", ("_delta_log",)),
    ("Apache Iceberg", ("metadata/*.metadata.json*", "metadata/version-hint.text")),
    ("Apache Hudi", (".hoodie",)),
    ("Apache Paimon", ("snapshot/snapshot-*",)),
    ("DuckLake", ("ducklake-*.parquet",)),
    ("Hive with transactions", (f"base_{_SEVEN}*", f"delta_{_SEVEN}_{_SEVEN}*")),
)

_ALL = tuple(log for _, logs in _LOGS for log in logs)
_KINDS = (".parquet", ".orc", ".avro")  # of the files of such tables

Holds = Callable[[str, Sequence[str]], bool]


def require_one_version(location: str, files: Iterable[str], holds: Holds) -> None:
    """Refuse files that a table format manages.

    Args:
        location: what messages call the table.
        files: the paths of its files, with `/` in them. CSV and the like are none of these formats' own.
        holds: whether a folder has something that fits one of some patterns of `/`, `*` and `[0-9]`.

    Raises:
        UsageError: a folder above a file, however far, is that of such a table.

    Cost: one look at each folder.
    """
    nearest = dict.fromkeys(PurePosixPath(file).parent for file in files if file.lower().endswith(_KINDS))
    folders = dict.fromkeys(str(above) for one in nearest for above in (one, *one.parents))
    managed = next((folder for folder in folders if folder != "." and holds(folder, _ALL)), None)
    if managed is not None:
        name = next((name for name, logs in _LOGS if holds(managed, logs)), "some format")
        raise UsageError(
            f"{location}: holds files of a table of {name}, which keeps the rows of earlier versions too; read the "
            "version to publish with a library of that format, write it as plain Parquet into a folder of its own, and "
            "audit that"
        )


def require_plain_files(location: str, paths: Sequence[Path]) -> None:
    """Refuse files on this machine that a table format manages; links are followed, and their own places looked at.

    Raises:
        UsageError: one belongs to such a table.
    """
    real = {folder: os.path.realpath(folder) for folder in {path.parent for path in paths}}
    places = [
        *(os.path.abspath(path) for path in paths),  # noqa: PTH100 - `resolve` would follow links
        *(f"{real[path.parent]}/{path.name}" for path in paths),
        *(os.path.realpath(path) for path in paths if path.is_symlink()),
    ]
    require_one_version(location, places, _holds)


def _holds(folder: str, logs: Sequence[str]) -> bool:
    return any(True for log in logs for _ in Path(folder).glob(log))
