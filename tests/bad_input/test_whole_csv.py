"""CSV files whose every record is read: long ones, long cells, line ends in quotes, streams. Or a sentence."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import itertools
import os
import random
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from small_release import MARK, TABLE

from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.source import RECORD_BYTES

LONG = "a record is longer than 16 MB; check for a quote that is never closed"
HEADER = "age,zip,disease\n"
SOUND = TABLE.removeprefix(HEADER)


@pytest.mark.parametrize("suffix", ["csv", pytest.param("csv.gz", marks=pytest.mark.long)])
@pytest.mark.parametrize("after", ["", "\n", f"\n{SOUND}"], ids=["at the end", "with a line end", "before others"])
@pytest.mark.parametrize("quote", [pytest.param("", marks=pytest.mark.long), '"'], ids=["plain", "quoted"])
@pytest.mark.parametrize("megabytes", [17, pytest.param(36, marks=pytest.mark.long)])
def test_a_record_of_more_than_16_mb_is_refused_wherever_it_is(
    check: Any, suffix: str, after: str, quote: str, megabytes: int
) -> None:
    text = f"{TABLE}1,2,{quote}{'x' * megabytes * 10**6}{quote}{after}".encode()
    name = f"release.{suffix}"
    ran = check(gzip.compress(text, 1) if suffix == "csv.gz" else text, name)
    assert (ran.code, ran.out, ran.err) == (3, "", f"tcdp-audit: {name}:18: {LONG}\n")


def test_a_record_of_exactly_16_mb_is_read(tmp_path: Path) -> None:
    path, cell = tmp_path / "r.csv", "x" * (RECORD_BYTES - len("1,2,"))
    path.write_text(f"a,b,c\n0,0,0\n1,2,{cell}")
    with open_engine(path, 2**28) as engine:
        assert engine.records == 2
        assert engine.table().column("c").to_pylist() == ["0", cell]
    path.write_text(f"a,b,c\n0,0,0\n1,2,{cell}x")
    with pytest.raises(Exception, match="longer than 16 MB"):
        open_engine(path, 2**28)


def _long_cells(records: int, size: int, line_end: str) -> tuple[bytes, list[list[str]]]:
    draw = random.Random(5)  # noqa: S311 - no secret
    pieces = ["\n", "\r\n", '"', ",", "text ", "ü", "\n1,2,3\n", '",', '""', '"\n"']
    rows = [[str(i % 3), "".join(draw.choices(pieces, k=draw.randrange(size))), "x"] for i in range(records)]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=line_end).writerows([["a", "b", "c"], *rows])
    return text.getvalue().encode(), rows


@pytest.mark.long
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_long_quoted_cells_with_line_breaks_and_quotes_are_read_as_they_stand(tmp_path: Path, line_end: str) -> None:
    content, rows = _long_cells(5000, 8000, line_end)  # some 40 MB: several blocks
    path = tmp_path / "r.csv"
    path.write_bytes(content)
    with open_engine(path, 2**30) as engine:
        table = engine.table()
    assert table.column("a").to_pylist() == [row[0] for row in rows]
    assert table.column("b").to_pylist() == [row[1] or None for row in rows]


@pytest.mark.long
def test_a_table_that_outgrows_its_memory_is_read_unchanged(tmp_path: Path) -> None:
    content, rows = _long_cells(5000, 8000, "\n")
    path = tmp_path / "r.csv"
    path.write_bytes(content)
    with open_engine(path, 2**26) as engine:
        assert type(engine).__name__ == "DuckDBEngine"
        assert engine.sha256() == hashlib.sha256(content).hexdigest()
        assert engine.table().column("b").to_pylist() == [row[1] or None for row in rows]
        assert dict(zip(engine.domain("a").values, engine.domain("a").counts, strict=True)) == {
            "0": 1667,
            "1": 1667,
            "2": 1666,
        }


@pytest.mark.parametrize("cells", ["x,1,", "x,1,,", '"x","1",""', "x", '"x,1"'])
def test_a_record_of_more_or_fewer_cells_is_refused_with_its_line(check: Any, cells: str) -> None:
    policy = "version: 1\nattributes: {a: {role: quasi_identifier}}\nexpect: [k_anonymity: {k: 2}]\n"
    ran = check(f"a,b\n1,2\n{cells}\n3,4\n", "release.csv", policy)
    number = len(next(csv.reader([cells])))
    sentence = f"the record has {number} cells where the header names 2; quote cells with delimiters"
    assert (ran.code, ran.err) == (3, f"tcdp-audit: release.csv:3: {sentence}\n")


def test_faults_that_make_up_for_each_other_are_refused(check: Any) -> None:
    ran = check(f"{TABLE}1,2\n1,2,3,4\n")
    assert ran.err.startswith("tcdp-audit: release.csv:18: the record has 2 cells")


LINE_ENDS = {"LF": "\n", "CRLF": "\r\n", "CR": "\r"}


@pytest.mark.parametrize("broken", ["\n", "\r\n", "\r"], ids=LINE_ENDS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=LINE_ENDS)
def test_line_breaks_in_names_and_cells_are_those_that_stand_there(tmp_path: Path, line_end: str, broken: str) -> None:
    lines = [f'a,"b{broken}c"', f'é,"1{broken}2"', "x,é", f'"{broken}",é', "y,"]
    path = tmp_path / "r.csv"
    path.write_bytes((line_end.join(lines) + line_end).encode())
    with open_engine(path, 2**28) as engine:
        table = engine.table()
    assert table.to_pydict() == {"a": ["é", "x", broken, "y"], f"b{broken}c": [f"1{broken}2", "é", "é", None]}


ODD = "the line ends otherwise than the first, or holds a stray quote; use one kind of line end"


@pytest.mark.parametrize(("line_end", "other"), list(itertools.permutations(LINE_ENDS.values(), 2)))
@pytest.mark.parametrize("at_end", [True, False])
def test_line_ends_of_two_kinds_are_refused_with_the_line(
    check: Any, line_end: str, other: str, *, at_end: bool
) -> None:
    lines = TABLE.splitlines()
    text = line_end.join(lines[:9]) + other + ("" if at_end else line_end.join(lines[9:]) + line_end)
    ran = check(text)
    assert (ran.code, ran.out) == (3, "")
    line = 10 if line_end == "\r" and other == "\r\n" else 9  # the line feed stands after the line end
    assert ran.err == f"tcdp-audit: release.csv:{line}: {ODD}\n"


AS_THEY_STAND = {
    "a quote within": (b'a,b\n5" pipe,x"y"z\n', [{"a": '5" pipe', "b": 'x"y"z'}]),
    "a quote after a blank": (b'a,b\n1, "y"\n', [{"a": "1", "b": ' "y"'}]),
    "quotes within and around": (
        b'a,b\n5" pipe,"x\ny"\n"a""",b"\n',
        [{"a": '5" pipe', "b": "x\ny"}, {"a": 'a"', "b": 'b"'}],
    ),
    "a mark of byte order in a cell": (b"a,b\n\xef\xbb\xbfx,\xef\xbb\xbf\n", [{"a": "\ufeffx", "b": "\ufeff"}]),
    "a blank line of one column": (b'a\n1\n\n""\n', [{"a": "1"}, {"a": None}, {"a": None}]),
    "blank lines of several": (b"a,b\n\n1,2\n\n\n3,4\n\n", [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]),
    "a NUL": (b"a,b\n\x00,1\n", [{"a": "\x00", "b": "1"}]),
    "other breaks": ("a,b\n1\x0b,2\u2028\x85\n".encode(), [{"a": "1\x0b", "b": "2\u2028\x85"}]),
    "a comma in a header of tabs": (b"a, b, c\td\n1\t2\n", [{"a, b, c": "1", "d": "2"}]),
}


