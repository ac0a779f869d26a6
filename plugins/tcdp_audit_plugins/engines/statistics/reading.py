"""A file of SPSS, Stata or SAS is converted to Parquet, some records at a time, and read from there.

pyreadstat reads what the file declares to be missing as missing: ranges and values of SPSS, `.a` to `.z` of Stata and
SAS. Numbers, dates and texts are stored first; then the columns with value labels become text where all cells have one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.plugin import DataError, Discreet, Engine, UsageError, open_converted
from tcdp_audit_plugins.engines.statistics.dates import Times, times_of
from tcdp_audit_plugins.engines.statistics.intact import require_intact
from tcdp_audit_plugins.engines.statistics.labels import ValueLabels, write_labels

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
_BLANK_IS_MISSING = (".dta", ".sas7bdat", ".xpt")  # an empty text of SPSS is a text


def open_with_pyreadstat(path: Path, memory: int) -> Engine:
    """The embedded engine over a file of SPSS, Stata or SAS.

    Raises:
        UsageError: the file does not exist, or pyreadstat is not installed.
        DataError: it is damaged, or holds a date that cannot be read exactly.

    Cost: one pass in which all that stands before is skipped once for some records, at most `MOST`, that fit into a
    quarter of the memory; room for the records as Parquet in the folder for temporary files.
    """
    if not path.is_file():
        raise UsageError(f"{path}: {'is a folder; name a file' if path.is_dir() else 'no such file'}")
    labels: dict[str, bool] = {}

    def convert(folder: Path) -> Path:
        file = StatisticalFile(path, _pyreadstat(path))
        stored, released = folder / "stored.parquet", folder / "release.parquet"
        seen = file.write(stored, memory)
        labels.update({one.column: one.are_read for one in seen if one.is_used})
        write_labels(stored, released, [one for one in seen if one.are_read])
        stored.unlink(missing_ok=True)
        return released

    engine = open_converted(convert, path, memory)
    engine.value_labels = labels
    return engine


def _pyreadstat(path: Path) -> Any:
    try:
        return import_module("pyreadstat")
    except ImportError:
        pass
    raise UsageError(f'{path}: needs pyreadstat; pip install "tcdp-audit[statistics]"')


@dataclass(frozen=True)
class StatisticalFile:
    """A file as pyreadstat reads it.

    Args:
        path: the file.
        pyreadstat: the library.
    """

    path: Path
    pyreadstat: Any

    @property
    def suffix(self) -> str:
        """The extension, which is the kind of file."""
        return self.path.suffix.lower()

    @Discreet()
    def _read(self, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        """Columns of raw cells, None for what is missing, and the description of the file.

        Raises:
            DataError: the file is damaged. What pyreadstat says may quote cells, and is not passed on.
        """
        reader = getattr(self.pyreadstat, _READERS[self.suffix])
        try:
            return reader(str(self.path), output_format="dict", disable_datetime_conversion=True, **options)
        except (self.pyreadstat.ReadstatError, self.pyreadstat.PyreadstatError, UnicodeError, OSError, ValueError):
            pass
        raise DataError(
            f"{self.path}: the file is no intact {self.suffix} file, or its text has an unknown encoding; "
            "write it again"
        )

    @cached_property
    def description(self) -> Any:
        """What the file says of its columns, declared missing values among it."""
        require_intact(self.path)
        declaring = self.suffix in (".dta", ".sas7bdat", ".sav", ".zsav")
        return self._read(metadataonly=True, **({"user_missing": True} if declaring else {}))[1]

    @cached_property
    def times(self) -> dict[str, Times]:
        """What the numbers of columns with a format of dates stand for."""
        formats = self.description.original_variable_types
        found = {name: times_of(formats.get(name) or "", self.suffix) for name in self.description.column_names}
        return {name: times for name, times in found.items() if times is not None and not self._is_text(name)}

    def _is_text(self, name: str) -> bool:
        return str(self.description.readstat_variable_types[name]).startswith("string")

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns in types of Arrow."""
        return pa.schema([(name, self._kind(name)) for name in self.description.column_names])

    def _kind(self, name: str) -> pa.DataType:
        if self._is_text(name):
            return pa.string()
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
                for one in labels:
                    one.note(cells[one.column])
                columns = [self._column(name, cells[name]) for name in self.schema.names]
                writer.write_table(pa.Table.from_arrays(columns, schema=self.schema))
        return labels

    def _parts(self, memory: int) -> Iterator[dict[str, list[Any]]]:
        """Some records at a time, in their order."""
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

    def _column(self, name: str, cells: list[Any]) -> pa.Array:
        if name in self.times:
            return self.times[name].read(np.array(cells, np.float64), f"{self.path}: column {name!r}")
        if self._is_text(name) and self.suffix in _BLANK_IS_MISSING:
            cells = [cell or None for cell in cells]
        return pa.array(cells, self._kind(name))
