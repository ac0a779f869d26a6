"""Agreement patterns of all pairs where agreement is more than equality: enumerated in blocks, never held at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Codes
from tcdp_audit_plugins.checks.record_linkage.agreement import Agreement

Whole = NDArray[np.int64]
PAIRS = 2**20  # pairs in a block


@dataclass(frozen=True)
class Compared:
    """One attribute of two tables, coded over a common domain, and when two codes agree."""

    released: Codes
    original: Codes
    agreement: Agreement


def enumerated_counts(columns: Sequence[Compared]) -> Whole:
    """Pairs with each agreement pattern, as `pattern_counts` has them, for any agreement.

    Cost: O(p n_released n_original) time; memory for 2^20 pairs.
    """
    counts = np.zeros(1 << len(columns), dtype=np.int64)
    for _, patterns in _blocks(columns):
        counts += np.bincount(patterns.ravel(), minlength=len(counts))
    return counts


def enumerated_best(columns: Sequence[Compared], rank: Whole) -> tuple[Whole, Whole]:
    """For each released record the highest rank of a pattern that it has with an original, and with how many.

    Cost: as `enumerated_counts`.
    """
    best = np.zeros(len(columns[0].released), dtype=np.int64)
    ties = np.zeros_like(best)
    for records, patterns in _blocks(columns):
        ranks = rank[patterns]
        best[records] = ranks.max(axis=1)
        ties[records] = (ranks == best[records, None]).sum(axis=1)
    return best, ties


def patterns_of_pairs(columns: Sequence[Compared], released: Whole, original: Whole) -> Whole:
    """The agreement pattern of some pairs, given by their positions. O(p pairs)."""
    patterns = np.zeros(len(released), dtype=np.int64)
    for j, one in enumerate(columns):
        patterns |= one.agreement.paired(one.released[released], one.original[original]).astype(np.int64) << j
    return patterns


def _blocks(columns: Sequence[Compared]) -> Iterator[tuple[slice, NDArray[np.uint16]]]:
    """Some released records at a time, and their patterns with every original. uint16, shape (records, originals)."""
    n, originals = len(columns[0].released), len(columns[0].original)
    rows = max(1, PAIRS // originals)
    for start in range(0, n, rows):
        records = slice(start, min(start + rows, n))
        patterns = np.zeros((records.stop - start, originals), dtype=np.uint16)
        for j, one in enumerate(columns):
            patterns |= one.agreement.block(one.released[records], one.original).astype(np.uint16) << j
        yield records, patterns
