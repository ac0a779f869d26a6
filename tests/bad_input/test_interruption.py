"""Ctrl-C while a large table is read: exit code 130, one sentence, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_release import POLICY, TABLE

from tcdp_audit.engines.faults import speaking

ENTRY = "import sys; from tcdp_audit.cli import main; sys.exit(main())"


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


@pytest.mark.parametrize("patience", [0.0, 0.4])
def test_ctrl_c_while_reading(large_csv: Path, tmp_path: Path, patience: float) -> None:
    scratch, folder = tmp_path / "scratch", tmp_path / "data"
    scratch.mkdir()
    folder.mkdir()
    (folder / "policy.tcdp.yaml").write_text(POLICY)
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, "check", str(large_csv), "--report", "report.json", "--json"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not any(scratch.iterdir()) and process.poll() is None:
        time.sleep(0.005)  # the engine's folder appears when it opens the table
    time.sleep(patience)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.strip() == "tcdp-audit: interrupted; nothing was written"
    assert [path.name for path in folder.iterdir()] == ["policy.tcdp.yaml"]
    assert list(scratch.iterdir()) == []


def test_an_interrupted_statement_is_an_interruption_for_python_too() -> None:
    with pytest.raises(KeyboardInterrupt), speaking("release", None):
        raise RuntimeError("Query interrupted")


def test_any_other_error_of_ours_is_not_disguised() -> None:
    with pytest.raises(RuntimeError, match="else"), speaking("release", None):
        raise RuntimeError("something else")


def test_a_reader_that_has_gone_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "policy.tcdp.yaml").write_text(POLICY)
    (tmp_path / "release.csv").write_text(TABLE)
    receiver, sender = os.pipe()
    os.close(receiver)
    command = [sys.executable, "-c", ENTRY, "check", "release.csv", "--json"]
    process = subprocess.run(command, cwd=tmp_path, stdout=sender, stderr=subprocess.PIPE, text=True, check=False)
    os.close(sender)
    assert (process.returncode, process.stderr) == (3, "")
