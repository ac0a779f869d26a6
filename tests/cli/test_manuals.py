"""Every command has a page for `man` with its options, and the program one with its commands."""

from __future__ import annotations

import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import click
import pytest

from tcdp_audit.cli import COMMANDS
from tools.generate.manuals import manuals

MANUALS = Path(__file__).parents[2] / "man"
PAGES = manuals()


def test_there_is_a_page_for_the_program_and_for_each_command():
    assert sorted(PAGES) == sorted(["tcdp-audit.1", *(f"tcdp-audit-{name}.1" for name in COMMANDS)])
    assert all(f"\\fB{name}\\fR" in PAGES["tcdp-audit.1"] for name in COMMANDS)
    for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"):
        assert f'.SH "{part}"' in PAGES["tcdp-audit.1"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_every_option_of_its_command(name: str):
    page = PAGES[f"tcdp-audit-{name}.1"].replace("\\-", "-")
    options = [one for one in import_module(f"tcdp_audit.cli.{name}").command.params if isinstance(one, click.Option)]

    assert [one.opts[0] for one in options if one.opts[0] not in page] == []


def test_text_is_no_request_of_roff():
    lines = [line for page in PAGES.values() for line in page.splitlines()]

    assert {line.split()[0] for line in lines if line.startswith((".", "'"))} == {".TH", ".SH", ".TP", ".PP", ".B"}


@pytest.mark.long
def test_man_reads_the_pages_without_a_warning():
    if shutil.which("man") is None or shutil.which("groff") is None:
        pytest.skip("man is not installed")
    for path in sorted(MANUALS.glob("*.1")):
        ran = subprocess.run(["man", "--warnings", "-l", str(path)], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, ""), path.name
        assert "NAME" in ran.stdout
