"""Private folders for temporary files: removed by whoever made them, or by the next run if that was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from io import FileIO
from pathlib import Path

import pytest
from filelock import lock_descriptor

from tcdp_audit.core.base import scratch
from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.scratch import LOCK, Scratch, leaving_nothing, sweep

STALE = "tcdp-audit-0123456789abcdef.tmp"


def abandoned(parent: Path, name: str = STALE) -> Path:
    """What a killed process leaves."""
    folder = parent / name
    (folder / "below").mkdir(parents=True)
    (folder / LOCK).touch()
    (folder / "0-1").write_bytes(b"codes")
    (folder / "below" / "file").touch()
    return folder


def test_a_folder_is_private_and_goes_with_its_owner(tmp_path: Path) -> None:
    with Scratch(tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.name.startswith(".tcdp-audit-")
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "deep").mkdir()
        (folder / "deep" / "file").touch()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_no_one_holds_is_removed(tmp_path: Path) -> None:
    abandoned(tmp_path)
    abandoned(tmp_path, "." + STALE)
    (tmp_path / STALE.replace("0", "f")).mkdir()  # killed before it had a lock
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_stays(tmp_path: Path) -> None:
    folder = abandoned(tmp_path)
    with (folder / LOCK).open("rb+") as lock:
        lock_descriptor(lock.fileno())
        sweep(tmp_path)
        assert (folder / "0-1").exists()
    with Scratch(tmp_path) as mine:
        sweep(tmp_path)
        assert [path.name for path in mine.iterdir()] == [LOCK]
    assert not folder.exists()


@pytest.mark.parametrize("name", ["tcdp-audit-demo", "tcdp-audit-0123456789abcdef", "x" + STALE, STALE + ".csv"])
def test_a_folder_of_another_name_stays(tmp_path: Path, name: str) -> None:
    assert abandoned(tmp_path, name).exists()
    sweep(tmp_path)
    assert (tmp_path / name / "0-1").exists()


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    target = abandoned(precious)
    (tmp_path / STALE).symlink_to(target, target_is_directory=True)
    linking = abandoned(tmp_path, STALE.replace("0", "1"))
    (linking / "link").symlink_to(precious, target_is_directory=True)
    (linking / "file").symlink_to(target / "0-1")
    sweep(tmp_path)
    assert not linking.exists()
    assert (target / "0-1").read_bytes() == b"codes"


def test_a_folder_of_another_user_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = abandoned(tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    sweep(tmp_path)
    assert (folder / "0-1").exists()


def test_a_folder_that_was_taken_for_abandoned_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked, times = scratch._locked, iter([True, False])

    def swept_first(path: Path) -> FileIO:
        if next(times):
            sweep(tmp_path)  # another process, between the folder and its lock
            assert not path.exists()
        return locked(path)

    monkeypatch.setattr(scratch, "_locked", swept_first)
    with Scratch(tmp_path) as folder:
        assert (folder / LOCK).exists()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_a_signal_withheld_from_its_owner_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = scratch._locked

    def interrupted(path: Path) -> FileIO:
        locked(path).close()
        raise KeyboardInterrupt

    monkeypatch.setattr(scratch, "_locked", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Scratch(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_whatever_a_signal_left_is_removed_at_the_end(tmp_path: Path) -> None:
    outer = Scratch(tmp_path)
    with leaving_nothing():
        lost = Scratch(tmp_path)
        lost._removal.detach()  # as if the signal had come in the middle of its own removal
    assert list(tmp_path.iterdir()) == [outer.path]
    outer.cleanup()


def test_the_lock_goes_with_a_killed_process(tmp_path: Path) -> None:
    program = "import os, signal, sys; from pathlib import Path; from tcdp_audit.core.base.scratch import Scratch\n"
    program += "kept = Scratch(Path(sys.argv[1])); os.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_place_for_temporary_files_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(UsageError, match="temporary files cannot be written: No such file or directory; name a folder"):
        Scratch()
