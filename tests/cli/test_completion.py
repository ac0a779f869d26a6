"""What a shell may complete: commands, options, files, and the names that `explain` knows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tcdp_audit.cli import COMMANDS
from tcdp_audit.cli.run import complete

pytestmark = pytest.mark.usefixtures("narrow")


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def completed(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], position: int
) -> list[str]:
    monkeypatch.setenv("COMP_WORDS", f"tcdp-audit {words}")
    monkeypatch.setenv("COMP_CWORD", str(position))
    assert complete("bash_complete") == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "position", "expected"),
    [
        ("", 1, [f"plain,{name}" for name in sorted(COMMANDS)]),
        ("ch", 1, ["plain,check"]),
        ("check --forma", 2, ["plain,--format"]),
        ("check --format g", 3, ["plain,github", "plain,gitlab"]),
        ("check a", 2, ["file,a"]),
        ("check --policy b", 3, ["file,b"]),
        ("lint a", 2, ["file,a"]),
        ("explain k_", 2, ["plain,k_anonymity", "plain,k_concealment", "plain,k_confusion", "plain,k_map"]),
        ("explain zz", 2, []),
        ("explain pol", 2, ["plain,policy"]),
        ("profiles ema", 2, ["plain,ema_policy_0070@2017-09"]),
        ("init a.csv --profile cms_cell_size@", 4, ["plain,cms_cell_size@2024-01"]),
        ("init --profile zz", 3, []),
    ],
)
def test_what_may_stand_at_the_cursor(
    words: str,
    position: int,
    expected: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert completed(words, monkeypatch, capsys, position) == expected


SHELLS = {
    "bash": "source <({ask}bash_source {program}); COMP_WORDS=(tcdp-audit expl); COMP_CWORD=1; "
    '_tcdp_audit_completion tcdp-audit; echo "${{COMPREPLY[@]}}"',
    "zsh": "autoload -Uz compinit; compinit -u -d {folder}/dump; source <({ask}zsh_source {program}); "
    'compadd() {{ :; }}; _describe() {{ print -r -- "${{completions_with_descriptions[@]%%:*}}"; }}; '
    "words=(tcdp-audit expl); CURRENT=2; _tcdp_audit_completion",
    "fish": '{ask}fish_source {program} | source; complete -C "tcdp-audit expl" | string split -f1 \\t',
}


@pytest.mark.long
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_the_name_of_a_command(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    program = tmp_path / "tcdp-audit"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tcdp_audit "$@"\n')
    program.chmod(0o755)
    script = SHELLS[shell].format(ask="_TCDP_AUDIT_COMPLETE=", program="tcdp-audit", folder=tmp_path)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    ran = subprocess.run(
        [shell, "-c", script], env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert ran.stdout.split() == ["explain"], ran.stderr


def test_the_variable_is_seen_before_the_first_page() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tcdp_audit"],
        env={**os.environ, "_TCDP_AUDIT_COMPLETE": "fish_source"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("function _tcdp_audit_completion;")