@pytest.mark.parametrize("form", AS_THEY_STAND)
def test_cells_are_the_text_that_is_there(form: str, tmp_path: Path) -> None:
    content, records = AS_THEY_STAND[form]
    path = tmp_path / "r.tsv"
    path.write_bytes(content)
    with open_engine(path, 2**28) as engine:
        assert engine.table().to_pylist() == records
        assert engine.records == len(records)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl"])
def test_a_pipe_is_read_once(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"r.{suffix}"
    os.mkfifo(path)
    text = b"".join(b'{"a": "%d"}\n' % (i % 7) for i in range(50_000))
    content = text if suffix == "jsonl" else b"a\n" + b"".join(b"%d\n" % (i % 7) for i in range(50_000))
    content = gzip.compress(content) if suffix == "csv.gz" else content
    writing = Thread(target=path.write_bytes, args=(content,))
    writing.start()
    with open_engine(path, 2**28) as engine:
        assert engine.records == 50_000
        assert engine.domain("a").counts.sum() == 50_000
        assert engine.sha256() == hashlib.sha256(content).hexdigest()
        assert (engine.uri, engine.path) == (str(path), None)
    writing.join()


def test_a_fault_in_a_pipe_names_the_pipe(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    os.mkfifo(path)
    writing = Thread(target=path.write_bytes, args=(b'{"a": 1}\n[]\n',))
    writing.start()
    with pytest.raises(Exception, match=rf"^{path}:2: the line is not one JSON object"):
        open_engine(path, 2**28)
    writing.join()


def test_an_empty_pipe_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    os.mkfifo(path)
    writing = Thread(target=path.write_bytes, args=(b"",))
    writing.start()
    with pytest.raises(Exception, match="the file is empty"):
        open_engine(path, 2**28)
    writing.join()


def test_a_stream_under_another_name_is_audited(check: Any, tmp_path: Path) -> None:
    source = tmp_path / "stream"
    source.write_text(TABLE)
    with source.open("rb") as stream:
        link = tmp_path / "linked.csv"
        link.symlink_to(f"/dev/fd/{stream.fileno()}")
        ran = check(None, str(link))
    assert (ran.code, ran.outcome("k_anonymity")["records"]["total"]) == (0, 16)


def test_no_error_of_ours_has_a_cell_behind_it(tmp_path: Path) -> None:
    for number, fault in enumerate([f"1,{MARK}\n", f'1,"{MARK}"x,2\n', f"1,{MARK},\udcff\nü,1,1\n"]):
        path = tmp_path / f"r{number}.csv"
        path.write_bytes((TABLE + fault).encode("utf-8", "surrogateescape"))
        with pytest.raises(Exception, match=r"r[0-9]\.csv:18: ") as raised:
            open_engine(path, 2**28)
        error: BaseException | None = raised.value
        while error is not None:
            assert MARK not in repr(error) + repr(vars(error))
            error = error.__context__


def test_a_full_temporary_folder_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tcdp_audit.core.engines import text
    from tcdp_audit.core.engines.duckdb import DuckDBEngine

    path = tmp_path / "r.csv"
    path.write_text(TABLE)
    monkeypatch.setattr(text, "SHARE", 2**62)
    monkeypatch.setattr(DuckDBEngine, "overflow", tmp_path / "absent" / "release.parquet")
    with pytest.raises(
        Exception, match=r"r\.csv: the table outgrows --memory, and the temporary folder cannot take it"
    ):
        open_engine(path, 2**28)
