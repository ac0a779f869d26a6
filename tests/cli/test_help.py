"""The help pages list what there is, fit a terminal, and cost nothing."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import tcdp_audit.cli
from tcdp_audit import __version__
from tcdp_audit.cli import COMMANDS

FOLDER = Path(tcdp_audit.cli.__file__).parent


def _defines_command(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == "command" for node in tree.body)


def test_the_first_page_lists_every_command_and_nothing_else(process: Any):
    answer = process("--help")
    listed = answer.out.split("Commands:\n")[1].split("\n\n")[0].splitlines()

    assert answer.code == 0
    assert [line.split()[0] for line in listed] == sorted(COMMANDS)
    assert {path.stem for path in FOLDER.glob("*.py") if _defines_command(path)} == set(COMMANDS)


def test_without_arguments_the_first_page_is_shown(process: Any):
    assert process() == process("--help")


def test_the_version(process: Any):
    assert process("--version") == (0, f"tcdp-audit {__version__}\n", "")


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_a_commands_page_says_how_to_call_it(command: str, here: Any):
    answer = here(command, "--help")

    assert answer.code == 0
    assert answer.out.startswith(f"Usage: tcdp-audit {command} [OPTIONS]")
    assert answer.out == here(command, "-h").out


@pytest.mark.parametrize("arguments", [["--help"], *([command, "--help"] for command in sorted(COMMANDS))])
def test_help_fits_80_columns(arguments: list[str], process: Any):
    assert max(map(len, process(*arguments).out.splitlines())) <= 80


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_option_is_described(command: str):
    from importlib import import_module

    options = [one for one in import_module(f"tcdp_audit.cli.{command}").command.params if one.name != "help"]

    assert [one.name for one in options if one.param_type_name == "option" and not one.help] == []


def test_an_unknown_command_is_reported_with_the_nearest(process: Any):
    assert process("chekc") == (
        2,
        "",
        "tcdp-audit: unknown command 'chekc'; did you mean 'check'?; see tcdp-audit --help\n",
    )


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_an_unknown_option_is_a_wrong_call(command: str, here: Any):
    answer = here(command, "--no-such-option")

    assert (answer.code, answer.out) == (2, "")
    assert "--no-such-option" in answer.err
