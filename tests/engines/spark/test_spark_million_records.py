"""Every check on classes on a million records, in eight partitions: the outcomes of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import million
import pytest
from answers import answer


def test_eight_partitions_give_the_answer_of_the_file(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tcdp_audit_plugins.engines.spark.partitions import Partitions

    file = million.file(tmp_path)
    counts: list[int] = []
    worked = Partitions.map

    def recorded(self: Any, *arguments: Any) -> Any:
        counts.append(self.count)
        return worked(self, *arguments)

    monkeypatch.setattr(Partitions, "map", recorded)
    assert answer(spark.read.parquet(str(file)), million.policy()) == answer(file, million.policy())
    assert set(counts) == {8}
