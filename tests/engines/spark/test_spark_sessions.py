"""A session over a frame answers as separate audits do; a level is a mapping on the executors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "session"))

import session_questions as asked
from session_questions import same_moment as same_moment  # noqa: PLC0414 - a fixture

SEQUENCES = 20


@pytest.mark.parametrize("room", [None, 40_000])
def test_a_session_over_a_frame(spark: Any, room: int | None, tmp_path: Path) -> None:
    for seed in range(2):
        asked.ask(lambda table, _: spark.createDataFrame(table), tmp_path, seed, room)


@pytest.mark.parametrize("part", range(4))
def test_many_sequences_of_questions_over_a_frame(spark: Any, part: int, tmp_path: Path) -> None:
    for seed in range(part, SEQUENCES, 4):
        room = 20_000 if seed % 3 == 0 else None
        asked.ask(lambda table, _: spark.createDataFrame(table), tmp_path, 1000 + seed, room)
