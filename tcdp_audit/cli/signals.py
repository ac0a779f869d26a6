"""Signals that end a command: SIGTERM and SIGHUP interrupt it as Ctrl-C does, so that it leaves nothing behind."""

from __future__ import annotations

import _thread
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

from tcdp_audit.api import ENDING

IMPORTING = {"importlib._bootstrap", "_frozen_importlib"}  # one module, whose name changes once `importlib` is imported
LOCKING = {"threading", "concurrent.futures._base", "concurrent.futures.thread", *IMPORTING}
BLOCKING = {"wait", "join", "_wait_for_tstate_lock"}  # their functions that wait for long, and can be interrupted
PAUSE, MOST_DELAYS = 0.005, 200  # seconds, and how often: about a second in all


@dataclass
class Interruption:
    """Which signal has come, if any.

    Args:
        signal: its number; None as long as none has come.
        ended: the work is over, and a signal changes nothing any more.
        delays: how often a signal was put off.
    """

    signal: int | None = None
    ended: bool = False
    delays: int = 0

    @property
    def exit_code(self) -> int:
        """What a shell calls a process that a signal ended: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""
        return 128 + (self.signal or signal.SIGINT)

    def come(self, number: int, frame: FrameType | None) -> None:
        """Interrupt the work, once: a second signal must not interrupt the cleaning."""
        if self.signal is not None or self.ended:
            return
        # Python's own locks are taken by Python code. Interrupted between the lock and the `with` that gives it back,
        # the main thread keeps it, and cleaning waits without end for threads that need it. So the signal is sent
        # again a little later. The thread is a bare one, since starting a `Thread` takes such a lock.
        if is_locking(frame) and self.delays < MOST_DELAYS:
            self.delays += 1
            _thread.start_new_thread(self._send_again, (number,))
            return
        self.signal = number
        raise KeyboardInterrupt

    def _send_again(self, number: int) -> None:
        time.sleep(PAUSE)
        if self.ended:
            return
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(main_thread().ident or 0, number)
        else:
            _thread.interrupt_main(signal.Signals(number))

    def is_behind(self, ignored: Any) -> bool:
        """Whether Python ignores an interruption, since it came in a callback: the end of the work repeats it."""
        return self.signal is not None and issubclass(ignored.exc_type, KeyboardInterrupt)

    def repeat(self) -> None:
        """Interrupt again what a signal has interrupted before."""
        if self.signal is not None:
            raise KeyboardInterrupt from None


def is_locking(frame: FrameType | None) -> bool:
    """Whether a frame may be taking or giving back a lock of Python's; above it may lie the frame of a tracer."""
    for _ in range(2):
        if frame is not None and frame.f_globals.get("__name__") in LOCKING:
            return frame.f_code.co_name not in BLOCKING
        frame = frame and frame.f_back
    return False


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
