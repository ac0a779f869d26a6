"""JSON lines, Parquet, Feather and compressed files that are wrong."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from small_release import MARK, POLICY, TABLE

ONE = json.dumps({"age": 30, "zip": f"{MARK}0", "disease": f"{MARK}x"}) + "\n"
NOT_JSON = "the line is not one JSON object; write one record on each line"
CUT = "the compressed file is cut off or damaged; write it again"
NOT_PARQUET = "the file is not intact Parquet; write it again"
NOT_ARROW = "the file is no intact Arrow file (Feather version 2); write it again"
EMPTY = "the file is empty; an empty release cannot be audited"

FAULTS: dict[str, tuple[str, bytes, str]] = {
    "half a JSON record": ("r.jsonl", f'{ONE}{{"age": "{MARK}\n'.encode(), f"r.jsonl:2: {NOT_JSON}"),
    "a JSON array": ("r.jsonl", f'{ONE}["{MARK}"]\n'.encode(), f"r.jsonl:2: {NOT_JSON}"),
    "a JSON number": ("r.ndjson", b"1\n", f"r.ndjson:1: {NOT_JSON}"),
    "two JSON records on a line": (
        "r.jsonl",
        (ONE * 3 + ONE.strip() + ONE).encode(),
        f"r.jsonl:4: {NOT_JSON}",
    ),
    "a nested JSON object": (
        "r.jsonl",
        f'{ONE * 5000}{{"age": 1, "zip": {{"a": "{MARK}"}}, "disease": "x"}}\n{ONE}'.encode(),
        "r.jsonl:5001: column 'zip' holds nested data; every value must be a single cell",
    ),
    "a nested JSON list": (
        "r.jsonl",
        f'{{"age": 1, "zip": "x", "disease": ["{MARK}"]}}\n'.encode(),
        "r.jsonl:1: column 'disease' holds nested data; every value must be a single cell",
    ),
    "a JSON key twice": (
        "r.jsonl",
        f'{{"age": 1, "zip": "{MARK}", "zip": 2, "disease": 3}}\n'.encode(),
        "r.jsonl:1: the column name 'zip' appears more than once in the record; keep one",
    ),
    "JSON in Latin-1": (
        "r.jsonl",
        f'{ONE}{{"zip": "{MARK}ü"}}\n'.encode("latin-1"),
        "r.jsonl:2: the text is not UTF-8; save the file as UTF-8",
    ),
    "JSON with a byte order mark": (
        "r.jsonl",
        b"\xef\xbb\xbf" + ONE.encode(),
        "r.jsonl:1: a byte order mark precedes the record; save the file as UTF-8 without one",
    ),
    "no JSON": ("r.jsonl", b"", f"r.jsonl: {EMPTY}"),
    "blank JSON lines": ("r.jsonl", b"\n\n", f"r.jsonl: {EMPTY}"),
    "JSON without keys": ("r.jsonl", b"{}\n{}\n", f"r.jsonl: {EMPTY}"),
    "gzip cut off early": ("r.csv.gz", gzip.compress(TABLE.encode())[:40], f"r.csv.gz: {CUT}"),
    "gzip cut off late": ("r.csv.gz", gzip.compress((TABLE * 40_000).encode())[:-999], f"r.csv.gz: {CUT}"),
    "not gzip": ("r.csv.gz", TABLE.encode(), f"r.csv.gz: {CUT}"),
    "no Parquet": ("r.parquet", MARK.encode() * 9, f"r.parquet: {NOT_PARQUET}"),
    "damaged Parquet": ("r.parquet", b"PAR1" + MARK.encode() * 99 + b"PAR1", f"r.parquet: {NOT_PARQUET}"),
    "empty Parquet": ("r.parquet", b"", f"r.parquet: {EMPTY}"),
    "no Feather": ("r.feather", MARK.encode() * 9, f"r.feather: {NOT_ARROW}"),
    "damaged Arrow": ("r.arrow", b"ARROW1\0\0" + MARK.encode() * 99, f"r.arrow: {NOT_ARROW}"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_file_is_refused_with_its_line(check: Any, fault: str) -> None:
    name, content, sentence = FAULTS[fault]
    ran = check(content, name)
    assert (ran.code, ran.out, ran.err) == (3, "", f"tcdp-audit: {sentence}\n")


def test_a_parquet_file_cut_in_its_middle_is_refused(check: Any) -> None:
    whole = _parquet(pa.table({"age": list(range(5000)), "zip": [MARK] * 5000, "disease": [MARK] * 5000}))
    ran = check(whole[:200] + whole[-400:], "r.parquet")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("tcdp-audit: r.parquet: ")


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_table_without_records_cannot_pass(check: Any, suffix: str) -> None:
    none = pa.table({name: pa.array([], pa.string()) for name in ("age", "zip", "disease")})
    ran = check(_parquet(none) if suffix == "parquet" else _feather(none), f"r.{suffix}")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (f"tcdp-audit: r.{suffix}: the table has no records; an empty release cannot be audited\n")


def test_an_absent_key_is_a_missing_value_and_null_as_well(check: Any) -> None:
    lines = [{"age": 30, "zip": MARK, "disease": d} for d in "ab" * 2]
    lines += [{"age": 30, "disease": "a"}, {"age": 30, "zip": None, "disease": "b"}]
    ran = check("".join(json.dumps(line) + "\n" for line in lines), "r.jsonl")
    assert ran.code == 0
    assert ran.outcome("k_anonymity")["details"]["distribution"] == [[2, 1, 2], [4, 1, 4]]


def test_a_key_of_one_record_only_is_an_undeclared_column(check: Any) -> None:
    ran = check(ONE * 4 + json.dumps({"age": 30, "zip": "x", "disease": "y", "note": MARK}) + "\n", "r.jsonl")
    assert ran.code == 1
    assert ran.outcome("undeclared_columns")["details"] == {"columns": ["note"]}


def test_a_numbers_text_in_json_lines_stays_as_it_is_written(check: Any) -> None:
    big = "123456789012345678901234567890"
    codes = f'{{"zip": {big}}}\n{{"zip": {big[:-1]}1}}\n'
    policy = "version: 1\nattributes: {zip: {role: quasi_identifier}}\nexpect: [k_anonymity: {k: 2}]\n"
    assert check(codes, "r.jsonl", policy).outcome("k_anonymity")["observed"] == 1


CASES = "version: 1\nattributes: {Age: {role: quasi_identifier}, age: {role: sensitive}}\nexpect:\n"
CASES += "  - k_anonymity: {k: 4}\n  - distinct_l_diversity: {l: 3}\n"
CASED = pa.table({"Age": ["a"] * 4, "age": ["x", "y", "z", "z"]})


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink)
    return sink.getvalue()


def _feather(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pyarrow.feather.write_feather(table, sink)
    return sink.getvalue()


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl", "r.parquet", "r.feather"])
def test_names_that_differ_in_case_only_are_two_columns(check: Any, name: str) -> None:
    content = {
        "r.csv": b"Age,age\na,x\na,y\na,z\na,z\n",
        "r.jsonl": "".join(json.dumps(row) + "\n" for row in CASED.to_pylist()).encode(),
        "r.parquet": _parquet(CASED),
        "r.feather": _feather(CASED),
    }
    ran = check(content[name], name, CASES)
    assert (ran.code, ran.failed) == (0, [])
    assert ran.outcome("k_anonymity")["observed"] == 4
    assert ran.outcome("distinct_l_diversity")["observed"] == 3


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_column_name_twice_is_refused_whatever_the_format(check: Any, suffix: str) -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"])
    ran = check(_parquet(twice) if suffix == "parquet" else _feather(twice), f"r.{suffix}")
    assert ran.code == 3
    assert ran.err == f"tcdp-audit: r.{suffix}: the column name 'age' appears more than once; rename all but one\n"


def test_compressed_csv_and_json_lines_are_read(check: Any) -> None:
    assert check(gzip.compress(TABLE.encode()), "r.csv.gz").failed == []
    lines = [dict(zip(("age", "zip", "disease"), line.split(","), strict=True)) for line in TABLE.splitlines()[1:]]
    assert check(gzip.compress("\n".join(map(json.dumps, lines)).encode()), "r.jsonl.gz", POLICY).failed == []


def test_a_nested_column_is_an_outcome_that_names_it(check: Any) -> None:
    nested = pa.table({"age": [30] * 4, "zip": [[MARK]] * 4, "disease": ["a", "b"] * 2})
    ran = check(_parquet(nested), "r.parquet")
    assert ran.code == 3
    sentence = "r.parquet: column 'zip' holds nested or binary data (VARCHAR[]), not single cells"
    assert ran.outcome("wrong_scale")["message"] == sentence
    assert ran.outcome("k_anonymity")["message"] == f"cannot be evaluated: {sentence}"
