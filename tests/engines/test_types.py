"""Every type of pandas, polars and Arrow: a frame and each of its files give the same classes, or are refused."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from tcdp_audit import DataError, TcdpAuditError, audit, measure
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.writing import write_table

PICK = [0, 0, 1, 1, 1]  # two records have the first value, three the second
TRUTH = [[2, 1, 2], [3, 1, 3]]
REFUSED = "refused"

BERLIN = ZoneInfo("Europe/Berlin")
DAY, MOMENT = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5)  # noqa: DTZ001 - naive on purpose
WIDE = [Decimal("12345678901234567890123.01"), Decimal("12345678901234567890123.02")]

ARROW: dict[str, pa.Array] = {
    **{str(kind): pa.array([0, 1], kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint32())},
    "int64": pa.array([2**62, 2**62 + 1]),
    "uint64": pa.array([2**64 - 1, 2**64 - 2], pa.uint64()),
    "halffloat": pa.array([0.1, 0.2], pa.float16()),
    "float": pa.array([0.1, 0.10000001], pa.float32()),
    "double": pa.array([0.1, 0.1 + 2**-56]),
    "bool": pa.array([True, False]),
    "decimal32": pa.array([Decimal("1.10"), Decimal("1.11")], pa.decimal32(5, 2)),
    "decimal64": pa.array([Decimal("1.10"), Decimal("1.11")], pa.decimal64(12, 2)),
    "decimal128": pa.array(WIDE, pa.decimal128(38, 2)),
    "decimal128, negative scale": pa.array([Decimal(100), Decimal(200)], pa.decimal128(5, -2)),
    "decimal256": pa.array(WIDE, pa.decimal256(50, 2)),
    "decimal256, few digits": pa.array([Decimal("1.10"), Decimal("1.11")], pa.decimal256(20, 2)),
    "decimal256, tiny": pa.array([Decimal("1e-60"), Decimal("2e-60")], pa.decimal256(70, 60)),
    **{f"duration[{unit}]": pa.array([1, 2], pa.duration(unit)) for unit in ("s", "ms", "us", "ns")},
    **{f"timestamp[{unit}]": pa.array([1, 2], pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")},
    **{f"timestamp[{unit}, tz]": pa.array([1, 2], pa.timestamp(unit, "Europe/Berlin")) for unit in ("s", "us", "ns")},
    "timestamp before 1970": pa.array([-(2**52), -(2**52) + 1], pa.timestamp("us")),
    "time32[s]": pa.array([1, 2], pa.time32("s")),
    "time32[ms]": pa.array([1, 2], pa.time32("ms")),
    "time64[us]": pa.array([1, 2], pa.time64("us")),
    "time64[ns]": pa.array([1, 2], pa.time64("ns")),
    "date32": pa.array([1, 2], pa.date32()),
    "date64": pa.array([DAY, dt.date(2020, 1, 2)], pa.date64()),
    "month_day_nano": pa.array([(0, 30, 0), (1, 0, 0)], pa.month_day_nano_interval()),
    "month_day_nano, nanoseconds": pa.array([(0, 0, 1), (0, 0, 2)], pa.month_day_nano_interval()),
    "string": pa.array(["1.1", "1.10"]),
    "large_string": pa.array(["a", "a "], pa.large_string()),
    "string_view": pa.array(["é", "e\u0301"], pa.string_view()),
    "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"a" * 16, b"b" * 16], pa.binary(16))),
    "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1.1", "1.10"])),
    "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 2], pa.int8())),
    "opaque": pa.ExtensionArray.from_storage(pa.opaque(pa.int64(), "x", "y"), pa.array([1, 2])),
    "dictionary of text": pa.array(["a", "b"]).dictionary_encode(),
    "dictionary of decimals": pa.array(WIDE, pa.decimal256(50, 2)).dictionary_encode(),
    "dictionary of durations": pa.array([1, 2], pa.duration("ns")).dictionary_encode(),
    "dictionary of integers": pa.array([1, 2]).dictionary_encode(),
    "run ends of text": pa.RunEndEncodedArray.from_arrays([1, 2], ["a", "b"]),
    "run ends of durations": pa.RunEndEncodedArray.from_arrays([1, 2], pa.array([1, 2], pa.duration("ns"))),
}
ARROW_REFUSED: dict[str, pa.Array] = {
    "date64 with a time": pa.array([1, 2], pa.int64()).view(pa.date64()),
    "timestamp[s] beyond range": pa.array([10**13, 10**13 + 1], pa.timestamp("s")),
    "binary": pa.array([b"a", b"b"]),
    "large_binary": pa.array([b"a", b"b"], pa.large_binary()),
    "fixed_size_binary": pa.array([b"a", b"b"], pa.binary(1)),
    "binary_view": pa.array([b"a", b"b"], pa.binary_view()),
    "list": pa.array([[1], [2]]),
    "large_list": pa.array([[1], [2]], pa.large_list(pa.int8())),
    "fixed_size_list": pa.array([[1], [2]], pa.list_(pa.int8(), 1)),
    "struct": pa.array([{"a": 1}, {"a": 2}]),
    "map": pa.array([[("a", 1)], [("a", 2)]], pa.map_(pa.string(), pa.int8())),
}


def _objects(*cells: Any) -> pd.Series:
    return pd.Series(list(cells), dtype=object)


NANOSECOND = pd.Timestamp("2020-01-01 00:00:00.000000001")
PANDAS: dict[str, pd.Series] = {
    **{name: pd.Series([0, 1], dtype=name) for name in ("int8", "uint16", "int64", "Int8", "UInt64", "Int64")},
    **{name: pd.Series([0.1, 0.2], dtype=name) for name in ("float16", "float32", "float64", "Float32", "Float64")},
    "bool": pd.Series([True, False]),
    "boolean": pd.Series([True, False], dtype="boolean"),
    "str": pd.Series(["1.1", "1.10"]),
    "string": pd.Series(["1.1", "1.10"], dtype="string"),
    "object of text": _objects("1.1", "1.10"),
    "category": pd.Series(["a", "b"], dtype="category"),
    "category of integers": pd.Series([1, 2], dtype="category"),
    **{f"datetime64[{unit}]": pd.Series(np.array([1, 2], f"M8[{unit}]")) for unit in ("s", "ms", "us", "ns")},
    "datetime64[ns, tz]": pd.Series([NANOSECOND, NANOSECOND.floor("us")]).dt.tz_localize("Europe/Berlin"),
    **{f"timedelta64[{unit}]": pd.Series(np.array([1, 2], f"m8[{unit}]")) for unit in ("s", "ms", "us", "ns")},
    "period": pd.Series(pd.period_range("2020-01", periods=2, freq="M")),
    "arrow decimal": pd.Series(WIDE, dtype=pd.ArrowDtype(pa.decimal256(50, 2))),
    "arrow duration": pd.Series(pa.array([1, 2], pa.duration("ns")), dtype=pd.ArrowDtype(pa.duration("ns"))),
    "objects: integers": _objects(1, 2),
    "objects: floats": _objects(0.1, 0.2),
    "objects: integer and float": _objects(1, 2.5),
    "objects: numpy integers": _objects(np.int64(1), 2),
    "objects: decimals": _objects(*WIDE),
    "objects: dates": _objects(DAY, dt.date(2020, 1, 2)),
    "objects: datetimes": _objects(MOMENT, MOMENT + dt.timedelta(microseconds=1)),
    "objects: times": _objects(dt.time(1), dt.time(1, 0, 0, 1)),
    "objects: timedeltas": _objects(dt.timedelta(1), dt.timedelta(1, 0, 1)),
    "objects: UUIDs": _objects(uuid.UUID(int=1), uuid.UUID(int=2)),
    "objects: booleans": _objects(True, False),
}
PANDAS_REFUSED: dict[str, pd.Series] = {
    "date and moment": _objects(DAY, MOMENT),
    "moment and date": _objects(MOMENT, DAY),
    "category of date and moment": pd.Series(pd.Categorical(_objects(DAY, MOMENT), categories=_objects(DAY, MOMENT))),
    "timestamps of nanoseconds": _objects(NANOSECOND, NANOSECOND.floor("us")),
    "timedeltas of nanoseconds": _objects(pd.Timedelta(1, "ns"), dt.timedelta(0)),
    "time zones": _objects(MOMENT.replace(tzinfo=dt.UTC), MOMENT.replace(tzinfo=dt.UTC).astimezone(BERLIN)),
    "with and without time zone": _objects(MOMENT, MOMENT.replace(tzinfo=dt.UTC)),
    "decimals of two scales": _objects(Decimal("1.1"), Decimal("1.10")),
    "decimal and integer": _objects(Decimal("1.0"), 1),
    "decimal and float": _objects(Decimal("1.5"), 1.25),
    "integer and equal float": _objects(1, 1.0),
    "floats of two widths": _objects(np.float32(0.1), 0.1),
    "boolean and integer": _objects(True, 2),
    "text and number": _objects("1", 2),
    "text and bytes": _objects("a", b"b"),
    "bytes": _objects(b"a", b"b"),
    "UUID and text": _objects(uuid.UUID(int=1), "a"),
    "integers beyond 64 bits": _objects(2**64, 2**64 + 1),
    "half a surrogate pair": _objects("\ud800", "a"),
    "lists": _objects([1], [2]),
    "interval": pd.Series(pd.interval_range(0, 2)),
    "complex128": pd.Series([1j, 2j]),
    "sparse": pd.Series(pd.arrays.SparseArray([0, 1])),
}
POLARS: dict[str, pl.Series] = {
    **{
        str(kind): pl.Series([0, 1], dtype=kind)
        for kind in (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32)
    },
    "Int64": pl.Series([2**62, 2**62 + 1]),
    "UInt64": pl.Series([2**64 - 1, 2**64 - 2], dtype=pl.UInt64),
    "Float32": pl.Series([0.1, 0.2], dtype=pl.Float32),
    "Float64": pl.Series([0.1, 0.2]),
    "Boolean": pl.Series([True, False]),
    "String": pl.Series(["1.1", "1.10"]),
    "Categorical": pl.Series(["a", "b"], dtype=pl.Categorical),
    "Enum": pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"])),
    "Decimal": pl.Series(WIDE, dtype=pl.Decimal(38, 2)),
    "Date": pl.Series([DAY, dt.date(2020, 1, 2)]),
    "Time": pl.Series([1, 2]).cast(pl.Time),
    **{f"Datetime {unit}": pl.Series([1, 2]).cast(pl.Datetime(unit)) for unit in ("ms", "us", "ns")},
    "Datetime tz": pl.Series([1, 2]).cast(pl.Datetime("ns", "Europe/Berlin")),
    **{f"Duration {unit}": pl.Series([1, 2]).cast(pl.Duration(unit)) for unit in ("ms", "us", "ns")},
}
POLARS_REFUSED: dict[str, pl.Series] = {
    "Int128": pl.Series([2**100, 1], dtype=pl.Int128),
    "Binary": pl.Series([b"a", b"b"]),
    "List": pl.Series([[1], [2]]),
    "Struct": pl.Series([{"a": 1}, {"a": 2}]),
    "Object": pl.Series([object(), object()], dtype=pl.Object),
}


def _tables(kinds: dict[str, Any], table: Callable[[Any], Any]) -> dict[str, Any]:
    return {name: table(cells) for name, cells in kinds.items()}


def _of_arrow(cells: Any) -> pa.Table:
    return pa.table({"q": PICK, "x": pa.chunked_array([cells.slice(place, 1) for place in PICK])})


def _of_pandas(cells: pd.Series) -> pd.DataFrame:
    return pd.DataFrame({"q": PICK, "x": cells.iloc[PICK].reset_index(drop=True)})


def _of_polars(cells: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"q": PICK, "x": cells.gather(PICK)})


FRAMES = {
    **{f"arrow {name}": table for name, table in _tables(ARROW, _of_arrow).items()},
    **{f"pandas {name}": table for name, table in _tables(PANDAS, _of_pandas).items()},
    **{f"polars {name}": table for name, table in _tables(POLARS, _of_polars).items()},
}
FRAMES_REFUSED = {
    **{f"arrow {name}": table for name, table in _tables(ARROW_REFUSED, _of_arrow).items()},
    **{f"pandas {name}": table for name, table in _tables(PANDAS_REFUSED, _of_pandas).items()},
    **{f"polars {name}": table for name, table in _tables(POLARS_REFUSED, _of_polars).items()},
}


def _writers(frame: Any) -> dict[str, Callable[[Any, Path], object]]:
    """What each library writes a frame with."""
    if isinstance(frame, pd.DataFrame):
        return {
            "r.csv": lambda frame, path: frame.to_csv(path, index=False),
            "r.parquet": lambda frame, path: frame.to_parquet(path),
            "r.feather": lambda frame, path: frame.to_feather(path),
        }
    if isinstance(frame, pl.DataFrame):
        return {
            "r.csv": lambda frame, path: frame.write_csv(path),
            "r.parquet": lambda frame, path: frame.write_parquet(path),
            "r.arrow": lambda frame, path: frame.write_ipc(path),
            "r.jsonl": lambda frame, path: frame.write_ndjson(path),
        }
    return {"r.csv": csv.write_csv, "r.parquet": parquet.write_table, "r.feather": _feather, "r.jsonl": write_table}


def _feather(table: pa.Table, path: Path) -> None:
    feather.write_feather(table, path, compression="uncompressed")


UNWRITABLE = (pa.ArrowException, pl.exceptions.PolarsError, TcdpAuditError, OSError, TypeError, ValueError)


def _files(frame: Any, folder: Path) -> Iterator[Path]:
    """The files that a frame's own library can write it to."""
    for name, write in _writers(frame).items():
        try:
            write(frame, folder / name)
        except UNWRITABLE:
            continue  # the type has no place in such a file
        yield folder / name


