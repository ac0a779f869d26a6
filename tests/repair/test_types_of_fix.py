"""What no remedy touches is written as it came: every type in every kind of file, or a sentence before the work."""

from __future__ import annotations

import math
import resource
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import toy_remedies as toys
from pyarrow import feather, parquet

from tcdp_audit import DataError, Remediation, UsageError, fix
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.remedy.treatment import changed_cells, in_unlinkable_order
from tcdp_audit.core.repair.restored_columns import taken

pytestmark = pytest.mark.long  # every type in every kind of file

POLICY = {
    "version": 1,
    "attributes": {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "x": {"role": "insensitive"},
    },
    "expect": [{"k_anonymity": {"k": 2}}],
    "remedy": [{"halves": None}],
}
AGES = [20, 21, 30, 67, 51, 52]
NUMBERS = [1, 2, 3, 4, None, 6]
WORDS = ["b", "a", "b", "é;\"'", None, "a"]
DECIMALS = [Decimal(one).scaleb(-2) for one in (110, 220, 330, 440)]
TYPES: dict[str, pa.Array] = {
    "int8": pa.array(NUMBERS, pa.int8()),
    "uint64": pa.array([2**64 - 1, 2, 3, 4, None, 6], pa.uint64()),
    "halffloat": pa.array([0.5, 2, math.nan, 4, None, 6], pa.float16()),
    "float": pa.array([0.1, 2, math.nan, 4, None, -0.0], pa.float32()),
    "double": pa.array([0.1, 1e300, math.nan, math.inf, None, 6], pa.float64()),
    "bool": pa.array([True, False, True, False, None, True]),
    "string": pa.array(WORDS, pa.string()),
    "large_string": pa.array(WORDS, pa.large_string()),
    "string_view": pa.array(WORDS, pa.string_view()),
    "dictionary": pa.array(WORDS).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
    "ordered": pa.DictionaryArray.from_arrays(pa.array([2, 0, 2, 1, None, 0]), ["z", "a", "m"], ordered=True),
    "decimal32": pa.array([*DECIMALS, None, None], pa.decimal32(5, 2)),
    "decimal128": pa.array([*DECIMALS, None, None], pa.decimal128(38, 10)),
    "decimal256": pa.array([*DECIMALS, None, None], pa.decimal256(50, 2)),
    "date32": pa.array(NUMBERS, pa.date32()),
    "date64": pa.array([None if one is None else one * 86_400_000 for one in NUMBERS], pa.date64()),
    "time32": pa.array(NUMBERS, pa.time32("ms")),
    "time64": pa.array(NUMBERS, pa.time64("ns")),
    "timestamp[s]": pa.array(NUMBERS, pa.timestamp("s")),
    "timestamp[ms]": pa.array(NUMBERS, pa.timestamp("ms")),
    "timestamp[ns]": pa.array(NUMBERS, pa.timestamp("ns")),
    "timestamp[us, zone]": pa.array(NUMBERS, pa.timestamp("us", "Europe/Vienna")),
    "timestamp[ns, zone]": pa.array(NUMBERS, pa.timestamp("ns", "+02:00")),
    "duration[ns]": pa.array(NUMBERS, pa.duration("ns")),
    "duration[s]": pa.array(NUMBERS, pa.duration("s")),
    "uuid": pa.array([bytes([one] * 16) for one in (200, 3, 200, 5)] + [None, b"\x01" * 16], pa.uuid()),
    "json": pa.array(['{"a": 1}', "[1]", "1", '"t"', None, "null"], pa.json_(pa.string())),
    "binary": pa.array([b"\x00", b"b", b"\xff", b"", None, b"a"]),
    "fixed_size_binary": pa.array([b"\x00a", b"bb", b"\xff\xff", b"..", None, b"aa"], pa.binary(2)),
    "list": pa.array([[1], [2, 3], [], None, [None], [1]]),
    "struct": pa.array([{"a": 1}, {"a": 2}, None, {"a": 1}, {"a": None}, {"a": 9}]),
    "null": pa.nulls(6),
}
SAME_IN_PARQUET = {pa.timestamp("s"): pa.timestamp("ms"), pa.date64(): pa.date32()}  # Parquet has no such units
NOT_TEXT = {"binary", "fixed_size_binary", "list", "struct", "duration[ns]", "duration[s]"}


NOT_READ_FROM_ARROW = {"halffloat", "decimal256"}


