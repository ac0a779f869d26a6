"""One table of a few thousand records in every form that an audit takes."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import fsspec
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
from lake_versions import delta

RECORDS = 3000
COLUMNS = ("zip", "age", "sex", "disease", "cost", "severity", "person", "note")


def columns() -> dict[str, list[Any]]:
    """Missing values in every role, leading zeros, unicode, negative and large integers, decimals, suppressed cells."""
    draw = np.random.default_rng(20240607)

    def some(values: list[Any], missing: float) -> list[Any]:
        picked = draw.integers(0, len(values), RECORDS)
        absent = draw.random(RECORDS) < missing
        return [None if gone else values[i] for i, gone in zip(picked, absent, strict=True)]

    table = {
        "zip": some(["02139", "2139", "00501", "*"], 0.02),
        "age": some([-1, 0, 7, 30, 2**53 + 1, 2**62], 0.03),
        "sex": some(["weiblich", "männlich", "*", "女"], 0.01),
        "disease": some(["flu", "Grippe", "grippe ", "ångström", "*", "'; --", "2"], 0.05),
        "cost": some([-12.5, 0.1, 3.0, 1e-7, 1234567.25, 2.5e9], 0.04),
        "severity": some(["low", "middle", "high", "*"], 0.02),
        "person": some([10**12 + i for i in range(900)], 0.01),
        "note": some(["a", 'quoted "text"', "with, comma", "line\nbreak"], 0.3),
    }
    for i in range(5):  # fully suppressed records
        for name in ("zip", "sex", "disease", "severity"):
            table[name][i] = "*"
    return table


TABLE = columns()
ARROW = pa.table({name: pa.array(TABLE[name]) for name in COLUMNS})
SHUFFLED = np.random.default_rng(7).permutation(RECORDS)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return format(Decimal(repr(value)), "f") if isinstance(value, float) else str(value)


def _csv(path: Path, names: tuple[str, ...] = COLUMNS, order: Any = range(RECORDS)) -> Path:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([_text(TABLE[name][i]) for name in names] for i in order)
    return path


def _json_lines(path: Path) -> Path:
    """Every fifth missing value is null, the others are absent keys."""
    rows = ({name: TABLE[name][i] for name in COLUMNS} for i in range(RECORDS))
    retained = ({k: v for k, v in row.items() if v is not None or i % 5 == 0} for i, row in enumerate(rows))
    path.write_text("".join(json.dumps(row) + "\n" for row in retained), encoding="utf-8")
    return path


def _written(path: Path, write: Callable[[Any, Path], object]) -> Path:
    write(ARROW, path)
    return path


def _chunked() -> pa.Table:
    """Chunks of different lengths, dictionary-encoded one by one so that their dictionaries differ."""
    parts = [ARROW.slice(start, 700) for start in range(0, RECORDS, 700)]
    texts = [i for i, kind in enumerate(ARROW.schema.types) if pa.types.is_string(kind)]
    for i in texts:
        parts = [part.set_column(i, COLUMNS[i], part.column(i).dictionary_encode()) for part in parts]
    return pa.Table.from_batches([batch for part in parts for batch in part.to_batches()])


def _pandas() -> pd.DataFrame:
    """As pandas holds it: integers with missing values as nullable, which keep 2^53 + 1."""
    frame = pd.DataFrame({name: TABLE[name] for name in COLUMNS if name not in ("age", "person")})
    for name in ("age", "person"):
        frame[name] = pd.array(TABLE[name], dtype="Int64")
    return frame


def _pandas_categorical() -> pd.DataFrame:
    frame = _pandas()
    for name in ("zip", "sex", "disease", "severity"):
        used = sorted({value for value in TABLE[name] if value is not None})
        frame[name] = pd.Categorical(TABLE[name], categories=["unused", *reversed(used), "zzz"])
    return frame


def _pandas_float() -> pd.DataFrame:
    """Integers that became floats because some are missing."""
    frame = _pandas()
    frame["person"] = frame["person"].astype("float64")
    return frame


def _polars(kind: Callable[[list[str]], Any]) -> pl.DataFrame:
    frame = pl.DataFrame({name: TABLE[name] for name in COLUMNS})
    names = ("zip", "sex", "disease", "severity")
    used = {name: sorted({value for value in TABLE[name] if value is not None}) for name in names}
    return frame.with_columns([pl.col(name).cast(kind(used[name])) for name in names])


def _relation(_: Path) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("table_of_caller", ARROW)
    connection.execute("CREATE TABLE kept AS SELECT * FROM table_of_caller")
    return connection.sql("FROM kept")


def _permuted(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.iloc[SHUFFLED].set_axis(SHUFFLED % 10, axis=0)


def _folder(path: Path) -> Path:
    """Keys with a missing value, an asterisk and letters that are no ASCII."""
    pyarrow.parquet.write_to_dataset(ARROW, path, partition_cols=["sex", "severity"])
    return path


def _parts(folder: Path, kind: str) -> Path:
    for number, start in enumerate(range(0, RECORDS, 700)):
        rows = range(start, min(start + 700, RECORDS))
        if kind == "parquet":
            pyarrow.parquet.write_table(ARROW.slice(start, 700), folder / f"part-{number}.parquet")
        else:
            _csv(folder / f"part-{number}.csv{'.gz' if number % 2 else ''}", order=rows)
    return folder / f"*.{kind}*"


def _remote(path: Path) -> str:
    """The folder in the memory of fsspec, by a name of its own."""
    where = f"memory:/{path}"
    fsspec.filesystem("memory").put(str(_folder(path)), where, recursive=True)
    return where


_KEYS = pyarrow.dataset.partitioning(pa.schema([("sex", pa.string()), ("severity", pa.string())]), flavor="hive")
SOURCES: dict[str, Callable[[Path], Any]] = {
    "csv": lambda folder: _csv(folder / "r.csv"),
    "csv, shuffled": lambda folder: _csv(folder / "r.csv", order=SHUFFLED),
    "csv, permuted columns": lambda folder: _csv(folder / "r.csv", COLUMNS[::-1]),
    "csv.gz": lambda folder: _csv(folder / "r.csv.gz"),
    "json lines": lambda folder: _json_lines(folder / "r.jsonl"),
    "parquet": lambda folder: _written(folder / "r.parquet", pyarrow.parquet.write_table),
    "parquet, row groups": lambda folder: _written(
        folder / "r.parquet", lambda table, path: pyarrow.parquet.write_table(table, path, row_group_size=500)
    ),
    "parquet, folder with keys": lambda folder: _folder(folder / "r"),
    "parquet, pattern": lambda folder: _parts(folder, "parquet"),
    "parquet, folder at a URL": lambda folder: _remote(folder / "r"),
    "csv, pattern": lambda folder: _parts(folder, "csv"),
    "feather": lambda folder: _written(folder / "r.feather", pyarrow.feather.write_feather),
    "pyarrow": lambda _: ARROW,
    "pyarrow, dictionaries in chunks": lambda _: _chunked(),
    "pyarrow, all text": lambda _: pa.table({name: [_text(v) or None for v in TABLE[name]] for name in COLUMNS}),
    "pandas": lambda _: _pandas(),
    "pandas, shuffled, duplicate index": lambda _: _permuted(_pandas()),
    "pandas, categorical with unused levels": lambda _: _pandas_categorical(),
    "pandas, nullable": lambda _: _pandas().convert_dtypes(),
    "pandas, floats": lambda _: _pandas_float(),
    "polars": lambda _: pl.DataFrame({name: TABLE[name] for name in COLUMNS}),
    "polars, lazy": lambda _: pl.LazyFrame({name: TABLE[name] for name in COLUMNS}),
    "polars, categorical": lambda _: _polars(lambda _: pl.Categorical),
    "polars, enum": lambda _: _polars(lambda values: pl.Enum(["unused", *reversed(values)])),
    "duckdb relation": _relation,
    "pyarrow, dataset": lambda folder: pyarrow.dataset.dataset(_folder(folder / "r"), partitioning=_KEYS),
    "narwhals, lazy": lambda _: narwhals.from_native(pl.LazyFrame({name: TABLE[name] for name in COLUMNS})),
    "delta": lambda folder: delta(folder / "r", ARROW.slice(9), ARROW, partition_by=["sex"]) + "@1",
}
