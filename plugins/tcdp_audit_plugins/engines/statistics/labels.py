"""Value labels: a column is read as its labels where every value has one of its own, else as the codes it stores.

So no two values ever become one, and a number of years with a label for its top code stays a number.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.plugin._internal import texts_of


@dataclass
class ValueLabels:
    """The value labels of a column, and whether all cells have one.

    Args:
        column: its name.
        labels: the label of each value that is not declared missing.

    Attributes:
        are_read: whether the labels stand for the values, as far as cells were looked at.
        is_used: whether a cell has a value at all.
    """

    column: str
    labels: Mapping[Any, str]
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