def _classes(release: Any) -> Any:
    try:
        return measure("k_anonymity", release, quasi_identifiers=["x"]).details["distribution"]
    except TcdpAuditError:
        return REFUSED


def _every_sixth(names: Iterable[str]) -> list[Any]:
    """All of them; of each family of types some belong to the first tier."""
    return [pytest.param(name, marks=[pytest.mark.long] if place % 6 else []) for place, name in enumerate(names)]


@pytest.mark.parametrize("name", _every_sixth(FRAMES))
def test_a_frame_and_its_files_have_the_same_classes(tmp_path: Path, name: str) -> None:
    frame = FRAMES[name]
    assert _classes(frame) == TRUTH
    actual = {path.suffix: _classes(path) for path in _files(frame, tmp_path)}
    assert actual == dict.fromkeys(actual, TRUTH)
    assert actual


@pytest.mark.parametrize("name", FRAMES_REFUSED)
def test_what_cannot_be_compared_is_refused_with_a_sentence_that_names_the_column(name: str) -> None:
    frame = FRAMES_REFUSED[name]
    with pytest.raises(TcdpAuditError) as caught:
        measure("k_anonymity", frame, quasi_identifiers=["x"])
    assert "column 'x'" in str(caught.value) or "a column's type cannot be exchanged" in str(caught.value)
    assert caught.value.__context__ is None


