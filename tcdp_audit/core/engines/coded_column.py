"""A column as codes: its sorted distinct values, and for each record the position of its value.

Cells come in arrays, as a file or a table in memory has them. Each array is coded by its own values: those of its
dictionary, or those of a hash table of Arrow. Short texts of which most differ are numbered together without hashing
them. The values of all arrays are then merged into one sorted list. The codes do not change; a table for each array
maps them to positions in the merged list. Python does no work per record.
"""

from __future__ import annotations

import mmap
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.domain import Domain, RawDomain, Strings
from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.encoding.text_bytes import TextBytes, numbered_texts
from tcdp_audit.core.engines.arrow_types import array_of_numbers

UNLIMITED = 2**62
FEW = 4_000  # up to so many texts Python sorts faster than Arrow
PAGES = 2**18  # bytes from which an array gets separate pages
AT_ONCE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANON | mmap.MAP_POPULATE} if hasattr(mmap, "MAP_POPULATE") else {}
SAMPLE = 2**16  # cells that show whether a column's cells repeat
REPEATS = 4  # average occurrences of a value in the sample from which cells count as repeated
PAIRED = 2**17  # codes of a byte from which a table of all pairs of codes is small beside them
NUMBERED = 2**16  # cells from which texts are numbered together rather than hashed
SPANNED = 32  # cells for each value of a span of integers from which they are not hashed


@dataclass(frozen=True)
class CodedColumn:
    """A column as codes.

    Args:
        raw: its values with their counts.
        pieces: arrays of local codes, one for each record, in the narrowest type.
        places: for each piece the position in `raw` of each local code; the number of values for a missing one.
    """

    raw: RawDomain
    pieces: list[Codes]
    places: Sequence[NDArray[np.int64]]

    @cached_property
    def _ends(self) -> list[int]:
        return np.cumsum([len(piece) for piece in self.pieces]).tolist()

    @property
    def records(self) -> int:
        """The number of records."""
        return self._ends[-1] if self.pieces else 0

    @property
    def nbytes(self) -> int:
        """The bytes that the codes take."""
        return sum(piece.nbytes for piece in self.pieces)

    def recoded(self, domain: Domain, *, spent: bool = False) -> Callable[[slice], Codes]:
        """A function from records to their codes of a domain; see `looked_up`."""
        return self.looked_up(np.append(domain.code_of_raw, domain.size).astype(domain.dtype), spent=spent)

    def looked_up(self, table: NDArray[Any], *, spent: bool = False) -> Callable[[slice], NDArray[Any]]:
        """A function from a slice of records to the table's entry for the value of each.

        Args:
            table: an entry for each value, and last one for a missing value.
            spent: whether the records are read in order for the last time, so that codes are freed after use.
        """
        tables = [table[places] for places in self.places]

        def looked_up(records: slice) -> NDArray[Any]:
            runs, stop = [table[:0]], min(records.stop, self.records)
            start, piece = records.start, bisect_right(self._ends, records.start)
            while start < stop:
                above = self._ends[piece] - len(self.pieces[piece])
                end = min(self._ends[piece], stop)
                runs.append(_looked_up(tables[piece], self.pieces[piece][start - above : end - above]))
                if spent and end == self._ends[piece]:
                    self.pieces[piece] = self.pieces[piece][:0].copy()
                start, piece = end, piece + 1
            return runs[1] if len(runs) == 2 else np.concatenate(runs)

        return looked_up


def _looked_up(table: NDArray[Any], codes: Codes) -> NDArray[Any]:
    """The table's entry for each code. `bytes.translate` is the fastest for bytes to bytes."""
    if table.itemsize > 1 or codes.itemsize > 1:
        return table.take(codes)
    every_byte = table.tobytes().ljust(2**8, b"\0")
    return np.frombuffer(bytearray(codes).translate(every_byte), table.dtype)


