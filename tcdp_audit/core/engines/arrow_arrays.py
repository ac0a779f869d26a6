"""Arrow arrays made of the bytes of others, and the other way round.

`pyarrow.array` and `pyarrow.scalar` import pandas, where that is installed, to ask whether they were given one of its
objects; that takes as long as auditing a small file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def array_of_numbers(numbers: NDArray[Any]) -> pa.Array:
    """Integers or floats of numpy, none of them null; the memory is shared where it is contiguous."""
    values = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def array_of_truths(truths: NDArray[np.bool_]) -> pa.Array:
    """Truth values of numpy."""
    return pa.Array.from_buffers(pa.bool_(), len(truths), [None, _bits(truths)])


def array_of_texts(texts: Sequence[str | None]) -> pa.Array:
    """Texts, None for no value.

    Example:
        >>> array_of_texts(["a", None, "", "ß"]).to_pylist()
        ['a', None, '', 'ß']
    """
    encoded = [b"" if text is None else text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    valid = _bits(np.array([text is not None for text in texts], dtype=bool))
    buffers = [valid, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers).cast(pa.string())


def dictionary_positions(cells: pa.DictionaryArray, missing: int) -> NDArray[Any]:
    """The position of each cell in its dictionary, and a number for those without a value."""
    indices = cells.indices
    positions: NDArray[Any] = np.from_dlpack(
        pa.Array.from_buffers(indices.type, len(indices), [None, indices.buffers()[1]], offset=indices.offset)
    )
    if not indices.null_count:
        return positions
    valid: NDArray[Any] = np.from_dlpack(indices.is_valid().cast(pa.uint8()))
    return np.where(valid.view(bool), positions, missing)


def _bits(truths: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(truths, bitorder="little"))
