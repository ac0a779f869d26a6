"""docs/init.md shows how often proposals are right today, on public data and planted tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from confusion import BEGIN, END, PAGE, confusion


@pytest.mark.long
def test_the_page_shows_what_is_proposed_today(data: Path):
    shown = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]

    assert shown == confusion(data)  # stale? run tests/drafting/confusion.py
    assert all(row.endswith(" 0 |") for row in shown.splitlines()[2:10])  # no direct identifier is missed
