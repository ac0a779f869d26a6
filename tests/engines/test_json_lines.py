"""JSON lines: what is read is what stands there, and `fix` writes what it did not touch as it stood."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import DataError, audit, fix
from tcdp_audit.core.engines import json_lines as reader
from tcdp_audit.core.engines.opening import open_engine

NUMBERS = ["0.12345678901234567891", "1.10", "1e5", "9007199254740993.0", "-0", "-0.0", "1E+400", "20", "1e-400"]
NOMINAL = {
    "version": 1,
    "attributes": {"x": {"role": "quasi_identifier", "scale": "nominal"}},
    "expect": [{"k_anonymity": {"k": 2}}],
}


def _read(path: Path) -> list[dict[str, Any]]:
    with open_engine(path, 2**28) as engine:
        return engine.table().to_pylist()


def _lines(tmp_path: Path, *lines: str, name: str = "r.jsonl") -> Path:
    path = tmp_path / name
    content = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    return path


@pytest.mark.parametrize("number", [*NUMBERS, "true", "false"])
def test_a_number_and_a_boolean_are_the_text_that_is_there(tmp_path: Path, number: str) -> None:
    assert _read(_lines(tmp_path, f'{{"x": {number}}}', f'{{"x":"{number}"}}')) == [{"x": number}] * 2


@pytest.mark.parametrize("pair", [("0.12345678901234567891", "0.12345678901234567892"), ("1.10", "1.1")])
def test_numbers_that_differ_as_text_are_two_values_as_in_csv(tmp_path: Path, pair: tuple[str, str]) -> None:
    texts = [pair[0]] * 2 + [pair[1]]
    lines = audit(_lines(tmp_path, *(f'{{"x": {text}}}' for text in texts)), NOMINAL)
    (tmp_path / "r.csv").write_text("\n".join(["x", *texts, ""]))
    text = audit(tmp_path / "r.csv", NOMINAL)
    assert (lines.status, text.status) == ("failed", "failed")
    assert [one.as_json() for one in lines.expectations] == [one.as_json() for one in text.expectations]


TOKENS = st.one_of(
    st.sampled_from([*NUMBERS, "true", "false", "null"]),
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False).map(lambda d: f"{d:f}"),
    st.text().map(json.dumps),
    st.text(alphabet='"\\,:{}[] \n\téü\U0001f600a1').map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from([r'"\u0000"', r'"\ud83d\ude00 \/"', r'"\"a\": 1, \"b\""', '"null"', '"true"', '"\u2028\x7f"']),
)
SPACES = st.sampled_from(["", " ", "\t", "  "])
NAMES = ["a", "b c", 'q"', "é", "x:", "n\\u0061me", "{", "a,b"]


@st.composite
def _record(draw: Any) -> str:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=5))
    space = draw(SPACES)
    pairs = (f"{json.dumps(name)}{space}:{draw(SPACES)}{draw(TOKENS)}" for name in names)
    return f"{space}{{{space}{f'{space},{draw(SPACES)}'.join(pairs)}{space}}}{space}"


def _by_python(line: str) -> dict[str, str | None]:
    """What Python's own reader says, numbers and booleans as their text."""
    record = json.loads(line, parse_int=str, parse_float=str)
    return {name: {True: "true", False: "false"}.get(cell, cell) for name, cell in record.items()}


@pytest.mark.long
@settings(deadline=None, max_examples=40)
@given(
    records=st.lists(_record(), min_size=1, max_size=12),
    blank=st.sampled_from(["", "\n", " \r\n"]),
    end=st.sampled_from(["\n", "\r\n"]),
    block=st.sampled_from([1, 7, 64, 2**24]),
)
def test_cells_are_those_of_pythons_reader(
    tmp_path_factory: Any, records: list[str], blank: str, end: str, block: int
) -> None:
    path = tmp_path_factory.mktemp("json") / "r.jsonl"
    path.write_bytes((blank + end.join([*records, ""])).rstrip("\n").encode())
    expected = [_by_python(line) for line in records]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "BLOCK_BYTES", block)
        result = _read(path)
    assert [{name: cell for name, cell in row.items() if cell is not None} for row in result] == [
        {name: cell for name, cell in row.items() if cell is not None} for row in expected
    ]
    assert set(result[0]) == set().union(*expected)


