"""Running one command: errors become sentences on stderr and exit codes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module

import click

from tcdp_audit.api import appeared, leaving_nothing
from tcdp_audit.cli import COMMANDS
from tcdp_audit.cli.printing import complain, complain_of, streams
from tcdp_audit.cli.signals import Interruption, interruptible
from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.plugin.sentences import visible


def run(name: str, arguments: Sequence[str]) -> int:
    """Run a command by name; the return value is the exit code."""
    appeared.clear()
    with streams() as printed, interruptible() as interruption:
        try:
            with leaving_nothing():
                code = _run(name, arguments, interruption)
                interruption.ended = True
            interruption.repeat()  # somebody's code may have kept it to itself
        except (KeyboardInterrupt, click.Abort):
            written = ", ".join(dict.fromkeys(map(str, appeared)))  # some are written again and again
            said = f"written: {written}" if written else "nothing was written"
            code = _say(f"interrupted; {said}", interruption.exit_code)
        return printed.exit_code(code)


def _run(name: str, arguments: Sequence[str], interruption: Interruption) -> int:
    if name not in COMMANDS:
        from difflib import get_close_matches  # noqa: PLC0415 - only for a misspelt command

        near = get_close_matches(name, COMMANDS, n=1)
        return _say(
            f"unknown command {name!r}{f'; did you mean {near[0]!r}?' if near else ''}; see tcdp-audit --help",
            2,
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
