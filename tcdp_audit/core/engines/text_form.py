"""The form of a text file: its encoding, its decimal mark, its thousands separator, and the places of its columns.

A policy declares it under `read_as`. Without a declaration a text file is UTF-8. A byte order mark says otherwise, and
so do bytes that are not UTF-8: charset-normalizer then names the likeliest encoding, which provenance repeats.
"""

from __future__ import annotations

import codecs
import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import IO, cast

import numpy as np
import pyarrow as pa

from tcdp_audit.core.base.errors import DataError, UsageError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.engines.source import NOT_UTF8, NotUtf8Error, open_bytes

UTF8 = "utf-8"
PIECE = 2**20
SAMPLE = 2**18  # bytes of lines with other than ASCII characters, that show an encoding
SPACES = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings that programs write today, the likeliest first: of several that fit equally well the first is taken
_USUAL = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "koi8_r"),
    *("cp932", "gb18030", "big5", "cp949", "euc_jp", "mac_roman"),
)
_SCRIPT = 0.05  # a smaller difference of two coherences, between 0 and 1, is chance


@dataclass(frozen=True)
class TextForm:
    """The notation of the cells of a text file, or of the texts of a workbook.

    Args:
        encoding: the declared encoding; empty where none is declared.
        decimal: the decimal mark of numbers.
        thousands: the mark between groups of three digits; empty for none.
        numbers: the columns whose cells are numbers in this notation; others are texts.
        labels: the columns whose cells are no numbers, where those of all others are; None where `numbers` says it.
        layout: the file with the places of the columns of a file in fixed width; None for others.
        place: where the policy declares it, for messages.
    """

    encoding: str = ""
    decimal: str = "."
    thousands: str = ""
    numbers: frozenset[str] = frozenset()
    labels: frozenset[str] | None = None
    layout: Path | None = None
    place: str = "read_as"

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as the audit reads them."""
        return (self.decimal, self.thousands) == (".", "")

    @cached_property
    def _number(self) -> re.Pattern[str]:
        marks = f"[{SPACES}]" if self.thousands == " " else re.escape(self.thousands)
        groups = rf"[0-9]{{1,3}}(?:{marks}[0-9]{{3}})+(?![0-9])|" if marks else ""
        return re.compile(rf"(?P<whole>{groups}[0-9]+)(?:{re.escape(self.decimal)}(?P<part>[0-9]+))?")

    @cached_property
    def _is_number(self) -> re.Pattern[str]:
        return re.compile(rf"\s*[+-]?(?:{self._number.pattern})(?:[eE][+-]?[0-9]+)?\s*")

    def _has_numbers(self, name: str) -> bool:
        return name in self.numbers if self.labels is None else name not in self.labels

    def encoding_of(self, path: Path) -> tuple[str, bool]:
        """The encoding of a text file, empty for UTF-8, and whether only its bytes say so.

        Raises:
            DataError: it is declared otherwise, or its bytes show none.
        """
        with open_bytes(path) as file:
            encoding = declared_or_marked(path, file.read(4), self)
        if encoding or (not self.encoding and _decodes(path, UTF8)):
            return encoding, False
        if self.encoding and not _decodes(path, UTF8):
            raise DataError(f"{path}: the text is not UTF-8, as {self.place} says; correct the policy")
        return ("", False) if self.encoding else (detect_after(NotUtf8Error(f"{path}: {NOT_UTF8}"), path, self), True)

    @contextmanager
    def reading(self, path: Path, encoding: str) -> Iterator[Callable[[int], bytes]]:
        """The function that reads a text file in an encoding as UTF-8."""
        with open_bytes(path) as file:
            yield Transcoder(file, encoding, path, self).read if encoding else file.read

    def is_number(self, text: str) -> bool:
        """Whether a text is a number in this notation.

        Example:
            >>> form = TextForm(decimal=",", thousands=".")
            >>> form.is_number("1.234,5"), form.is_number("1.23,5"), form.is_number("[1,5; 2[")
            (True, False, False)
        """
        return self._is_number.fullmatch(text) is not None

    def read_numbers(self, table: pa.Table, names: Sequence[str], where: str, first: int = 1) -> pa.Table:
        """Rewrite the numbers of a table of texts with a decimal point and without thousands separators.

        Args:
            table: columns of any type; those of other types than text stay as they are.
            names: the columns' names in the policy.
            where: the table in messages.
            first: the number of its first record.

        Raises:
            DataError: a cell is a number in another notation, which could be read as another number.

        Cost: O(records) in Arrow, O(distinct texts) in Python.
        """
        if self.is_plain:
            return table
        for position, name in enumerate(names):
            if self._has_numbers(name):
                column = table.column(position)
                changed = _with_texts(column, self._read)
                if isinstance(changed, _Fault):
                    raise self._refused(changed.text, column, name, where, first)
                table = table.set_column(position, table.field(position).name, changed)
        return table

    def _read(self, texts: Sequence[str]) -> list[str] | _Fault:
        read = []
        for text in texts:
            if _FIGURE.fullmatch(text) and not self._is_number.fullmatch(text):
                return _Fault(text)
            read.append(self._number.sub(self._in_points, text))
        return read

    def _in_points(self, match: re.Match[str]) -> str:
        whole = re.sub(r"[^0-9]", "", match["whole"])
        return whole if match["part"] is None else f"{whole}.{match['part']}"

    def _refused(self, text: str, column: pa.ChunkedArray, name: str, where: str, first: int) -> DataError:
        place = next(place for place, cell in enumerate(column.cast(pa.string()).to_pylist()) if cell == text)
        mark = f" and the thousands separator {self.thousands!r}" if self.thousands else ""
        return DataError(
            f"{where}: column {name!r} has a number in record {first + place:,} that is not written with the decimal "
            f"mark {self.decimal!r}{mark}, as {self.place} says; correct the cell, or the policy"
        )

    def write_numbers(self, table: pa.Table) -> pa.Table:
        """Rewrite numbers with a decimal point in this notation, without thousands separators: `[3,5; 4[`."""
        if self.decimal == ".":
            return table
        for position, name in enumerate(table.column_names):
            if self._has_numbers(name):
                table = table.set_column(position, name, _with_texts(table.column(position), self._written))
        return table

    def _written(self, texts: Sequence[str]) -> list[str]:
        return [_POINT.sub(self.decimal, text.replace(", ", "; ") if text[:1] in "[(]" else text) for text in texts]


PLAIN_FORM = TextForm()
_POINT = re.compile(r"(?<=[0-9])\.(?=[0-9])")
_FIGURE = re.compile(rf"\s*[+-]?[0-9.,'’{SPACES}]*[0-9](?:[eE][+-]?[0-9]+)?\s*")  # digits and marks alone


@dataclass(frozen=True)
class _Fault:
    """A text that cannot be read."""

    text: str = field(repr=False)  # a cell


def _with_texts(
    column: pa.ChunkedArray, change: Callable[[Sequence[str]], list[str] | _Fault]
) -> pa.ChunkedArray | _Fault:
    """A column with its distinct texts changed, in its own type; a column of another type unchanged."""
    kind = column.type
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (pa.types.is_string(value) or pa.types.is_large_string(value)):
        return column
    chunks = []
    for chunk in column.chunks:
        coded = chunk if pa.types.is_dictionary(kind) else chunk.dictionary_encode()
        texts = change(coded.dictionary.to_pylist())
        if isinstance(texts, _Fault):
            return texts
        distinct = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        codes = np.array([distinct[text] for text in texts] or [0], np.int32)
        indices = coded.indices.fill_null(0).to_numpy(zero_copy_only=False)
        mask = np.asarray(coded.is_null()) if coded.null_count else None
        anew = pa.array(codes[indices] if len(texts) else np.zeros(len(chunk), np.int32), pa.int32(), mask=mask)
        values = pa.array([*distinct] or [""], value)
        chunks.append(pa.DictionaryArray.from_arrays(anew, values).cast(kind))
    return pa.chunked_array(chunks, kind)


def declared_or_marked(path: Path, start: bytes, form: TextForm) -> str:
    """The encoding of a text file by its declaration or its byte order mark; empty for UTF-8, or where neither says.

    Raises:
        DataError: the two contradict each other.
    """
    marked = next((name for mark, name in _MARKS if start.startswith(mark)), "")
    if not form.encoding:
        return marked
    declared = codecs.lookup(form.encoding).name
    if declared.startswith(("utf-16", "utf-32")) and not marked and start and b"\0" not in start:
        raise DataError(f"{path}:1: the text is not {form.encoding}, as {form.place} says; correct the policy")
    if marked and not declared.startswith(marked):
        raise DataError(
            f"{path}:1: the file begins with the byte order mark of {marked.upper()}, and {form.place} says "
            f"{form.encoding}; correct the policy"
        )
    return "" if declared in (UTF8, "utf-8-sig", "ascii") else declared


def detected_encoding(path: Path) -> str:
    """The likeliest encoding of a file whose bytes are not UTF-8; empty where none is likely.

    Of encodings that are equally likely, the most usual is taken. A file of which most lines are UTF-8 is damaged.

    Cost: a pass over the file until there are `SAMPLE` bytes of lines with other than ASCII characters.
    """
    from charset_normalizer import from_bytes  # noqa: PLC0415 - only for files in other encodings

    lines = bytearray()
    with open_bytes(path) as file:
        start = file.read(4)
        if b"\0" in start:
            return "utf-16-le" if start[1:2] == b"\0" else "utf-16-be"
        file.seek(0)
        for line in file:
            if not line.isascii():
                lines += line[: SAMPLE - len(lines)]
            if len(lines) >= SAMPLE:
                break
    written = bytes(lines).splitlines()
    if 2 * sum(map(_is_utf8, written)) >= len(written):
        return ""
    # charset-normalizer looks for words of languages, which codes and numbers would drown
    letters = re.sub(rb"[0-9]+", b"", bytes(lines))
    matches = [*from_bytes(letters, cp_isolation=[*_USUAL])]
    if not matches:
        return ""
    least = min(one.chaos for one in matches)
    likely = [one for one in matches if one.chaos <= least]
    most = max(one.coherence for one in likely)
    names = {
        name for one in likely if one.coherence >= most - _SCRIPT for name in (one.encoding, *one.could_be_from_charset)
    }
    return next((name for name in _USUAL if name in names and _decodes(path, name)), "")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decodes(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    with open_bytes(path) as file:
        try:
            while piece := file.read(PIECE):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


class Transcoder:
    """A text file in another encoding, read as UTF-8.

    Args:
        file: its bytes.
        encoding: the encoding of its bytes.
        path: the file, for messages.
        form: its declared form.
    """

    def __init__(self, file: IO[bytes], encoding: str, path: Path, form: TextForm) -> None:
        self._file, self._path, self._form = file, path, form
        self._encoding, self._decoder = encoding, codecs.getincrementaldecoder(encoding)()
        self._waiting, self._line, self._done = b"", 1, False
        self._is_utf8 = _Utf8Evidence()

    def read(self, size: int) -> bytes:
        """The next bytes, as UTF-8; fewer at the end, none after it.

        Raises:
            DataError: the bytes are not in this encoding, or are UTF-8 where another encoding is declared.
        """
        parts = [self._waiting]
        length = len(self._waiting)
        while length < size and not self._done:
            parts.append(self._next())
            length += len(parts[-1])
        whole = b"".join(parts)
        self._waiting = whole[size:]
        return whole[:size]

    def _next(self) -> bytes:
        piece = self._file.read(PIECE)
        self._done = not piece
        if self._form.encoding and "16" not in self._encoding and "32" not in self._encoding:
            self._is_utf8.add(piece, final=self._done)
            if self._done and self._is_utf8.line:
                raise DataError(
                    f"{self._path}:{self._is_utf8.line}: the file is UTF-8, and {self._form.place} says "
                    f"{self._form.encoding}; correct the policy"
                )
        text, fault = "", 0
        try:
            text = self._decoder.decode(piece, final=self._done)
        except UnicodeDecodeError as error:
            before = bytes(error.object[: error.start])
            fault = self._line + before.decode(self._encoding, "ignore").count("\n")
        if fault:  # outside the handler, whose error contains the text
            raise DataError(
                f"{self._path}:{fault}: the text is not {self._form.encoding or self._encoding}, as {self._form.place} "
                "says; correct the policy, or save the file as UTF-8"
            )
        self._line += text.count("\n")
        return text.removeprefix("\ufeff").encode(UTF8)


class _Utf8Evidence:
    """Whether all bytes of a file are UTF-8 while some are not ASCII: then a declared code page is wrong."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder(UTF8)()
        self._at, self._fits = 1, True
        self.line = 0  # the first line with other than ASCII characters; 0 where the file is not UTF-8

    def add(self, piece: bytes, *, final: bool) -> None:
        """Look at the next bytes of the file."""
        if not self._fits:
            return
        try:
            text = self._decoder.decode(piece, final=final)
        except UnicodeDecodeError:
            self._fits, self.line = False, 0
            return
        if not self.line and not text.isascii():
            self.line = self._at + text.count("\n", 0, next(n for n, one in enumerate(text) if not one.isascii()))
        self._at += text.count("\n")


