"""CSV files as tables of text, with every record and every cell unchanged, and their headers.

pyarrow reads the cells, in blocks of whole records that `csv_structure` cuts. The number of records read from each
block must equal the number counted in its bytes. Columns are dictionaries of texts, except where texts hardly repeat.
A table that exceeds its share of the memory is written to a temporary Parquet file.
"""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from tcdp_audit.core.base.cancellation import ThreadPool, result_of
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.resources import processors
from tcdp_audit.core.engines.csv_structure import CsvBlock, Layout, Structure, StructureError, blocks
from tcdp_audit.core.engines.source import EMPTY, NOT_UTF8, NotUtf8Error, file_extension, require_names
from tcdp_audit.core.engines.text_form import PLAIN_FORM, TextForm

REPEATS = 2  # a column whose texts occur less often than this, on average, is no dictionary
FEW = 10_000  # up to so many records every column stays a dictionary
_MARK = b"\xef\xbb\xbf"  # byte order mark: pyarrow drops it at the start of a block, where it is part of a cell
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
HEADER_BYTES = 4 * 2**20
DELIMITERS = b",;\t|"


def read_csv(
    read: Callable[[int], bytes],
    path: Path,
    memory: int,
    overflow: Callable[[], Path],
    form: TextForm = PLAIN_FORM,
) -> tuple[Sequence[str], pa.Table | None]:
    """Read a CSV file.

    Args:
        read: returns the requested number of decompressed bytes; fewer at the end, none after it.
        path: the file's name in messages; its extension is the kind of file.
        memory: the limit of the table in memory, in bytes.
        overflow: returns the Parquet file to write if the table is larger.
        form: how numbers are written.

    Returns:
        The names of the columns, and the table with columns `c0`, `c1`, ...; None if it is in the Parquet file.

    Raises:
        DataError: the file is no table. The message has the line of the first fault and no cell.
    """
    start = read(HEADER_BYTES)
    header = header_of(start, path)
    try:
        with _Table(path, header, memory, overflow, form) as table:
            for part in _parts(read, start[header.size :], header):
                table.add(part)
            return header.names, table.whole()
    except StructureError as error:
        where, sentence = error.line, error.sentence
    raise (NotUtf8Error if sentence == NOT_UTF8 else DataError)(f"{path}:{where}: {sentence}")


def _parts(read: Callable[[int], bytes], start: bytes, header: Header) -> Iterator[pa.Table]:
    """The file's blocks as tables, in order, read by all processors.

    Other threads read: in the main thread pyarrow would take a keyboard interrupt for itself, and might lose it.
    """
    waiting: deque[Future[pa.Table]] = deque()
    plain: frozenset[str] = frozenset()
    with ThreadPool() as pool:
        for number, block in enumerate(blocks(read, start, header.line, header.layout)):
            if number == 0:
                first = result_of(pool.submit(_read, block, header.layout, plain))
                plain = _unrepeated(first)
                yield _without_dictionaries(first, plain)
                continue
            waiting.append(pool.submit(_read, block, header.layout, plain))
            if len(waiting) > processors():
                yield result_of(waiting.popleft())
        while waiting:
            yield result_of(waiting.popleft())


