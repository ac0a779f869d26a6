"""Files that appear whole or never, and addresses of tables without their passwords."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.scratch import Scratch, sweep

written_paths: list[Path] = []  # what this process has written, so that it can say so when it is interrupted


def require_writable(path: Path) -> None:
    """Check before the work whether its result can be written. Remove what a killed run left there.

    Raises:
        UsageError: the folder does not exist, nothing can be written there, or the path names no ordinary file.
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
        pass  # permissions do not show that a disk is read-only: only an attempt does


def destination(path: Path) -> Path:
    """The file that a path names; for a symbolic link, the file that the link leads to."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def os_error_reason(error: OSError) -> str:
    """The reason why a file cannot be written, without the path that the error may name."""
    return os.strerror(error.errno) if error.errno else "the disk is full or damaged"


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write text, as UTF-8, or bytes to a temporary file, then give it the target's name.

    Raises:
        UsageError: the target cannot be written; its former content stays.
    """
    with replaced_atomically(path) as temporary:
        # the name of a file in a text may be no UTF-8
        temporary.write_bytes(content if isinstance(content, bytes) else content.encode(errors="backslashreplace"))


def plain_name(path: Path) -> str:
    """The name of a file for a temporary one: a library that writes it may know UTF-8 only."""
    return path.name.encode("utf-8", "ignore").decode()


@contextmanager
def replaced_atomically(path: Path) -> Iterator[Path]:
    """A temporary file of the target's name in a private folder next to it; it replaces the target at the end.

    If the work has not made the file, or after any error, the target keeps its content. The target of a link is
    replaced, and the link stays.

    Raises:
        UsageError: the target cannot be written.
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


_SECRET = re.compile(
    r"pass(word|wd|phrase)?|pwd|token|secret|sig(nature)?|api_?key|(access|account|private)_?key|credentials?"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=:)")


def scheme_of(table: Any) -> str:
    """The scheme of an address, in lower case; nothing for an object or a path, such as one with a drive of Windows.

    Example:
        >>> scheme_of("postgresql+psycopg://office/people"), scheme_of("data/release.csv"), scheme_of("C:/people.csv")
        ('postgresql+psycopg', '', '')
    """
    scheme = _SCHEME.match(table) if isinstance(table, str) else None
    return scheme[0].lower() if scheme is not None and len(scheme[0]) > 1 else ""


def has_secret(location: str) -> bool:
    """Whether an address holds a password, or a part whose name says that it is a secret.

    Example:
        >>> has_secret("postgresql://reader:hush@office/people"), has_secret("https://a.example/t.csv?sig=abc")
        (True, True)
        >>> has_secret("postgresql://reader@office/people?table=register"), has_secret("tables/register.csv")
        (False, False)
    """
    if "://" not in location:
        return False
    try:
        parts = urlsplit(location)
        return bool(parts.password) or any(_names_a_secret(name) for name, _ in parse_qsl(parts.query))
    except ValueError:  # what cannot be taken apart cannot be judged
        return True


def _names_a_secret(name: str) -> bool:
    plain = name.lower().replace("-", "_").removeprefix("x_amz_").removeprefix("x_goog_")
    return _SECRET.fullmatch(plain.replace("security_token", "token")) is not None


WORKBOOKS = (".ods", ".xls", ".xlsb", ".xlsm", ".xlsx")
_SHEET = re.compile(rf"(.+(?:{'|'.join(map(re.escape, WORKBOOKS))}))#(.+)", re.IGNORECASE | re.DOTALL)


def split_sheet(location: str) -> tuple[str, str]:
    """The path of a file, and the sheet of a workbook that is named after it; empty where none is.

    Example:
        >>> split_sheet("2024/people.xlsx#Sheet 1"), split_sheet("a#b.csv")
        (('2024/people.xlsx', 'Sheet 1'), ('a#b.csv', ''))
    """
    match = _SHEET.fullmatch(location)
    return (match[1], match[2]) if match is not None else (location, "")


def resolve_location(location: str, folder: Path) -> str:
    """A path that starts in a folder; a URL or another address unchanged."""
    path = folder / location
    return location if "://" in location or (scheme_of(location) and not path.exists()) else str(path)


def content_digest(path: Path) -> str | None:
    """SHA-256 of a file's bytes; None where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