HALF = "holds half of a surrogate pair (\\ud800 to \\udfff), which is no character; write the text as UTF-8"
FAULTS = {
    '{"x": 1,}': "the line is not one JSON object; write one record on each line",
    '{"x": 01}': "the line is not one JSON object; write one record on each line",
    '{"x": +1}': "the line is not one JSON object; write one record on each line",
    '{"x": .5}': "the line is not one JSON object; write one record on each line",
    '{"x": 1.}': "the line is not one JSON object; write one record on each line",
    "{'x': 1}": "the line is not one JSON object; write one record on each line",
    '{"x": "a\tb"}': "the line is not one JSON object; write one record on each line",
    '{"x": "\\x41"}': "the line is not one JSON object; write one record on each line",
    '{"x": 1} // one': "the line is not one JSON object; write one record on each line",
    '{"x": NaN}': "NaN is not JSON; write null for a missing value",
    '{"x": -Infinity}': "-Infinity is not JSON; write null for a missing value",
    '{"x": Infinity}': "Infinity is not JSON; write null for a missing value",
    '{"x": nan}': "the line is not one JSON object; write one record on each line",
    r'{"x": "\ud800"}': f"the value of column 'x' {HALF}",
    r'{"x": "\ude00\ud83d"}': f"the value of column 'x' {HALF}",
    r'{"\udfff": 1}': f"a column name {HALF}",
    r'{"x": 1, "\u0078": 2}': "the column name 'x' appears more than once in the record; keep one",
    '{"x": {}}': "column 'x' holds nested data; every value must be a single cell",
    '{"x": []}': "column 'x' holds nested data; every value must be a single cell",
    '{"x": ' + "[" * 100_000 + "}": "the line is not one JSON object; write one record on each line",
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["r.jsonl", "r.ndjson.gz"])
def test_what_is_no_record_is_refused_with_its_line(tmp_path: Path, fault: str, name: str) -> None:
    path = _lines(tmp_path, '{"x": 1}', "", fault, '{"x": 1}', name=name)
    with pytest.raises(DataError) as caught:
        audit(path, NOMINAL)
    assert str(caught.value) == f"{path}:3: {FAULTS[fault]}"


def test_a_line_of_more_than_16_mb_is_refused_with_its_line(tmp_path: Path) -> None:
    path = _lines(tmp_path, '{"x": 1}', '{"x": "' + "a" * 2**24 + '"}', '{"x": 1}')
    with pytest.raises(DataError, match=r":2: the line is longer than 16 MB; write one record on each line$"):
        audit(path, NOMINAL)


def test_a_line_of_less_than_16_mb_is_a_record(tmp_path: Path) -> None:
    long = "a\\n" * (5 * 2**20)
    read = _read(_lines(tmp_path, '{"x": 1.10}', f'{{"x": "{long}"}}', '{"x": 1.0}'))
    assert [len(row["x"]) for row in read] == [4, 2 * 5 * 2**20, 3]


# Through `fix`

FIXED = {
    "version": 1,
    "attributes": {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        **{name: {"role": "insensitive"} for name in ("a", "b", "c", "d", "e")},
    },
    "expect": [{"k_anonymity": {"k": 2}}],
    "remedy": [{"suppression": {"of": "cells"}}],
}
RETAINED = [
    '"a": 0.12345678901234567891, "b": true, "c": "true", "d": 9007199254740993.0, "e": null',
    '"a": "0.12345678901234567891", "b": "1.10", "c": 1.10, "d": 1e5',
    r'"a": "\u00e9", "b": false, "c": "false", "d": "null", "e": "NaN"',
    '"a": "", "b": 20, "c": "20", "d": -0.0, "e": 1E400',
]


def _tokens(line: str) -> dict[str, object]:
    """Cells with their kind and text: a bare token is a tuple."""

    def bare(text: str) -> tuple[str]:
        return (text,)

    return json.loads(line, parse_int=bare, parse_float=bare)


@pytest.mark.parametrize("keep_order", [True, False])
def test_fix_leaves_cells_that_it_does_not_touch_as_they_stood(tmp_path: Path, keep_order: bool) -> None:
    ages = ["20", "3e1", "2.50e1", '"20"']
    lines = [f'{{"age": {age}, {retained}}}' for age, retained in zip(ages, RETAINED, strict=True)]
    release, fixed = _lines(tmp_path, *lines), tmp_path / "fixed.jsonl"
    done = fix(release, FIXED, output=fixed, keep_order=keep_order)
    assert done.passed
    assert dict(done.log.cells) == {"age": 2, "a": 0, "b": 0, "c": 0, "d": 0, "e": 0}
    before = [_tokens(line) for line in lines]
    before[1]["age"] = before[2]["age"] = "*"
    after = [_tokens(line) for line in fixed.read_text(encoding="utf-8").splitlines()]
    assert sorted(map(repr, after)) == sorted(map(repr, before))
