"""The digest of a result is of the bytes, or the content, that was audited."""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from tcdp_audit import audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.engines import digest
from tcdp_audit.core.engines.digest import content_digest
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
POLICY = {
    "version": 1,
    "attributes": {
        "a": {"role": "quasi_identifier", "scale": "nominal"},
        "b": {"role": "sensitive", "scale": "nominal"},
    },
    "expect": [{"k_anonymity": {"k": 2}}, {"exact_match_rate": {}}],
    "rows_aligned": True,
}
SOUND, OTHER = pa.table({"a": ["x"] * 8, "b": ["1", "2"] * 4}), pa.table({"a": [*"stuvwxyz"], "b": ["1", "2"] * 4})


def _text(table: pa.Table) -> str:
    return "a,b\n" + "".join(f"{one['a']},{one['b']}\n" for one in table.to_pylist())


WRITERS: dict[str, Callable[[pa.Table, Path], object]] = {
    "csv": lambda table, path: path.write_text(_text(table)),
    "jsonl": lambda table, path: path.write_text("".join(json.dumps(one) + "\n" for one in table.to_pylist())),
    "parquet": pyarrow.parquet.write_table,
    "feather": pyarrow.feather.write_feather,
}
SCANNED = ["jsonl", "parquet", "feather"]


def _replace(path: Path) -> None:
    """As careful programs write: whole, beside the file, under its name."""
    beside = path.with_name(f"new.{path.name}")
    WRITERS[path.suffix[1:]](OTHER, beside)
    beside.replace(path)


def _write_over(path: Path) -> None:
    WRITERS[path.suffix[1:]](OTHER, path)


@pytest.mark.parametrize("kind", WRITERS)
def test_the_digest_is_that_of_the_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"r.{kind}"
    WRITERS[kind](SOUND, path)
    result = audit(path, POLICY, path, plugins=PLUGINS)
    assert result.release.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert result.companions["original"].sha256 == result.release.sha256


CHANGES = [(kind, change) for kind in WRITERS for change in (_replace, _write_over)]
CHANGES.remove(("feather", _write_over))  # the system ends who reads what is mapped and then cut off


@pytest.mark.parametrize("table", ["release", "original"])
@pytest.mark.parametrize(("kind", "change"), CHANGES)
def test_a_table_that_changes_during_its_audit_is_not_reported_under_another_digest(
    kind: str, table: str, change: Callable[[Path], None], tmp_path: Path
) -> None:
    paths = {name: tmp_path / f"{name}.{kind}" for name in ("release", "original")}
    for path in paths.values():
        WRITERS[kind](SOUND, path)
    before = hashlib.sha256(paths[table].read_bytes()).hexdigest()
    changed: list[str] = []

    def progress(step: str, _: int, __: int) -> None:
        if not changed:
            change(paths[table])
            changed.append(step)

    if kind == "csv":  # read once: the digest is of what was read
        result = audit(paths["release"], POLICY, paths["original"], plugins=PLUGINS, progress=progress)
        assert result.passed
        assert {"release": result.release, **result.companions}[table].sha256 == before
    else:
        with pytest.raises(DataError, match=f"{table}.{kind}: the file changed while it was audited"):
            audit(paths["release"], POLICY, paths["original"], plugins=PLUGINS, progress=progress)
    assert changed


@pytest.mark.parametrize("kind", SCANNED)
def test_every_way_to_read_a_file_sees_that_it_changed(kind: str, tmp_path: Path) -> None:
    ways: list[Callable[[Any], object]] = [
        lambda engine: engine.domain("b"),
        lambda engine: engine.table(),
        lambda engine: engine.locate("a", engine._raw["a"].values),
        lambda engine: engine.sha256(),
    ]
    path = tmp_path / f"r.{kind}"
    for way in ways:
        WRITERS[kind](SOUND, path)
        with open_engine(path, 2**28) as engine:
            engine.domain("a")
            _replace(path)
            with pytest.raises(DataError, match="the file changed while it was audited"):
                way(engine)