def table_of(name: str) -> pa.Table:
    return pa.table({"age": pa.array(AGES, pa.int16()), "x": TYPES[name]})


def written_as(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path, compression="uncompressed")
    return path


def read_from(path: Path) -> pa.Table:
    return parquet.ParquetFile(path).read() if path.suffix == ".parquet" else feather.read_table(path)


def repaired(release: Any, output: Path | None, **more: Any) -> Remediation:
    return fix(release, POLICY, output=output, plugins=toys.plugins(halves=toys.halves), **more)


def released(kinds: Iterable[str]) -> tuple[pa.Table, dict[str, Any]]:
    """A table with a column of each type, and its policy."""
    table = pa.table({"age": pa.array(AGES, pa.int16()), **{name: TYPES[name] for name in kinds}})
    insensitive = {name: {"role": "insensitive"} for name in kinds}
    return table, {**POLICY, "attributes": {"age": POLICY["attributes"]["age"], **insensitive}}


READ = {
    source: [name for name in TYPES if source == "r.parquet" or name not in NOT_READ_FROM_ARROW]
    for source in ("frame", "r.parquet", "r.arrow")
}


@pytest.mark.parametrize("output", ["f.parquet", "f.feather", "f.arrow"])
@pytest.mark.parametrize("source", READ)
def test_an_untouched_column_is_the_sources_own(tmp_path: Path, source: str, output: str) -> None:
    kinds = [name for name in READ[source] if output == "f.parquet" or name not in NOT_READ_FROM_ARROW]
    table, policy = released(kinds)
    release = table if source == "frame" else written_as(table, tmp_path / source)
    before = table if source == "frame" else read_from(tmp_path / source)
    halves = toys.plugins(halves=toys.halves)
    done = fix(release, policy, output=tmp_path / output, keep_order=True, plugins=halves)
    after = read_from(tmp_path / output)
    assert done.passed
    assert done.log.cells == {"age": 6, **dict.fromkeys(kinds, 0)}
    for name in kinds:
        kind = before[name].type
        assert after[name].type == (SAME_IN_PARQUET.get(kind, kind) if output == "f.parquet" else kind), name
        same = after[name] if after[name].type == kind else after[name].cast(kind)
        assert repr(same.to_pylist()) == repr(before[name].to_pylist()), name
    fix(release, policy, output=tmp_path / output, plugins=halves)
    shuffled = read_from(tmp_path / output)
    assert shuffled.schema.types == after.schema.types
    assert sorted(map(repr, shuffled.to_pylist())) == sorted(map(repr, after.to_pylist()))


@pytest.mark.parametrize("output", ["f.csv", "f.csv.gz", "f.tsv", "f.jsonl"])
def test_text_holds_what_the_audit_read(tmp_path: Path, output: str) -> None:
    kinds = [name for name in TYPES if name not in NOT_TEXT and name != "decimal256"]
    if output == "f.jsonl":
        kinds.remove("double")  # it holds infinity, which is refused there
    table, policy = released(kinds)
    release = written_as(table, tmp_path / "r.parquet")
    done = fix(release, policy, output=tmp_path / output, keep_order=True, plugins=toys.plugins(halves=toys.halves))
    assert done.log.cells == {"age": 6, **dict.fromkeys(kinds, 0)}
    with open_engine(release, 2**28) as one, open_engine(tmp_path / output, 2**28) as other:
        as_read, as_written = one.table(), other.table()
    for name in kinds:
        before, after = as_read[name].to_pylist(), as_written[name].to_pylist()
        if pa.types.is_floating(as_read[name].type):
            if output == "f.jsonl":
                before = [None if cell != cell else cell for cell in before]  # noqa: PLR0124 - NaN is null there
            after = pa.array([None if cell is None else float(cell) for cell in after], as_read[name].type).to_pylist()
        elif pa.types.is_boolean(as_read[name].type):
            before = [None if cell is None else str(cell).lower() for cell in before]
        elif pa.types.is_timestamp(as_read[name].type):
            before, after = ([None if one is None else pd.Timestamp(one) for one in cells] for cells in (before, after))
            assert [one if one is None or one.tz is None else one.tz_convert("UTC") for one in after] == before, name
            continue
        elif not pa.types.is_time(as_read[name].type):
            before = [None if cell is None else str(cell) for cell in before]
        if not pa.types.is_time(as_read[name].type):
            assert list(map(repr, after)) == list(map(repr, before)), name
        else:
            assert [cell is None for cell in after] == [cell is None for cell in before]


