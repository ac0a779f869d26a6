"""Run one command: errors become sentences on stderr and exit codes.

Completion for bash, zsh and fish is click's: `_TCDP_AUDIT_COMPLETE=zsh_source tcdp-audit` prints a script.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

import click

from tcdp_audit.api import ENDING, leaving_nothing, written_paths
from tcdp_audit.cli import COMMANDS, COMPLETE
from tcdp_audit.cli.printing import complain, complain_of, streams
from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.plugin.sentences import visible

FILES = ("FILE", "PATH", "DIR", ".pem", ".sql", "RESULT")  # endings of the placeholders of options that name files
IMPORTING = {"importlib._bootstrap", "_frozen_importlib"}  # one module, whose name changes once `importlib` is imported
LOCKING = {"threading", "concurrent.futures._base", "concurrent.futures.thread", *IMPORTING}
BLOCKING = {"wait", "join", "_wait_for_tstate_lock"}  # their functions that wait long, and can be interrupted
PAUSE, MOST_DELAYS = 0.005, 200  # seconds, and how often: about a second in all


@dataclass
class Interruption:
    """The signal that has come, None before; whether the work is over; how often a signal was delayed."""

    signal: int | None = None
    ended: bool = False
    delays: int = 0

    @property
    def exit_code(self) -> int:
        """The exit code of a process that a signal ended: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""
        return 128 + (self.signal or signal.SIGINT)

    def come(self, number: int, frame: FrameType | None) -> None:
        """Interrupt the work, once: a second signal must not interrupt the cleaning."""
        if self.signal is not None or self.ended:
            return
        # Python code takes Python's own locks. Interrupted between the lock and the `with` that releases it, the main
        # thread keeps it, and cleaning waits without end for threads that need it. So the signal is sent again a little
        # later, by a bare thread, since starting a `Thread` takes such a lock.
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
        """Whether Python ignores an interruption because it came in a callback: the end of the work repeats it."""
        return self.signal is not None and issubclass(ignored.exc_type, KeyboardInterrupt)

    def repeat(self) -> None:
        """Interrupt again if a signal has come."""
        if self.signal is not None:
            raise KeyboardInterrupt from None


def is_locking(frame: FrameType | None) -> bool:
    """Whether a frame may be taking or releasing a lock of Python's; the frame of a tracer may be above it."""
    for _ in range(2):
        if frame is not None and frame.f_globals.get("__name__") in LOCKING:
            return frame.f_code.co_name not in BLOCKING
        frame = frame and frame.f_back
    return False


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Let signals interrupt the work inside. One that was ignored before (`nohup`) stays ignored."""
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


def run(name: str, arguments: Sequence[str]) -> int:
    """Run a command by name; the return value is the exit code."""
    written_paths.clear()
    with streams() as printed, interruptible() as interruption:
        try:
            with leaving_nothing():
                code = _run(name, arguments, interruption)
                interruption.ended = True
            interruption.repeat()  # a plugin may have caught the interruption
        except (KeyboardInterrupt, click.Abort):
            left = (str(path) for path in written_paths if path.exists())  # private ones are removed by now
            written = ", ".join(dict.fromkeys(left))  # some are written again and again
            said = f"written: {written}" if written else "nothing was written"
            code = _say(f"interrupted; {said}", interruption.exit_code)
        return printed.exit_code(code)


def _run(name: str, arguments: Sequence[str], interruption: Interruption) -> int:
    if name not in COMMANDS:
        from difflib import get_close_matches  # noqa: PLC0415 - only for a misspelt command

        near = get_close_matches(name, COMMANDS, n=1)
        return _say(
            f"unknown command {name!r}{f'; did you mean {near[0]!r}?' if near else ''}; see tcdp-audit --help", 2
        )
    try:
        command: click.Command = import_module(f"tcdp_audit.cli.{name}").command
        code = command.main(list(arguments), prog_name=f"tcdp-audit {name}", standalone_mode=False)
    except TcdpAuditError as error:
        complain_of(error)
        return error.exit_code
    except click.exceptions.Exit as finished:
        return finished.exit_code
    except click.ClickException as error:
        return _say(error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort):
        raise
    except BaseException as error:  # noqa: BLE001 - never a traceback: its locals and text may hold cells
        interruption.repeat()  # a library may have made another error of it
        return _say(f"internal error ({_where(error)}); the audit is incomplete. Please report this line", 3)
    return code if isinstance(code, int) else 0


def _where(error: BaseException) -> str:
    from traceback import extract_tb  # noqa: PLC0415 - only for a defect

    frame = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {os.path.basename(frame.filename)}:{frame.lineno}"  # noqa: PTH119


def _say(message: str, code: int) -> int:
    complain(f"tcdp-audit: {visible(message)}\n")
    return code


class _Commands(click.Group):
    """The commands, each imported where its options are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """The names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - likewise
        """A command by its name; it shows the summary of the first page."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"tcdp_audit.cli.{cmd_name}").command
        command.short_help = COMMANDS[cmd_name]
        for parameter in command.params:
            if parameter.type is click.STRING and _names_file(parameter):
                parameter.type = click.Path()  # in this process nothing but completion asks for it
        return command


def _names_file(parameter: click.Parameter) -> bool:
    """Whether the text of a parameter is a file's name: an argument's is, except what `explain` explains."""
    metavar = parameter.metavar or ""
    return parameter.name != "name" if isinstance(parameter, click.Argument) else metavar.endswith(FILES)


def complete(instruction: str) -> int:
    """Print the script that a shell sources (`zsh_source`), or the completions at the cursor (`zsh_complete`)."""
    from click.shell_completion import shell_complete  # noqa: PLC0415 - only for a completion

    return shell_complete(_Commands("tcdp-audit"), {}, "tcdp-audit", COMPLETE, instruction)
