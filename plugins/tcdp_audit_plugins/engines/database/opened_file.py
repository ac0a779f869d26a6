"""A DuckDB file that is open, for all who read it: a program cannot open it again with settings that differ."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any

import duckdb

from tcdp_audit.plugin._internal import Scratch

_LOCK = Lock()
_OPENED: dict[tuple[int, int], OpenedFile] = {}  # by what the system numbers files by


class OpenedFile:
    """A file open for reading; close it as often as it was opened.

    Args:
        path: the file.
        memory: budget in bytes, of whoever opens it first.
    """

    def __init__(self, path: Path, memory: int) -> None:
        self.readers = 0
        self._folder = Scratch()
        try:
            self._connection = duckdb.connect(path, read_only=True, config=_config(memory, self._folder.name))
        except BaseException:
            self._folder.cleanup()
            raise

    @classmethod
    def of(cls, path: Path, memory: int) -> OpenedFile:
        """A file, which may be open already."""
        status = path.stat()
        number = (status.st_dev, status.st_ino)
        with _LOCK:
            if number not in _OPENED:
                _OPENED[number] = cls(path, memory)
            _OPENED[number].readers += 1
            return _OPENED[number]

    def connection(self) -> duckdb.DuckDBPyConnection:
        """A connection with a transaction of its own."""
        return self._connection.cursor()

    def close(self) -> None:
        """Close the file if nobody else reads it."""
        with _LOCK:
            self.readers -= 1
            if self.readers:
                return
            for number in [number for number, one in _OPENED.items() if one is self]:
                del _OPENED[number]
            self._connection.close()
            self._folder.cleanup()


def _config(memory: int, folder: str) -> dict[str, Any]:
    return {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "enable_external_access": False,
        "python_enable_replacements": False,  # a name is a table of the file, never a variable of the program
        "memory_limit": f"{max(memory // 4, 2**28) // 2**20}MiB",
        "temp_directory": folder,
    }
