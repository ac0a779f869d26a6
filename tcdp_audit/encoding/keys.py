"""One 64-bit key per record out of several columns of codes; never a tuple or a string per row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[Any]  # unsigned or signed integers from 0 to radix - 1
KeyArray = NDArray[np.int64]

SPAN_LIMIT = 2**62


@dataclass(frozen=True)
class _Step:
    """One column folded in: what the key and the code were before, where either had to be compacted."""

    radix: int
    keys_before: KeyArray | None
    codes_before: KeyArray | None


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

    Cost: O(n x columns), and a sort of n for each compaction.
    """
    key: KeyArray = np.zeros(len(columns[0]), dtype=np.int64)
    span = 1
    steps = []
    for column, radix in zip(columns, radices, strict=True):
        codes, keys_before, codes_before = column, None, None
        if span * radix > SPAN_LIMIT:
            keys_before, key = np.unique(key, return_inverse=True)
            span = max(len(keys_before), 1)
        if span * radix > SPAN_LIMIT:
            codes_before, codes = np.unique(column.astype(np.int64), return_inverse=True)
            radix = max(len(codes_before), 1)  # noqa: PLW2901 - the column is renumbered, and so is its radix
        key *= radix
        key += codes
        span *= radix
        steps.append(_Step(radix, keys_before, codes_before))
    return Keys(key, span, tuple(steps))


def boundaries(sorted_keys: KeyArray) -> NDArray[np.intp]:
    """Where a new key begins in sorted keys."""
    if not len(sorted_keys):
        return np.zeros(0, dtype=np.intp)
    first = np.empty(len(sorted_keys), dtype=bool)
    first[0] = True
    np.not_equal(sorted_keys[1:], sorted_keys[:-1], out=first[1:])
    return np.flatnonzero(first)


def in_order(keys: KeyArray, times: NDArray[np.int64] | None) -> tuple[KeyArray, NDArray[np.int64] | None]:
    """Keys in ascending order, with how often each stands there; None where each stands once."""
    if times is None:
        return np.sort(keys), None
    order = np.argsort(keys)
    return keys[order], times[order]


def run_lengths(starts: NDArray[np.intp], total: int, times: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """How long each run is, given where the runs start and where the last one ends; or the sum of `times` in each."""
    if times is None:
        return np.diff(starts, append=total).astype(np.int64, copy=False)
    return np.add.reduceat(times, starts) if len(starts) else times[:0]