@pytest.mark.parametrize("output", ["f.csv.gz", "f.jsonl"])
@pytest.mark.parametrize("name", sorted(NOT_TEXT))
def test_what_text_does_not_keep_is_refused(tmp_path: Path, name: str, output: str) -> None:
    with pytest.raises(UsageError, match=r"f\..*: column 'x' holds .*, which text does not keep; write \.parquet"):
        repaired(table_of(name), tmp_path / output)


def test_a_touched_column_takes_its_type_again_where_its_cells_fit(tmp_path: Path) -> None:
    table = table_of("int8")
    for kind in (pa.dictionary(pa.int16(), pa.string()), pa.large_string(), pa.string_view()):
        ages = pa.array([str(age) for age in AGES])
        ages = ages.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else ages.cast(kind)
        release = written_as(table.set_column(0, "age", ages), tmp_path / "r.arrow")
        repaired(release, tmp_path / "f.arrow")
        assert feather.read_table(tmp_path / "f.arrow").schema.field("age").type == kind


def test_a_dictionary_lists_nothing_that_no_record_has(tmp_path: Path) -> None:
    """Categories of suppressed or generalised records would be published beside the cells."""
    words = pa.DictionaryArray.from_arrays(pa.array([1, 1, 2, 2, 1, 1]), ["secret", "b", "a"])
    ages = pa.array([str(age) for age in AGES]).dictionary_encode()
    for source in ("r.arrow", "r.parquet"):
        release = written_as(pa.table({"age": ages, "x": words}), tmp_path / source)
        assert repaired(release, tmp_path / f"f{Path(source).suffix}").log.steps
        written = read_from(tmp_path / f"f{Path(source).suffix}")
        for name in ("age", "x"):
            for chunk in written[name].chunks:
                assert set(chunk.dictionary.to_pylist()) == set(written[name].to_pylist())
        assert b"secret" not in (tmp_path / f"f{Path(source).suffix}").read_bytes()


def test_an_ordered_dictionary_keeps_its_order(tmp_path: Path) -> None:
    repaired(table_of("ordered"), tmp_path / "f.arrow")
    retained = feather.read_table(tmp_path / "f.arrow")["x"]
    assert retained.type.ordered
    assert retained.chunk(0).dictionary.to_pylist() == ["z", "a", "m"]


def test_nothing_is_under_a_missing_cell(tmp_path: Path) -> None:
    hidden = pa.Array.from_buffers(pa.int64(), 6, [pa.py_buffer(b"\x3e"), pa.py_buffer(b"SECRET!!" * 6)])
    release = pa.table({"age": pa.array(AGES), "x": hidden})
    assert release["x"].null_count == 1
    policy = {**POLICY, "attributes": {**POLICY["attributes"]}}
    fix(release, policy, output=tmp_path / "f.arrow", keep_order=True, plugins=toys.plugins(halves=toys.halves))
    assert (tmp_path / "f.arrow").read_bytes().count(b"SECRET!!") == 5


def test_metadata_of_the_input_is_not_published(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": AGES, "x": WORDS}, index=pd.RangeIndex(100, 106, name="patient"))
    frame.attrs["source"] = "SECRET"
    frame.to_parquet(tmp_path / "r.parquet")
    assert b"SECRET" in (tmp_path / "r.parquet").read_bytes()
    repaired(tmp_path / "r.parquet", tmp_path / "f.parquet")
    assert parquet.read_schema(tmp_path / "f.parquet").metadata is None
    assert list(pd.read_parquet(tmp_path / "f.parquet").columns) == ["age", "x"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"age": AGES, "x": pd.Categorical(["b", "a", "b", "a", None, "a"])}),
        pl.DataFrame({"age": AGES, "x": ["b", "a", "b", "a", None, "a"]}, schema_overrides={"x": pl.Categorical}),
    ],
    ids=["pandas", "polars"],
)
def test_categories_of_frames_stay_categories(tmp_path: Path, frame: Any) -> None:
    done = repaired(frame, tmp_path / "f.parquet")
    assert pa.types.is_dictionary(done.released["x"].type)
    assert isinstance(pd.read_parquet(tmp_path / "f.parquet")["x"].dtype, pd.CategoricalDtype)


