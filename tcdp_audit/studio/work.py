"""Computations of a workbench: a long one with progress that can be cancelled, and short ones of the newest choice."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import StrEnum
from threading import Lock, Thread
from time import monotonic
from typing import Any, TypeVar

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


class Newest:
    """Short computations about a state of which only the newest counts: one runs at a time.

    What is asked of an older state is ended, or never begun.

    Args:
        cancel: ends the computation that runs.
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self._turn, self._change = Lock(), Lock()
        self._state: Hashable = None
        self._answers: dict[str, Any] = {}

    def answer(self, name: str, state: Hashable, compute: Callable[[], T]) -> T | None:
        """The answer to a question about a state; None where another state has come meanwhile.

        Args:
            name: of the question: its answer is given again as long as the state is the same.
            state: what all answers depend on.
            compute: the computation.
        """
        with self._change:
            if state != self._state:
                self._state, self._answers = state, {}
                self._cancel()  # inside the lock: nothing of this state has begun yet
        with self._turn:
            answers = self._answers
            if state != self._state:
                return None
            if name not in answers:
                try:
                    answers[name] = compute()
                except Cancelled:
                    return None
            answer: T = answers[name]
            return answer