def coded_column(cells: Iterable[pa.Array], room: int) -> CodedColumn | None:
    """A column as codes. O(records), and O(values log values) to sort them.

    Args:
        cells: the column: text, integers, floats, or dictionaries of text, all arrays of one type.
        room: the limit in bytes of the cells that are hashed together, and of the values of all arrays.

    Returns:
        The column; None if its values do not fit.

    Raises:
        pyarrow.ArrowInvalid: text that is not UTF-8.
    """
    # A column is read once: Arrow hashes each batch of cells into its distinct values and an index a cell, in parallel
    # and without Python objects. Only the distinct values are merged and sorted. Each batch has a table from its
    # indices to the common codes, which is applied when codes are requested. Small batches are hashed together, so the
    # cost grows with the distinct values and not with batches times values. The values of all batches must fit into
    # `room`; a column of keys does not fit, and DuckDB reads it.
    pieces: list[_Piece] = []
    size = 0
    for piece in _pieces(cells, room):
        size += piece.values.nbytes
        if size > room:
            return None
        pieces.append(piece)
    return _joined(pieces)


def coded_texts(cells: Iterable[pa.Array]) -> CodedColumn:
    """A column of text as codes, without a memory limit; see `coded_column`."""
    return _joined(list(_pieces(cells, UNLIMITED)))


@dataclass(frozen=True)
class _Piece:
    """Some records with local codes.

    Args:
        values: in any order; a value may be listed twice, or occur in no record.
        codes: for each record the position of its value, the number of values where it has none.
        counts: records with each code. Shape (values + 1,).
        is_sorted: whether the values are known to be different and in ascending order.
    """

    values: Any
    codes: Codes
    counts: NDArray[np.int64]
    is_sorted: bool = False

    @classmethod
    def of(cls, values: Any, indices: Sequence[pa.Array]) -> _Piece:
        """A piece from the positions of values, null where a record has none."""
        parts = [_indices(one, len(values)) for one in indices]
        codes = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return cls(values, codes, _records_of(codes, len(values) + 1))


def _records_of(codes: Codes, span: int) -> NDArray[np.int64]:
    """The records with each code below a span. Shape (span,)."""
    if codes.itemsize > 1 or len(codes) < PAIRED:
        return np.bincount(codes, minlength=span)
    # numpy makes a number of 64 bits of each code before it counts: of two codes of a byte, read as one number of two
    # bytes, it makes one. Rows of the table are then the codes at one of the two places, columns those at the other.
    even = len(codes) & ~1
    pairs = np.bincount(codes[:even].view(np.uint16), minlength=2**16).reshape(2**8, 2**8)
    counts = pairs.sum(axis=0) + pairs.sum(axis=1)
    counts[codes[even:]] += 1
    return counts[:span]


def _pieces(cells: Iterable[pa.Array], room: int) -> Iterator[_Piece]:
    """Split the cells into pieces. Where most cells differ, arrays are hashed together up to `room`."""
    waiting: list[pa.Array] = []
    size, repeats = 0, None
    for array in filter(len, cells):
        coded = _coded(array)
        if coded is None:
            repeats = _repeats(array) if repeats is None else repeats
            waiting.append(array)
            size += array.nbytes
        if waiting and (coded is not None or repeats or size > room):
            yield _hashed(waiting) if repeats else _numbered(waiting) or _hashed(waiting)
            waiting, size = [], 0
        if coded is not None:
            yield coded
    if waiting:
        yield _numbered(waiting) or _hashed(waiting)


def _coded(array: pa.Array) -> _Piece | None:
    """Cells that need no hash table: those of a dictionary, and integers that lie close together."""
    if pa.types.is_dictionary(array.type):
        return None if array.dictionary.null_count else _Piece.of(_sound(array.dictionary), [array.indices])
    return _spanned(array) if pa.types.is_integer(array.type) else None


def _spanned(array: pa.Array) -> _Piece | None:
    """Integers coded by their distance from the least; None where that leaves too many values, or there are none."""
    numbers, absent = numbers_of(array), nulls_of(array) if array.null_count else None
    present = numbers if absent is None else numbers[~absent]
    if not len(present):
        return None
    least, span = present.min(), int(present.max()) - int(present.min()) + 1
    if span * SPANNED > len(array):
        return None
    above = (numbers - least).view(f"u{numbers.itemsize}")  # correct although signed differences may wrap around
    codes = _room_for(len(array), np.min_scalar_type(span))
    codes[:] = above
    if absent is not None:
        codes[absent] = span
    return _Piece(np.arange(span).astype(numbers.dtype) + least, codes, _records_of(codes, span + 1))


