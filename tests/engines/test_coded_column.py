"""Columns that Arrow reads into codes: the values, counts and codes are those of DuckDB, in every layout."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.engines import coded_column as coding, coded_columns, duckdb
from tcdp_audit.core.engines.base import Column, Engine
from tcdp_audit.core.engines.coded_column import CodedColumn, coded_column
from tcdp_audit.core.engines.coded_columns import CodedColumns
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.source import cells_of_table

GIB = 2**30
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
NUMBERS = st.sampled_from([0.0, -0.0, 0.5, 1e30, -2.0, float("inf"), float("nan")])


def kinds(cells: st.SearchStrategy[Any], kind: pa.DataType) -> st.SearchStrategy[pa.ChunkedArray]:
    """Columns in a few arrays, with nulls."""
    arrays = st.lists(st.none() | cells, max_size=9).map(lambda listed: pa.array(listed, kind))
    return st.lists(arrays, min_size=1, max_size=4).map(lambda listed: pa.chunked_array(listed, kind))


@st.composite
def dictionaries(draw: st.DrawFn) -> pa.ChunkedArray:
    """Columns of dictionaries, in which a text may stand twice, in no record, or be null."""
    chunks = []
    for _ in range(draw(st.integers(1, 3))):
        texts = draw(st.lists(st.sampled_from(["b", "a", "é"]) | st.none(), min_size=1, max_size=5))
        indices = draw(st.lists(st.none() | st.integers(0, len(texts) - 1), max_size=9))
        chunks.append(pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(texts, pa.string())))
    return pa.chunked_array(chunks)


COLUMNS = st.one_of(
    kinds(TEXT, pa.string()),
    kinds(TEXT, pa.large_string()),
    kinds(TEXT, pa.string_view()),
    dictionaries(),
    kinds(st.integers(-128, 127), pa.int8()),
    kinds(st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1), pa.int64()),
    kinds(st.integers(0, 2**32 - 1), pa.uint32()),
    kinds(NUMBERS, pa.float64()),
    kinds(NUMBERS.map(np.float32), pa.float32()),
)


def cells_of(column: CodedColumn, records: slice) -> list[Any]:
    values = [*column.raw.values.tolist(), None]
    return [values[code] for code in column.looked_up(np.arange(len(values)))(records).tolist()]


@settings(max_examples=40)
@given(
    COLUMNS,
    st.sampled_from([1, 2**16]),
    st.sampled_from([0, 4_000]),
    st.sampled_from([0, 1, 2**18]),
    st.sampled_from([1 / 64, 1, 32]),
    st.sampled_from([0, 2**17]),
    st.sampled_from([0, 2**16]),
)
def test_codes_stand_for_the_cells(
    column: pa.ChunkedArray, sample: int, few: int, pages: int, spanned: float, paired: int, numbered: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coding, "SAMPLE", sample)
        patch.setattr(coding, "FEW", few)
        patch.setattr(coding, "PAGES", pages)
        patch.setattr(coding, "REPEATS", 1)
        patch.setattr(coding, "SPANNED", spanned)
        patch.setattr(coding, "PAIRED", paired)
        patch.setattr(coding, "NUMBERED", numbered)
        coded = coded_column(column.chunks, coding.UNLIMITED)
    assert coded is not None
    cells, values = column.to_pylist(), coded.raw.values.tolist()
    assert list(map(_named, cells_of(coded, slice(0, 99)))) == list(map(_named, cells))
    assert values == sorted(values, key=lambda value: (value != value, value))  # noqa: PLR0124 - NaN is last
    counted = zip(map(_named, [*values, None]), [*coded.raw.counts.tolist(), coded.raw.nulls], strict=True)
    assert Counter(dict(counted)) == Counter(map(_named, cells))
    assert len(set(map(_named, values))) == len(values)


@pytest.mark.parametrize(
    ("kind", "least", "greatest"),
    [(pa.int8(), -128, 127), (pa.uint64(), 2**64 - 3, 2**64 - 1), (pa.int64(), -(2**63), -(2**63) + 9)],
    ids=["int8", "uint64", "int64"],
)
def test_integers_close_together_are_not_hashed_up_to_the_ends_of_their_type(
    kind: pa.DataType, least: int, greatest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coding, "_hashed", None)
    cells = [greatest, None, least, *[greatest] * (coding.SPANNED * (greatest - least + 1))]
    coded = coded_column([pa.array(cells, kind)], coding.UNLIMITED)
    assert coded is not None
    assert cells_of(coded, slice(0, len(cells))) == cells
    assert coded.raw.values.tolist() == [least, greatest]
    assert coded.raw.counts.tolist() == [1, len(cells) - 2]
    assert coded.raw.nulls == 1


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_many_short_texts_are_numbered_without_being_hashed(kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "_hashed", None)
    numbers = np.random.default_rng(1).permutation(coding.NUMBERED)
    cells = [None, *(f"person-{number}" for number in numbers.tolist()), "", "person-7", None]
    column = pa.chunked_array([pa.array(cells, kind).slice(1, 40_000), pa.array(cells, kind).slice(40_001)])
    coded = coded_column(column.chunks, coding.UNLIMITED)
    assert coded is not None
    assert cells_of(coded, slice(0, len(cells))) == cells[1:]
    assert coded.raw.values.tolist() == sorted({cell for cell in cells if cell is not None})
    assert coded.raw.counts.sum() == coding.NUMBERED + 2
    assert coded.raw.counts[coded.raw.values.tolist().index("person-7")] == 2
    assert coded.raw.nulls == 1


@pytest.mark.parametrize("numbered", [0, 2**16])
def test_texts_that_are_not_utf8_are_refused_however_they_are_coded(
    numbered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coding, "NUMBERED", numbered)
    monkeypatch.setattr(coding, "REPEATS", 9)
    buffers = [None, pa.py_buffer(np.array([0, 2, 3], np.int32)), pa.py_buffer(b"\xc3\x28a")]
    with pytest.raises(pa.ArrowInvalid):
        coded_column([pa.Array.from_buffers(pa.string(), 2, buffers)], coding.UNLIMITED)


def test_what_a_null_cell_holds_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "NUMBERED", 0)
    buffers = [pa.py_buffer(b"\x05"), pa.py_buffer(np.array([0, 1, 2, 3], np.int32)), pa.py_buffer(b"axb")]
    coded = coded_column([pa.Array.from_buffers(pa.string(), 3, buffers)], coding.UNLIMITED)
    assert coded is not None
    assert coded.raw.values.tolist() == ["a", "b"]
    assert cells_of(coded, slice(0, 3)) == ["a", None, "b"]


def _named(cell: Any) -> Any:
    """A cell, where zeros of both signs are one and all that is no number is."""
    return str(cell + 0.0) if isinstance(cell, float) else cell


@settings(max_examples=30)
@given(COLUMNS, st.lists(st.integers(0, 9), max_size=9))
def test_records_are_forgotten_once_they_are_given(column: pa.ChunkedArray, steps: list[int]) -> None:
    coded = coded_column(column.chunks, coding.UNLIMITED)
    assert coded is not None
    records = coded.records
    codes = coded.looked_up(np.arange(len(coded.raw.values) + 1), spent=True)
    ends = np.minimum(np.cumsum([0, *steps, records]), records).tolist()
    again = coded_column(column.chunks, coding.UNLIMITED)
    assert again is not None
    expected = again.looked_up(np.arange(len(again.raw.values) + 1))(slice(0, records))
    given_ = [codes(slice(start, end)) for start, end in pairwise(ends)]
    np.testing.assert_array_equal(np.concatenate(given_), expected)
    assert coded.nbytes == 0


def test_values_that_do_not_fit_are_left_to_duckdb() -> None:
    column = pa.chunked_array([["a" * 50, "b" * 50], ["c" * 50]])
    assert coded_column(column.chunks, 100) is None
    assert coded_column(column.chunks, 1_000) is not None


def table() -> pa.Table:
    """A column of each kind, some of which Arrow does not read into codes."""
    rng = np.random.default_rng(7)
    draws = rng.integers(0, 40, 3_000)
    texts = pa.array([f"t{draw}" if draw % 7 else None for draw in draws.tolist()])
    numbers = pa.array(draws - 20)
    return pa.table(
        {
            "text": texts,
            "coded": texts.dictionary_encode(),
            "unique": pa.array([f"{one:05d}" for one in rng.permutation(3_000).tolist()]),
            "small": numbers.cast(pa.int8()),
            "number": pa.array((draws * 10**15).tolist(), pa.int64()),
            "single": pa.array(np.where(draws == 3, np.nan, draws / 10).astype(np.float32)),
            "double": pa.array(np.where(draws == 3, np.nan, draws / 10)),
            "huge": pa.array(draws.astype(np.uint64) + 2**63),
            "truth": pa.array(draws > 20),
            "day": numbers.cast(pa.int32()).cast(pa.date32()),
            "decimal": numbers.cast(pa.decimal128(21, 2)),
            "time": numbers.cast(pa.timestamp("ms")),
            "none": pa.nulls(3_000, pa.string()),
        }
    )


def read(engine: Engine) -> dict[str, Any]:
    """Everything that two engines must agree in."""
    names = [column.name for column in engine.columns]
    engine.group_by(names)
    raws = {name: engine.domain(name) for name in names}
    domains = [_as_they_are(name, raw) for name, raw in raws.items()]
    list(engine.batches(domains))
    batches = list(engine.batches(domains))  # codes that were forgotten are read again
    codes = {name: np.concatenate([batch[name] for batch in batches]) for name in names}
    kinds_ = {name: (raw.values.dtype, codes[name].dtype) for name, raw in raws.items()}
    plain = {name: (repr(raw.values.tolist()), raw.counts.tolist(), raw.nulls) for name, raw in raws.items()}
    return {"kinds": kinds_, "raw": plain, "codes": {name: column.tolist() for name, column in codes.items()}}


def _as_they_are(name: str, raw: RawDomain) -> Domain:
    return Domain(name, raw.values, raw.counts, raw.nulls, np.arange(len(raw.values)))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("coded") / "release.parquet"
    pq.write_table(table(), path, row_group_size=700)
    return path


@pytest.fixture(scope="module")
def by_duckdb(path: Path) -> dict[str, Any]:
    """What DuckDB answers alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CodedColumns, "_column", lambda *_: None)
        with open_engine(path, GIB) as engine:
            return read(engine)


