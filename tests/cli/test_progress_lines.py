"""Where there is no terminal, long work prints a line for each stage to standard error, and short work nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tcdp_audit.cli import printing
from tcdp_audit.cli.printing import streams


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("tcdp_audit.cli.printing.time.monotonic", lambda: now[0])
    return now


def reported(clock: list[float], calls: list[tuple[float, str, int, int]], capsys: Any, *, quiet: bool = False) -> str:
    with streams(), printing.progress_of_work(quiet=quiet) as callback:
        for moment, *step in calls:
            clock[0] = moment
            if callback is not None:
                callback(*step)
    written = capsys.readouterr()
    assert written.out == ""
    return str(written.err)


def test_short_work_is_silent(clock: list[float], capsys: Any) -> None:
    assert reported(clock, [(1, "reading", 1, 2), (printing.LONG - 1, "measuring", 2, 2)], capsys) == ""


def test_each_stage_of_long_work_has_a_line_and_a_long_one_several(clock: list[float], capsys: Any) -> None:
    calls = [(20.0, "reading", 1, 4), (21.0, "reading", 2, 4), (90.0, "reading", 3, 4), (91.0, "measuring", 0, 0)]
    assert reported(clock, calls, capsys).splitlines() == [
        "tcdp-audit: reading, 25% done, after 20 s",
        "tcdp-audit: reading, 75% done, after 90 s",
        "tcdp-audit: measuring, after 91 s",
    ]


def test_quiet_is_silent(clock: list[float], capsys: Any) -> None:
    assert reported(clock, [(99.0, "reading", 1, 4)], capsys, quiet=True) == ""


def test_a_stage_of_which_no_one_knows_the_end_says_how_far_it_is(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    calls = [(16.0, "rows from the database", 1_234_567, 0), (20.0, "opening", 0, 0)]
    assert reported(clock, calls, capsys) == (
        "tcdp-audit: rows from the database, 1,234,567, after 16 s\ntcdp-audit: opening, after 20 s\n"
    )
