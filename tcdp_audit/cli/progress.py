"""The progress of long work, on stderr: a progress bar on a terminal, elsewhere a line for each stage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tcdp_audit.cli.printing import complain, current
from tcdp_audit.plugin.sentences import visible

PATIENCE = 1.5  # seconds of silence before a bar appears
LONG = 15.0  # seconds of work before lines are printed where there is no bar


@contextmanager
def progress_of_work(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None] | None]:
    """A progress callback; None with `quiet`."""
    if quiet:
        yield None
        return
    if not current().err.isatty():
        yield _Lines()
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


class _Lines:
    """A line for each stage that begins or goes on once the work has taken long, and one a minute while it lasts."""

    def __init__(self) -> None:
        self.started = self.reported = time.monotonic()
        self.stage = ""

    def __call__(self, step: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.started < LONG or (step == self.stage and now - self.reported < 4 * LONG):
            return
        self.stage, self.reported = step, now
        share = f", {100 * done // total}% done" if total else f", {done:,}" if done else ""
        complain(f"tcdp-audit: {visible(step)}{share}, after {now - self.started:,.0f} s\n")


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

        from tcdp_audit.cli.document import console  # noqa: PLC0415 - imports rich

        self.bar = Progress(console=console(stderr=True), transient=True)
        self.steps: dict[str, int] = {}
        self.bar.start()

    def update(self, step: str, done: int, total: int) -> None:
        if step not in self.steps:
            from rich.markup import escape  # noqa: PLC0415

            self.steps[step] = int(self.bar.add_task(escape(visible(step)), total=total or None))
        self.bar.update(self.steps[step], completed=done, total=total or None)  # type: ignore[arg-type]

    def stop(self) -> None:
        self.bar.stop()
