"""Nominal values without a hierarchy, single or as set labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import Floats
from tcdp_audit.core.classes.segments import positions_of, starts_of
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import members
from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.information_loss.coverage import Coverage, groups_of_frequent, own_shares, total_variation
from tcdp_audit.core.information_loss.penalty import Penalty


@dataclass(frozen=True)
class Members:
    """The values before that each label covers, in compressed rows.

    Args:
        sizes: how many values each label covers; 0 for a value that was not there before. Shape (labels,).
        codes: their codes before, label by label. Shape (sum of sizes,).
    """

    sizes: NDArray[np.int64]
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Members:
        """From a list of codes for each label."""
        sizes = np.array([len(row) for row in rows], dtype=np.int64)
        return cls(sizes, np.array([code for row in rows for code in row], dtype=np.int64))

    def of_labels(self, labels: Codes) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """The members of some labels: position in `labels` and code before of each."""
        sizes = self.sizes[labels]
        rows = np.repeat(np.arange(len(labels)), sizes)
        return rows, self.codes[positions_of(starts_of(self.sizes)[labels], sizes)]


@dataclass(frozen=True)
class SetPenalty(Penalty):
    """Members of a set label by all values of the attribute; 0 for a single value.

    Args:
        single: the attribute's values that stand for themselves, with their codes.
    """

    single: Mapping[str, int]

    @classmethod
    def of_attribute(cls, domain: Domain) -> SetPenalty:
        """The penalty of an attribute with the values of a domain."""
        known = {label: code for code, label in enumerate(domain.labels) if not domain.is_uninformative[code]}
        return cls({label: code for label, code in known.items() if members(label, known) is None})

    def members(self, domain: Domain) -> Members:
        """The single values that each label of a domain stands for."""
        several = ((label, members(label, self.single) or ()) for label in domain.labels)
        rows = ([label] if label in self.single else parts for label, parts in several)
        return Members.of([[self.single[part] for part in parts] for parts in rows])

    def of_sizes(self, sizes: NDArray[np.int64]) -> Floats:
        """The penalty of labels with so many members."""
        return np.where(sizes > 1, sizes / max(len(self.single), 1), 0.0)

    def of_values(self, domain: Domain) -> Floats:
        """Members of each label by all values of the attribute."""
        return self.of_sizes(self.members(domain).sizes)


class Nominal(Coverage[SetPenalty]):
    """A column whose values are equal or not."""

    @cached_property
    def _before(self) -> Members:
        return self.penalty.members(self.column.before)

    @cached_property
    def _after(self) -> Members:
        return self.penalty.members(self.column.after)

    def growth(self, before: Codes, after: Codes) -> Floats:
        """Growth of the certainty penalty where the new label covers the old one; 1 otherwise."""
        grown = self.penalty.of_sizes(self._after.sizes[after]) - self.penalty.of_sizes(self._before.sizes[before])
        return np.where(self._covered(before, after), grown, 1.0)

    def _covered(self, before: Codes, after: Codes) -> NDArray[np.bool_]:
        """Whether every member of an old label is one of the new label."""
        radix = self.column.before.size
        labels, codes = self._after.of_labels(np.arange(self.column.after.size))
        rows, wanted = self._before.of_labels(before)
        outside = ~np.isin(after[rows] * radix + wanted, labels * radix + codes)
        return (np.bincount(rows[outside], minlength=len(before)) == 0) & (self._before.sizes[before] > 0)

    def distance(self, before: Floats, after: Floats) -> float:
        """Total variation distance. O(values and members of sets)."""
        own, sizes = self.column.same[:-1], self._after.sizes
        spread = (own < 0) & (sizes > 0)
        labels, codes = self._after.of_labels(np.flatnonzero(spread))
        landed = self.column.returned(after) + np.bincount(codes, (after[spread] / sizes[spread])[labels], len(before))
        return total_variation(before, landed, float(after[(own < 0) & (sizes == 0)].sum()))

    def groups(self) -> NDArray[np.intp]:
        """The most frequent values each by itself; a set label before is a value of its own."""
        return groups_of_frequent(self.column.before)

    def landing(self, groups: NDArray[np.intp], number: int) -> Floats:
        """A set label is spread over its members. O(values and members of sets)."""
        own, sizes = self.column.same[:-1], self._after.sizes
        shares = own_shares(own, groups, number)
        spread = np.flatnonzero((own < 0) & (sizes > 0))
        labels, codes = self._after.of_labels(spread)
        np.add.at(shares, (spread[labels], groups[codes]), 1 / sizes[spread][labels])
        return shares
