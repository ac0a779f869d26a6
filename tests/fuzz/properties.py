"""The properties that the fuzzer tries, one for each form: a few cases in the suite, in `long_run` as many as asked."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from fuzz.comparing import CASES, borders, compare_soup, compare_text, compare_typed
from fuzz.typed import typed_tables
from fuzz.written import Written, csv_files, csv_soups, json_files
from hypothesis import strategies as st

from tcdp_audit.core.engines.digest import content_digest


def csv_cells(written: Written, block: int, start: int, one_in: int) -> None:
    """A CSV file that is right."""
    CASES["CSV"] += 1
    with (
        _folder() as folder,
        borders(_after_header(written, start), block, repeats=one_in % 3 + 1, overflow=one_in == 0),
    ):
        compare_text(written, Path(folder) / f"r{written.suffix}", with_k=one_in < 2)


def csv_soup(written: Written, block: int, start: int, one_in: int) -> None:
    """A CSV file that is mostly wrong."""
    with _folder() as folder, borders(_after_header(written, start), block, overflow=one_in == 0):
        CASES[f"CSV soup, {compare_soup(written, Path(folder) / 'r.csv')}"] += 1


def json_cells(written: Written, one_in: int) -> None:
    """JSON lines."""
    CASES["JSON lines"] += 1
    with _folder() as folder:
        compare_text(written, Path(folder) / f"r{written.suffix}", with_k=one_in < 2)


def parquet_cells(table: pa.Table, group: int, one_in: int) -> None:
    """A Parquet file, read by pyarrow for comparison."""
    CASES["Parquet"] += 1
    with _folder() as folder:
        path = Path(folder) / "r.parquet"
        pyarrow.parquet.write_table(table, path, row_group_size=group)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        compare_typed(path, pyarrow.parquet.read_table(path), digest=digest, with_k=one_in < 5)


def feather_cells(table: pa.Table, one_in: int) -> None:
    """A Feather file."""
    CASES["Feather"] += 1
    with _folder() as folder:
        path = Path(folder) / "r.feather"
        pyarrow.feather.write_feather(table, path)
        compare_typed(path, table, digest=hashlib.sha256(path.read_bytes()).hexdigest(), with_k=one_in < 5)


def frame_cells(table: pa.Table, library: str, one_in: int) -> None:
    """A frame; its digest does not depend on its chunks."""
    CASES[f"frames of {library}"] += 1
    frame: Any = {"pyarrow": lambda: table, "polars": lambda: pl.from_arrow(table), "pandas": lambda: _pandas(table)}[
        library
    ]()
    digest = content_digest(table.combine_chunks()) if library == "pyarrow" else None
    compare_typed(frame, table, digest=digest, with_k=one_in < 5)


def _pandas(table: pa.Table) -> Any:
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype)


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="fuzz-")


def _after_header(written: Written, further: int) -> int:
    """How much to read first: the whole header, which always fits, and some more."""
    return max(64, 8 * sum(len(name.encode()) + 4 for name in written.names)) + further


small, numbers = st.integers(1, 200), st.integers(0, 19)
PROPERTIES: dict[str, tuple[Callable[..., None], dict[str, st.SearchStrategy[Any]]]] = {
    "CSV": (csv_cells, {"written": csv_files(), "block": small, "start": small, "one_in": numbers}),
    "CSV soup": (csv_soup, {"written": csv_soups(), "block": small, "start": small, "one_in": numbers}),
    "JSON lines": (json_cells, {"written": json_files(), "one_in": numbers}),
    "Parquet": (parquet_cells, {"table": typed_tables(), "group": small, "one_in": numbers}),
    "Feather": (feather_cells, {"table": typed_tables(), "one_in": numbers}),
    "frames": (
        frame_cells,
        {"table": typed_tables(), "library": st.sampled_from(["pyarrow", "polars", "pandas"]), "one_in": numbers},
    ),
}
EXAMPLES = {"CSV": 120, "CSV soup": 300, "JSON lines": 40, "Parquet": 30, "Feather": 15, "frames": 30}
