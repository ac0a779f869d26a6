"""Commands and code of the documentation work, and print what the documentation shows.

A `console` block has commands after `$` and lines of their output, in order; `…` replaces lines that are left out. A
`python` block runs, as a doctest where it has prompts. A `yaml` or `csv` block whose first line is a comment with a
file's name is that file.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from documents import Block, blocks, documents, name_of

PAGES = {name_of(path): path.read_text(encoding="utf-8") for path in documents()}
ENVIRONMENT = {
    **os.environ,
    "COLUMNS": "80",
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "PYTHONIOENCODING": "utf-8",
}
ELSEWHERE = "<!-- example: "  # pages whose blocks are files of an example, which has tests of its own
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _write_files(text: str) -> None:
    for block in blocks(text, "yaml", "csv"):
        named = re.match(r"# ([\w.]+\.(?:ya?ml|csv))\n", block.text)
        if named:
            content = block.text if block.language == "yaml" else block.text[named.end() :]
            Path(named[1]).write_text(content, encoding="utf-8")


def _calls(block: Block) -> Iterator[tuple[str, list[str]]]:
    for call in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = call.partition("\n")
        yield command, [line.strip() for line in output.splitlines() if line.strip() not in ("", "…")]


def _with_console(language: str) -> list[str]:
    return [name for name, text in PAGES.items() if blocks(text, language) and ELSEWHERE not in text]


@pytest.mark.long
@pytest.mark.parametrize("name", _with_console("console"))
def test_commands_answer_what_is_shown(name: str, folder: Path):
    _write_files(PAGES[name])
    for block in blocks(PAGES[name], "console"):
        for command, shown in _calls(block):
            ran = subprocess.run(
                ["bash", "-c", command],
                env=ENVIRONMENT,
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                check=False,
            )
            assert "internal error" not in ran.stdout
            assert _missing(shown, ran.stdout) == [], f"{name}:{block.line}: {command}\n{ran.stdout}"


def _missing(shown: list[str], output: str) -> list[str]:
    """The lines that the output does not have in this order."""
    lines = iter([line.strip() for line in output.splitlines()])
    return [line for line in shown if not any(line == other for other in lines)]


@pytest.mark.parametrize("name", _with_console("python"))
@pytest.mark.usefixtures("folder")
def test_python_runs(name: str):
    _write_files(PAGES[name])
    known: dict[str, Any] = {"__name__": "documentation"}
    for block in blocks(PAGES[name], "python"):
        if ">>>" not in block.text:
            exec(compile(block.text, f"{name}:{block.line}", "exec"), known)  # noqa: S102 - our own pages
            continue
        example = doctest.DocTestParser().get_doctest(block.text, known, name, name, block.line - 1)
        output: list[str] = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
        runner.run(example, out=output.append, clear_globs=False)
        known.update(example.globs)
        assert not runner.failures, "".join(output)


def test_there_is_something_to_run():
    assert {"README.md", "docs/cli.md", "docs/policy.md"} <= set(_with_console("console"))
    assert {"README.md", "docs/python.md", "docs/conventions.md"} <= set(_with_console("python"))
