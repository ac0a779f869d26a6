"""What an engine and an audit say about a table, compared with Python's own readers."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
from fuzz.written import Written

from tcdp_audit import audit
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.engines import csv_reader, csv_structure, text
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.text_form import detected_encoding
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
MEMORY = 2**28
CASES: Counter[str] = Counter()


@contextmanager
def borders(start: int, block: int, *, repeats: int = 2, overflow: bool = False) -> Iterator[None]:
    """Read CSV files in small blocks, so that every byte is the last of one."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(csv_reader, "HEADER_BYTES", start))
        stack.enter_context(mock.patch.object(csv_structure, "BLOCK_BYTES", block))
        stack.enter_context(mock.patch.object(csv_reader, "FEW", 0))
        stack.enter_context(mock.patch.object(csv_reader, "REPEATS", repeats))
        if overflow:
            stack.enter_context(mock.patch.object(text, "SHARE", 2**62))
        yield


def k_of(rows: Sequence[Sequence[Any]]) -> int:
    """The size of the smallest class; a missing cell is a category of its own."""
    return min(Counter(map(tuple, rows)).values())


def audited_k(release: Any, names: Sequence[str]) -> tuple[int, str | None]:
    """k under a policy that makes every column a quasi-identifier, and the digest."""
    attributes = {name: {"role": "quasi_identifier", "scale": "nominal"} for name in names}
    asked = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 2}}]}
    result = audit(release, asked, plugins=PLUGINS, memory=MEMORY)
    outcome = next(one for one in result.outcomes if one.check == "k_anonymity")
    assert outcome.observed is not None, outcome.message
    return int(outcome.observed), result.release.sha256


def compare_text(written: Written, path: Path, *, with_k: bool) -> None:
    """A text file that is right: names, cells, counts, k and digest."""
    path.write_bytes(written.content)
    expected = [[cell or None for cell in row] for row in written.rows]
    if not written.suffix.startswith(".json"):
        assert _read_by_python(written) == written.rows
    digest = hashlib.sha256(written.content).hexdigest()
    with open_engine(path, MEMORY) as engine:
        names = [column.name for column in engine.columns]
        assert names == written.names or (written.suffix == ".jsonl" and sorted(names) == sorted(written.names))
        table = engine.table()
        assert engine.records == table.num_rows == len(expected)
        for position, name in enumerate(written.names):
            cells = [row[position] for row in expected]
            assert [cell or None for cell in table.column(name).to_pylist()] == cells
            raw = engine.domain(name)
            counted = Counter(dict(zip(raw.values.tolist(), raw.counts.tolist(), strict=True)))
            empty = counted.pop("", 0)  # JSON has empty texts beside null; both are missing
            assert (dict(counted), raw.nulls + empty) == (
                dict(Counter(cells) - Counter([None] * len(cells))),
                cells.count(None),
            )
        assert engine.sha256() == digest
    if with_k:
        assert audited_k(path, written.names) == (k_of(expected), digest)


def _read_by_python(written: Written) -> list[list[str]]:
    content = gzip.decompress(written.content) if written.suffix.endswith(".gz") else written.content
    text = content.decode("utf-8-sig")
    delimiter = text[len('"' + written.names[0].replace('"', '""') + '"')] if len(written.names) > 1 else ","
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    assert rows[0] == written.names
    return rows[1:]


def compare_soup(written: Written, path: Path) -> str:
    """Text that may be wrong: what is read is what Python reads, and what is refused has a fault that Python sees."""
    path.write_bytes(written.content)
    sentence = ""
    try:
        with open_engine(path, MEMORY) as engine:
            cells = [[cell or "" for cell in row.values()] for row in engine.table().to_pylist()]
    except DataError as error:
        sentence = str(error)
    if sentence:
        assert re.search(r"\.csv:\d+: ", sentence)
        assert _fault(written), sentence
        return "refused"
    encoding = "utf-8" if _is_utf8(written.content) else detected_encoding(path)
    assert _fault(written, encoding) == ""
    assert cells == _python_rows(written, encoding)
    return "read"


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _fault(written: Written, encoding: str = "utf-8") -> str:
    """What is wrong with a CSV file, by Python's strict reader and a look at what stands outside quotes."""
    try:
        text = written.content.decode(encoding)
        rows = _python_rows(written, encoding)
    except (UnicodeDecodeError, csv.Error) as error:
        return type(error).__name__
    if any(len(row) != len(written.names) for row in rows):
        return "cells"
    outside = re.sub(r'(?<![^,\r\n])"(?:[^"]|"")*"', "cell", text)
    return "" if len(set(re.findall(r"\r\n|\r|\n", outside))) < 2 else "line ends"


def _python_rows(written: Written, encoding: str) -> list[list[str]]:
    rows = list(csv.reader(io.StringIO(written.content.decode(encoding), newline=""), strict=True))[1:]
    return [row or [""] for row in rows if row or len(written.names) == 1]


def compare_typed(release: Any, reference: pa.Table, *, digest: str | None, with_k: bool) -> None:
    """A table with types of its own: cells, counts and k as Python sees them."""
    rows = list(zip(*(column.to_pylist() for column in reference.columns), strict=True))
    with open_engine(release, MEMORY) as engine:
        assert engine.records == len(rows)
        assert list(zip(*(column.to_pylist() for column in engine.table().columns), strict=True)) == rows
        for position, name in enumerate(reference.column_names):
            raw, cells = engine.domain(name), [row[position] for row in rows]
            counted = Counter(cell for cell in cells if cell is not None)
            assert (sorted(raw.counts.tolist()), raw.nulls) == (sorted(counted.values()), cells.count(None))
            if all(isinstance(cell, str | int) and not isinstance(cell, bool) for cell in counted):
                assert dict(zip(raw.values.tolist(), raw.counts.tolist(), strict=True)) == counted
        assert digest is None or engine.sha256() == digest
    if with_k:
        k, sha256 = audited_k(release, reference.column_names)
        assert k == k_of([[None if cell == "" else cell for cell in row] for row in rows])
        assert sha256 == (digest or sha256)
