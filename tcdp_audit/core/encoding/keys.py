"""One 64-bit key per record out of several columns of codes; never a tuple or a string per row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.encoding.counting import numbered

Codes = NDArray[Any]  # unsigned or signed integers from 0 to radix - 1
KeyArray = NDArray[np.int64]

SPAN_LIMIT = 2**62


@dataclass(frozen=True)
class _Step:
    """One column folded in: what the key and the code were before, where either had to be compacted.

    Once all keys differ, a column changes none of them: its codes are then looked up (`codes`) in the row that has the
    key (`row_of_key`).
    """

    radix: int
    keys_before: KeyArray | None = None
    codes_before: KeyArray | None = None
    codes: Codes | None = None
    row_of_key: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class Keys:
    """Keys in mixed radix, ordered as the code columns are; `decode` gives the codes back.

    `values` has one key per record, each from 0 to `span` - 1.
    """

    values: KeyArray
    span: int
    steps: tuple[_Step, ...]

    def decode(self, keys: KeyArray) -> list[KeyArray]:
        """The code columns behind some keys, in the order they were folded. O(keys x columns)."""
        columns = []
        for step in reversed(self.steps):
            if step.codes is not None and step.row_of_key is not None:
                columns.append(step.codes[step.row_of_key[keys]].astype(np.int64))
            else:
                keys, codes = np.divmod(keys, step.radix)
                columns.append(codes if step.codes_before is None else step.codes_before[codes])
            if step.keys_before is not None:
                keys = step.keys_before[keys]
        return columns[::-1]


def fold(columns: Sequence[Codes], radices: Sequence[int]) -> Keys:
    """Fold columns of codes into one key each record.

    Where the product of the radices would leave 62 bits, the key so far is replaced by its rank among the
    keys that occur, and so is the next column if need be. Order is kept either way.

    Args:
        columns: at least one array of codes, all of one length n.
        radices: for each column a number above its largest code.

    Returns:
        Keys whose order is the lexicographic order of the columns.

    Cost: O(n x columns), and a radix sort of n for each compaction. None follows once all keys differ.
    """
    key: KeyArray = np.zeros(len(columns[0]), dtype=np.int64)
    span = 1
    steps: list[_Step] = []
    for position, (column, radix) in enumerate(zip(columns, radices, strict=True)):
        codes, keys_before, codes_before = column, None, None
        if span * radix > SPAN_LIMIT:
            keys_before, key = _compacted(key, span)
            span = max(len(keys_before), 1)
            if span == len(key):
                return Keys(key, span, (*steps, *_looked_up(key, keys_before, columns[position:])))
        if span * radix > SPAN_LIMIT:
            codes_before, codes = _compacted(column, radix)
            radix = max(len(codes_before), 1)  # noqa: PLW2901 - the column is renumbered, and so is its radix
        key *= radix
        key += codes
        span *= radix
        steps.append(_Step(radix, keys_before, codes_before))
    return Keys(key, span, tuple(steps))


def _compacted(keys: Codes, span: int) -> tuple[KeyArray, KeyArray]:
    """The different keys, ascending, and the rank of each key."""
    distinct, ranks = numbered(keys, span)
    return distinct.astype(np.int64, copy=False), ranks.astype(np.int64)


def _looked_up(ranks: KeyArray, keys_before: KeyArray | None, columns: Sequence[Codes]) -> Iterator[_Step]:
    """The steps of columns that come when all keys differ, whose ranks are the keys from then on."""
    row_of_key = np.empty(len(ranks), dtype=np.intp)
    row_of_key[ranks] = np.arange(len(ranks))
    for column in columns:
        yield _Step(1, keys_before, codes=column, row_of_key=row_of_key)
        keys_before = None
