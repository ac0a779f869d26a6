"""Computations of a workbench: a long one with progress that can be cancelled, and short ones of the newest choice."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import StrEnum
from threading import Lock, Thread
from time import monotonic
from typing import Any, Generic, TypeVar

from tcdp_audit.api import Cancellation, Cancelled, cancellable, sentence_about

T = TypeVar("T")
Progress = Callable[[str, int, int], None]


class State(StrEnum):
    """The state of a long computation."""

    IDLE = "idle"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Work:
    """One long computation in a thread: a frontier, a release, the opening of a table.

    Every attribute may be read at any time from any thread.
    """

    def __init__(self) -> None:
        self.state, self.name, self.fault = State.IDLE, "", ""
        self.step, self.done, self.total = "", 0, 0
        self.result: Any = None
        self._began, self._ended = 0.0, 0.0
        self._lock, self._thread = Lock(), Thread()
        self._cancellation = Cancellation()

    @property
    def is_running(self) -> bool:
        """Whether a computation runs."""
        return self.state is State.RUNNING

    @property
    def seconds(self) -> float:
        """The time in seconds that the computation has taken so far, or took."""
        return (monotonic() if self.is_running else self._ended) - self._began

    def begin(self, name: str, task: Callable[[Progress], Any]) -> bool:
        """Begin a computation, unless one runs.

        Args:
            name: what is done, for the page.
            task: the computation; it reports its progress, and may raise.

        Returns:
            Whether it was begun.
        """
        with self._lock:
            if self.is_running:
                return False
            self.state, self.name, self.fault, self.result = State.RUNNING, name, "", None
            self.step, self.done, self.total = "", 0, 0
            self._began, self._cancellation = monotonic(), Cancellation()
            self._thread = Thread(target=self._run, args=(task, self._cancellation), daemon=True)
            self._thread.start()
        return True

    def _run(self, task: Callable[[Progress], Any], cancellation: Cancellation) -> None:
        state, fault = State.DONE, ""
        try:
            with cancellable(cancellation):
                self.result = task(self._report)
        except Cancelled:
            state = State.CANCELLED
        except Exception as error:  # noqa: BLE001 - a sentence without cells, whatever it is
            state, fault = State.FAILED, sentence_about(error, self.name)
        with self._lock:
            self.fault, self._ended, self.state = fault, monotonic(), state

    def _report(self, step: str, done: int, total: int) -> None:
        self.step, self.done, self.total = step, done, total

    def cancel(self) -> None:
        """Ask the computation to end; it does within a second, and leaves nothing behind."""
        if self.is_running:
            self._cancellation.request()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the computation has ended."""
        if self._thread.ident is not None:
            self._thread.join(seconds)


class Newest(Generic[T]):
    """Short computations of which only the newest counts: one runs at a time, and older ones are never begun.

    Args:
        cancel: ends the one that runs.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._turn, self._count = Lock(), Lock()
        self._asked = 0
        self._key: Hashable = None
        self._answer: T | None = None

    def answer(self, key: Hashable, compute: Callable[[], T]) -> T | None:
        """The answer of a computation; None where a newer one has been asked for meanwhile.

        Args:
            key: what the answer depends on: the last answer is given again for the same key.
            compute: the computation.
        """
        with self._count:
            self._asked += 1
            number = self._asked
        if self._key != key:
            self._cancel()
        with self._turn:
            if self._key == key:
                return self._answer
            if number != self._asked:
                return None
            try:
                answer = compute()
            except Cancelled:
                return None
            self._key, self._answer = key, answer
            return answer

    def forget(self) -> None:
        """Forget the last answer."""
        self._key = self._answer = None
