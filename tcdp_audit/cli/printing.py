"""Standard output and standard error of a command.

Everything that is printed passes here. Characters that would act on a terminal are escaped. A stream that is closed,
full or broken raises nothing: the fault is recorded, and decides on the exit code when the command has ended.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tcdp_audit.api import PolicyError, visible_lines
from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.plugin.sentences import visible

INCOMPLETE = 3
ENDED_WELL = (0, 1, INCOMPLETE)


class RawText:
    """A standard stream that text reaches unchanged; for rich, which writes the colours itself."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.fault = ""
        self.reader_has_gone = False
        self.encoding = str(getattr(stream, "encoding", None) or "utf-8")
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a character that the encoding lacks

    def write(self, text: str) -> int:
        """Print a text as it is. Never raises."""
        if text and not self.is_broken:
            self._try("write", text)
        return len(text)

    def flush(self) -> None:
        """Pass on what is buffered. Never raises."""
        if self._stream is not None and not self.is_broken:
            self._try("flush")

    def _try(self, method: str, *text: str) -> None:
        try:
            getattr(self._stream, method)(*text)
        except BrokenPipeError:
            self.reader_has_gone = True  # `| head` has seen enough
        except OSError as error:
            self.fault = error.strerror or type(error).__name__
        except (AttributeError, ValueError):
            self.fault = "it is closed"

    @property
    def is_broken(self) -> bool:
        """Whether nothing more can be printed."""
        return bool(self.fault) or self.reader_has_gone

    def isatty(self) -> bool:
        """Whether a person sees it."""
        try:
            return bool(self._stream.isatty())
        except (AttributeError, ValueError):
            return False

    def fileno(self) -> int:
        """The file descriptor, where there is one."""
        if self._stream is None:
            raise io.UnsupportedOperation("fileno")
        return int(self._stream.fileno())

    def let_go(self) -> None:
        """Flush; the interpreter's own flush at its end then has an open stream."""
        self.flush()
        if self.is_broken:
            with suppress(OSError, ValueError, AttributeError):  # where there is no descriptor behind it
                os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())


class Printed(io.TextIOBase):
    """A standard stream in which characters that would act on a terminal are escaped. It cannot be closed."""

    def __init__(self, stream: Any) -> None:
        self.as_it_is = RawText(stream)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream."""
        return self.as_it_is.encoding

    def write(self, text: str) -> int:
        """Print a text. Never raises."""
        return self.as_it_is.write(visible_lines(text))

    def flush(self) -> None:
        """Pass on what is buffered."""
        self.as_it_is.flush()

    def close(self) -> None:
        """Stay open: a plugin must not silence the verdict."""

    def isatty(self) -> bool:
        """Whether a person sees it."""
        return self.as_it_is.isatty()

    def fileno(self) -> int:
        """The file descriptor, where there is one."""
        return self.as_it_is.fileno()

    def writable(self) -> bool:
        """True."""
        return True


class Streams:
    """Both streams of one command."""

    def __init__(self) -> None:
        self.out, self.err = Printed(sys.stdout), Printed(sys.stderr)

    def exit_code(self, code: int) -> int:
        """The exit code of a command once everything is printed: 3 where some of it could not be printed."""
        self.out.as_it_is.let_go()
        fault = self.out.as_it_is.fault
        if fault:
            self.err.write(f"tcdp-audit: standard output cannot be written: {fault}; what was to be printed is lost\n")
        self.err.as_it_is.let_go()
        return INCOMPLETE if fault and code in ENDED_WELL else code


_current: list[Streams] = []


@contextmanager
def streams() -> Iterator[Streams]:
    """Print through `Streams` for a while."""
    before, opened = (sys.stdout, sys.stderr), Streams()
    sys.stdout, sys.stderr = opened.out, opened.err
    _current.append(opened)
    try:
        yield opened
    finally:
        _current.pop()
        sys.stdout, sys.stderr = before


def current() -> Streams:
    """The streams of the command that runs; a plugin may have replaced those of `sys`."""
    return _current[-1] if _current else Streams()


def write(text: str) -> None:
    """Print to standard output."""
    current().out.write(text)


def complain(text: str) -> None:
    """Print to standard error."""
    current().err.write(text)


def complain_of(error: TcdpAuditError, about: str = "") -> None:
    """Print an error as a sentence after `about`; that of a policy keeps its lines, one for each fault."""
    text = f"{about}{error}"
    complain(f"tcdp-audit: {text if isinstance(error, PolicyError) else visible(text)}\n")


PATIENCE = 1.5  # seconds of silence before a bar appears
BARS = 4  # bars at a time: the steps that were reported last
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
    """A line for each stage that begins or continues once the work has taken long, and one a minute after that."""

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
    """A rich progress bar, which appears once the work has taken longer than a moment."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.progress: Any = None
        self.steps: dict[str, int] = {}

    def __call__(self, step: str, done: int, total: int) -> None:
        if self.progress is None and time.monotonic() - self.started > PATIENCE:
            from rich.progress import Progress  # noqa: PLC0415 - imports rich only now

            from tcdp_audit.cli.document import console  # noqa: PLC0415 - likewise

            self.progress = Progress(console=console(stderr=True), transient=True)
            self.progress.start()
        if self.progress is None:
            return
        if step in self.steps:
            self.steps[step] = self.steps.pop(step)  # the last one is the latest
        else:
            if len(self.steps) == BARS:
                self.progress.remove_task(self.steps.pop(next(iter(self.steps))))
            from rich.markup import escape  # noqa: PLC0415 - likewise

            self.steps[step] = self.progress.add_task(escape(visible(step)), total=total or None)
        self.progress.update(self.steps[step], completed=done, total=total or None)

    def close(self) -> None:
        if self.progress is not None:
            self.progress.stop()