@pytest.mark.parametrize("kind", SCANNED)
def test_a_file_that_has_gone_changed(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"r.{kind}"
    WRITERS[kind](SOUND, path)
    with open_engine(path, 2**28) as engine:
        path.unlink()
        with pytest.raises(DataError, match="the file changed"):
            engine.sha256()


def test_a_change_within_one_tick_of_the_clock_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.parquet"
    WRITERS["parquet"](SOUND, path)
    monkeypatch.setattr(digest, "_state", lambda _: ())
    with open_engine(path, 2**28) as engine:
        engine._digest._thread.join()
        WRITERS["parquet"](OTHER, path)
        with pytest.raises(DataError, match="the file changed"):
            engine.sha256()


def test_the_command_answers_3_for_a_file_that_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    WRITERS["parquet"](SOUND, tmp_path / "r.parquet")
    (tmp_path / "p.tcdp.yaml").write_text(
        "version: 1\nattributes: {a: {role: quasi_identifier}}\nexpect: [k_anonymity: {k: 2}]\n"
    )
    clock = itertools.count()
    monkeypatch.setattr(digest, "_state", lambda _: (next(clock),))
    monkeypatch.chdir(tmp_path)
    assert run("check", ["r.parquet", "--policy", "p.tcdp.yaml"]) == 3
    sentence = "the file changed while it was audited; audit it again when it is complete"
    assert capsys.readouterr().err == f"tcdp-audit: r.parquet: {sentence}\n"


# of content

CELLS: dict[str, pa.Array] = {
    "text": pa.array(["a", None, "", "üñ", "a\x00b", "long " * 9]),
    "bytes": pa.array([b"a", None, b"", b"\xff", b"\x00", b"b"]),
    "integers": pa.array([1, None, -3, 2**40, 0, 7]),
    "small": pa.array([1, None, 3, 4, 5, 6], pa.int8()),
    "floats": pa.array([0.5, None, float("inf"), -0.0, 1e-300, 2.0]),
    "truth": pa.array([True, None, False, True, True, False]),
    "decimals": pa.array([Decimal("1.10"), None, *[Decimal(f"{n}.00") for n in range(4)]]),
    "days": pa.array([1, None, 3, 4, 5, 6], pa.int32()).cast(pa.date32()),
    "instants": pa.array([1, None, 3, 4, 5, 6], pa.timestamp("ns", "Europe/Berlin")),
    "spans": pa.array([1, None, 3, 4, 5, 6], pa.duration("us")),
    "nothing": pa.nulls(6),
    "lists": pa.array([[1, None], None, [], [2], [3], [4]]),
    "records": pa.array([{"x": 1}, None, {"x": None}, *[{"x": n} for n in (2, 3, 4)]]),
}
TABLE = pa.table(CELLS)


def _independently(table: pa.Table) -> str:
    """The definition in docs/json.md, value by value."""
    digest = hashlib.sha256()
    kinds: dict[str, Callable[[Any], bytes]] = {
        "string": str.encode,
        "binary": bytes,
        "int64": lambda value: struct.pack("<q", value),
        "int8": lambda value: struct.pack("<b", value),
        "double": lambda value: struct.pack("<d", value),
        "bool": lambda value: bytes([value]),
    }
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = str(column.type)
        for text in (name, kind):
            digest.update(struct.pack("<Q", len(text.encode())) + text.encode())
        cells = column.to_pylist()
        values = [kinds[kind](cell) for cell in cells if cell is not None]
        lengths = b"".join(struct.pack("<I", len(value)) for value in values) if kind in ("string", "binary") else b""
        for stream in (bytes(cell is not None for cell in cells), lengths, b"".join(values)):
            digest.update(hashlib.sha256(stream).digest())
    return digest.hexdigest()


def test_the_digest_of_content_is_the_one_that_is_documented() -> None:
    table = TABLE.select(["text", "bytes", "integers", "small", "floats", "truth"])
    assert content_digest(table) == _independently(table)
    assert content_digest(table.slice(2, 3)) == _independently(table.slice(2, 3))
    assert content_digest(table.slice(0, 0)) == _independently(table.slice(0, 0))


@pytest.mark.parametrize("name", CELLS)
def test_how_a_column_is_stored_makes_no_difference(name: str) -> None:
    column = CELLS[name]
    table = pa.table({name: column})
    padded = pa.concat_arrays([column, column, column]).slice(len(column), len(column))
    chunks = pa.chunked_array([column.slice(0, 1), column.slice(1, 0), column.slice(1)], column.type)
    stored = [padded, chunks]
    if name not in ("nothing", "lists", "records"):
        stored.append(column.dictionary_encode())
        stored.append(pa.chunked_array([column.slice(0, 3).dictionary_encode(), column.slice(3).dictionary_encode()]))
    if name == "text":
        stored += [column.cast(pa.large_string()), column.cast(pa.string_view()), pa.array(column.to_pylist())]
    assert {content_digest(pa.table({name: one})) for one in stored} == {content_digest(table)}


@pytest.mark.parametrize("name", CELLS)
def test_a_changed_cell_name_type_or_order_makes_a_difference(name: str) -> None:
    column, table = CELLS[name], pa.table({name: CELLS[name]})
    others = [table.rename_columns(["other"]), table.slice(1), pa.table({name: column, "x": column})]
    if name != "nothing":
        others += [table.take([0, 1, 2, 3, 5, 4]), table.take([0, 0, 2, 3, 4, 5])]
        others.append(pa.table({name: pa.concat_arrays([column.slice(0, 5), pa.nulls(1, column.type)])}))
    digests = {content_digest(one) for one in (table, *others)}
    assert len(digests) == 1 + len(others)


def test_cells_do_not_run_into_each_other() -> None:
    columns = [["ab", "c"], ["a", "bc"], ["abc", ""], ["abc", None], [None, "abc"]]
    assert len({content_digest(pa.table({"a": cells})) for cells in columns}) == len(columns)
    assert content_digest(pa.table({"a": ["x"], "b": ["y"]})) != content_digest(pa.table({"b": ["y"], "a": ["x"]}))


def test_a_frame_is_identified_by_its_content_whatever_library_holds_it() -> None:
    cells = {"a": ["x", "y", None, "x"], "b": [1, 2, 3, 4]}
    frames = [
        pa.table(cells),
        pd.DataFrame(cells),
        pl.DataFrame(cells),
        pa.table(cells).to_pandas(),
        pl.LazyFrame(cells),
    ]
    categories = pl.DataFrame(cells).with_columns(pl.col("a").cast(pl.Categorical))
    digests = set()
    for frame in [*frames, categories]:
        with open_engine(frame, 2**28) as engine:
            digests.add(engine.sha256())
    assert digests == {content_digest(pa.table(cells))}


def test_the_result_on_a_frame_has_its_digest() -> None:
    result = audit(SOUND, POLICY, OTHER, plugins=PLUGINS)
    assert result.release.sha256 == content_digest(SOUND)
    assert result.companions["original"].sha256 == content_digest(OTHER)
    assert result.release.sha256 != result.companions["original"].sha256


@pytest.mark.parametrize("content", [b"version: 1\r\n", b"\xef\xbb\xbfversion: 1\n", b"# \xc3\xbc\rversion: 1\r"])
def test_the_digest_of_a_policy_is_that_of_its_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "p.tcdp.yaml"
    path.write_bytes(content + b"attributes: {a: {role: quasi_identifier}}\nexpect: [k_anonymity: {k: 2}]\n")
    assert (
        audit(SOUND.select(["a"]), path, plugins=PLUGINS).policy.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    )
