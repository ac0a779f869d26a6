"""The tutorial, from the first command to the last, on the real table."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from documents import blocks, read
from test_commands_and_code import ENVIRONMENT, _calls, _missing, _write_files


@pytest.mark.long
def test_every_command_answers_what_is_shown(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(data / "adult" / "adult.csv", tmp_path)
    text = read("docs/tutorial.md")
    first, *rest = blocks(text, "console")
    _run(first, tmp_path)
    _run(rest[0], tmp_path)  # the draft is the only policy so far
    _write_files(text)
    for block in rest[1:]:
        _run(block, tmp_path)


def _run(block, folder: Path) -> None:
    for command, shown in _calls(block):
        call = ["bash", "-c", command]
        ran = subprocess.run(
            call, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert "internal error" not in ran.stdout
        assert _missing(shown, ran.stdout) == [], f"line {block.line}: {command}\n{ran.stdout}"
