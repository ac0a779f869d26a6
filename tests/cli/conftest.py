"""Two ways to call the command line: as people do, in a process of its own, and within this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tcdp_audit.cli.run import run

PAPERS = Path(__file__).parents[2] / "examples" / "papers"


class Answer(NamedTuple):
    """What a call left: its exit code and what it printed."""

    code: int
    out: str
    err: str


Call = Callable[..., Answer]


@pytest.fixture
def process(tmp_path: Path) -> Call:
    """`tcdp-audit ...` in a process of its own, in an empty folder, 80 columns wide."""

    def call(*arguments: str | Path, **environment: str) -> Answer:
        ran = subprocess.run(
            [sys.executable, "-m", "tcdp_audit", *arguments],
            env={**os.environ, "COLUMNS": "80", **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return Answer(ran.returncode, ran.stdout, ran.stderr)

    return call


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """`tcdp-audit ...` in this process, 80 columns wide."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(command: str, *arguments: str | Path) -> Answer:
        code = run(command, [str(one) for one in arguments])
        return Answer(code, *capsys.readouterr())

    return call


@pytest.fixture
def papers() -> Path:
    """The folder of the papers' tables and their policies."""
    return PAPERS
