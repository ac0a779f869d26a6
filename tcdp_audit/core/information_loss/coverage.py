"""Coverage: which values each value covers, what that costs whatever the scale, and mutual information."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import Codes, Floats
from tcdp_audit.core.information_loss.columns import PairedColumn, records_with, share, weighted_sum

MOST_GROUPS = 20  # of single values
Counts = NDArray[np.int64]


class Penalty(ABC):
    """The normalised certainty penalty of the values of an attribute, from 0 for a single one to 1 for all.

    It needs no records, so that a remedy can ask what a label would cost before it releases it.

    Source: Xu et al., Utility-based anonymization using local recoding, KDD 2006; Ghinita et al., VLDB 2007.
    """

    @abstractmethod
    def of_values(self, domain: Domain) -> Floats:
        """The penalty of each value of a domain, read under the attribute's scale. Shape (domain,). O(domain)."""

    def of(self, domain: Domain) -> Floats:
        """The same of each code, the missing one last; a suppressed or missing cell costs 1. Shape (domain + 1,)."""
        return np.where(domain.is_uninformative, 1.0, np.append(self.of_values(domain), 1.0))


P = TypeVar("P", bound=Penalty)


@dataclass(frozen=True)
class Coverage(ABC, Generic[P]):
    """A column read under its scale. The domain before, or the hierarchy's leaves, decides what a value covers."""

    column: PairedColumn  # the column, before and after
    penalty: P  # the certainty penalty of its values, judged by the domain before

    @abstractmethod
    def growth(self, before: Codes, after: Codes) -> Floats:
        """Loss of a cell whose value became another one, neither of them suppressed or missing.

        Args:
            before: codes of the domain before.
            after: codes of the domain after, of the same shape.

        Returns:
            From 0 to 1: where the new value covers the old one, what the certainty penalty grew by; otherwise how far
            the new value is from the old one.
        """

    @abstractmethod
    def distance(self, before: Floats, after: Floats) -> float:
        """Distance of two distributions of the column, from 0 to 1.

        Args:
            before: weight of each value of the domain before; not all 0.
            after: weight of each value of the domain after; likewise. A generalised value is spread evenly over the
                values before that it covers (a set label over its members); one that was there before, or covers none
                of them, stays itself.
        """

    @abstractmethod
    def groups(self) -> NDArray[np.intp]:
        """The values before in groups that a count may be about: the group of each code; -1 where it is uninformative.

        Each value by itself where there are at most 20. Of more values the 20 most frequent and all others together;
        of numbers and ranks ten consecutive groups with as equal numbers of records as whole values allow.
        """

    @abstractmethod
    def landing(self, groups: NDArray[np.intp], number: int) -> Floats:
        """The share of each value after that falls to each of `number` groups before. Shape (domain after, number).

        A generalised value is spread evenly, as for `distance`. A nominal value that was not there before falls to no
        group, a number to that of the largest least number that is not above it.
        """

    @cached_property
    def loss(self) -> float:
        """Mean loss of the column's cells over all records before; a cell of a suppressed record has lost 1.

        Missing and suppressed cells are uninformative. A cell that becomes uninformative, or that was so before and is
        not after, has lost 1.
        """
        change = self.column.transitions
        nothing_before = self.column.before.is_uninformative[change.before]
        nothing_after = self.column.after.is_uninformative[change.after]
        lost = (nothing_before ^ nothing_after).astype(np.float64)
        rest = ~(nothing_before | nothing_after | self.column.unchanged)
        lost[rest] = self.growth(change.before[rest], change.after[rest])
        return share(float(lost @ change.records) + self.column.suppressed, len(self.column.before_codes))

    @cached_property
    def certainty_penalty(self) -> tuple[float, float]:
        """Mean normalised certainty penalty before and after, over all records before.

        A suppressed or missing cell, and any cell of a suppressed record, counts 1 (Xu et al., KDD 2006).
        """
        column, records = self.column, len(self.column.before_codes)
        before, after = (weighted_sum(self.penalty.of(domain), domain) for domain in (column.before, column.after))
        return share(before, records), share(after + column.suppressed, records)

    @cached_property
    def distribution_distance(self) -> float | None:
        """Distance of the distributions before and after; None where there is no value left to compare.

        Missing and suppressed cells, and suppressed records, are left out.
        """
        before, after = (_known(domain) for domain in (self.column.before, self.column.after))
        return self.distance(before, after) if before.any() and after.any() else None


