"""Completion for bash, zsh and fish, as click does it: `_TCDP_AUDIT_COMPLETE=zsh_source tcdp-audit` prints a script."""

from __future__ import annotations

from importlib import import_module

import click
from click.shell_completion import shell_complete

from tcdp_audit.cli import COMMANDS, COMPLETE

FILES = ("FILE", "PATH", "DIR", ".pem", ".sql", "RESULT")  # how the placeholders of options end that name files


class _Commands(click.Group):
    """The commands, each imported where its options are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """Their names."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - likewise
        """One of them; it shows the summary of the first page."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"tcdp_audit.cli.{cmd_name}").command
        command.short_help = COMMANDS[cmd_name]
        for parameter in command.params:
            if parameter.type is click.STRING and _names_file(parameter):
                parameter.type = click.Path()  # in this process nothing but completion asks for it
        return command


def _names_file(parameter: click.Parameter) -> bool:
    """Whether the text of a parameter is a file's name: an argument's is, but for what `explain` explains."""
    metavar = parameter.metavar or ""
    return parameter.name != "name" if isinstance(parameter, click.Argument) else metavar.endswith(FILES)


def complete(instruction: str) -> int:
    """Print the script that a shell sources (`zsh_source`), or the completions at the cursor (`zsh_complete`)."""
    return shell_complete(_Commands("tcdp-audit"), {}, "tcdp-audit", COMPLETE, instruction)