def opened_text(file: IO[bytes], path: Path, form: TextForm, encoding: str) -> tuple[Callable[[int], bytes], str]:
    """The function that reads a text file as UTF-8, and its encoding; empty for UTF-8.

    Args:
        file: its bytes; it can be peeked into.
        path: the file, for messages.
        form: its declared form.
        encoding: the encoding that was detected; empty where none was.
    """
    encoding = encoding or declared_or_marked(path, file.peek(4)[:4], form)  # type: ignore[attr-defined]
    return (Transcoder(file, encoding, path, form).read if encoding else file.read), encoding


def detect_after(error: NotUtf8Error, path: Path, form: TextForm) -> str:
    """The encoding of a file that is not UTF-8.

    Raises:
        DataError: its bytes show none, or it is declared as UTF-8.
    """
    if form.encoding:
        raise DataError(f"{error}, or correct {form.place}, which says {form.encoding}")
    encoding = detected_encoding(path) if path.is_file() else ""
    if encoding:
        return encoding
    raise DataError(f"{error}, or name its encoding in the policy: `read_as: {{encoding: cp1252}}`")


def encode_file(path: Path, form: TextForm, shown: Path) -> None:
    """Rewrite a file of UTF-8 in the declared encoding.

    Raises:
        UsageError: the encoding lacks a character.
    """
    encoding = declared_or_marked(path, b"", form)
    if not encoding:
        return
    copy, fails = path.with_name("encoded"), False
    with ExitStack() as stack:
        source: IO[bytes] = stack.enter_context(open_bytes(path))
        target: IO[bytes] = stack.enter_context(copy.open("wb"))
        if path.suffix.lower() == ".gz":
            target = cast("IO[bytes]", stack.enter_context(gzip.GzipFile("", "wb", fileobj=target, mtime=0)))
        decoder, encoder = codecs.getincrementaldecoder(UTF8)(), codecs.getincrementalencoder(encoding)()
        try:
            while piece := source.read(PIECE):
                target.write(encoder.encode(decoder.decode(piece)))
        except UnicodeEncodeError:
            fails = True
    if fails:
        copy.unlink()
        raise UsageError(
            f"{shown}: {form.encoding} has not every character of the table; leave `encoding` out of {form.place}, "
            "which writes UTF-8"
        )
    copy.replace(path)