def _repeats(array: pa.Array) -> bool:
    """Whether cells repeat so often that each array may have a separate list of values."""
    sample = array.slice(0, SAMPLE)
    if pa.types.is_dictionary(sample.type):  # with null among its values
        return False
    # Arrow could hash it, and its functions take longer to import than this.
    return len(set(_sound(sample).to_pylist())) * REPEATS <= len(sample)


def _numbered(arrays: Sequence[pa.Array]) -> _Piece | None:
    """Many short texts; None where they are few, too long, or no texts. See `numbered_texts`."""
    kind = arrays[0].type
    if sum(map(len, arrays)) < NUMBERED or not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    absent = [nulls_of(array) if array.null_count else None for array in arrays]
    numbered = numbered_texts(_text_bytes(array, nulls) for array, nulls in zip(arrays, absent, strict=True))
    if numbered is None:
        return None
    offsets = numbered.offsets.astype(np.int64 if pa.types.is_large_string(kind) else np.int32)
    if offsets[-1] != numbered.offsets[-1]:  # too many bytes for an array of this type
        return None
    values = pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(numbered.data)])
    codes, start = _room_for(len(numbered.numbers), np.min_scalar_type(len(values))), 0
    codes[:] = numbered.numbers
    for array, nulls in zip(arrays, absent, strict=True):
        if nulls is not None:
            codes[start : start + len(array)][nulls] = len(values)
        start += len(array)
    return _Piece(_sound(values), codes, _records_of(codes, len(values) + 1), is_sorted=True)


def _text_bytes(array: pa.Array, nulls: NDArray[np.bool_] | None) -> TextBytes:
    """The bytes of the cells of an array of text; those of a null cell are none."""
    offsets, data = array.buffers()[1:]
    kind = np.dtype(np.int64 if pa.types.is_large_string(array.type) else np.int32)
    ends: NDArray[Any] = np.frombuffer(offsets, kind, len(array) + 1, array.offset * kind.itemsize)
    texts = TextBytes.between(np.frombuffer(data or b"", np.uint8), ends)
    return texts if nulls is None else replace(texts, ends=np.where(nulls, texts.starts, texts.ends))


def _hashed(arrays: Sequence[pa.Array]) -> _Piece:
    column = pa.chunked_array(arrays)
    if pa.types.is_dictionary(column.type):  # with null among its values
        column = column.cast(column.type.value_type)
    parts = column.dictionary_encode().chunks  # of one dictionary
    dictionary = parts[-1].dictionary
    is_number = pa.types.is_primitive(dictionary.type)
    values = numbers_of(dictionary) if is_number else _sound(dictionary)
    return _Piece.of(values, [part.indices for part in parts])


def _sound(texts: pa.Array) -> pa.Array:
    """Validate texts as UTF-8, and convert them to Arrow's standard layout."""
    texts = texts.cast(pa.large_string()) if pa.types.is_string_view(texts.type) else texts
    texts.validate(full=True)
    return texts


def _united_texts(lists: Sequence[pa.Array]) -> tuple[NDArray[Any], list[NDArray[np.int64]]]:
    """The sorted distinct texts of several lists, and for each list their positions among these."""
    if not lists:
        return np.zeros(0, object), []
    texts, positions = _one_list(lists)
    order, is_new, ordered = (_sorted_in_python if len(texts) <= FEW else _sorted)(texts)
    places = np.empty(len(texts), np.int64)
    places[order] = np.cumsum(is_new) - 1
    return text_array(ordered)[is_new], [places[one] for one in positions]


def _sorted_in_python(texts: pa.Array) -> tuple[NDArray[np.intp], NDArray[np.bool_], list[str]]:
    """The sorting permutation, whether each sorted text differs from its predecessor, and the sorted texts."""
    listed = texts.to_pylist()
    order = sorted(range(len(listed)), key=listed.__getitem__)
    ordered = [listed[position] for position in order]
    is_new = [place == 0 or text != ordered[place - 1] for place, text in enumerate(ordered)]
    return np.array(order, np.intp), np.array(is_new, np.bool_), ordered


