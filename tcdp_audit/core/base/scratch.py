"""Private folders for temporary files, and signals that wait until something is done.

No run leaves a folder behind: the next run removes what a killed run could not. A folder holds a file that its process
keeps locked. The lock ends with the process, however that ends, so a folder whose lock is free is abandoned.

Windows removes no open file. There the lock is closed before its file is removed, and an open lock protects its folder.
Other systems remove open files, so the lock's file is removed first.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import FileIO
from pathlib import Path

from tcdp_audit.core.base.errors import UsageError

LOCK = "lock"
ATTEMPTS, PAUSE = 100, 0.02  # seconds
NAME = re.compile(r"\.?tcdp-audit-[0-9a-f]{16}\.tmp")
IS_POSIX = hasattr(os, "O_DIRECTORY")  # Windows opens no folder, knows users by rights, and removes no open file
REPARSE_POINT = 0x400  # what Windows calls a junction: a link that looks like a folder
_present: dict[Path, FileIO | None] = {}  # with their locks; from before a folder is made, lest a signal come between
NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # the last is that of Windows alone, the one before is not there
ENDING = tuple(getattr(signal, name) for name in NAMES if hasattr(signal, name))


class Scratch:
    """A new folder that only this user can look into. Use it as a context manager, or call `cleanup`.

    Args:
        parent: the folder to make it in, hidden; by default the folder for temporary files.

    Raises:
        UsageError: no folder for temporary files can be written to.
        OSError: nothing can be made in `parent`.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self.path = _in_temporary_folder() if parent is None else _made(parent, ".tcdp-audit-")
        self._removal = weakref.finalize(self, _remove, self.path)

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
        for path in set(_present) - known:
            for _ in range(ATTEMPTS):
                _remove(path)
                if not path.exists():
                    break
                time.sleep(PAUSE)  # a thread that was interrupted with the rest is still writing there
            _present.pop(path, None)


@contextmanager
def writing_temporarily() -> Iterator[None]:
    """Raise a UsageError with the reason where temporary files cannot be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or "the disk is full"
        raise UsageError(f"temporary files cannot be written: {reason}; name a folder for them in TMPDIR") from None


def _temporary_folder() -> Path:
    """The folder of temporary files. Signals wait meanwhile: Python writes a file to try a folder."""
    with hold_signals(ENDING):
        return Path(tempfile.gettempdir())


def _in_temporary_folder() -> Path:
    with writing_temporarily():
        return _made(_temporary_folder(), "tcdp-audit-")


def _made(parent: Path, prefix: str) -> Path:
    """A new folder with its locked file; made again if another process took it for abandoned before it was locked."""
    while True:
        path = parent / f"{prefix}{secrets.token_hex(8)}.tmp"
        _present[path] = None
        try:
            path.mkdir(mode=0o700)
            lock = _present[path] = _locked(path)
        except FileNotFoundError:
            _present.pop(path)
            if not parent.is_dir():
                raise
            continue
        except BaseException:
            _remove(path)
            raise
        if os.fstat(lock.fileno()).st_nlink:
            return path
        lock.close()
        _present.pop(path)


def _locked(path: Path) -> FileIO:
    lock = FileIO(path / LOCK, "x+")
    with suppress(OSError):  # a file system without locks: then no process can take it for abandoned either
        _lock(lock.fileno())
    return lock


def _lock(file: int, *, blocking: bool = True) -> bool:
    from filelock import lock_descriptor  # noqa: PLC0415 - a command that needs no folder does without

    return lock_descriptor(file, blocking=blocking, poll_interval=PAUSE)


def _remove(path: Path) -> None:
    """Remove a folder of this process. Where a thread still writes there, `leaving_nothing` tries again."""
    lock = _present.get(path)
    with suppress(OSError):
        _empty_and_remove(path, lock)
    if lock is not None:
        lock.close()
    if not path.exists():
        _present.pop(path, None)


def _remove_if_stale(path: Path) -> None:
    if not IS_POSIX:
        _remove_if_stale_on_windows(path)
        return
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(folder).st_uid == os.getuid():
            _remove_if_free(path, partial(os.open, LOCK, os.O_RDWR | os.O_NOFOLLOW, dir_fd=folder))
    finally:
        os.close(folder)


def _remove_if_stale_on_windows(path: Path) -> None:
    """Rights decide: what this user may not open stays, and folders for temporary files belong to one user."""
    state = path.lstat()
    is_link = getattr(state, "st_file_attributes", 0) & REPARSE_POINT
    if stat.S_ISDIR(state.st_mode) and not is_link and not (path / LOCK).is_symlink():
        _remove_if_free(path, partial(os.open, path / LOCK, os.O_RDWR))


def _remove_if_free(path: Path, opened: Callable[[], int]) -> None:
    try:
        lock = FileIO(opened(), "r+")
    except FileNotFoundError:
        path.rmdir()  # killed before it had a lock, or about to make one: then it makes another folder
        return
    with lock:
        if _lock(lock.fileno(), blocking=False):
            _empty_and_remove(path, lock)


def _empty_and_remove(path: Path, lock: FileIO | None) -> None:
    """Remove a folder, its lock last: if this is killed, the folder can still be recognised as abandoned."""
    for entry in list(os.scandir(path)):
        if stat.S_ISDIR(entry.stat(follow_symlinks=False).st_mode):
            shutil.rmtree(entry.path)
        elif entry.name != LOCK:
            os.unlink(entry.path)  # noqa: PTH108 - a link itself, never what it leads to
    if lock is not None and not IS_POSIX:
        lock.close()
    (path / LOCK).unlink(missing_ok=True)
    path.rmdir()


@contextmanager
def hold_signals(signals: Iterable[int]) -> Iterator[None]:
    """Let signals of this thread wait while something is done. On Windows, which knows no such thing, they come."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
