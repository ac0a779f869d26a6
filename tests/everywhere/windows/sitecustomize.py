"""A process that lacks what Windows lacks, as far as one on Linux can: put this folder on PYTHONPATH.

The standard library and filelock have ways of their own there, which cannot be had here: they are imported first.
"""

from __future__ import annotations

import contextlib
import multiprocessing.resource_tracker
import multiprocessing.spawn
import multiprocessing.util
import os
import shutil
import signal
import subprocess  # noqa: F401 - needs what goes
import sys
import tempfile
from pathlib import Path
from typing import Any

import filelock  # noqa: F401 - likewise

MODULES = ("fcntl", "grp", "posix", "pwd", "resource", "syslog", "termios", "tty")
FLAGS = ("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC")
IDENTITIES = ("getegid", "geteuid", "getgid", "getgroups", "getuid", "getpgid", "setsid")
CALLS = (
    "chown",
    "fchmod",
    "fchown",
    "getloadavg",
    "killpg",
    "lchown",
    "mkfifo",
    "nice",
    "pathconf",
    "sched_getaffinity",
)
MEASURES = ("statvfs", "sync", "sysconf", "sysconf_names")
SIGNALS = ("SIGALRM", "SIGHUP", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIG_BLOCK", "SIG_SETMASK")
WAITS = ("alarm", "pthread_kill", "pthread_sigmask", "setitimer", "sigwait")

REAL_OPEN = os.open
OWN_FILES, OWN_MAPS = Path("/proc/self/fd"), Path("/proc/self/maps")


def _forbidden(path: Any) -> bool:
    """Whether this process has the file open, by a number or mapped into its memory."""
    whole = os.path.realpath(os.fspath(path))
    for number in OWN_FILES.iterdir():
        with contextlib.suppress(OSError):
            if str(number.readlink()) == whole:
                return True
    return any(line.endswith(f" {whole}") for line in OWN_MAPS.read_text("utf-8", "replace").splitlines())


def _closed_first(call: Any) -> Any:
    """A call that refuses files that are open, as Windows does."""

    def refusing(path: Any, *others: Any, **options: Any) -> Any:
        assert not any(options.values()), options  # such as `dir_fd`
        if not Path(path).is_symlink() and any(map(_forbidden, (path, *others))):
            raise PermissionError(13, "The process cannot access the file because it is being used", str(path))
        return call(path, *others)

    return refusing


def _open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    if dir_fd is not None:
        raise NotImplementedError("dir_fd unavailable on this platform")
    if Path(path).is_dir():
        raise PermissionError(13, "Permission denied", str(path))
    return REAL_OPEN(path, flags, mode)


def _become_windows() -> None:
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for module, names in ((os, (*FLAGS, *IDENTITIES, *CALLS, *MEASURES)), (signal, (*SIGNALS, *WAITS))):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    os.supports_dir_fd.clear()
    os.open = _open  # type: ignore[assignment]
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    for name in ("unlink", "remove", "rename", "replace"):
        setattr(os, name, _closed_first(getattr(os, name)))
    tempfile.TemporaryFile = tempfile.NamedTemporaryFile  # which goes when it is closed
    multiprocessing.resource_tracker._HAVE_SIGMASK = False  # type: ignore[attr-defined]


_become_windows()