def _sorted(texts: pa.Array) -> tuple[NDArray[np.intp], NDArray[np.bool_], list[str]]:
    """The results of `_sorted_in_python`, computed by Arrow for many texts."""

    def listed(positions: NDArray[np.intp]) -> list[str]:
        taken: list[str] = texts.take(array_of_numbers(positions)).to_pylist()
        return taken

    order, is_new = _text_bytes(texts, None).order(listed)
    return order, is_new, listed(order)


def _one_list(lists: Sequence[pa.Array]) -> tuple[pa.Array, list[NDArray[np.int32]]]:
    """Merge lists of texts into one, and give the positions in it of each list's texts."""
    if len(lists) == 1:
        return lists[0], [np.arange(len(lists[0]), dtype=np.int32)]
    parts = [
        pa.DictionaryArray.from_arrays(array_of_numbers(np.arange(len(one), dtype=np.int32)), one) for one in lists
    ]
    united = pa.chunked_array(parts).unify_dictionaries().chunks
    return united[0].dictionary, [numbers_of(part.indices) for part in united]


def _united_numbers(lists: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], list[NDArray[np.int64]]]:
    values, places = np.unique(np.concatenate(lists), return_inverse=True)
    return values, np.split(places, np.cumsum([len(one) for one in lists])[:-1])


def _joined(pieces: Sequence[_Piece]) -> CodedColumn:
    """Join pieces to a column without values that no record has; a text column if there are no pieces."""
    is_text = not pieces or isinstance(pieces[0].values, pa.Array)
    if len(pieces) == 1 and pieces[0].is_sorted:
        values, places = text_array(pieces[0].values.to_pylist()), [np.arange(len(pieces[0].values))]
    else:
        values, places = (_united_texts if is_text else _united_numbers)([piece.values for piece in pieces])
    counts = np.zeros(len(values), np.int64)
    for place, piece in zip(places, pieces, strict=True):
        np.add.at(counts, place, piece.counts[:-1])
    used = counts > 0
    values, counts, ranks = values[used], counts[used], np.cumsum(used) - 1
    nulls = sum(int(piece.counts[-1]) for piece in pieces)
    final = [np.append(ranks[place], len(values)) for place in places]
    return CodedColumn(RawDomain(values, counts, nulls), [piece.codes for piece in pieces], final)


def _indices(indices: pa.Array, missing: int) -> Codes:
    """Positions in a dictionary in the narrowest type, `missing` for null."""
    codes = _room_for(len(indices), np.min_scalar_type(missing))
    numbers = numbers_of(indices)
    codes[:] = np.where(nulls_of(indices), missing, numbers) if indices.null_count else numbers
    return codes


def _room_for(codes: int, kind: np.dtype[Any]) -> Codes:
    """An empty array; a large one is mapped separately, as malloc keeps memory that another thread frees."""
    size = codes * kind.itemsize
    return np.empty(codes, kind) if size < PAGES else np.frombuffer(mmap.mmap(-1, size, **AT_ONCE), kind, codes)


def text_array(texts: Sequence[str]) -> Strings:
    """Texts as a numpy array of Python strings."""
    return np.array([*texts, None], object)[:-1]


# pyarrow's own `to_numpy` imports pandas, which takes longer than the audit of a small release.


def numbers_of(array: pa.Array) -> NDArray[Any]:
    """The numbers of an array, not copied; null cells hold arbitrary numbers."""
    kind = np.dtype(array.type.to_pandas_dtype())
    data = array.buffers()[1]
    return np.frombuffer(data or b"", kind, len(array), array.offset * kind.itemsize if data else 0)


def nulls_of(array: pa.Array) -> NDArray[np.bool_]:
    """The null cells of an array, as a mask."""
    valid = np.unpackbits(np.frombuffer(array.buffers()[0], np.uint8), bitorder="little")
    return valid[array.offset : array.offset + len(array)] == 0
