"""The engine for CSV files: their columns as codes of texts, in memory."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.engines.arrow_types import array_of_numbers, array_of_texts
from tcdp_audit.core.engines.base import Batch, Column, Engine
from tcdp_audit.core.engines.coded_column import CodedColumn, coded_texts
from tcdp_audit.core.engines.csv_reader import read_csv
from tcdp_audit.core.engines.digest import HashedBytes
from tcdp_audit.core.engines.source import NotUtf8Error, readable
from tcdp_audit.core.engines.text_form import PLAIN_FORM, TextForm, detect_after, opened_text

if TYPE_CHECKING:
    from tcdp_audit.core.engines.duckdb import DuckDBEngine

BATCH = 262_144
BUFFER = 2**20
SHARE = 4  # cells may take the memory divided by this


def open_text(path: Path, memory: int, form: TextForm = PLAIN_FORM) -> Engine:
    """An engine for a CSV file or stream: in memory, or with DuckDB on a temporary copy where it is too large.

    Args:
        path: the file or stream.
        memory: budget in bytes.
        form: its declared form.

    Raises:
        UsageError: it cannot be opened.
        DataError: it is no table; the message has the line of the first fault.
    """
    try:
        return _open_text(path, memory, form)
    except NotUtf8Error as error:
        with readable(path):
            encoding = detect_after(error, path, form)
    return _open_text(path, memory, form, encoding)


def _open_text(path: Path, memory: int, form: TextForm, detected: str = "") -> Engine:
    file = path if path.is_file() else None  # a stream is none: it cannot be read again
    larger: list[DuckDBEngine] = []

    def room() -> Path:
        from tcdp_audit.core.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - takes longer than a small audit

        larger.append(stack.enter_context(DuckDBEngine(path.name, str(path), file, memory)))
        return larger[0].overflow

    with ExitStack() as stack:
        with readable(path), path.open("rb", buffering=0) as opened:
            hashed = HashedBytes(opened)
            text: IO[bytes] = io.BufferedReader(hashed, BUFFER)
            if path.suffix.lower() == ".gz":
                text = cast("IO[bytes]", stack.enter_context(gzip.GzipFile(fileobj=text)))
            read, encoding = opened_text(text, path, form, detected)
            names, table = read_csv(read, path, memory // SHARE, room, form)
            digest = hashed.rest()
        engine: Engine
        if table is not None:
            engine = TextEngine(names, table, str(path), file, digest)
        else:
            engine = larger[0].from_text(names, digest)
            stack.pop_all()
        engine.encoding, engine.encoding_is_detected = encoding, bool(detected)
        return engine


class TextEngine(Engine):
    """A table of texts in memory.

    Args:
        names: the columns' names.
        table: the cells, in columns of text or of dictionaries of text.
        uri: its origin, for provenance.
        path: its file; None for a stream.
        digest: SHA-256 of the bytes that the cells were read from.
    """

    def __init__(self, names: Sequence[str], table: pa.Table, uri: str, path: Path | None, digest: str) -> None:
        self.name, self.uri, self.path = Path(uri).name, uri, path
        self._columns = [Column(name, "VARCHAR") for name in names]
        self._digest, self._records = digest, int(table.num_rows)
        self._cells: dict[str, pa.ChunkedArray] = dict(zip(names, table.columns, strict=True))
        self._coded: dict[str, CodedColumn] = {}

    @property
    def columns(self) -> Sequence[Column]:
        """The columns, in the table's order."""
        return self._columns

    @property
    def records(self) -> int:
        """The number of records that the table has."""
        return self._records

    def domain(self, attribute: str) -> RawDomain:
        """The distinct texts of a column with their counts."""
        return self._codes_of(attribute).raw

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the file's order."""
        columns = {domain.attribute: self._codes_of(domain.attribute).recoded(domain) for domain in domains}
        for start in range(0, self._records, BATCH):
            records = slice(start, start + BATCH)
            yield {attribute: codes(records) for attribute, codes in columns.items()}

    def locate(self, attribute: str, values: NDArray[Any]) -> int:
        """The first record, from 1, that holds one of these raw values."""
        column = self._codes_of(attribute)
        texts = set(values.tolist())
        wanted = np.array([*(text in texts for text in column.raw.values.tolist()), False])
        return int(np.argmax(column.looked_up(wanted)(slice(0, self._records)))) + 1

    def table(self) -> pa.Table:
        """All records as one Arrow table of texts."""
        columns = [self._texts(column.name) for column in self._columns]
        return pa.Table.from_arrays(columns, names=[column.name for column in self._columns])

    def _texts(self, attribute: str) -> pa.ChunkedArray:
        if attribute in self._cells:
            return self._cells[attribute].cast(pa.string())
        column = self._coded[attribute]
        texts = array_of_texts([*column.raw.values.tolist(), None])
        codes = column.looked_up(np.arange(len(texts)))(slice(0, self._records))
        return pa.chunked_array([texts.take(array_of_numbers(codes))], pa.string())

    def sha256(self) -> str:
        """Digest of the file's bytes as they were read."""
        return self._digest

    def _codes_of(self, attribute: str) -> CodedColumn:
        if attribute not in self._coded:
            self._coded[attribute] = coded_texts(self._cells.pop(attribute).chunks)
        return self._coded[attribute]
