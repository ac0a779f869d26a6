"""A signal while a large table is read: its exit code, one sentence, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import weakref
from contextlib import nullcontext, suppress
from pathlib import Path

import click
import pytest
from small_release import POLICY, TABLE

from tcdp_audit.cli.run import run
from tcdp_audit.engines.faults import readable_errors
from tcdp_audit.files import write_atomically

ENTRY = "import sys; from tcdp_audit.cli import main; sys.exit(main())"
HEEDED = "import signal; [signal.signal(number, signal.SIG_DFL) for number in (1, 2, 15)]\n"  # whoever ran the tests


@pytest.fixture(scope="module")
def large_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """160 MB: about two seconds of reading."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    block = "".join(f"{i % 90},{i % 977:05d},disease{i % 13}\n" for i in range(100_000))
    with path.open("w") as file:
        file.write("age,zip,disease\n")
        for _ in range(80):
            file.write(block)
    yield path
    path.unlink()


def _is_open(path: Path, process: subprocess.Popen[str]) -> bool:
    for file in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            if os.path.realpath(file) == str(path.resolve()):
                return True
    return False


@pytest.mark.parametrize("memory", ["4GiB", "64MiB"], ids=["in memory", "beyond memory"])
@pytest.mark.parametrize("patience", [0.0, 0.4])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_reading(
    large_csv: Path, tmp_path: Path, patience: float, memory: str, sent: signal.Signals, code: int
) -> None:
    scratch, folder = tmp_path / "scratch", tmp_path / "data"
    scratch.mkdir()
    folder.mkdir()
    (folder / "policy.tcdp.yaml").write_text(POLICY)
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HEEDED + ENTRY,
            "check",
            str(large_csv),
            "--memory",
            memory,
            "--report",
            "report.json",
            "--json",
        ],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not (_is_open(large_csv, process) if memory == "4GiB" else any(scratch.iterdir())):
        time.sleep(0.005)
    time.sleep(patience)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert err.strip() == "tcdp-audit: interrupted; nothing was written"
    assert [path.name for path in folder.iterdir()] == ["policy.tcdp.yaml"]
    assert list(scratch.iterdir()) == []


def test_a_signal_that_was_ignored_stays_ignored(tmp_path: Path) -> None:
    (tmp_path / "policy.tcdp.yaml").write_text(POLICY)
    (tmp_path / "release.csv").write_text(TABLE)
    program = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    program += "from tcdp_audit import api; audit = api.audit\n"
    program += "api.audit = lambda *a, **k: (os.kill(os.getpid(), signal.SIGHUP), audit(*a, **k))[1]\n"
    command = [sys.executable, "-c", program + ENTRY, "check", "release.csv", "--quiet"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0


@pytest.mark.parametrize("swallowed", [False, True])
def test_what_was_written_before_a_signal_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], swallowed: bool
) -> None:
    @click.command()
    def command() -> int:
        write_atomically(tmp_path / "report.md", "whole")
        with suppress(KeyboardInterrupt) if swallowed else nullcontext():
            os.kill(os.getpid(), signal.SIGTERM)
        return 0

    handler = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("tcdp_audit.cli.check.command", command)
    assert run("check", []) == 143
    assert capsys.readouterr().err.strip() == f"tcdp-audit: interrupted; written: {tmp_path / 'report.md'}"
    assert signal.getsignal(signal.SIGTERM) is handler


def test_a_signal_that_comes_in_a_callback_ends_the_command_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Dying:
        pass

    @click.command()
    def command() -> int:
        dying = Dying()
        reference = weakref.ref(dying, lambda _: os.kill(os.getpid(), signal.SIGTERM))
        del dying
        return int(reference() is not None)

    monkeypatch.setattr("tcdp_audit.cli.check.command", command)
    assert run("check", []) == 143
    assert capsys.readouterr().err.strip() == "tcdp-audit: interrupted; nothing was written"


def test_an_interrupted_statement_is_an_interruption_for_python_too() -> None:
    with pytest.raises(KeyboardInterrupt), readable_errors("release", None):
        raise RuntimeError("Query interrupted")


def test_any_other_error_of_ours_is_not_disguised() -> None:
    with pytest.raises(RuntimeError, match="else"), readable_errors("release", None):
        raise RuntimeError("something else")


def test_a_reader_that_has_gone_changes_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "policy.tcdp.yaml").write_text(POLICY)
    (tmp_path / "release.csv").write_text(TABLE)
    receiver, sender = os.pipe()
    os.close(receiver)
    command = [sys.executable, "-c", ENTRY, "check", "release.csv", "--json"]
    process = subprocess.run(command, cwd=tmp_path, stdout=sender, stderr=subprocess.PIPE, text=True, check=False)
    os.close(sender)
    assert (process.returncode, process.stderr) == (0, "")