def test_nan_is_no_change() -> None:
    one = pa.table({"x": pa.array([math.nan, 1.0, None, math.nan])})
    other = pa.table({"x": pa.array([math.nan, 2.0, math.nan, 1.0])})
    assert changed_cells(one, one.take([0, 1, 2, 3]), ["x"]) == {"x": 0}
    assert changed_cells(one, other, ["x"]) == {"x": 3}


def test_records_of_any_type_stand_in_an_order_that_says_nothing() -> None:
    generator = np.random.default_rng(1)
    for name, column in TYPES.items():
        table = pa.table({"x": column})
        shuffled = taken(table, generator.permutation(6))
        one, other = (taken(each, in_unlinkable_order(each, 7)) for each in (table, shuffled))
        assert repr(one["x"].to_pylist()) == repr(other["x"].to_pylist()), name


@pytest.mark.parametrize("name", ["a;b;c|d", 'say "a;b;c"', "a,b", "a\tb\tc", ";;;;"])
@pytest.mark.parametrize("output", ["f.csv", "f.tsv", "f.csv.gz"])
def test_a_name_with_delimiters_reads_back(tmp_path: Path, name: str, output: str) -> None:
    policy = {**POLICY, "attributes": {"age": POLICY["attributes"]["age"], name: {"role": "insensitive"}}}
    release = pa.table({"age": AGES, name: ["1", "2;", "3,", "4|", "5\t", '"']})
    halves = toys.plugins(halves=toys.halves)
    assert fix(release, policy, output=tmp_path / output, plugins=halves).passed
    with open_engine(tmp_path / output, 2**28) as engine:
        assert [column.name for column in engine.columns] == ["age", name]
        assert sorted(engine.table()[name].to_pylist()) == sorted(release[name].to_pylist())
    assert [path.name for path in tmp_path.iterdir()] == [output]


@pytest.mark.parametrize("output", ["f.parquet.gz", "f.feather.gz", "f.arrow.gz"])
def test_only_text_is_compressed(tmp_path: Path, output: str) -> None:
    with pytest.raises(UsageError, match=rf"{output}: only text is compressed as .gz; leave .gz out"):
        repaired(table_of("int8"), tmp_path / output)


def test_what_cannot_be_written_is_refused_before_the_first_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcdp_audit.core.session.inputs.evaluation", lambda *_: pytest.fail("the work has begun"))
    with pytest.raises(UsageError, match="column 'x' holds nested data"):
        repaired(table_of("list"), tmp_path / "f.csv")
    with pytest.raises(UsageError, match="column 'x' holds infinity, for which JSON has no number"):
        repaired(pa.table({"age": AGES, "x": [*range(5), math.inf]}), tmp_path / "f.jsonl")
    nested = pa.table({"age": AGES, "x": pa.array([["a"]] * 6, pa.list_(pa.dictionary(pa.int8(), pa.string())))})
    with pytest.raises(UsageError, match="nested dictionaries"):
        repaired(nested, tmp_path / "f.parquet")


@pytest.mark.parametrize("output", ["f.csv", "f.jsonl", "f.parquet"])
def test_an_empty_release_is_said_to_be_empty(tmp_path: Path, output: str) -> None:
    with pytest.raises(DataError, match="the table has no records"):
        repaired(table_of("int8").slice(0, 0), tmp_path / output)


@pytest.mark.parametrize("output", ["f.csv", "f.csv.gz", "f.parquet", "f.feather", "f.jsonl"])
def test_a_full_disk_is_a_sentence(tmp_path: Path, output: str) -> None:
    """A limit on the size of files is met as a full disk is: by an error of the write."""
    noise = np.random.default_rng(0).bytes(300_000).hex()
    cells = [noise[start : start + 100_000] for start in range(0, 600_000, 100_000)]
    release = pa.table({"age": AGES, "x": cells})
    (tmp_path / output).write_text("before", encoding="utf-8")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, limits[1]))
    try:
        with pytest.raises(UsageError) as caught:
            repaired(release, tmp_path / output)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert str(caught.value) == f"{tmp_path / output}: cannot be written: File too large"
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [(output, "before")]


def test_records_that_do_not_read_back_are_not_retained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tcdp_audit.core.repair import output

    write = output.write_table
    monkeypatch.setattr(output, "write_table", lambda table, path, **more: write(table.slice(0, 5), path, **more))
    with pytest.raises(DataError, match=r"f\.csv: 5 records read back where 6 were written; nothing is kept"):
        repaired(table_of("int8"), tmp_path / "f.csv")
    assert list(tmp_path.iterdir()) == []
