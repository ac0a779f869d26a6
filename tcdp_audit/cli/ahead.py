"""Work that can go on beside other work, begun early and asked for late."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def ahead(work: Callable[[], T]) -> Future[T]:
    """Begin work in a thread of its own, which no executor waits for when the command is interrupted."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future
