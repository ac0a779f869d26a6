"""Signals that end a command: SIGTERM and SIGHUP interrupt it as Ctrl-C does, so that it leaves nothing behind."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import current_thread, main_thread
from typing import Any

from tcdp_audit.api import ENDING


@dataclass
class Interruption:
    """Which signal has come, if any.

    Args:
        signal: its number; None as long as none has come.
        ended: the work is over, and a signal changes nothing any more.
    """

    signal: int | None = None
    ended: bool = False

    @property
    def exit_code(self) -> int:
        """What a shell calls a process that a signal ended: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""
        return 128 + (self.signal or signal.SIGINT)

    def come(self, number: int, _: Any) -> None:
        """Interrupt the work, once: a second signal must not interrupt the cleaning."""
        if self.signal is None and not self.ended:
            self.signal = number
            raise KeyboardInterrupt

    def is_behind(self, ignored: Any) -> bool:
        """Whether Python ignores an interruption, since it came in a callback: the end of the work repeats it."""
        return self.signal is not None and issubclass(ignored.exc_type, KeyboardInterrupt)

    def repeat(self) -> None:
        """Interrupt again what a signal has interrupted before."""
        if self.signal is not None:
            raise KeyboardInterrupt from None


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Let signals interrupt what is done inside. One that was ignored before (`nohup`) stays ignored."""
    interruption = Interruption()
    if current_thread() is not main_thread():
        yield interruption
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    watched = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    hook = sys.unraisablehook
    sys.unraisablehook = lambda ignored: None if interruption.is_behind(ignored) else hook(ignored)
    for number in watched:
        signal.signal(number, interruption.come)
    try:
        yield interruption
    finally:
        interruption.ended = True
        sys.unraisablehook = hook
        for number in watched:
            signal.signal(number, before[number] or signal.SIG_DFL)
