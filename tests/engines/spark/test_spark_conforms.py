"""The engine is held to what every engine is held to."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tcdp_audit.testing import check_conforms
from tcdp_audit_plugins.engines import SPARK


def test_the_engine_conforms(spark: Any) -> None:
    check_conforms(SPARK, {"place": spark.createDataFrame})


def test_other_things_are_not_its_own() -> None:
    others = (None, "release.parquet", "postgresql://host/db", pa.table({"zip": ["a"]}), object())
    assert [SPARK.accepts(other) for other in others] == [False] * len(others)
    assert SPARK.accepts("spark:people")
