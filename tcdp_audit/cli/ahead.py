"""Work that can go on beside other work, begun early and asked for late."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """A function running in a thread of its own. `result` waits for it, and raises what it raised."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._value = self._work()
            self._error: BaseException | None = None
        except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
            self._error = error

    def result(self) -> T:
        """What the function returned."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value
