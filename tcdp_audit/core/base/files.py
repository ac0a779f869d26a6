"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.scratch import Scratch, sweep

written_paths: list[Path] = []  # what this process has written, so that it can say so when it is interrupted

_TEXT: Any = {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}  # a file's name may be no UTF-8


def require_writable(path: Path) -> None:
    """Find out before the work whether its result can be written. What a killed run left there is removed.

    Raises:
        UsageError: the folder does not exist, nothing can be written there, or something stands there that is no file.
    """
    try:
        _try(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {os_error_reason(error)}; choose another place") from None


def _try(path: Path) -> None:
    target = destination(path)
    if target.is_dir():
        raise UsageError(f"{path}: is a folder; name a file")
    if target.is_symlink():
        raise UsageError(f"{path}: is a link that leads to itself; name a file")
    if target.exists() and not target.is_file():
        raise UsageError(f"{path}: is a device or a pipe; name a file")
    if not target.parent.is_dir():
        raise UsageError(f"{path}: the folder {target.parent if path.is_symlink() else path.parent} does not exist")
    if target.exists() and not os.access(target, os.W_OK):
        raise UsageError(f"{path}: cannot be written; change its permissions or choose another place")
    sweep(target.parent)
    with tempfile.TemporaryFile(dir=target.parent):
        pass  # only trying tells: permissions know nothing of a read-only disk


def destination(path: Path) -> Path:
    """The file that a path stands for: where it is a symbolic link, the one that the link leads to."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def os_error_reason(error: OSError) -> str:
    """Why a file cannot be written, without the path that the error may name."""
    return os.strerror(error.errno) if error.errno else "the disk is full or damaged"


def write_atomically(path: Path, text: str) -> None:
    """Write to a temporary file, then give it the target's name.

    Raises:
        UsageError: the target cannot be written; what stood there is left as it was.
    """
    with replaced_atomically(path) as temporary, temporary.open("w", **_TEXT) as file:
        file.write(text)


def plain_name(path: Path) -> str:
    """The name of a file for a temporary one: a library that writes it may know UTF-8 only."""
    return path.name.encode("utf-8", "ignore").decode()


@contextmanager
def replaced_atomically(path: Path) -> Iterator[Path]:
    """A temporary file of the target's name in a private folder beside it; it takes the target's place at the end.

    Where the work has not made it by then, the target is left as it was. A link stays: what it leads to is replaced.

    Raises:
        UsageError: the target cannot be written. After this or any other error what stood there is left as it was.
    """
    require_writable(path)
    target = destination(path)
    try:
        with Scratch(target.parent) as folder:
            temporary = folder / plain_name(path)
            yield temporary
            if temporary.exists():
                _replace(target, temporary)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {os_error_reason(error)}") from None


def _replace(target: Path, temporary: Path) -> None:
    """Give a temporary file the target's permissions, and its name once it is on the disk."""
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    if target.exists():
        temporary.chmod(target.stat().st_mode & 0o777)
    temporary.replace(target)
    written_paths.append(target)
