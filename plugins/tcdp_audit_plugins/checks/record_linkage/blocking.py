"""Blocking: only pairs that share a value of a blocking attribute are compared, some released records at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.engine import CheckError
from tcdp_audit_plugins.checks.record_linkage.agreement import PAIRS, Agreeing, Compared, Whole, patterns_of_pairs
from tcdp_audit_plugins.checks.record_linkage.agreement_patterns import Column

MOST_PAIRS = 2**30  # candidates; comparing texts takes an hour for so many


@dataclass(frozen=True)
class Blocks:
    """The candidates: pairs of records with an equal value of at least one attribute; missing values share no block."""

    columns: Sequence[Column]

    @property
    def candidates(self) -> int:
        """The number of pairs that share a block; pairs that share several count once. O(candidates)."""
        return sum(len(released) for released, _ in self)

    def share(self, released: Whole, original: Whole) -> Agreeing:
        """Mark the candidates among pairs that are given by their positions. O(pairs x blocking attributes)."""
        return _share(self.columns, released, original)

    def __iter__(self) -> Iterator[tuple[Whole, Whole]]:
        """Positions of candidates, each once; all candidates of a released record come together.

        Raises:
            CheckError: blocks have more than 2^30 pairs.

        Cost: O(candidates) time; memory for about 2^20 pairs, or those of one released record.
        """
        totals = np.cumsum(sum(self._pairs_of(column) for column in range(len(self.columns))))
        if len(totals) and totals[-1] > MOST_PAIRS:
            raise CheckError(
                f"the blocks have {int(totals[-1]):,} pairs, more than 2^30; "
                "name attributes with more values in `blocking`"
            )
        start = 0
        while start < len(totals):
            before = totals[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(totals, before + PAIRS, side="right")))
            parts = [self._candidates(column, np.arange(start, stop)) for column in range(len(self.columns))]
            yield np.concatenate([one for one, _ in parts]), np.concatenate([other for _, other in parts])
            start = stop

    @cached_property
    def _originals(self) -> list[tuple[Whole, Whole, Whole]]:
        """For each attribute the originals in the order of their codes, and where and how many each code has."""
        inverted = []
        for column in self.columns:
            number = np.bincount(column.original, minlength=column.size + 1)
            first = np.cumsum(number) - number
            number[column.size] = 0  # missing values share no block
            inverted.append((np.argsort(column.original, kind="stable"), first, number))
        return inverted

    def _pairs_of(self, column: int) -> Whole:
        """The number of originals that have the value of each released record."""
        return np.asarray(self._originals[column][2][self.columns[column].released])

    def _candidates(self, column: int, records: Whole) -> tuple[Whole, Whole]:
        """Pairs of some released records that share this attribute and none before it."""
        order, first, _ = self._originals[column]
        number = self._pairs_of(column)[records]
        within = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        released = np.repeat(records, number)
        original = order[np.repeat(first[self.columns[column].released[records]], number) + within]
        new = ~_share(self.columns[:column], released, original)
        return released[new], original[new]


def _share(columns: Sequence[Column], released: Whole, original: Whole) -> NDArray[np.bool_]:
    shared = np.zeros(len(released), dtype=bool)
    for column in columns:
        codes = column.released[released]
        shared |= (codes == column.original[original]) & (codes < column.size)
    return shared


def blocked_counts(blocks: Blocks, columns: Sequence[Compared]) -> Whole:
    """Candidates with each agreement pattern. O(p candidates), and the comparison of their distinct texts."""
    counts = np.zeros(1 << sum(one.levels for one in columns), dtype=np.int64)
    for released, original in blocks:
        counts += np.bincount(patterns_of_pairs(columns, released, original), minlength=len(counts))
    return counts


def blocked_best(blocks: Blocks, columns: Sequence[Compared], rank: Whole) -> tuple[Whole, Whole]:
    """For each released record the highest rank among its candidates, and how many have it; -1 and 0 without any."""
    best = np.full(len(columns[0].released), -1, dtype=np.int64)
    ties = np.zeros_like(best)
    for released, original in blocks:
        ranks = rank[patterns_of_pairs(columns, released, original)]
        np.maximum.at(best, released, ranks)
        np.add.at(ties, released[ranks == best[released]], 1)
    return best, ties
