"""The structure of CSV text, counted from its bytes: where records end, and how many cells each has.

No function here reads a cell: `csv_reader` reads them with a library and compares the number of records. A cell is
quoted if its first byte is a quote; quotes elsewhere in an unquoted cell are ordinary text.

The positions of bytes of some kind are bit masks, one bit for each byte, 64 to a number. One step handles 64 bytes, so
counting the structure of a text costs less than reading it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.engines.source import NOT_UTF8, RECORD_BYTES

Bits = NDArray[np.uint64]  # the first byte is the lowest bit of the first number
_WORD = 64
_ONE, _TOP = np.uint64(1), np.uint64(63)
BLOCK_BYTES = 2 * 2**20  # fits into caches; at most RECORD_BYTES, so that only the first record can be too long
_QUOTE, _LINE_FEED, _CARRIAGE_RETURN = b'"\n\r'
UNCLOSED = "a quoted cell is never closed, or text follows its closing quote; correct the record"
TOO_LONG = "a record is longer than 16 MB; check for a quote that is never closed"
ODD_LINE_END = "the line ends otherwise than the first, or holds a stray quote; use one kind of line end"


def bits(mask: NDArray[np.bool_]) -> Bits:
    """Pack a mask into bits, padded with zeros so that every byte has a next bit."""
    packed = np.zeros((len(mask) // _WORD + 1) * 8, np.uint8)
    packed[: (len(mask) + 7) // 8] = np.packbits(mask, bitorder="little")
    return packed.view("<u8")


def odd(mask: Bits) -> Bits:
    """Whether the number of set bits up to and including each bit is odd."""
    # A byte is inside quotes if an odd number of quotes precedes it, itself included. With one bit a byte this is a
    # prefix XOR: after shifts by 1, 2, 4 ... 32 each bit is the parity of all bits up to it in its number, and the top
    # bit is the parity of the whole number. Accumulating the top bits carries the parity across numbers. 0 - parity is
    # all ones or all zeros, which inverts a number where the count before it is odd. The quotes of a block are thus
    # counted without a branch: 7 operations for 64 bytes.
    within = mask.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        within ^= within << np.uint64(shift)
    numbers = np.bitwise_xor.accumulate(within >> _TOP)  # the parity of all numbers so far
    numbers = np.concatenate((np.zeros(1, np.uint64), numbers[:-1]))
    return within ^ (np.uint64(0) - numbers)


def before(mask: Bits, *, first: bool = False) -> Bits:
    """The bit of the byte before each; `first` for the first byte."""
    carried = np.concatenate((np.array([first], np.uint64), mask[:-1] >> _TOP))
    return (mask << _ONE) | carried


def after(mask: Bits) -> Bits:
    """The bit of the byte after each; 0 after the last number."""
    carried = np.concatenate((mask[1:] << _TOP, np.zeros(1, np.uint64)))
    return (mask >> _ONE) | carried


def last(length: int, numbers: int) -> Bits:
    """A mask with the bit of the last of `length` bytes."""
    mask = np.zeros(numbers, np.uint64)
    if length:
        mask[(length - 1) // _WORD] = _ONE << np.uint64((length - 1) % _WORD)
    return mask


def first_of(mask: Bits) -> int | None:
    """The first byte that has the bit."""
    if not mask.any():
        return None
    word = int((mask != 0).argmax())
    number = int(mask[word])
    return word * _WORD + (number & -number).bit_length() - 1


def last_of(mask: Bits) -> int:
    """The last byte that has the bit, -1 where none has."""
    if not mask.any():
        return -1
    word = len(mask) - 1 - int((mask[::-1] != 0).argmax())
    return word * _WORD + int(mask[word]).bit_length() - 1


def count(mask: Bits, end: int) -> int:
    """The number of bytes before `end` that have the bit."""
    word, rest = divmod(end, _WORD)
    return int(np.bitwise_count(mask[:word]).sum(dtype=np.int64)) + (int(mask[word]) & ((1 << rest) - 1)).bit_count()


def positions(mask: Bits, end: int) -> NDArray[np.int64]:
    """The bytes before `end` that have the bit."""
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), count=end, bitorder="little"))


class StructureError(Exception):
    """A fault of the text.

    Args:
        line: its line, from 1.
        sentence: what is wrong, and how to correct it.
    """

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(line, sentence)
        self.line, self.sentence = line, sentence


@dataclass(frozen=True)
class Layout:
    """The layout of a file, derived from its header.

    Args:
        delimiter: the byte between cells.
        line_end: the line end of the header, required of every record.
        columns: the number of cells of a record.
    """

    delimiter: bytes
    line_end: bytes
    columns: int

    def lines(self, text: bytes) -> int:
        """The number of line ends in a text, inside quotes or not."""
        return int(np.count_nonzero(np.frombuffer(text, np.uint8) == self.line_end[-1])) if text else 0


@dataclass(frozen=True)
class CsvBlock:
    """Whole records.

    Args:
        text: their bytes, line ends included.
        line: the line that the first starts on, from 1.
        records: their number; a blank line counts only in a table of one column.
    """

    text: bytes
    line: int
    records: int


def blocks(read: Callable[[int], bytes], start: bytes, line: int, layout: Layout) -> Iterator[CsvBlock]:
    """The records of a file in blocks.

    Args:
        read: returns the requested number of bytes; fewer at the end of the file, none after it.
        start: the bytes that have been read already, from the first record on.
        line: the line that the first record starts on.
        layout: the layout of the file.

    Raises:
        StructureError: a record is not whole, too long, or does not have the layout.
    """
    rest = start
    while True:
        structure = Structure(rest, line, layout)
        end = structure.end_of_records()
        if end:
            yield structure.block(end)
        line, rest = structure.line_at(end), rest[end:]
        piece = read(BLOCK_BYTES)
        if not piece:
            break
        rest += piece
    if rest:
        structure = Structure(rest + layout.line_end, line, layout)
        if structure.end_of_records() < len(structure.text):
            raise StructureError(line, UNCLOSED)
        yield structure.block(len(structure.text))


class Structure:
    """The positions of the quoted cells, delimiters and line ends of a text.

    Args:
        text: starts with a record, and may end within one.
        line: the line of its first byte.
        layout: the layout of the file.
    """

    def __init__(self, text: bytes, line: int, layout: Layout) -> None:
        self.text, self.line, self.layout = text, line, layout
        read = np.frombuffer(text, np.uint8) if text else np.zeros(0, np.uint8)
        self._feeds, self._returns = bits(read == _LINE_FEED), bits(read == _CARRIAGE_RETURN)
        self._delimiters = bits(read == layout.delimiter[0])
        quoted = self._quoted(bits(read == _QUOTE))
        self._feeds &= ~quoted
        self._returns &= ~quoted
        self._delimiters &= ~quoted
        self._ends = self._returns if layout.line_end == b"\r" else self._feeds

    def _quoted(self, quotes: Bits) -> Bits:
        """The bytes in quoted cells."""
        quoted = odd(quotes)
        between = self._delimiters | self._feeds | self._returns | quotes
        opening, closing = quotes & quoted, quotes & ~quoted
        astray = (opening & ~before(between, first=True)) | (closing & ~after(between))
        # every other quote opens a cell, the rest close one, and "" within a cell closes and opens it
        astray &= ~last(len(self.text), len(astray))
        return odd(self._quotes_beside_stray_ones()) if astray.any() else quoted

    def _quotes_beside_stray_ones(self) -> Bits:
        """The quotes that open and close cells, in a text with other quotes. Cost: O(quoted cells) in Python.

        Raises:
            StructureError: text follows a closing quote.
        """
        between = re.escape(self.layout.delimiter) + rb"\r\n"
        cell = re.compile(rb'(?<![^%s])"[^"]*+(?:""[^"]*+)*+(?P<closing>"|\Z)(?P<text>[^%s])?' % (between, between))
        quotes = np.zeros(len(self.text), np.bool_)
        for match in cell.finditer(self.text):
            if match["text"] is not None:
                raise StructureError(self.line_at(match.start()), UNCLOSED)
            quotes[match.start()] = True
            quotes[match.start("closing") : match.end("closing")] = True
        return bits(quotes)

    def line_at(self, position: int) -> int:
        """The line of a byte."""
        return self.line + self.layout.lines(self.text[:position])

    def end_of_records(self) -> int:
        """The end of the last whole record, 0 if there is none.

        Raises:
            StructureError: the first record is too long.
        """
        first = first_of(self._ends)
        if (len(self.text) if first is None else first + 1) - len(self.layout.line_end) > RECORD_BYTES:
            raise StructureError(self.line, TOO_LONG)
        return 0 if first is None else last_of(self._ends) + 1

    def block(self, end: int) -> CsvBlock:
        """The records up to the end of one.

        Raises:
            StructureError: their line ends or cells are not those of the layout.
        """
        self._require_one_line_end(end)
        records = count(self._ends, end) - count(self._blank_lines, end)
        if count(self._delimiters, end) != records * (self.layout.columns - 1):
            self.require_cells(end)
        return CsvBlock(self.text[:end], self.line, records)

    def _require_one_line_end(self, end: int) -> None:
        if self.layout.line_end == b"\r\n":
            others = self._feeds ^ before(self._returns)
        else:
            others = self._returns if self.layout.line_end == b"\n" else self._feeds
        first = first_of(others)
        if first is not None and first < end:
            raise StructureError(self.line_at(first), ODD_LINE_END)

    @property
    def _blank_lines(self) -> Bits:
        """The ends of blank lines; in a table of one column these are records with an empty cell."""
        if self.layout.columns == 1:
            return np.zeros_like(self._ends)
        previous = before(self._ends, first=True)
        return self._ends & (previous if len(self.layout.line_end) == 1 else before(previous))

    def require_cells(self, end: int) -> None:
        """Raise `StructureError` unless every record has a cell for each column."""
        ends, delimiters = positions(self._ends, end), positions(self._delimiters, end)
        cells = np.diff(np.searchsorted(delimiters, ends), prepend=0) + 1
        wrong = (cells != self.layout.columns) & ~np.isin(ends, positions(self._blank_lines, end))
        if wrong.any():
            first = int(wrong.argmax())
            raise StructureError(
                self.line_at(int(ends[first - 1]) + 1 if first else 0),
                f"the record has {cells[first]} cells where the header names {self.layout.columns}; "
                "quote cells with delimiters",
            )

    def require_utf8(self) -> None:
        """Raise `StructureError` unless the text is UTF-8."""
        position = None
        try:
            self.text.decode()
        except UnicodeDecodeError as error:
            position = error.start
        if position is not None:  # outside the handler, whose error contains the text
            raise StructureError(self.line_at(position), NOT_UTF8)
