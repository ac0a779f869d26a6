"""SHA-256 of a table in memory: of its cells and not of how they are stored.

The digest is that of the table's columns, one after another. Each column adds its name, its type, and the digests of
three streams over all records:

* *presence*: a byte for each record, 1 for a value and 0 for none;
* *lengths*: for text and bytes, the length in bytes of each value as an unsigned number of 32 bits;
* *values*: the bytes of the values. Text is UTF-8; numbers, dates and times are little-endian as Arrow lays them out;
  truth values are one byte; nested cells are written as Python writes them, each followed by a line feed.

Names and types stand in UTF-8 after their length in bytes as an unsigned number of 64 bits, little-endian as all.
Chunks, slices, dictionaries, and which of its kinds of text Arrow uses (`string`, `large_string`, `string_view`) make
no difference; the types of numbers do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

PIECE = 2**18


def content_digest(table: pa.Table) -> str:
    """SHA-256 of a table's content, in hexadecimal digits. O(bytes of its cells)."""
    digest = hashlib.sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        for text in (name, str(_kind(column.type))):
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "little") + encoded)
        for stream in _streams(column):
            digest.update(stream)
    return digest.hexdigest()


def _kind(kind: pa.DataType) -> pa.DataType:
    """The type of the values, however they are stored."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _kind(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    return kind


def _streams(column: pa.ChunkedArray) -> tuple[bytes, bytes, bytes]:
    presence, lengths, values = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    for piece in _pieces(column):
        present = piece.is_valid()
        presence.update(_bytes(present.cast(pa.uint8())))
        piece = piece if piece.null_count == 0 else piece.filter(present)  # noqa: PLW2901 - its values
        if isinstance(piece, pa.StringArray | pa.LargeStringArray | pa.BinaryArray | pa.LargeBinaryArray):
            offsets = _offsets(piece)
            lengths.update(np.diff(offsets).astype("<u4").data)
            values.update(memoryview(piece.buffers()[2] or b"")[offsets[0] : offsets[-1]])
        else:
            values.update(_values(piece))
    return presence.digest(), lengths.digest(), values.digest()


def _pieces(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    """A column's values in arrays of their own type, a few at a time."""
    for chunk in column.chunks:
        for start in range(0, len(chunk), PIECE):
            yield _stored_plainly(chunk.slice(start, PIECE))


def _stored_plainly(piece: pa.Array) -> pa.Array:
    if isinstance(piece, pa.ExtensionArray):
        return _stored_plainly(piece.storage)
    if pa.types.is_dictionary(piece.type):
        return _stored_plainly(piece.dictionary).take(piece.indices)
    if pa.types.is_run_end_encoded(piece.type):
        import pyarrow.compute as pc  # noqa: PLC0415 - rare

        return _stored_plainly(pc.call_function("run_end_decode", [piece]))
    if pa.types.is_string_view(piece.type) or pa.types.is_binary_view(piece.type):
        return piece.cast(_kind(piece.type))
    return piece.cast(pa.uint8()) if pa.types.is_boolean(piece.type) else piece


def _offsets(piece: pa.Array) -> np.ndarray[Any, np.dtype[Any]]:
    if not len(piece):
        return np.zeros(1, "<i4")
    wide = pa.types.is_large_string(piece.type) or pa.types.is_large_binary(piece.type)
    kind = np.dtype("<i8" if wide else "<i4")
    return np.frombuffer(piece.buffers()[1], kind, len(piece) + 1, piece.offset * kind.itemsize)


def _values(piece: pa.Array) -> Any:
    if pa.types.is_null(piece.type):
        return b""
    if pa.types.is_primitive(piece.type) or pa.types.is_decimal(piece.type) or _is_fixed(piece.type):
        return _bytes(piece)
    return "".join(f"{value!r}\n" for value in piece.to_pylist()).encode("utf-8", "surrogatepass")


def _is_fixed(kind: pa.DataType) -> bool:
    return bool(pa.types.is_fixed_size_binary(kind) or pa.types.is_interval(kind))


def _bytes(piece: pa.Array) -> Any:
    """The bytes of an array whose values have one size and are all there."""
    size = piece.type.byte_width
    return memoryview(piece.buffers()[1] or b"")[piece.offset * size : (piece.offset + len(piece)) * size]
