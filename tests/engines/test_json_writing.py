"""Tables with types of their own as JSON lines."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from tcdp_audit import DataError
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.writing import write_table

COLUMNS = {
    "integer": (pa.array([1, None], pa.int8()), ["1", "null"]),
    "beyond 64 bits": (pa.array([2**64 - 1, 0], pa.uint64()), ["18446744073709551615", "0"]),
    "float": (pa.array([0.1, 3.0]), ["0.1", "3"]),
    "32-bit float": (pa.array([0.1, float("nan")], pa.float32()), ["0.1", "null"]),
    "16-bit float": (pa.array([0.1, 1], pa.float16()), ["0.1", "1"]),
    "duration": (pa.array([1, None], pa.duration("ns")), ['"1"', "null"]),
    "NaN is missing": (pa.array([float("nan"), 1e300]), ["null", "1e+300"]),
    "boolean": (pa.array([True, False]), ["true", "false"]),
    "decimal": (pa.array([Decimal("1.10"), Decimal("0.01")]), ["1.10", "0.01"]),
    "tiny decimal": (pa.array([Decimal("1e-30"), None], pa.decimal128(38, 30)), [f"0.{'0' * 29}1", "null"]),
    "wide decimal": (pa.array([Decimal(10) ** 60, None], pa.decimal256(70, 0)), ["1" + "0" * 60, "null"]),
    "text": (pa.array(['a"\n', "1.10"]), ['"a\\"\\n"', '"1.10"']),
    "large text": (pa.array(["é", None], pa.large_string()), ['"é"', "null"]),
    "dictionary": (pa.array(["a", "b"]).dictionary_encode(), ['"a"', '"b"']),
    "date": (pa.array([dt.date(2020, 2, 29), None]), ['"2020-02-29"', "null"]),
    "time of nanoseconds": (pa.array([1, 0], pa.time64("ns")), ['"00:00:00.000000001"', '"00:00:00"']),
    "timestamp": (pa.array([1, 0], pa.timestamp("ns")), ['"1970-01-01 00:00:00.000000001"', '"1970-01-01 00:00:00"']),
    "nothing": (pa.nulls(2), ["null", "null"]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_written_by_its_type_and_read_as_that_text(tmp_path: Path, name: str) -> None:
    column, tokens = COLUMNS[name]
    path = tmp_path / "r.jsonl"
    write_table(pa.table({"n": ["1", "2"], "x": column}), path)
    assert path.read_text(encoding="utf-8").splitlines() == [
        f'{{"n": "{n}", "x": {token}}}' for n, token in enumerate(tokens, 1)
    ]
    with open_engine(path, 2**28) as engine:
        read = engine.table()["x"].to_pylist()
    texts = [None if cell == "null" else json.loads(cell, parse_int=str, parse_float=str) for cell in tokens]
    assert read == [{True: "true", False: "false"}.get(text, text) for text in texts]


@pytest.mark.parametrize(
    ("column", "data"),
    [
        (pa.array([float("inf")]), "infinity"),
        (pa.array([float("-inf")], pa.float32()), "infinity"),
        (pa.array([b"\0"]), "binary data"),
        (pa.array([b"a"], pa.binary(1)), "binary data"),
        (pa.array([b"a"], pa.large_binary()), "binary data"),
        (pa.array([[1]]), "nested data"),
        (pa.array([{"a": 1}]), "nested data"),
    ],
)
def test_what_json_has_no_cell_for_is_refused(tmp_path: Path, column: pa.Array, data: str) -> None:
    with pytest.raises(DataError) as caught:
        write_table(pa.table({"x": column}), tmp_path / "r.jsonl")
    assert str(caught.value) == (f"column 'x' holds {data}, which JSON lines cannot hold; write another kind of file")