@pytest.mark.parametrize("large", [0, 2**26])
@pytest.mark.parametrize("share", [4, GIB // 8_000, GIB])  # all codes are kept, some, none
def test_arrow_and_duckdb_read_the_same(
    path: Path, by_duckdb: dict[str, Any], monkeypatch: pytest.MonkeyPatch, large: int, share: int
) -> None:
    monkeypatch.setattr(coded_columns, "LARGE", large)
    monkeypatch.setattr(duckdb, "SHARE", share)
    with open_engine(path, GIB) as engine:
        assert read(engine) == by_duckdb
    with open_engine(pq.read_table(path), GIB) as engine:
        assert read(engine) == by_duckdb


def test_text_that_is_not_utf8_is_refused_as_duckdb_refuses_it(tmp_path: Path) -> None:
    offsets, data = pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, data])
    pq.write_table(pa.table({"x": texts}), tmp_path / "broken.parquet")
    refused = pytest.raises(DataError, match="the file is not intact Parquet; write it again")
    with open_engine(tmp_path / "broken.parquet", GIB) as engine, refused:
        engine.domain("x")


def test_a_column_that_is_another_when_it_is_read_again_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coded_columns, "LARGE", 0)
    with open_engine(pa.table({"x": ["a", "b", "b"]}), GIB) as engine:
        domain = _as_they_are("x", engine.domain("x"))
        assert [batch["x"].tolist() for batch in engine.batches([domain])] == [[0, 1, 1]]
        assert isinstance(engine, duckdb.DuckDBEngine)
        changed = cells_of_table(pa.table({"x": ["a", "a", "b"]}))
        engine._coded = CodedColumns(changed, [Column("x", "VARCHAR")], 3, GIB)
        with pytest.raises(DataError, match="the table was changed while it was read; start again"):
            list(engine.batches([domain]))
