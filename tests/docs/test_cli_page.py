"""docs/cli.md has every command and every option, and no other."""

from __future__ import annotations

from importlib import import_module

import click
import pytest
from documents import code, read, rows, section

from tcdp_audit.cli import COMMANDS
from tcdp_audit.cli.run import ENDING

PAGE = read("docs/cli.md")


def _command(name: str) -> click.Command:
    command: click.Command = import_module(f"tcdp_audit.cli.{name}").command
    return command


def _options(name: str) -> list[click.Option]:
    return [one for one in _command(name).params if isinstance(one, click.Option)]


def test_every_command_has_a_section():
    headings = [line.removeprefix("## tcdp-audit ") for line in PAGE.splitlines() if line.startswith("## tcdp-audit ")]

    assert headings == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_row(name: str):
    documented = [code(cells[0])[0].split()[0] for cells in rows(section(PAGE, f"## tcdp-audit {name}"))]

    assert sorted(documented) == sorted(one.opts[0] for one in _options(name))


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_shown_with_what_they_take(name: str):
    table = {code(cells[0])[0].split()[0]: cells for cells in rows(section(PAGE, f"## tcdp-audit {name}"))}
    for option in _options(name):
        shown, default = " ".join(code(table[option.opts[0]][0])), table[option.opts[0]][1]
        if isinstance(option.type, click.Choice):
            assert shown == f"{option.opts[0]} {' '.join(option.type.choices)}"
            assert default == (f"`{option.default}`" if isinstance(option.default, str) else "nothing")
        elif option.is_flag or getattr(option, "count", False):
            assert (shown, default) == (" ".join(option.opts), "off")
        else:
            assert shown == f"{' '.join(option.opts)} {option.metavar}"


@pytest.mark.parametrize("name", COMMANDS)
def test_arguments_are_named(name: str):
    text = section(PAGE, f"## tcdp-audit {name}")
    arguments = [one for one in _command(name).params if isinstance(one, click.Argument)]

    assert [one.name for one in arguments if one.make_metavar(click.Context(_command(name))) not in text] == []


def test_an_interruption_has_its_exit_code():
    for number in ENDING:
        assert f"| {128 + number} |" in section(PAGE, "## Exit codes")
