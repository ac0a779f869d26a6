"""Folders of Delta Lake, Iceberg, Hudi and the like: they keep files of every version, and only a log says which count.

Read as plain Parquet, such a folder gives the rows of all versions: a table of unique people that was overwritten three
times has k = 4. A file belongs to such a table if a folder above it, however far, holds the table's log, so it does not
matter whether the table, a partition of it, one of its files, a pattern, a link or a folder around it is named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath

from tcdp_audit.errors import UsageError

_SEVEN = "[0-9]" * 7
_LOGS = (  # of each format, as patterns below a folder
    ("Delta Lake", ("_delta_log",)),
    ("Apache Iceberg", ("metadata/*.metadata.json*", "metadata/version-hint.text")),
    ("Apache Hudi", (".hoodie",)),
    ("Apache Paimon", ("snapshot/snapshot-*",)),
    ("DuckLake", ("ducklake-*.parquet",)),
    ("Hive with transactions", (f"base_{_SEVEN}*", f"delta_{_SEVEN}_{_SEVEN}*")),
)

Holds = Callable[[str, str], bool]


def require_one_version(location: str, files: Iterable[str], holds: Holds) -> None:
    """Refuse files that a table format manages.

    Args:
        location: what messages call the table.
        files: the paths of its files, with `/` in them. Only Parquet files are asked for their folders.
        holds: whether a folder has something that fits a pattern of `/`, `*` and `[0-9]`.

    Raises:
        UsageError: a folder above a file, however far, is that of such a table.

    Cost: one look for each folder and pattern.
    """
    nearest = dict.fromkeys(PurePosixPath(file).parent for file in files if file.lower().endswith(".parquet"))
    for folder in dict.fromkeys(str(above) for one in nearest for above in (one, *one.parents)):
        for name, logs in _LOGS:
            if folder != "." and any(holds(folder, log) for log in logs):
                raise UsageError(
                    f"{location}: holds files of a table of {name}, which keeps the rows of earlier versions too; read "
                    "the version to publish with a library of that format, write it as plain Parquet into a folder "
                    "of its own, and audit that"
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
    require_one_version(location, places, lambda folder, log: any(Path(folder).glob(log)))
