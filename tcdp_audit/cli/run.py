"""Running one command: errors become sentences on stderr and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from tcdp_audit.cli import COMMANDS
from tcdp_audit.errors import TcdpAuditError

INTERRUPTED = 130


def run(name: str, arguments: Sequence[str]) -> int:
    """Run a command by name; the return value is the exit code."""
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
        sys.stdout.flush()
    except TcdpAuditError as error:
        return _say(str(error), error.exit_code)
    except click.exceptions.Exit as finished:
        return finished.exit_code
    except click.ClickException as error:
        return _say(error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted; nothing was written", INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # click exits with 1, which would mean a failed expectation
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read has gone
        return 3
    except Exception as error:  # noqa: BLE001 - never a traceback: its locals and text may hold cells
        return _say(f"internal error ({_where(error)}); the audit is incomplete. Please report this line", 3)
    return code if isinstance(code, int) else 0


def _where(error: Exception) -> str:
    from traceback import extract_tb  # noqa: PLC0415 - only for a defect

    frame = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {os.path.basename(frame.filename)}:{frame.lineno}"  # noqa: PTH119


def _say(message: str, code: int) -> int:
    sys.stderr.write(f"tcdp-audit: {message}\n")
    return code
