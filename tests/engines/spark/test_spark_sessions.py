"""A session over a frame answers as separate audits do; a level is a mapping on the executors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "session"))

import session_questions as asked
from session_questions import same_moment as same_moment  # noqa: PLC0414 - a fixture

SEQUENCES = 9


def ask(spark: Any, folder: Path, seed: int, room: int | None) -> None:
    """Ask a session over a frame; the embedded engine, which is faster, says what follows from a masked table."""
    asked.ask(lambda table, _: spark.createDataFrame(table), folder, seed, room, masked_as=lambda table, _: table)


@pytest.mark.parametrize(("seed", "room"), [(0, None), (1, 40_000)])
def test_a_session_over_a_frame(spark: Any, seed: int, room: int | None, tmp_path: Path) -> None:
    ask(spark, tmp_path, seed, room)


@pytest.mark.parametrize("part", range(3))
def test_many_sequences_of_questions_over_a_frame(spark: Any, part: int, tmp_path: Path) -> None:
    for seed in range(part, SEQUENCES, 3):
        ask(spark, tmp_path, 1000 + seed, 20_000 if seed % 2 == 0 else None)
