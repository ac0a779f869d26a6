"""What `fix` writes: only what was proven, whole or not at all, in every kind of file."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import toy_remedies as toys
from pyarrow import feather, parquet

from tcdp_audit import Remediation, UsageError, audit, fix

POLICY = {
    "version": 1,
    "attributes": {
        "id,x": {"role": "insensitive"},
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "disease": {"role": "sensitive", "scale": "nominal"},
    },
    "expect": [{"k_anonymity": {"k": 2}}],
    "remedy": [{"halves": None}],
}
CSV = '"id,x";age;disease\n1;20;"a;b"\n2;21;"say ""hi"""\n3;;b\n4;;a\n5;51;b\n6;67;a\n'


@pytest.fixture
def release(tmp_path: Path) -> Path:
    path = tmp_path / "release.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def repaired(release: Any, output: Path, **more: Any) -> Remediation:
    return fix(release, {**POLICY, **more}, output=output, plugins=toys.plugins(halves=toys.halves))


@pytest.mark.parametrize(
    "name", ["f.csv", "f.tsv", "f.csv.gz", "f.parquet", "f.feather", "f.arrow", "f.jsonl", "f.ndjson.gz"]
)
def test_the_written_file_passes_when_it_is_audited_alone(release: Path, tmp_path: Path, name: str) -> None:
    done = repaired(release, tmp_path / name)
    assert (done.passed, done.written) == (True, tmp_path / name)
    alone = audit(tmp_path / name, POLICY, plugins=toys.plugins(halves=toys.halves))
    assert alone.passed
    assert (alone.release.sha256, alone.release.uri) == (done.after.release.sha256, done.after.release.uri)
    assert alone.outcomes == done.after.outcomes


def test_a_csv_file_keeps_its_delimiter_and_its_quotes(release: Path, tmp_path: Path) -> None:
    fixed = tmp_path / "fixed.csv"
    repaired(release, fixed)
    lines = fixed.read_text(encoding="utf-8").splitlines()
    assert lines[0] == '"id,x";age;disease'  # so that no reader takes the comma for the delimiter
    assert sorted(lines[1:]) == [
        '1;[0, 40);"a;b"',
        '2;[0, 40);"say ""hi"""',
        "3;*;b",
        "4;*;a",
        "5;[40, 99];b",
        "6;[40, 99];a",
    ]


def test_the_same_release_is_written_in_the_same_bytes(release: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv.gz", tmp_path / "two.csv.gz"
    repaired(release, one)
    repaired(release, two)
    assert gzip.decompress(one.read_bytes()) == gzip.decompress(two.read_bytes())
    assert one.read_bytes() == two.read_bytes()


def test_a_passing_release_is_copied_byte_for_byte(tmp_path: Path) -> None:
    release, fixed = tmp_path / "release.csv", tmp_path / "fixed.csv"
    release.write_bytes(b'\xef\xbb\xbf"id,x",age,disease\r\n1,"20",a\r\n2,020,b\r\n')
    done = repaired(release, fixed)
    assert done.log.is_unchanged
    assert fixed.read_bytes() == release.read_bytes()


def test_fixing_what_was_fixed_changes_nothing(release: Path, tmp_path: Path) -> None:
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    repaired(release, once)
    assert repaired(once, twice).log.is_unchanged
    assert once.read_bytes() == twice.read_bytes()


def test_what_does_not_pass_is_not_written_and_what_stood_there_stays(release: Path, tmp_path: Path) -> None:
    fixed = tmp_path / "fixed.csv"
    fixed.write_text("mine", encoding="utf-8")
    done = repaired(release, fixed, expect=[{"k_anonymity": {"k": 5}}])
    assert (done.passed, done.written, fixed.read_text(encoding="utf-8")) == (False, None, "mine")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fixed.csv", "release.csv"]


def test_a_failing_release_is_written_where_that_is_asked_for(release: Path, tmp_path: Path) -> None:
    asked = {**POLICY, "expect": [{"k_anonymity": {"k": 5}}]}
    fixed = tmp_path / "fixed.csv"
    done = fix(release, asked, output=fixed, keep_failing=True, plugins=toys.plugins(halves=toys.halves))
    assert (done.passed, done.written) == (False, fixed)
    assert fixed.read_bytes() == release.read_bytes()  # no remedy made it better


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("fixed.pdf", "unknown kind of file"), ("nowhere/fixed.csv", "does not exist"), (".", "unknown kind of file")],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    release: Path, tmp_path: Path, name: str, sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        repaired(release, tmp_path / name)


def test_types_of_columns_that_are_not_touched_stay(tmp_path: Path) -> None:
    ages = pa.array([20, 21, 51, 52], pa.uint8())
    typed = pa.table({"id,x": pa.array([1, 2, 3, 4], pa.int16()), "age": ages, "disease": ["a", "b", "a", "b"]})
    parquet.write_table(typed, tmp_path / "release.parquet")
    repaired(tmp_path / "release.parquet", tmp_path / "fixed.feather")
    written = feather.read_table(tmp_path / "fixed.feather")
    assert [field.type for field in written.schema] == [pa.int16(), pa.string(), pa.string()]
