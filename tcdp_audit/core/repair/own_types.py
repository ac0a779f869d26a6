"""A treated release in the types that it came in: the engine's types are not those of every source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from tcdp_audit.core.engines.arrow_types import array_of_numbers
from tcdp_audit.core.remedy.treatment import differing

pc: Any = pyarrow.compute  # it makes its functions when it is imported, so that no type checker knows them

_WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


def taken(table: pa.Table, rows: NDArray[np.intp]) -> pa.Table:
    """Some records of a table, in a given order. Of a missing cell nothing is left in the memory behind it."""
    columns = [_taken(column, array_of_numbers(rows)) for column in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


def _taken(column: pa.ChunkedArray, rows: pa.Array) -> pa.ChunkedArray:
    plain = _WITHOUT_VIEWS.get(column.type)  # pyarrow takes nothing from views
    return column.take(rows) if plain is None else column.cast(plain).take(rows).cast(column.type)


def without_views_in_dictionaries(table: pa.Table) -> pa.Table:
    """A table whose dictionaries hold plain texts, as files can; polars lists its categories as views."""
    for position, field in enumerate(table.schema):
        plain = _WITHOUT_VIEWS.get(field.type.value_type) if pa.types.is_dictionary(field.type) else None
        if plain is not None:
            chunks = [
                pa.DictionaryArray.from_arrays(one.indices, one.dictionary.cast(plain), ordered=field.type.ordered)
                for one in table[position].chunks
            ]
            kind = pa.dictionary(field.type.index_type, plain, ordered=field.type.ordered)
            table = table.set_column(position, field.name, pa.chunked_array(chunks, kind))
    return table


def in_own_types(released: pa.Table, source: pa.Table, changed: Mapping[str, int]) -> pa.Table:
    """A treated release in the types that it came in.

    A column without a changed cell is the source's own. A changed one takes the source's type again where that holds
    its cells. What describes the source besides its cells (metadata of its file, values that a dictionary lists and no
    record has) is left out.

    Args:
        released: the release as remedies left it, in the engine's types.
        source: the records that stayed, in the source's types and the same order.
        changed: how many cells of each column were changed.
    """
    columns = [
        _fitted(released[name], source[name].type) if changed[name] else source[name] for name in released.column_names
    ]
    columns = [_of_used_values(column) if pa.types.is_dictionary(column.type) else column for column in columns]
    fields = [
        pa.field(name, column.type, nullable=source.schema.field(name).nullable or bool(column.null_count))
        for name, column in zip(released.column_names, columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _fitted(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column in another type if that holds every cell exactly, else as it is."""
    if column.type == kind:
        return column
    try:
        fitted = _encoded(column, kind) if pa.types.is_dictionary(kind) else column.cast(kind)
        kept = not differing(fitted.cast(column.type), column)
    except pa.ArrowException:
        return column
    return fitted if kept else column


def _encoded(column: pa.ChunkedArray, kind: pa.DictionaryType) -> pa.ChunkedArray:
    """A column as a dictionary without an order: a new value has no place in the old one."""
    encoded = column.cast(kind.value_type).dictionary_encode()
    return encoded.cast(pa.dictionary(kind.index_type, kind.value_type))


def _of_used_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary column that lists the values of its cells and no others, sorted where they have no order."""
    kind = column.type
    cells = column.cast(kind.value_type)
    used = pc.drop_null(pc.unique(cells))
    if kind.ordered:
        declared = column.unify_dictionaries().chunk(0).dictionary if column.num_chunks else used
        used = declared.filter(pc.is_in(declared, value_set=used))
    else:
        used = used.take(pc.sort_indices(used))
    indices = pc.index_in(cells, value_set=used, skip_nulls=True).cast(kind.index_type)
    chunks = [pa.DictionaryArray.from_arrays(chunk, used, ordered=kind.ordered) for chunk in indices.chunks]
    return pa.chunked_array(chunks, pa.dictionary(kind.index_type, kind.value_type, ordered=kind.ordered))