def _figure(release: Any) -> Any:
    try:
        return measure(
            "t_closeness", release, quasi_identifiers=["q"], attribute="x", scale="numeric", distance="numeric"
        ).observed
    except TcdpAuditError:
        return REFUSED


EXACT_NUMBERS = [
    name
    for name in FRAMES
    if any(
        f" {kind}" in name.lower() for kind in ("int", "uint", "float", "halffloat", "double", "decimal3", "decimal6")
    )
]


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_a_float_of_any_width_is_the_number_that_its_csv_file_holds(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame({"x": pd.Series([0.1, 0.3, 1.0, float("nan")], dtype=kind)})
    for form in (frame, pl.from_pandas(frame), *_files(frame, tmp_path)):
        with open_engine(form, 2**28) as engine:
            result = engine.domain("x")
            values = result.values  # noqa: PD011 - not of pandas
            texts = [text for text in values.tolist() if text == text]  # noqa: PLR0124 - NaN is not
            assert list(map(float, texts)) == [0.1, 0.3, 1.0]
            assert engine.locate("x", values[1:2]) == 2


WIDE_DECIMALS = ["arrow decimal128", "arrow decimal256", "pandas arrow decimal", "pandas objects: decimals"]


@pytest.mark.parametrize("name", _every_sixth(EXACT_NUMBERS))
def test_a_frame_of_numbers_and_its_files_have_the_same_figures(tmp_path: Path, name: str) -> None:
    figure = _figure(FRAMES[name])
    actual = {path.suffix: _figure(path) for path in _files(FRAMES[name], tmp_path)}
    assert actual == dict.fromkeys(actual, figure)
    assert actual


@pytest.mark.parametrize("name", [*WIDE_DECIMALS, "polars Decimal"])
def test_wide_decimals_are_refused_as_numbers_in_every_form(tmp_path: Path, name: str) -> None:
    forms = [FRAMES[name], *_files(FRAMES[name], tmp_path)]
    assert [_figure(form) for form in forms] == [REFUSED] * len(forms)
    assert len(forms) > 1


POLICY = {"version": 1, "attributes": {"x": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {"k": 2}}]}
BROKEN = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xff\xfe"))


