"""Cells of every type mean on a cluster what they mean in a table in memory."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.engines.opening import open_engine

DAY = dt.date(2020, 2, 29)
TIME = dt.datetime(2020, 2, 29, 12, 30, 0, 5)  # noqa: DTZ001 - one without a zone is meant
CELLS: dict[str, tuple[Any, pa.DataType]] = {
    "integers of 8 bits": ([3, None, -3, 3], pa.int8()),
    "integers of 64 bits": ([2**62, None, -(2**62), 5], pa.int64()),
    "floats of 32 bits": ([0.1, None, -0.5, 0.1], pa.float32()),
    "floats of 64 bits": ([0.1, float("nan"), None, 1e300], pa.float64()),
    "text": (["b", "", None, "ä", " b"], pa.string()),
    "many texts": ([f"{n}" for n in range(600)], pa.string()),
    "truth": ([True, None, False, True], pa.bool_()),
    "decimals": ([Decimal("0.0000001"), None, Decimal("12.5"), Decimal(0)], pa.decimal128(20, 7)),
    "days": ([DAY, None, dt.date(1, 1, 1), dt.date(9999, 12, 31)], pa.date32()),
    "times without a zone": ([TIME, None, TIME + dt.timedelta(days=1), TIME], pa.timestamp("us")),
    "times with a zone": ([TIME, None, TIME + dt.timedelta(days=1), TIME], pa.timestamp("us", "UTC")),
    "durations": ([dt.timedelta(days=3), None, dt.timedelta(0), dt.timedelta(microseconds=5)], pa.duration("us")),
    "nothing": ([None, None], pa.null()),
}
SCHEMAS = {"times without a zone": "one timestamp_ntz"}


@pytest.fixture
def engine_over(spark: Any) -> Any:  # noqa: ARG001 - Spark is there
    from tcdp_audit_plugins.engines.spark.engine import SparkEngine

    return lambda frame: SparkEngine(frame, "release", "memory:release")


@pytest.mark.parametrize("kind", CELLS)
def test_distinct_values_are_those_of_the_embedded_engine(kind: str, spark: Any, engine_over: Any) -> None:
    cells, arrow = CELLS[kind]
    table = pa.table({"one": pa.array(cells, arrow)})
    with open_engine(table, 2**28) as embedded:
        local = embedded.domain("one")
    remote = engine_over(spark.createDataFrame(table, SCHEMAS.get(kind))).domain("one")
    assert local.values.dtype == remote.values.dtype
    np.testing.assert_array_equal(local.values, remote.values)
    assert local.counts.tolist() == remote.counts.tolist()
    assert local.nulls == remote.nulls


def test_text_that_a_collation_makes_equal_stays_different(spark: Any, engine_over: Any) -> None:
    frame = spark.createDataFrame(pa.table({"one": ["a", "A", "a"]}))
    engine = engine_over(frame.selectExpr("collate(one, 'UTF8_LCASE') AS one"))
    assert engine.domain("one").values.tolist() == ["A", "a"]
    assert engine.domain("one").counts.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("array(1)", "array"),
        ("map(1, 2)", "map"),
        ("named_struct('a', 1)", "struct"),
        ("cast('a' AS binary)", "binary"),
    ],
)
def test_nested_and_binary_data_is_no_cell(expression: str, kind: str, spark: Any, engine_over: Any) -> None:
    engine = engine_over(spark.range(2).selectExpr(f"{expression} AS one"))
    sentence = rf"^release: column 'one' holds nested or binary data \({kind}\), not single cells$"
    with pytest.raises(DataError, match=sentence):
        engine.domain("one")


def test_columns_must_have_names_of_their_own(spark: Any, engine_over: Any) -> None:
    with pytest.raises(DataError, match=r"^release: the column name 'id' appears more than once; rename all but one$"):
        engine_over(spark.range(2).selectExpr("id", "id"))


def test_columns_have_the_types_of_spark(spark: Any, engine_over: Any) -> None:
    columns = engine_over(spark.range(2).selectExpr("id AS `a.b`", "cast(id AS decimal(9, 2)) AS c")).columns
    assert [(one.name, one.type) for one in columns] == [("a.b", "bigint"), ("c", "decimal(9,2)")]
