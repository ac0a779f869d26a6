"""Computations that another thread can end: they ask often whether they are to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from threading import Event, RLock, Thread
from types import TracebackType
from typing import Any, TypeVar

from tcdp_audit.core.base.errors import TcdpAuditError
from tcdp_audit.core.base.resources import processors

T = TypeVar("T")
PAUSE = 0.05  # seconds between two questions whether to go on


class Cancelled(TcdpAuditError):  # noqa: N818 - no error of anyone's
    """A computation was ended on request; nothing came of it, and nothing is left of it."""


class _Stop(KeyboardInterrupt):
    """The end of a computation: as a keyboard interrupt it passes through whatever handles the errors of plugins."""


class Cancellation:
    """A request to end one computation, which another thread may make at any time."""

    def __init__(self) -> None:
        self._asked, self._over = Event(), Event()
        self._lock = RLock()  # a signal may come, and request the end, while this thread holds it
        self._interrupts: list[Callable[[], None]] = []

    @property
    def is_requested(self) -> bool:
        """Whether the computation is to end."""
        return self._asked.is_set()

    def request(self) -> None:
        """End the computation at its next checkpoint, and interrupt what it waits for."""
        with self._lock:
            if not self._asked.is_set():
                self._asked.set()
                Thread(target=self._interrupt, daemon=True).start()

    def end(self) -> None:
        """Note that the computation is over."""
        self._over.set()

    def _interrupt(self) -> None:
        """Interrupt until the computation is over: an interrupt that comes before its query does nothing."""
        while not self._over.wait(PAUSE):
            with self._lock, suppress(Exception):
                for interrupt in [*self._interrupts]:
                    interrupt()

    @contextmanager
    def interruptible(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Call a function of another thread's if the end is requested while the body runs, never after it."""
        with self._lock:
            self._interrupts.append(interrupt)
        try:
            yield
        finally:
            with self._lock:
                self._interrupts.remove(interrupt)


_CURRENT: ContextVar[Cancellation | None] = ContextVar("_CURRENT", default=None)


def checkpoint() -> None:
    """End the computation of this thread if that was requested. About 0.1 µs, cheap enough for inner loops.

    Raises:
        KeyboardInterrupt: it was; `cancellable` makes it a `Cancelled`.
    """
    current = _CURRENT.get()
    if current is not None and current.is_requested:
        raise _Stop


@contextmanager
def cancellable(cancellation: Cancellation) -> Iterator[None]:
    """Let a computation end at its next checkpoint once its end is requested, or that of one around it.

    Raises:
        Cancelled: it ended there.
    """
    outer, stopped = _CURRENT.get(), False
    token = _CURRENT.set(cancellation)
    try:
        with nullcontext() if outer is None else outer.interruptible(cancellation.request):
            yield
    except _Stop:
        stopped = True
    finally:
        _CURRENT.reset(token)
        cancellation.end()
    if stopped:
        raise Cancelled("the computation was cancelled; nothing came of it")


@contextmanager
def interruptible(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call a function, from another thread, if the computation is to end while the body waits for something long.

    Args:
        interrupt: ends the wait by an error, such as `interrupt` of a connection; it may be called several times.

    Raises:
        KeyboardInterrupt: the computation is to end, whatever error the body raised over it.
    """
    current = _CURRENT.get()
    if current is None:
        yield
        return
    try:
        with current.interruptible(interrupt):
            checkpoint()  # not before: what is requested from now on interrupts
            yield
    except (Exception, KeyboardInterrupt):
        checkpoint()
        raise


def result_of(future: Future[T]) -> T:
    """The result of another thread's work; the wait ends when the computation does, and the work goes on."""
    while not wait([future], PAUSE).done:
        checkpoint()
    return future.result()


class ThreadPool(ThreadPoolExecutor):
    """Threads that work for one computation, and end with it; what is not begun when an error comes is dropped.

    Args:
        most: how many at most; there are no more than processors.
    """

    def __init__(self, most: int | None = None) -> None:
        super().__init__(min(processors(), most or processors()))

    def submit(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Let a thread do some work, whose checkpoints are those of the computation that asks for it."""
        return super().submit(copy_context().run, _checked, work, *args, **kwargs)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Wait for the threads."""
        self.shutdown(cancel_futures=error is not None)


def _checked(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    checkpoint()
    return work(*args, **kwargs)