def _read(block: CsvBlock, layout: Layout, plain: frozenset[str]) -> pa.Table:
    """The records of a block.

    Raises:
        StructureError: pyarrow cannot read them, or reads another number of records.
    """
    from pyarrow import csv  # noqa: PLC0415 - only for text files

    names = [f"c{position}" for position in range(layout.columns)]
    try:
        table = csv.read_csv(
            pa.BufferReader(_MARK + block.text if block.text.startswith(_MARK) else block.text),
            csv.ReadOptions(use_threads=False, block_size=len(block.text) + len(_MARK) + 1, column_names=names),
            csv.ParseOptions(
                delimiter=layout.delimiter.decode(),
                newlines_in_values=True,
                ignore_empty_lines=layout.columns > 1,
            ),
            csv.ConvertOptions(
                column_types={name: pa.string() if name in plain else _DICTIONARY for name in names},
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:
        table = None  # its error contains the record, so the fault is raised outside the handler
    if table is None or table.num_rows != block.records:
        _refuse(block, layout, None if table is None else table.num_rows)
    return table


def _refuse(block: CsvBlock, layout: Layout, records: int | None) -> None:
    structure = Structure(block.text, block.line, layout)
    structure.require_cells(len(block.text))
    structure.require_utf8()
    read = "no" if records is None else str(records)
    raise StructureError(
        block.line, f"{block.records} records begin here, and {read} were read; please report this file's layout"
    )


def _unrepeated(part: pa.Table) -> frozenset[str]:
    """The columns whose texts hardly repeat."""
    lengths = {name: len(part.column(name).chunk(0).dictionary) for name in part.column_names if part.num_rows}
    return frozenset(name for name, length in lengths.items() if length * REPEATS > part.num_rows > FEW)


def _without_dictionaries(part: pa.Table, plain: frozenset[str]) -> pa.Table:
    if not plain:
        return part  # casting imports pyarrow.compute, which is slow
    kinds = [pa.string() if name in plain else _DICTIONARY for name in part.column_names]
    return part.cast(pa.schema(list(zip(part.column_names, kinds, strict=True))))


class _Table:
    """The parts of a table: in memory, or in the file of `overflow` once they exceed `memory`."""

    def __init__(self, path: Path, header: Header, memory: int, overflow: Callable[[], Path], form: TextForm) -> None:
        self._path, self._columns, self._names, self._form = path, header.layout.columns, header.names, form
        self._records = 0
        self._memory, self._overflow = memory, overflow
        self._parts: list[pa.Table] = []
        self._size = 0
        self._writer: Any = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def _schema(self) -> pa.Schema:
        return pa.schema([(f"c{position}", pa.string()) for position in range(self._columns)])

    def add(self, part: pa.Table) -> None:
        """Append the next records."""
        part = self._form.read_numbers(part, self._names, str(self._path), self._records + 1)
        self._records += part.num_rows
        self._parts.append(part)
        self._size += part.nbytes
        if self._writer is not None or self._size > self._memory:
            try:
                self._write()
            except OSError as error:
                raise DataError(
                    f"{self._path}: the table outgrows --memory, and the temporary folder cannot take it "
                    f"({error.strerror or 'it cannot be written'}); give more memory, or set TMPDIR"
                ) from None

    def _write(self) -> None:
        """Write what is in memory to the file."""
        if self._writer is None:
            from pyarrow import parquet  # noqa: PLC0415 - rarely needed

            self._writer = self._open.enter_context(parquet.ParquetWriter(self._overflow(), self._schema))
        for waiting in self._parts:
            self._writer.write_table(waiting.cast(self._schema))
        self._parts = []

    def whole(self) -> pa.Table | None:
        """All records; None if they are in the file."""
        if self._writer is not None:
            return None
        return pa.concat_tables(self._parts) if self._parts else self._schema.empty_table()


@dataclass(frozen=True)
class Header:
    """The first record of a CSV file.

    Args:
        names: the columns' names.
        layout: the delimiter, the line end and the number of columns.
        size: its length in bytes, with the line end and a byte order mark.
        line: the line that the first record after it starts on.
    """

    names: Sequence[str]
    layout: Layout
    size: int
    line: int


def header_of(start: bytes, path: Path) -> Header:
    """Parse the header of a CSV file.

    Args:
        start: the first HEADER_BYTES of the file, or all of it if it is shorter.
        path: the file; the delimiter of a `.tsv` is the tab if the header has one.

    Raises:
        DataError: there is none, it is not UTF-8, longer than HEADER_BYTES, or names no columns.
    """
    text = start.removeprefix(_MARK)
    if not text.strip():
        raise DataError(f"{path}: {EMPTY}")
    if re.match(rb"[ \t]*[\r\n]", text):
        raise DataError(f"{path}:1: the line is blank; the column names must be on the first line")
    delimiter = _delimiter(text, file_extension(path))
    record, line_end = _record(text, delimiter)
    if len(start) >= HEADER_BYTES and not line_end:
        raise _unclosed(path)
    layout = Layout(delimiter, line_end or b"\n", 0)
    names = _names(_decoded(record, path, layout), delimiter, path)
    size = len(start) - len(text) + len(record) + len(line_end)
    return Header(names, Layout(delimiter, layout.line_end, len(names)), size, 1 + layout.lines(record + line_end))


def _record(text: bytes, delimiters: bytes) -> tuple[bytes, bytes]:
    """The first record and its line end. A cell is quoted if its first byte is a quote."""
    between = re.escape(delimiters)
    cell = rb'(?:"[^"]*+(?:""[^"]*+)*+")?+[^%s\r\n]*+' % between
    match = re.match(rb"(%s(?:[%s]%s)*+)(\r\n|\r|\n|\Z)" % (cell, between, cell), text)
    assert match is not None  # noqa: S101 - every text has a first record
    return match[1], match[2]


def _delimiter(text: bytes, kind: str) -> bytes:
    """The commonest of the delimiters outside quotes."""
    unquoted = re.sub(rb'"[^"]*"', b"", _record(text, DELIMITERS)[0])
    if kind == ".tsv" and b"\t" in unquoted:
        return b"\t"
    candidates = [DELIMITERS[position : position + 1] for position in range(len(DELIMITERS))]
    return max(candidates, key=unquoted.count)


def _decoded(record: bytes, path: Path, layout: Layout) -> str:
    line = 0
    try:
        return record.decode()
    except UnicodeDecodeError as error:
        line = 1 + layout.lines(record[: error.start])
    raise NotUtf8Error(f"{path}:{line}: {NOT_UTF8}")


def _names(record: str, delimiter: bytes, path: Path) -> list[str]:
    try:
        names = next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter.decode(), strict=True))
    except csv.Error:
        raise _unclosed(path) from None
    require_names(names, str(path))
    return names


def _unclosed(path: Path) -> DataError:
    return DataError(f"{path}:1: a quoted column name is never closed, or is too long; correct the header")
