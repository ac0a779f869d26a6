"""Private folders for temporary files. No run leaves one behind; what a killed run could not remove, the next one does.

A folder holds a file that its process keeps locked. The lock goes with the process, however that ends, so a folder
whose lock is free belongs to nobody.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import signal
import stat
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tcdp_audit.errors import UsageError

LOCK = "lock"
ATTEMPTS, PAUSE = 100, 0.02  # seconds
NAME = re.compile(r"\.?tcdp-audit-[0-9a-f]{16}\.tmp")

_present: set[Path] = set()  # noted before a folder is made, so that no signal can come between


class Scratch:
    """A new folder that only this user can look into. Use it as a context manager, or call `cleanup`.

    Args:
        beside: where it is made, hidden; by default in the folder for temporary files.

    Raises:
        UsageError: no folder for temporary files can be written to.
        OSError: nothing can be made in `beside`.
    """

    def __init__(self, beside: Path | None = None) -> None:
        self.path, lock = _in_temporary_folder() if beside is None else _made(beside, ".tcdp-audit-")
        self._removal = weakref.finalize(self, _remove, self.path, lock)

    @property
    def name(self) -> str:
        """Its path as text."""
        return str(self.path)

    def cleanup(self) -> None:
        """Remove the folder with everything in it."""
        self._removal()

    def __enter__(self) -> Path:
        """Use as a context manager."""
        return self.path

    def __exit__(self, *_: object) -> None:
        """Remove it."""
        self.cleanup()


def sweep(folder: Path | None = None) -> None:
    """Remove what killed runs of this user left in a folder; by default in the one for temporary files.

    Folders whose process lives, those of other users, and links to folders stay.
    """
    with suppress(OSError):
        for entry in list(os.scandir(_temporary_folder() if folder is None else folder)):
            if NAME.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_stale(Path(entry.path))


@contextmanager
def leaving_nothing() -> Iterator[None]:
    """Remove every folder that was made inside and is still there at the end, because a signal came between."""
    with suppress(OSError):
        _temporary_folder()  # looked for while there is one thread
    known = set(_present)
    try:
        yield
    finally:
        for path in _present - known:
            for _ in range(ATTEMPTS):
                with suppress(OSError):
                    _empty_and_remove(path)
                if not path.exists():
                    break
                time.sleep(PAUSE)  # a thread that was interrupted with the rest is still writing there
            _present.discard(path)


@contextmanager
def writing_temporarily() -> Iterator[None]:
    """Turn what keeps temporary files from being written into a sentence.

    Raises:
        UsageError: they cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"temporary files cannot be written: {error.strerror or 'the disk is full'}; "
            "name a folder for them in TMPDIR"
        ) from None


def _temporary_folder() -> Path:
    """Where temporary files go. Signals wait meanwhile: Python tries a folder out with a file of its own."""
    ending = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ending)
    try:
        return Path(tempfile.gettempdir())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _in_temporary_folder() -> tuple[Path, int]:
    with writing_temporarily():
        return _made(_temporary_folder(), "tcdp-audit-")


def _made(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new folder and its locked file; made again if another process took it for abandoned before it was locked."""
    while True:
        path = parent / f"{prefix}{secrets.token_hex(8)}.tmp"
        _present.add(path)
        try:
            path.mkdir(mode=0o700)
            lock = _locked(path)
        except FileNotFoundError:
            _present.discard(path)
            if not parent.is_dir():
                raise
            continue
        except BaseException:
            _remove_made(path)
            raise
        if os.fstat(lock).st_nlink:
            return path, lock
        os.close(lock)
        _present.discard(path)


def _locked(path: Path) -> int:
    lock = os.open(path / LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    with suppress(OSError):  # a file system without locks: then nobody can take it for abandoned either
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _remove(path: Path, lock: int) -> None:
    _remove_made(path)
    os.close(lock)


def _remove_made(path: Path) -> None:
    """Remove a folder of this process. Where a thread still writes there, `leaving_nothing` tries again."""
    with suppress(OSError):
        _empty_and_remove(path)
    if not path.exists():
        _present.discard(path)


def _remove_if_stale(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(folder).st_uid != os.getuid():
            return
        try:
            lock = os.open(LOCK, os.O_RDWR | os.O_NOFOLLOW, dir_fd=folder)
        except FileNotFoundError:
            path.rmdir()  # killed before it had a lock, or about to make one: then it makes another folder
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _empty_and_remove(path)
        finally:
            os.close(lock)
    finally:
        os.close(folder)


def _empty_and_remove(path: Path) -> None:
    """Remove a folder, its lock last: whoever is killed here leaves a folder that can still be told from a live one."""
    for entry in list(os.scandir(path)):
        if stat.S_ISDIR(entry.stat(follow_symlinks=False).st_mode):
            shutil.rmtree(entry.path)
        elif entry.name != LOCK:
            os.unlink(entry.path)  # noqa: PTH108 - a link itself, never what it leads to
    (path / LOCK).unlink(missing_ok=True)
    path.rmdir()
