"""A file of SPSS, Stata or SAS is converted to Parquet, some records at a time, and read from there.

What the file declares missing, ranges and values of SPSS, `.a` to `.z` of Stata and SAS, is read as missing, but as
codes where the caller asks for them: they are in the file that is published, and distinguish people. Numbers, dates and
texts are stored first; then the columns with value labels become text where all cells have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from tcdp_audit.plugin._internal import open_converted, texts_of
from tcdp_audit.plugin.engine import DataError, Engine, UsageError, redact_errors
from tcdp_audit_plugins.engines.statistics.labels import (
    Times,
    ValueLabels,
    as_texts,
    has_special_missing,
    is_within,
    require_intact,
    times_of,
    write_labels,
)

pc: Any = pyarrow.compute  # it makes its functions when it is imported, so that no type checker knows them
CELL = 200  # bytes of a cell while it is an object of Python
SHARE = 4  # of the memory that some records may take
FEWEST, MOST = 1_000, 500_000  # records at a time
_READERS = {
    ".dta": "read_dta",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".sav": "read_sav",
    ".xpt": "read_xport",
    ".zsav": "read_sav",
}
_NUMBERS = {"double": pa.float64(), "float": pa.float32(), "int8": pa.int32(), "int16": pa.int32()}
_DECLARING = (".dta", ".sas7bdat", ".sav", ".zsav")  # kinds of which pyreadstat gives the codes of missing values
_SPECIAL = (".dta", ".sas7bdat")  # where these are letters among numbers
_BLANK_IS_MISSING = (".dta", ".sas7bdat", ".xpt")  # an empty text of SPSS is a text


def open_with_pyreadstat(path: Path, memory: int, codes: Sequence[str] = ()) -> Engine:
    """The embedded engine over a file of SPSS, Stata or SAS.

    Args:
        path: the file.
        memory: budget in bytes.
        codes: the columns in which a value that is declared missing is a value.

    Raises:
        UsageError: the file does not exist, or pyreadstat is not installed.
        DataError: it is damaged, or holds a date that cannot be read exactly.

    Cost: one pass in which all that comes before is skipped once for some records, at most `MOST`, that fit into a
    quarter of the memory; room for the records as Parquet in the folder for temporary files.
    """
    if not path.is_file():
        raise UsageError(f"{path}: {'is a folder; name a file' if path.is_dir() else 'no such file'}")
    labels: dict[str, bool] = {}
    file = StatisticalFile(path, _pyreadstat(path), frozenset(codes))

    def convert(folder: Path) -> Path:
        stored, released = folder / "stored.parquet", folder / "release.parquet"
        seen = file.write(stored, memory)
        labels.update({one.column: one.are_read for one in seen if one.is_used})
        write_labels(stored, released, [one for one in seen if one.are_read])
        stored.unlink(missing_ok=True)
        return released

    engine = open_converted(convert, path, memory)
    engine.value_labels, engine.declared_missing = labels, frozenset(file.declared)
    engine.opened_with_codes = lambda columns: _opened_again(path, memory, columns)
    return engine


def _opened_again(path: Path, memory: int, columns: Sequence[str]) -> Engine:
    """The file with the codes of declared missing values in some columns; a DataError where they are unknown."""
    if path.suffix.lower() in _DECLARING:
        return open_with_pyreadstat(path, memory, columns)
    raise DataError(
        f"{path}: column {columns[0]!r} has missing cells, and the file may hold codes there that it declares missing, "
        "which are not read from this kind of file; save it as .sav, .dta or .sas7bdat"
    )


def _pyreadstat(path: Path) -> Any:
    try:
        return import_module("pyreadstat")
    except ImportError:
        pass
    raise UsageError(f'{path}: needs pyreadstat; pip install "tcdp-audit[statistics]"')


@dataclass(frozen=True)
class StatisticalFile:
    """A file as pyreadstat reads it.

    Attributes:
        declared: the columns in which such a value was read.
    """

    path: Path  # the file
    pyreadstat: Any  # the library
    codes: frozenset[str] = frozenset()  # the columns in which a value that is declared missing is a value
    declared: set[str] = field(init=False, default_factory=set)

    @property
    def suffix(self) -> str:
        """The extension, which is the kind of file."""
        return self.path.suffix.lower()

    @redact_errors()
    def _read(self, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        """Columns of raw cells, None for what is missing, and the description of the file.

        Raises:
            DataError: the file is damaged. What pyreadstat says may quote cells, and is not passed on.
        """
        reader = getattr(self.pyreadstat, _READERS[self.suffix])
        if self.suffix in _DECLARING:
            options["user_missing"] = True
        try:
            return reader(str(self.path), output_format="dict", disable_datetime_conversion=True, **options)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001, S110 - a damaged file ends in errors of every type, from enumerations to indices
            pass
        raise self._damaged

    @property
    def _damaged(self) -> DataError:
        return DataError(
            f"{self.path}: the file is no intact {self.suffix} file, or its text has an unknown encoding; "
            "write it again"
        )

    @cached_property
    def description(self) -> Any:
        """The file's own description of its columns, declared missing values among it."""
        require_intact(self.path)
        description = self._read(metadataonly=True)[1]
        if not all(isinstance(name, str) for name in description.column_names):  # a name that is no text is None
            raise self._damaged
        return description

    @cached_property
    def times(self) -> dict[str, Times]:
        """The meaning of the numbers of columns with a format of dates."""
        formats = self.description.original_variable_types
        every = {name: times_of(formats.get(name) or "", self.suffix) for name in self.description.column_names}
        return {name: times for name, times in every.items() if times is not None and not self._is_text(name)}

    def _is_text(self, name: str) -> bool:
        return str(self.description.readstat_variable_types[name]).startswith("string")

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns in types of Arrow."""
        return pa.schema([(name, self._kind(name)) for name in self.description.column_names])

    def _kind(self, name: str) -> pa.DataType:
        return pa.string() if self._is_text(name) or self._has_codes_beside(name) else self._own_kind(name)

    def _has_codes_beside(self, name: str) -> bool:
        """Whether codes that are no numbers, or no dates, are values of a column, which is text then."""
        return name in self.codes and (self.suffix in _SPECIAL or name in self.times)

    def _own_kind(self, name: str) -> pa.DataType:
        """The type of a column of numbers or dates without what is declared missing."""
        if name in self.times:
            return self.times[name].kind
        return _NUMBERS.get(self.description.readstat_variable_types[name], pa.int64())

    def write(self, target: Path, memory: int) -> list[ValueLabels]:
        """Write all records to a Parquet file; returns the value labels of columns that have some.

        Raises:
            DataError: the file is damaged, or holds a date that cannot be read exactly.
        """
        from pyarrow import parquet  # noqa: PLC0415 - late, as everything large

        labels = ValueLabels.of(self.description)
        if not self.schema.names:
            raise DataError(f"{self.path}: the table has no columns")
        with parquet.ParquetWriter(target, self.schema) as writer:
            for cells in self._parts(memory):
                read = {name: self._cells(name, cells[name]) for name in self.schema.names}
                for one in labels:
                    one.note(*read[one.column])
                columns = [self._column(name, *read[name]) for name in self.schema.names]
                writer.write_table(pa.Table.from_arrays(columns, schema=self.schema))
        return labels

    def _parts(self, memory: int) -> Iterator[dict[str, list[Any]]]:
        names = self.schema.names
        most = max(FEWEST, min(MOST, memory // SHARE // (CELL * len(names))))
        declared, done = self.description.number_rows, 0
        while declared is None or done < declared:
            cells, _ = self._read(row_offset=done, row_limit=most)
            records = len(cells[names[0]]) if cells else 0
            done += records
            if records:
                yield cells
            if records < most:
                break
        if declared is not None and done != declared:
            raise DataError(f"{self.path}: {done:,} records were read where it declares {declared:,}; write it again")

    def _cells(self, name: str, cells: list[Any]) -> tuple[list[Any], list[Any]]:
        """The cells of a column without what is declared missing, and that alone; empty where there is none."""
        if self._is_text(name) and self.suffix in _BLANK_IS_MISSING:
            return [cell or None for cell in cells], []
        values = set(cells)
        if None in values and self._hides_codes:
            self.declared.add(name)
        codes = {one for one in values if one is not None and self._is_declared(name, one)}
        if not codes:
            return cells, []
        self.declared.add(name)
        return [None if one in codes else one for one in cells], [one if one in codes else None for one in cells]

    @cached_property
    def _hides_codes(self) -> bool:
        """Whether a missing cell may be a code that pyreadstat does not give."""
        return self.suffix == ".por" or (self.suffix == ".xpt" and has_special_missing(self.path))

    def _is_declared(self, name: str, value: Any) -> bool:
        if self.suffix in _SPECIAL:
            return isinstance(value, str)  # among numbers
        return any(is_within(value, one) for one in self._ranges.get(name, ()))

    @cached_property
    def _ranges(self) -> Mapping[str, Sequence[Any]]:
        return self.description.missing_ranges or {}

    def _column(self, name: str, cells: list[Any], codes: list[Any]) -> pa.Array:
        if self._is_text(name):
            own = pa.array(cells, pa.string())
        elif name in self.times:
            own = self.times[name].read(np.array(cells, np.float64), f"{self.path}: column {name!r}")
        else:
            own = pa.array(cells, self._own_kind(name))
        if name not in self.codes:
            return own
        if self._has_codes_beside(name):
            own = as_texts(own)
            codes = [code if code is None else self._written(code) for code in codes]
        return own if not codes else pc.coalesce(own, pa.array(codes, own.type))

    def _written(self, code: Any) -> str:
        """A code as its program writes it: `.a` of Stata, `.A` and `._` of SAS, a number of SPSS."""
        return f".{code}" if isinstance(code, str) else str(texts_of(np.array([code]))[0])
