"""Random tables, written in every form that an audit takes: strategies of hypothesis."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

DELIMITERS = ",;\t|"
LINE_ENDS = ("\n", "\r\n", "\r")
PIECES = [
    *',;\t|"\n\r',
    "\r\n",
    '""',
    "a",
    "b",
    "é",
    "女",
    " ",
    "0",
    "1.10",
    "\x00",
    "\ufeff",
    "\u2028",
    "\x85",
    "'",
    "\\",
]

Rows = list[list[str]]


@dataclass(frozen=True)
class Written:
    """A text file.

    Args:
        content: its bytes.
        suffix: its extensions.
        names: the columns, where they are known.
        rows: the cells, where they are known.
    """

    content: bytes
    suffix: str
    names: list[str]
    rows: Rows


def cells(pieces: list[str] = PIECES, longest: int = 6) -> st.SearchStrategy[str]:
    """Adversarial texts, mostly short so that they repeat; now and then a longer one."""
    short = st.lists(st.sampled_from(pieces), max_size=longest).map("".join)
    return st.one_of(st.sampled_from(["", "a", "b"]), short, st.builds(lambda cell, n: cell * n, short, st.just(40)))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], Rows]:
    """Names and cells."""
    names = draw(st.lists(cells(longest=3).filter(str.strip), min_size=1, max_size=4, unique=True))
    few = draw(st.lists(cells(), min_size=1, max_size=6))
    row = st.lists(st.sampled_from(few), min_size=len(names), max_size=len(names))
    return names, draw(st.lists(row, min_size=1, max_size=30))


@st.composite
def csv_files(draw: st.DrawFn) -> Written:
    """A CSV file that is right."""
    names, rows = draw(tables())
    delimiter, line_end = draw(st.sampled_from(DELIMITERS)), draw(st.sampled_from(LINE_ENDS))
    if len(names) == 1:
        delimiter = ","
    # quoted are all names, as they could be taken for several, and single cells, as they could be no record
    lines = [delimiter.join(_quoted(name) for name in names)]
    for row in rows:
        quoting = [len(names) == 1 or draw(st.integers(0, 2)) == 0 for _ in row]
        lines.append(delimiter.join(_cell(cell, delimiter, quoted=one) for cell, one in zip(row, quoting, strict=True)))
        if len(names) > 1 and draw(st.integers(0, 9)) == 0:
            lines.append("")
    content = line_end.join(lines) + (line_end if draw(st.booleans()) else "")
    encoded = content.encode("utf-8-sig" if draw(st.booleans()) else "utf-8")
    compressed = draw(st.integers(0, 4)) == 0
    suffix = ".tsv" if delimiter == "\t" else ".csv"
    return Written(*((gzip.compress(encoded, 1), f"{suffix}.gz") if compressed else (encoded, suffix)), names, rows)


def _cell(text: str, delimiter: str, *, quoted: bool) -> str:
    """A cell in quotes where it is asked for or needs them: quotes after its first byte do not."""
    needed = text.startswith('"') or any(one in text for one in (delimiter, "\n", "\r"))
    return _quoted(text) if quoted or needed else text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


SOUP = [
    b",",
    b",",
    b'"',
    b'"',
    b"\n",
    b"\n",
    b"\r\n",
    b"\r",
    b"a",
    b"b",
    b" ",
    b'""',
    "é".encode(),
    b"\xff",
    b"a,b\n",
    b'","',
]


@st.composite
def csv_soups(draw: st.DrawFn) -> Written:
    """A header, and after it anything; mostly wrong."""
    line_end = draw(st.sampled_from([b"\n", b"\n", b"\r\n", b"\r"]))
    odd = draw(st.integers(0, 3)) == 0
    pieces = (
        SOUP if odd else [piece.replace(b"\n", line_end) for piece in SOUP if b"\r" not in piece and piece != b"\xff"]
    )
    names = draw(st.sampled_from([["a"], ["a", "b"], ["a", "b", "c"]]))
    body = b"".join(draw(st.lists(st.sampled_from(pieces), max_size=25)))
    return Written(",".join(names).encode() + line_end + body, ".csv", names, [])


NUMBERS = [
    "0",
    "-0",
    "1",
    "1.10",
    "1.1",
    "1e5",
    "1E+5",
    "100000",
    "9007199254740993",
    "9007199254740993.0",
    "-1.50e-3",
    "0.12345678901234567891",
    "0.12345678901234567892",
    "123456789012345678901234567890",
    "1e400",
    "5e-324",
]


@st.composite
def json_files(draw: st.DrawFn) -> Written:
    """JSON lines; a cell is its text, null or absent is none (told as the row's None)."""
    names = draw(st.lists(cells(longest=3).filter(str.strip), min_size=1, max_size=4, unique=True))
    texts = cells().map(lambda text: (json.dumps(text, ensure_ascii=draw(st.booleans())), text))
    numbers = st.sampled_from(NUMBERS).map(lambda text: (text, text))
    words = st.sampled_from([("true", "true"), ("false", "false"), ("null", None), ("", None)])
    few: list[tuple[str, str | None]] = draw(st.lists(st.one_of(texts, numbers, words), min_size=1, max_size=6))
    rows: Any = draw(
        st.lists(st.lists(st.sampled_from(few), min_size=len(names), max_size=len(names)), min_size=1, max_size=20)
    )
    lines = [
        "{" + ", ".join(f"{json.dumps(name)}: {raw}" for name, (raw, _) in zip(names, row, strict=True) if raw) + "}"
        for row in rows
    ]
    complete = "{" + ", ".join(f"{json.dumps(name)}: null" for name in names) + "}"  # so that every column is there
    content = "\n".join([*lines, complete, ""]).encode()
    cells_of = [[text for _, text in row] for row in rows]
    return Written(content, ".jsonl", names, [*cells_of, [None] * len(names)])
