"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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
    with appearing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """A temporary file beside the target, of the same kind by its extensions; it takes the target's place at the end.

    Where it has been removed by then, the target is left as it was.

    Raises:
        UsageError: the target cannot be written. After this or any other error what stood there is left as it was.
    """
    require_writable(path)
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix="".join(path.suffixes))
        os.close(handle)
        temporary = Path(name)
        yield temporary
        if temporary.exists():
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            _as_new_file(temporary)
            temporary.replace(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _as_new_file(path: Path) -> None:
    """Give a temporary file the permissions that a new file has here."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
