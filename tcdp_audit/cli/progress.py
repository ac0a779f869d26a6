"""A progress bar on stderr, for long work on a terminal only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tcdp_audit.cli.printing import current
from tcdp_audit.visible import visible

PATIENCE = 1.5  # seconds of silence before a bar appears


@contextmanager
def progress_on_terminal(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None] | None]:
    """A progress callback, or None where nobody would see it."""
    if quiet or not current().err.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """Appears once the work has taken longer than a moment."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.progress: _Shown | None = None

    def __call__(self, step: str, done: int, total: int) -> None:
        if self.progress is None and time.monotonic() - self.started > PATIENCE:
            self.progress = _Shown()
        if self.progress is not None:
            self.progress.update(step, done, total)

    def close(self) -> None:
        if self.progress is not None:
            self.progress.stop()


class _Shown:
    """A rich progress bar; rich is imported only now."""

    def __init__(self) -> None:
        from rich.progress import Progress  # noqa: PLC0415

        from tcdp_audit.cli.console import console  # noqa: PLC0415 - imports rich

        self.bar = Progress(console=console(stderr=True), transient=True)
        self.steps: dict[str, int] = {}
        self.bar.start()

    def update(self, step: str, done: int, total: int) -> None:
        if step not in self.steps:
            from rich.markup import escape  # noqa: PLC0415

            self.steps[step] = int(self.bar.add_task(escape(visible(step)), total=total))
        self.bar.update(self.steps[step], completed=done, total=total)  # type: ignore[arg-type]

    def stop(self) -> None:
        self.bar.stop()