@pytest.mark.parametrize("text", [BROKEN, BROKEN.dictionary_encode(), BROKEN.view(pa.binary()).cast(pa.binary_view())])
@pytest.mark.parametrize("suffix", ["frame", "feather", "arrow"])
def test_text_that_is_not_utf8_is_refused_and_not_carried_along(tmp_path: Path, text: Any, suffix: str) -> None:
    column = text.view(pa.string_view()) if pa.types.is_binary_view(text.type) else text
    release: Any = pa.table({"x": column})
    if suffix != "frame":
        with pa.ipc.new_file(str(tmp_path / f"r.{suffix}"), release.schema) as writer:
            writer.write_table(release)
        release = tmp_path / f"r.{suffix}"
    with pytest.raises(DataError, match="column 'x' holds text that is not UTF-8; encode it as UTF-8") as caught:
        audit(release, POLICY)
    assert caught.value.__context__ is None


def test_a_lazy_frame_that_cannot_be_computed_is_refused_without_its_cells() -> None:
    lazy = pl.LazyFrame({"x": ["secret"]}).with_columns(pl.col("x").cast(pl.Int8))
    with pytest.raises(DataError, match="the lazy frame cannot be computed") as caught:
        audit(lazy, POLICY)
    assert caught.value.__context__ is None
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("year", [1970, 9999])
def test_outdated_timestamps_of_parquet_are_exact_or_refused(tmp_path: Path, year: int) -> None:
    start = int(dt.datetime(year, 1, 1, tzinfo=dt.UTC).timestamp()) * 10**6
    whole = pa.table({"x": pa.array([start, start, start + 1, start + 1, start + 1], pa.timestamp("us"))})
    parquet.write_table(whole, tmp_path / "r.parquet", use_deprecated_int96_timestamps=True)
    assert _classes(tmp_path / "r.parquet") == TRUTH
    fine = pa.table({"x": pa.array([1, 1, 2, 2, 2], pa.timestamp("ns"))})
    parquet.write_table(fine, tmp_path / "r.parquet", use_deprecated_int96_timestamps=True)
    assert _classes(tmp_path / "r.parquet") == REFUSED


def test_texts_of_a_pandas_column_of_objects_stay_texts() -> None:
    frame = pd.DataFrame({"x": pd.Series(["b", None, "a", "b"], dtype=object)})
    plain = pa.table({"x": ["b", None, "a", "b"]})
    with open_engine(frame, 2**30) as engine, open_engine(plain, 2**30) as other:
        assert engine.source_table().equals(plain)
        assert engine.columns == other.columns
        assert engine.sha256() == other.sha256()
        assert engine.table().equals(other.table())


def test_bytes_among_texts_are_no_texts() -> None:
    frame = pd.DataFrame({"x": pd.Series(["a", b"a"], dtype=object)})
    with pytest.raises(DataError, match="column 'x' mixes types that do not go together; convert it to text"):
        open_engine(frame, 2**30)
