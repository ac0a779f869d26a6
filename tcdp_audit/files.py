"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tcdp_audit.errors import UsageError


def require_writable(path: Path) -> None:
    """Find out before the work whether its result can be written.

    Raises:
        UsageError: the folder does not exist, or nothing can be written there.
    """
    try:
        _try(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}; choose another place") from None


def _try(path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: the folder {path.parent} does not exist")
    if path.exists() and not os.access(path, os.W_OK):
        raise UsageError(f"{path}: cannot be written; change its permissions or choose another place")
    with tempfile.TemporaryFile(dir=path.parent):
        pass  # only trying tells: permissions know nothing of a read-only disk


def write_atomically(path: Path, text: str) -> None:
    """Write to a temporary file beside the target, then rename it.

    Raises:
        UsageError: the target cannot be written; what stood there is left as it was.
    """
    require_writable(path)
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            temporary = Path(file.name)
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                _as_new_file(temporary)
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None


def _as_new_file(path: Path) -> None:
    """Give a temporary file the permissions that a new file has here."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