def _known(domain: Domain) -> Floats:
    """The number of records with each informative value. Shape (domain,)."""
    return np.where(domain.is_uninformative, 0.0, records_with(domain))[:-1]


def project_to_groups(coverage: Coverage[Any], groups: NDArray[np.intp], number: int) -> Floats:
    """The share of each group of values in each code after, the missing one last; 0 where a cell is uninformative."""
    after = np.vstack([coverage.landing(groups, number), np.zeros(number)])
    after[coverage.column.after.is_uninformative] = 0.0
    return after


def groups_of_frequent(domain: Domain) -> NDArray[np.intp]:
    """The most frequent values each by itself, and all others together; see `Coverage.groups`."""
    known = np.where(domain.is_uninformative, 0, records_with(domain))[:-1]
    order = np.argsort(-known, kind="stable")[: int((known > 0).sum())]
    groups = np.full(domain.size, -1, dtype=np.intp)
    groups[order] = np.minimum(np.arange(len(order)), MOST_GROUPS)
    return groups


def own_shares(own: NDArray[np.int64], groups: NDArray[np.intp], number: int) -> Floats:
    """Shares of values that were there before, all of each for its group; none of other values.

    `own` is the code before of each value after, -1 for a new one; `groups` are those of the codes before.
    """
    return (np.append(groups, -1)[own][:, None] == np.arange(number)).astype(np.float64)


def total_variation(before: Floats, after: Floats, new: float) -> float:
    """Half the sum of differences of two distributions over common values; `new` is the weight after of new values."""
    shares = np.abs(before / before.sum() - after / (after.sum() + new)).sum() + new / (after.sum() + new)
    return float(min(shares / 2, 1.0))


@dataclass(frozen=True)
class MutualInformation:
    """The information that one column gives about another, in bits for each record before."""

    before: float  # in the release before the repair
    after: float  # in the release after it; a record that lacks one of the two values adds nothing


def information_retained(column: PairedColumn) -> float | None:
    """N' I'(X; X') / (n H(X)): the share of a column's information that is left; None where it had none.

    X is the value before, X' the one after. H is the entropy in the n records that had a value, I' the mutual
    information in the n' of them that have one after. Since n' H'(X) is at most n H(X), it lies from 0 to 1.

    Cost: O(distinct changes of values), and a sort of them.
    """
    before = records_with(column.before)[~column.before.is_uninformative]
    total_before = _entropy(before) * int(before.sum())
    if not total_before:
        return None
    change = column.transitions
    there = ~(column.before.is_uninformative[change.before] | column.after.is_uninformative[change.after])
    old, new, records = change.before[there], change.after[there], change.records[there]
    shared = _entropy(_totals(old, records)) + _entropy(_totals(new, records)) - _entropy(records)
    return float(np.clip(shared * int(records.sum()) / total_before, 0.0, 1.0))


def information_on(column: PairedColumn, other: PairedColumn) -> MutualInformation:
    """N I(X; S) / N of two columns of one release, before and after; n records have both values, N are those before.

    Cost: O(records), and a sort of them where both columns have many values.
    """
    records = len(column.before_codes)
    before = _between((column.before, column.before_codes), (other.before, other.before_codes))
    after = _between((column.after, column.after_codes), (other.after, other.after_codes))
    return MutualInformation(share(before, records), share(after, records))


def _between(one: tuple[Domain, Codes], two: tuple[Domain, Codes]) -> float:
    """Mutual information in the records that have both values, times their number."""
    (first, left), (second, right) = one, two
    there = ~(first.is_uninformative[left] | second.is_uninformative[right])
    left, right = left[there].astype(np.int64), right[there].astype(np.int64)
    both = _totals(left * second.size + right, None, first.size * second.size)
    bits = _entropy(_totals(left, None, first.size)) + _entropy(_totals(right, None, second.size)) - _entropy(both)
    return max(bits, 0.0) * len(left)


def _totals(keys: NDArray[np.int64], records: Counts | None, span: int | None = None) -> Counts:
    """The records of each key that has any; keys are whole numbers from 0.

    `records` says how many each entry represents, None for one each. Where the number of possible keys, `span`, is
    small they are counted without a sort.
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
