"""SHA-256 of exactly what was audited: bytes hashed while they are read, or files that must not change meanwhile.

The digest of a table in memory depends on its cells and not on their storage. It covers the columns one after
another. Each column adds its name, its type, and the digests of
three streams over all records:

* *presence*: a byte for each record, 1 for a value and 0 for none;
* *lengths*: for text and bytes, the length in bytes of each value as an unsigned number of 32 bits;
* *values*: the bytes of the values. Text is UTF-8; numbers, dates and times are little-endian as Arrow lays them out;
  truth values are one byte; nested cells are written as Python writes them, each followed by a line feed.

Names and types are UTF-8 after their length in bytes, an unsigned number of 64 bits. All numbers are little-endian.
Chunks, slices, dictionaries and Arrow's kinds of text (`string`, `large_string`, `string_view`) make no difference; the
types of numbers do.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any

import numpy as np
import pyarrow as pa

from tcdp_audit.core.base.cancellation import PAUSE, checkpoint
from tcdp_audit.core.base.errors import DataError

PIECE = 2**20
FOLDER = b"\xfftcdp-audit folder\0"  # begins the bytes that the digest of a folder is computed from
CLOCK = 2 * 10**9  # nanoseconds: the coarsest tick of a file system's clock
CELLS_AT_ONCE = 2**18


class Digest(ABC):
    """The digest of the data that an engine reads."""

    @abstractmethod
    def hexdigest(self) -> str:
        """The SHA-256.

        Raises:
            DataError: the data has changed since it was read.
        """

    def require_unchanged(self) -> None:  # noqa: B027 - data that is not read again cannot change
        """Check after a scan, cheaply, that the data is in the state of the digest.

        Raises:
            DataError: it has changed.
        """

    def close(self) -> None:  # noqa: B027 - a digest may hold nothing
        """Release what the digest holds."""


class KnownDigest(Digest):
    """A known SHA-256, of data that is not read again."""

    def __init__(self, value: str) -> None:
        self._value = value

    def hexdigest(self) -> str:
        """The SHA-256."""
        return self._value


class HashedBytes(io.RawIOBase):
    """A binary file that hashes its bytes while they are read in order."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._hash = file, hashlib.sha256()

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the file has bytes."""
        size = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self._hash.update(memoryview(buffer)[:size])
        return int(size)

    def rest(self) -> str:
        """Read the rest of the file, and return the SHA-256 of the whole."""
        while self.read(PIECE):
            pass
        return self._hash.hexdigest()


class FilesDigest(Digest):
    """The digest of files that are read during the whole audit; a thread computes it from the start.

    A changed file has another modification time, inode or size. A file that had just changed when it was opened could
    change again within the same tick of the clock, so its bytes are hashed again when the digest is requested.

    Args:
        files: the files by their names in messages.
        whole: computes the digest of all from those of the files, in order.
    """

    def __init__(self, files: Mapping[str, Path], whole: Callable[[Sequence[str]], str]) -> None:
        self._files, self._whole, self._stop = files, whole, Event()
        self._states = self._states_now()
        self._fresh = any(abs(time.time_ns() - path.stat().st_ctime_ns) < CLOCK for path in files.values())
        self._value: str | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _states_now(self) -> dict[str, tuple[int, ...] | None]:
        return {name: _state(path) for name, path in self._files.items()}

    def _run(self) -> None:
        try:
            self._value = self._hashed()
        except OSError:
            self._value = None  # the file is gone: `require_unchanged` reports it

    def _hashed(self) -> str | None:
        digests = []
        for path in self._files.values():
            digest = hashlib.sha256()
            with path.open("rb") as file:
                while piece := file.read(PIECE):
                    checkpoint()
                    if self._stop.is_set():
                        return None
                    digest.update(piece)
            digests.append(digest.hexdigest())
        return self._whole(digests)

    def hexdigest(self) -> str:
        """The SHA-256 of the files, which have not changed since they were opened."""
        while self._thread.is_alive():
            checkpoint()
            self._thread.join(PAUSE)
        self.require_unchanged()
        try:
            again = self._hashed() if self._fresh else self._value
        except OSError:
            again = None
        if self._value is None or again != self._value:
            raise _changed(next(iter(self._files)))
        self.require_unchanged()
        return self._value

    def require_unchanged(self) -> None:
        """Raise `DataError` if the files have changed since they were opened."""
        now = self._states_now()
        changed = next((name for name, state in self._states.items() if state is None or now[name] != state), None)
        if changed is not None:
            raise _changed(changed)

    def close(self) -> None:
        """Stop the thread."""
        self._stop.set()
        self._thread.join()


class FileDigest(FilesDigest):
    """The digest of one file; see `FilesDigest`."""

    def __init__(self, path: Path) -> None:
        super().__init__({str(path): path}, lambda digests: digests[0])


def digest_of_list(names: Sequence[str], digests: Sequence[str]) -> str:
    """The digest of several files: SHA-256 of a mark followed by the list that `sha256sum -z` prints of them.

    An entry is a file's SHA-256 in hexadecimal digits, two spaces, its path below the folder, and a NUL. The entries
    are sorted by the bytes of the names. The mark begins with a byte that no text in UTF-8 and no other format of
    tables begins with, so no auditable file has the digest of a folder.
    """
    entries = "".join(f"{digest}  {name}\0" for name, digest in zip(names, digests, strict=True))
    return hashlib.sha256(FOLDER + entries.encode("utf-8", "surrogateescape")).hexdigest()


def _changed(name: str) -> DataError:
    return DataError(f"{name}: the file changed while it was audited; audit it again when it is complete")


def _state(path: Path) -> tuple[int, ...] | None:
    """A file's inode, size and times; None if it is gone."""
    try:
        state = os.stat(path)  # noqa: PTH116 - follows links, as reading does
    except OSError:
        return None
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


def copy_of_stream(stream: Path, folder: Path) -> Path:
    """Copy a stream that can be read only once (a pipe) to a file with the same extensions, in a private folder."""
    copy = folder / f"stream{''.join(stream.suffixes)}"
    with stream.open("rb") as source, copy.open("xb") as file:
        shutil.copyfileobj(source, file, PIECE)
    return copy


def content_digest(table: pa.Table) -> str:
    """SHA-256 of a table's content, in hexadecimal digits. O(bytes of its cells)."""
    return digest_of_columns(table.schema, lambda name: table.column(name).chunks)


def digest_of_columns(schema: pa.Schema, cells: Callable[[str], Iterable[pa.Array]]) -> str:
    """The same of a table whose columns are read one after another."""
    digest = hashlib.sha256()
    for field in schema:
        for text in (field.name, str(_kind(field.type))):
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "little") + encoded)
        for stream in _streams(cells(field.name)):
            digest.update(stream)
    return digest.hexdigest()


def _kind(kind: pa.DataType) -> pa.DataType:
    """The type of the values, independent of their storage."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _kind(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    return kind


def _streams(column: Iterable[pa.Array]) -> tuple[bytes, bytes, bytes]:
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


def _pieces(column: Iterable[pa.Array]) -> Iterator[pa.Array]:
    """A column's values in arrays of their own type, a few at a time."""
    for chunk in column:
        for start in range(0, len(chunk), CELLS_AT_ONCE):
            checkpoint()
            yield _stored_plainly(chunk.slice(start, CELLS_AT_ONCE))


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
    """The bytes of an array of values of one size without nulls."""
    size = piece.type.byte_width
    return memoryview(piece.buffers()[1] or b"")[piece.offset * size : (piece.offset + len(piece)) * size]
