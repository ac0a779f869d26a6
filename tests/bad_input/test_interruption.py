"""A signal while a large table is read: its exit code, one sentence, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import click
import pytest
from small_release import POLICY, TABLE

from tcdp_audit.cli.run import interruptible, run
from tcdp_audit.core.base.files import write_atomically
from tcdp_audit.core.engines.duckdb_instances import readable_errors

ENTRY = "import sys; from tcdp_audit.cli import main; sys.exit(main())"
HEEDED = "import signal; [signal.signal(number, signal.SIG_DFL) for number in (1, 2, 15)]\n"  # whoever ran the tests
SENT_BY_ITSELF = """
import os, pathlib, signal, threading, time

def target(file):
    try:
        return os.readlink(file)
    except FileNotFoundError:  # closed since the folder was listed
        return None

def opened(path):
    return any(target(file) == path for file in pathlib.Path("/proc/self/fd").iterdir())

def filled(folder):
    return any(path.is_dir() for path in pathlib.Path(folder).iterdir())  # a file is tempfile's own trial

def bytes_read():
    return int(pathlib.Path("/proc/self/io").read_text().split()[1])

def send():
    signal.pthread_sigmask(signal.SIG_BLOCK, {{{signal}}})  # it is for the others, as if it came from outside
    while not {begun}:
        time.sleep(0.002)
    end = bytes_read() + {more}
    while bytes_read() < end:
        time.sleep(0.002)
    os.kill(os.getpid(), {signal})

threading.Thread(target=send, daemon=True).start()
"""  # the process counts what it has read: no clock of another one decides when the signal comes


@pytest.fixture(scope="module")
def large_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """130 MB: about two seconds of reading."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    block = "".join(f"{i % 90},{i % 977:05d},disease{i % 13}\n" for i in range(100_000))
    with path.open("w") as file:
        file.write("age,zip,disease\n")
        for _ in range(80):
            file.write(block)
    yield path
    path.unlink()


@pytest.mark.long
@pytest.mark.parametrize("memory", ["4GiB", "64MiB"], ids=["in memory", "beyond memory"])
@pytest.mark.parametrize("more", [0, 20_000_000], ids=["begun", "20 MB later"])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_reading(
    large_csv: Path, tmp_path: Path, more: int, memory: str, sent: signal.Signals, code: int
) -> None:
    scratch, folder = tmp_path / "scratch", tmp_path / "data"
    scratch.mkdir()
    folder.mkdir()
    (folder / "policy.tcdp.yaml").write_text(POLICY)
    begun = f"opened({str(large_csv.resolve())!r})" if memory == "4GiB" else f"filled({str(scratch)!r})"
    program = HEEDED + SENT_BY_ITSELF.format(begun=begun, more=more, signal=int(sent)) + ENTRY
    options = ["--memory", memory, "--report", "report.json", "--json"]
    process = subprocess.run(
        [sys.executable, "-c", program, "check", str(large_csv), *options],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(scratch)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (process.returncode, process.stdout) == (code, "")
    assert process.stderr.strip() == "tcdp-audit: interrupted; nothing was written"
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


class SignallingLock:
    """A lock that is signalled when a condition has taken it, and has not noticed yet."""

    def __init__(self, *_: Any) -> None:
        self.lock = threading.Lock()
        self.acquire, self.release = self.lock.acquire, self.lock.release

    def __enter__(self) -> None:
        self.lock.acquire()
        os.kill(os.getpid(), signal.SIGTERM)

    def __exit__(self, *_: object) -> None:
        self.lock.release()


def test_a_signal_waits_until_a_lock_of_python_can_be_given_back() -> None:
    condition = threading.Condition(SignallingLock())  # type: ignore[arg-type]
    with interruptible() as interruption:
        with condition:
            pass
        with pytest.raises(KeyboardInterrupt):
            time.sleep(10)
        assert condition.acquire(blocking=False)
        assert interruption.exit_code == 128 + signal.SIGTERM


def test_a_thread_that_waits_is_interrupted() -> None:
    with interruptible() as interruption:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGTERM)).start()
        with pytest.raises(KeyboardInterrupt):
            threading.Event().wait(10)
        assert interruption.delays <= 1
