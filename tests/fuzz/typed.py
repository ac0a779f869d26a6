"""Random tables with types of their own, for Parquet files and frames."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
from fuzz.written import cells
from hypothesis import strategies as st

KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "text": (pa.string(), cells()),
    "long text": (pa.large_string(), cells()),
    "integers": (pa.int64(), st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))),
    "small integers": (pa.int16(), st.integers(-5, 5)),
    "unsigned": (pa.uint32(), st.integers(0, 2**32 - 1)),
    "floats": (pa.float64(), st.one_of(st.sampled_from([0.5, 1.0, 0.1, 1e22]), st.floats(allow_nan=False))),
    "truth": (pa.bool_(), st.booleans()),
    "days": (pa.date32(), st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))),
    "instants": (pa.timestamp("us"), st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))),  # noqa: DTZ001
    "decimals": (pa.decimal128(30, 4), st.decimals(-(10**9), 10**9, places=4).map(Decimal)),
}


@st.composite
def typed_tables(draw: st.DrawFn) -> pa.Table:
    """An Arrow table in chunks, some columns as dictionaries."""
    records = draw(st.integers(1, 25))
    columns = {}
    for position, name in enumerate(draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4))):
        kind, values = KINDS[name]
        few = draw(st.lists(st.one_of(st.none(), values), min_size=1, max_size=6))
        picked = draw(st.lists(st.sampled_from(few), min_size=records, max_size=records))
        cut = draw(st.integers(0, records))
        column = pa.chunked_array([pa.array(picked[:cut], kind), pa.array(picked[cut:], kind)], kind)
        as_dictionary = name in ("text", "integers") and draw(st.booleans())
        columns[f"c{position}"] = column.dictionary_encode() if as_dictionary else column
    return pa.table(columns)
