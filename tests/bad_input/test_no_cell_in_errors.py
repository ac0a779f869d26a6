"""No error that a caller gets carries a cell: not in its text, its attributes, nor in the errors it was raised over."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from small_release import MARK, POLICY

from tcdp_audit import TcdpAuditError, audit, fix, load_policy, measure

COLUMNS = {"age": [1, 1], "zip": [f"{MARK}1"] * 2, "disease": [f"{MARK}2", f"{MARK}3"]}


def reachable(error: BaseException) -> Iterator[str]:
    """The text of everything that hangs on an error: causes, contexts, arguments, attributes and notes."""
    seen: set[int] = set()
    pending: list[object] = [error]
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, BaseException):
            yield f"{one!s} {one!r}"
            slots = (getattr(one, name, None) for name in dir(one) if not name.startswith("__"))
            pending += [one.__cause__, one.__context__, one.args, vars(one), getattr(one, "__notes__", None)]
            pending += [value for value in slots if not callable(value)]
        elif isinstance(one, Mapping):
            pending += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set):
            pending += one
        elif isinstance(one, bytes | str):
            yield one if isinstance(one, str) else one.decode("utf-8", "replace")


def test_the_walk_finds_what_python_keeps_of_a_suppressed_error():
    def suppressing() -> None:
        try:
            f"{MARK}\udcff".encode()
        except UnicodeEncodeError:
            raise TcdpAuditError("a sentence") from None

    with pytest.raises(TcdpAuditError) as caught:
        suppressing()
    assert any(MARK in text for text in reachable(caught.value))


HEADER = "age,zip,disease\n"
CELL = f"1,{MARK},{MARK}\n"
FILES: Mapping[str, tuple[str, bytes]] = {
    "too many cells": ("r.csv", f"{HEADER}{CELL}1,{MARK},{MARK},{MARK},2\n".encode()),
    "too few cells": ("r.csv", f"{HEADER}{CELL}1,{MARK}\n".encode()),
    "an open quote": ("r.csv", f'{HEADER}{CELL}1,"{MARK},{MARK}\n'.encode()),
    "text after a quote": ("r.csv", f'{HEADER}{CELL}1,"{MARK}"{MARK},2\n'.encode()),
    "no UTF-8": ("r.csv", f"{HEADER}{CELL}ü,1,1\n1,{MARK}".encode() + b"\xff,1\n"),
    "no UTF-8 in the header": ("r.csv", f"age,zip,{MARK}".encode() + b"\xff\n" + "1,ü,1\n".encode()),
    "an endless header": ("r.csv", f'age,zip,"{MARK}\n{CELL}'.encode()),
    "a cut gzip": ("r.csv.gz", gzip.compress(f"{HEADER}{CELL * 9000}".encode())[:-9]),
    "no gzip": ("r.csv.gz", f"{HEADER}{CELL}".encode()),
    "no Parquet": ("r.parquet", CELL.encode() * 50),
    "no Arrow": ("r.arrow", CELL.encode() * 50),
    "no JSON": ("r.jsonl", f'{{"age": 1, "zip": "{MARK}", "disease": "{MARK}"}}\n{{"age": {MARK}}}\n'.encode()),
    "nested JSON": ("r.jsonl", f'{{"age": 1, "zip": ["{MARK}"], "disease": "{MARK}"}}\n'.encode()),
    "JSON that is no UTF-8": ("r.jsonl", f'{{"age": 1, "zip": "{MARK}'.encode() + b'\xff", "disease": "x"}\n'),
    "a list for JSON": ("r.jsonl", f'["{MARK}"]\n'.encode()),
    "no table": ("r.xlsx", CELL.encode()),
}
DOORS: Mapping[str, Callable[..., Any]] = {"audit": audit, "fix": fix}


def clean(error: BaseException) -> None:
    assert isinstance(error, TcdpAuditError), repr(error)
    assert not [text for text in reachable(error) if MARK in text]


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES)
def test_a_file_that_cannot_be_read(name: str, content: bytes, door: Callable[..., Any], tmp_path: Path):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "p.tcdp.yaml").write_text(POLICY)
    with pytest.raises(TcdpAuditError) as caught:
        door(tmp_path / name, tmp_path / "p.tcdp.yaml")
    clean(caught.value)


FRAMES: Mapping[str, Callable[[], Any]] = {
    "types mixed": lambda: pd.DataFrame({**COLUMNS, "zip": [MARK, 1]}),
    "lone surrogates": lambda: pd.DataFrame({**COLUMNS, "zip": pd.Series([f"{MARK}\udcff", MARK], dtype=object)}),
    "objects": lambda: pd.DataFrame({**COLUMNS, "zip": [{MARK}, object()]}),
    "a lazy frame that cannot be cast": lambda: pl.LazyFrame(COLUMNS).with_columns(pl.col("zip").cast(pl.Int64)),
    "a lazy frame that raises": lambda: pl.LazyFrame(COLUMNS).with_columns(
        pl.col("zip").map_elements(lambda cell: {}[cell], return_dtype=pl.String)
    ),
    "a lazy frame without its column": lambda: pl.LazyFrame(COLUMNS).select(pl.col(MARK)),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_frame_that_is_no_table(frame: Callable[[], Any], tmp_path: Path):
    (tmp_path / "p.tcdp.yaml").write_text(POLICY)
    with pytest.raises(TcdpAuditError) as caught:
        audit(frame(), tmp_path / "p.tcdp.yaml")
    clean(caught.value)
    with pytest.raises(TcdpAuditError) as caught:
        measure("k_anonymity", frame(), quasi_identifiers=["zip"])
    clean(caught.value)


def test_a_figure_that_cannot_be_computed():
    with pytest.raises(TcdpAuditError) as caught:
        measure("t_closeness", pa.table(COLUMNS), quasi_identifiers=["age"], attribute="zip", scale="numeric")
    clean(caught.value)


HIERARCHIES = {
    "torn": f"{MARK}1;a;*\n{MARK}1;b;*\n",
    "uneven": f"{MARK}1;a;*\n{MARK}2;*\n",
    "no CSV": f'{MARK}1;"{MARK};*\n',
}


@pytest.mark.parametrize("text", HIERARCHIES.values(), ids=HIERARCHIES)
def test_a_hierarchy_that_is_none(text: str, tmp_path: Path):
    (tmp_path / "h.csv").write_text(text)
    (tmp_path / "p.tcdp.yaml").write_text(POLICY.replace("scale: nominal", "hierarchy: h.csv", 1))
    with pytest.raises(TcdpAuditError) as caught:
        audit(pa.table(COLUMNS), tmp_path / "p.tcdp.yaml")
    clean(caught.value)


def test_a_policy_with_faults_leaves_no_validation_error_behind(tmp_path: Path):
    (tmp_path / "p.tcdp.yaml").write_text(POLICY.replace("k: 2", "k: two"))
    with pytest.raises(TcdpAuditError) as caught:
        load_policy(tmp_path / "p.tcdp.yaml")
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)
