"""Signals that wait until something is done, where the system can make them wait."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # the last is that of Windows alone, the one before is not there
ENDING = tuple(getattr(signal, name) for name in NAMES if hasattr(signal, name))


@contextmanager
def waiting(signals: Iterable[int]) -> Iterator[None]:
    """Let signals of this thread wait while something is done. On Windows, which knows no such thing, they come."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
