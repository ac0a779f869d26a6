"""Mutual information: what a column still tells of its own values before, and what it tells of another column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.information_loss.columns import PairedColumn, records_with, share

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Told:
    """What one column tells of another, in bits for each record before.

    Args:
        before: in the release as it came in.
        after: in the release as it is; a record without one of the two values, or without both, tells nothing.
    """

    before: float
    after: float


def information_kept(column: PairedColumn) -> float | None:
    """N' I'(X; X') / (n H(X)): of what a column told, the share that is still told; None where it told nothing.

    X is the value before, X' the one after. H is the entropy in the n records that had a value, I' the mutual
    information in the n' of them that have one after. Since n' H'(X) is at most n H(X), it lies from 0 to 1.

    Cost: O(distinct changes of values), and a sort of them.
    """
    before = records_with(column.before)[~column.before.is_uninformative]
    told = _entropy(before) * int(before.sum())
    if not told:
        return None
    change = column.transitions
    there = ~(column.before.is_uninformative[change.before] | column.after.is_uninformative[change.after])
    old, new, records = change.before[there], change.after[there], change.records[there]
    kept = _entropy(_totals(old, records)) + _entropy(_totals(new, records)) - _entropy(records)
    return float(np.clip(kept * int(records.sum()) / told, 0.0, 1.0))


def information_on(column: PairedColumn, other: PairedColumn) -> Told:
    """N I(X; S) / N of two columns of one release, before and after; n records have both values, N are those before.

    Cost: O(records), and a sort of them where both columns have many values.
    """
    records = len(column.before_codes)
    before = _between((column.before, column.before_codes), (other.before, other.before_codes))
    after = _between((column.after, column.after_codes), (other.after, other.after_codes))
    return Told(share(before, records), share(after, records))


def _between(one: tuple[Domain, Codes], two: tuple[Domain, Codes]) -> float:
    """Mutual information in the records that have both values, times their number."""
    (first, left), (second, right) = one, two
    there = ~(first.is_uninformative[left] | second.is_uninformative[right])
    left, right = left[there].astype(np.int64), right[there].astype(np.int64)
    both = _totals(left * second.size + right, None, first.size * second.size)
    bits = _entropy(_totals(left, None, first.size)) + _entropy(_totals(right, None, second.size)) - _entropy(both)
    return max(bits, 0.0) * len(left)


def _totals(keys: NDArray[np.int64], records: Counts | None, span: int | None = None) -> Counts:
    """The records of each key that has any.

    Args:
        keys: whole numbers from 0.
        records: how many records each entry stands for; None for one each.
        span: the number of possible keys; where it is small they are counted without a sort.
    """
    if records is None and span is not None and span <= 2 * len(keys):
        counts = np.bincount(keys, minlength=span)
        return counts[counts > 0]
    distinct, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    if records is None:
        return counts
    sums = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sums, place, records)
    return sums


def _entropy(records: Counts) -> float:
    """Shannon's entropy in bits of a distribution by its counts; 0 of a single value, or of none."""
    known = records[records > 0]
    if len(known) < 2:
        return 0.0
    shares = known / known.sum()
    return float(-(shares @ np.log2(shares)))
