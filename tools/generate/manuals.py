"""Manual pages for `man`, from the help of the commands: one of the program, and one of each command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from inspect import cleandoc

import click

from tcdp_audit import __version__
from tcdp_audit.cli import COMMANDS, HELP

PROGRAM = "tcdp-audit"
PARAGRAPH = re.compile(r"\n\s*\n")
CODE = re.compile(r"`([^`]+)`")
EXIT = "Exit code: "
SECTION = re.compile(r"^(Options|Exit codes):\n((?:  .+\n)+)", re.MULTILINE)
ENVIRONMENT = {
    "TCDP_AUDIT_LANGUAGE": "language of reports for people, as --language",
    "TCDP_AUDIT_RUN_BY": "who runs this, as --run-by",
    "TCDP_AUDIT_KEY_PASSWORD": "the password of an encrypted key, for attest",
    "SOURCE_DATE_EPOCH": "the time that results have as that of their audit",
    "TMPDIR": "the folder for temporary files",
}


def manuals() -> dict[str, str]:
    """Every page by the name of its file."""
    pages = {f"{PROGRAM}.1": _joined(_program())}
    return pages | {f"{PROGRAM}-{name}.1": _joined(_command(name)) for name in COMMANDS}


def _joined(lines: Iterator[str]) -> str:
    return "\n".join(lines) + "\n"


def _program() -> Iterator[str]:
    """The page of the program: its commands, its exit codes, the variables that it reads."""
    usage, says, *_ = PARAGRAPH.split(HELP)
    yield from _head(PROGRAM, "audit a dataset about people before it is published")
    yield from ('.SH "SYNOPSIS"', f".B {_escaped(PROGRAM)}", _escaped(usage.partition(PROGRAM)[2].strip()))
    yield from ('.SH "DESCRIPTION"', _escaped(says))
    yield '.SH "COMMANDS"'
    for name, summary in COMMANDS.items():
        yield from _item(name, f"{summary}; see {PROGRAM}-{name}(1)")
    for title, rows in SECTION.findall(HELP):
        yield f'.SH "{"EXIT STATUS" if title == "Exit codes" else title.upper()}"'
        for row in rows.strip().splitlines():
            yield from _item(*re.split(r"  +", row.strip(), maxsplit=1))
    yield '.SH "ENVIRONMENT"'
    for name, says in ENVIRONMENT.items():
        yield from _item(name, says)
    yield from _see(COMMANDS)


def _command(name: str) -> Iterator[str]:
    """The page of a command: what its help says."""
    command: click.Command = import_module(f"tcdp_audit.cli.{name}").command
    context = click.Context(command, info_name=f"{PROGRAM} {name}", **command.context_settings)
    paragraphs = [" ".join(one.split()) for one in PARAGRAPH.split(cleandoc(command.help or ""))]
    yield from _head(f"{PROGRAM}-{name}", COMMANDS[name])
    yield '.SH "SYNOPSIS"'
    yield f".B {_escaped(f'{PROGRAM} {name}')}"
    yield _escaped(" ".join(command.collect_usage_pieces(context)))
    yield '.SH "DESCRIPTION"'
    for number, paragraph in enumerate(one for one in paragraphs if not one.startswith(EXIT)):
        yield from ([".PP"] if number else [])
        yield _text(paragraph)
    yield '.SH "OPTIONS"'
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None:
            yield from _item(*record)
    for paragraph in paragraphs:
        if paragraph.startswith(EXIT):
            yield from ('.SH "EXIT STATUS"', _text(paragraph.removeprefix(EXIT)))
    yield from _see(())


def _head(name: str, summary: str) -> Iterator[str]:
    yield f'.TH "{_escaped(name.upper())}" "1" "" "{PROGRAM} {__version__}" "{PROGRAM}"'
    yield from ('.SH "NAME"', f"{_escaped(name)} \\- {_escaped(summary)}")


def _item(term: str, says: str) -> Iterator[str]:
    yield from (".TP", f"\\fB{_escaped(term)}\\fR", _text(says))


def _see(commands: Iterable[str]) -> Iterator[str]:
    others = [f"{PROGRAM}-{name}" for name in commands] or [PROGRAM]
    yield from ('.SH "SEE ALSO"', ", ".join(f"\\fB{_escaped(name)}\\fR(1)" for name in others))


def _text(paragraph: str) -> str:
    """A paragraph; code is bold."""
    parts = CODE.split(paragraph)
    return "".join(f"\\fB{_escaped(part)}\\fR" if n % 2 else _escaped(part) for n, part in enumerate(parts))


def _escaped(text: str) -> str:
    """Text in which roff sees no request and no escape."""
    plain = text.replace("\\", "\\(rs").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
