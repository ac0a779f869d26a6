"""The release as a pandas frame, for schemas and suites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from pandas.api import types

from tcdp_audit.core.engines.base import Engine

_NULLABLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


def frame_of(engine: Engine, release: Any, missing_tokens: Sequence[str]) -> pd.DataFrame:
    """The release as pandera sees it: text unchanged, missing values missing, records numbered from 0.

    A pandas frame keeps its own types; of any other release the engine's types are taken.
    """
    if isinstance(release, pd.DataFrame):
        frame = release.reset_index(drop=True).set_axis([str(name) for name in release.columns], axis="columns")
    else:
        table = engine.table()
        columns = zip(table.column_names, table.columns, strict=True)
        frame = pd.DataFrame({name: _series(column) for name, column in columns})
    for name in frame.columns:
        if types.is_string_dtype(frame[name]) or types.is_object_dtype(frame[name]):
            frame[name] = frame[name].mask(frame[name].isin(list(missing_tokens)))
    return frame


def _series(column: pa.ChunkedArray) -> Any:
    """Whole numbers stay whole where some are missing; pandas alone would make them floats."""
    return column.to_pandas(types_mapper=_NULLABLE.get if column.null_count else None)
