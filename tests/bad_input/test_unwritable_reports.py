"""A report that cannot be written is refused before the work, and nothing half-written stays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from small_release import POLICY, TABLE

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.files import require_writable, write_atomically


def test_a_report_in_a_folder_that_does_not_exist(check: Any) -> None:
    ran = check(TABLE, "release.csv", POLICY, "--report", "absent/report.json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "tcdp-audit: absent/report.json: the folder absent does not exist\n"


def test_a_report_path_that_is_a_folder(check: Any, tmp_path: Path) -> None:
    (tmp_path / "data" / "report.json").mkdir(parents=True)
    ran = check(TABLE, "release.csv", POLICY, "--report", "report.json")
    assert (ran.code, ran.out, ran.err) == (2, "", "tcdp-audit: report.json: is a folder; name a file\n")


def test_a_report_with_an_unknown_extension(check: Any) -> None:
    ran = check(TABLE, "release.csv", POLICY, "--report", "report.odt")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tcdp-audit: report.odt: no report format for '.odt'; known are ")
    assert {".docx", ".json", ".pdf"} <= {*ran.err.rstrip().replace(",", "").split()}


def test_a_report_name_that_is_too_long(check: Any) -> None:
    ran = check(TABLE, "release.csv", POLICY, "--report", "r" * 300 + ".json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"tcdp-audit: {'r' * 300}.json: cannot be written: File name too long; choose another place\n"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a file system that nobody may write to")
def test_a_folder_that_no_one_may_write_to(check: Any) -> None:
    ran = check(TABLE, "release.csv", POLICY, "--report", "/proc/self/report.json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tcdp-audit: /proc/self/report.json: cannot be written: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into any folder")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot be written: Permission denied; choose another place"):
        require_writable(tmp_path / "report.json")


def test_a_failed_write_leaves_what_stood_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.json"
    target.write_text("before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"report\.json: cannot be written: No space left on device"):
        write_atomically(target, "after")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("report.json", "before")]


def test_a_written_file_is_whole_and_has_ordinary_permissions(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_atomically(target, "é\n")
    plain = tmp_path / "plain"
    plain.touch()
    assert target.read_bytes() == b"\xc3\xa9\n"
    assert target.stat().st_mode == plain.stat().st_mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain", "report.json"]
