"""Value labels: a column is read as its labels where every value has one of its own, else as the codes it stores.

So no two values ever become one, and a number of years with a label for its top code stays a number.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, texts_of
from tcdp_audit.plugin.engine import DataError


@dataclass
class ValueLabels:
    """The value labels of a column, and whether all cells have one.

    Attributes:
        are_read: whether the labels replace the values, as far as cells were looked at.
        is_used: whether a cell has a value at all.
    """

    column: str  # its name
    labels: Mapping[Any, str]  # the label of each value that is not declared missing
    are_read: bool = field(init=False)
    is_used: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        """Two values with one label, or an empty one, are codes."""
        self.are_read = max(Counter(self.labels.values()).values(), default=0) == 1 and "" not in self.labels.values()

    @classmethod
    def of(cls, description: Any) -> list[ValueLabels]:
        """The value labels of a file's columns, by what pyreadstat says of it."""
        declared = [name for name in description.column_names if name in description.variable_value_labels]
        return [cls(name, _present(name, description)) for name in declared]

    def note(self, cells: Sequence[Any], codes: Sequence[Any]) -> None:
        """Look at some cells, None for a missing one, and at those that are declared missing: none reads as a label."""
        present = set(cells) - {None}
        self.is_used = self.is_used or bool(present)
        self.are_read = self.are_read and present <= self.labels.keys()
        self.are_read = self.are_read and not {_text(code) for code in set(codes) - {None}} & set(self.labels.values())

    def applied(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """A column of codes as labels; what is declared missing has none, and is the text of its code."""
        shown = {_text(code): label for code, label in self.labels.items()}
        encoded = as_texts(column).dictionary_encode()
        chunks = [
            pa.array([shown.get(code, code) for code in chunk.dictionary.to_pylist()], pa.string()).take(chunk.indices)
            for chunk in encoded.chunks
        ]
        return pa.chunked_array(chunks, pa.string())


def as_texts(column: Any) -> Any:
    """An array of numbers, dates or moments as the texts that nominal columns are compared by, null for null."""
    if pa.types.is_string(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([as_texts(chunk) for chunk in column.chunks], pa.string())
    encoded = column.dictionary_encode()
    return pa.array([_text(value) for value in _values(encoded.dictionary)], pa.string()).take(encoded.indices)


def _values(array: pa.Array) -> list[Any]:
    """The values of an array; 32-bit floats as their shortest decimal numbers."""
    values: list[Any] = array.to_pylist()
    return [float(str(np.float32(one))) for one in values] if pa.types.is_float32(array.type) else values


def _text(value: Any) -> str:
    if isinstance(value, dt.datetime) and value.microsecond:
        return value.isoformat(" ").rstrip("0")
    if isinstance(value, dt.date):
        return value.isoformat(" ") if isinstance(value, dt.datetime) else value.isoformat()
    return value if isinstance(value, str) else str(texts_of(np.array([value]))[0])


def _present(column: str, description: Any) -> dict[Any, str]:
    """The labels of values that are not declared missing. Special ones of Stata and SAS are letters among numbers."""
    labels, ranges = description.variable_value_labels[column], (description.missing_ranges or {}).get(column, ())
    is_text = str(description.readstat_variable_types[column]).startswith("string")
    return {
        code: label
        for code, label in labels.items()
        if isinstance(code, str) == is_text and not any(is_within(code, one) for one in ranges)
    }


def is_within(code: Any, missing: Any) -> bool:
    """Whether a value is one that SPSS declares missing, or in a range of such values."""
    low, high = (missing["lo"], missing["hi"]) if isinstance(missing, dict) else (missing, missing)
    return isinstance(code, str) == isinstance(low, str) and bool(low <= code <= high)


def write_labels(stored: Path, target: Path, labels: Sequence[ValueLabels]) -> None:
    """Write a Parquet file of codes again with labels in some columns; the same file where there are none."""
    if not labels:
        stored.rename(target)
        return
    from pyarrow import parquet  # noqa: PLC0415

    with parquet.ParquetFile(stored) as file:
        schema = file.schema_arrow
        for one in labels:
            schema = schema.set(schema.get_field_index(one.column), pa.field(one.column, pa.string()))
        with parquet.ParquetWriter(target, schema) as writer:
            for batch in file.iter_batches():
                table = pa.Table.from_batches([batch])
                for one in labels:
                    position = table.schema.get_field_index(one.column)
                    table = table.set_column(position, one.column, one.applied(table[one.column]))
                writer.write_table(table.cast(schema))


CARD = 80  # bytes: a transport file of SAS is made of such pieces
STATA, STATA_END = b"<stata_dta>", b"</stata_dta>"
_SPECIAL = re.compile(rb"[A-Z_]\x00{7}")  # a number whose first byte is a letter and whose others are 0 is none
_PIECE = 2**24  # bytes


def has_special_missing(path: Path) -> bool:
    """Whether a transport file of SAS may hold `.A` to `.Z` or `._`; other bytes may look like one. One pass."""
    rest = b""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            if _SPECIAL.search(rest + piece):
                return True
            rest = piece[-7:]
    return False


def require_intact(path: Path) -> None:
    """Raise a DataError where a file that does not declare its number of records has no end."""
    if not _is_whole(path):
        raise DataError(f"{path}: the file is cut off; write it again")


def _is_whole(path: Path) -> bool:
    suffix, size = path.suffix.lower(), path.stat().st_size
    if suffix == ".xpt":
        return size % CARD == 0
    if suffix != ".dta":
        return True
    with path.open("rb") as file:
        if file.read(len(STATA)) != STATA:
            return True
        file.seek(max(0, size - len(STATA_END)))
        return file.read() == STATA_END


SECONDS, MICROSECONDS = 86_400, 86_400_000_000  # of a day
SPSS, YEAR_1960 = -141_428, -3_653  # 14 October 1582 and 1 January 1960, in days since 1970
EARLIEST, LATEST = -719_162, 2_932_896  # the first day of the year 1 and the last of 9999, likewise

_SPSS_DATE, _SPSS_TIME = re.compile(r"[AEJS]?DATE"), re.compile(r"DATETIME|YMDHMS")
_SAS_DATE = re.compile(r"DATE|WEEKDAT[EX]|(MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|(E|B|IS)8601DA")
_SAS_TIME = re.compile(r"DATETIME|DATEAMPM|MDYAMPM|DTDATE|(E|B|IS)8601D[TN]")
_WIDTH = re.compile(r"\d*(\.\d*)?$")


@dataclass(frozen=True)
class Times:
    """The meaning of the numbers of a column."""

    per_day: int  # by how much the number grows in a day
    epoch: int  # the day that is 0, in days since 1970
    is_date: bool  # whether it is a day, and not a moment of it

    @property
    def kind(self) -> pa.DataType:
        """The type of Arrow."""
        return pa.date32() if self.is_date else pa.timestamp("us")

    def read(self, numbers: Floats, where: str) -> pa.Array:
        """Stored numbers, NaN for a missing one, as days or moments.

        Raises:
            DataError: a number is not exactly one, or beyond the years 1 to 9999.
        """
        missing = np.isnan(numbers)
        present = np.where(missing, 0.0, numbers)
        days = np.floor(present / self.per_day) + self.epoch
        if ((days < EARLIEST) | (days > LATEST)).any():
            raise DataError(f"{where} holds a date beyond the years 1 to 9999; correct it")
        stored = self._days(present, days, where) if self.is_date else self._moments(present, where)
        return pa.array(stored, mask=missing).cast(self.kind)

    def _days(self, present: Floats, days: Floats, where: str) -> NDArray[Any]:
        if np.mod(present, self.per_day).any():
            raise DataError(f"{where} has the format of dates and holds times of day too; give it one that shows both")
        return days.astype(np.int32)

    def _moments(self, present: Floats, where: str) -> NDArray[Any]:
        unit = MICROSECONDS // self.per_day
        whole = np.floor(present)
        parts = np.rint((present - whole) * unit)
        if not np.array_equal(whole + parts / unit, present):
            raise DataError(f"{where} holds times finer than microseconds; round them")
        return whole.astype(np.int64) * unit + parts.astype(np.int64) + self.epoch * MICROSECONDS


def times_of(format_name: str, suffix: str) -> Times | None:
    """The meaning of a column of a format in a kind of file; None where its numbers are numbers.

    Times of day, and weeks, months and quarters, are read as the numbers that are stored.
    """
    if suffix == ".dta":
        return _stata(format_name)
    base = _WIDTH.sub("", format_name.upper())
    if suffix in (".sas7bdat", ".xpt"):
        date, time = _SAS_DATE.fullmatch(base), _SAS_TIME.fullmatch(base)
        return Times(1, YEAR_1960, is_date=True) if date else Times(SECONDS, YEAR_1960, is_date=False) if time else None
    date, time = _SPSS_DATE.fullmatch(base), _SPSS_TIME.fullmatch(base)
    return Times(SECONDS, SPSS, is_date=bool(date)) if date or time else None


def _stata(format_name: str) -> Times | None:
    """`%td` counts days, `%tc` milliseconds; `%tC` counts leap seconds too, and stays a number."""
    if re.match(r"%-?t?d", format_name):
        return Times(1, YEAR_1960, is_date=True)
    return Times(1000 * SECONDS, YEAR_1960, is_date=False) if re.match(r"%-?tc", format_name) else None
