"""What is asked of a confidential attribute, and whether it can be attained."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from tcdp_audit.remedy_view import Attribute
from tcdp_audit_plugins.remedies.bucketization.attainability import Construction
from tcdp_audit_plugins.remedies.bucketization.buckets import Buckets, bucketise


@dataclass(frozen=True, eq=False)
class Demand:
    """Bucketise an attribute so that classes of k records or more are t-close.

    Args:
        attribute: the attribute.
        t: the largest ratio, at least 1.
        k: the least class size.
        asked: how many buckets; None for floor(t) + 1.
        missing_counts: whether a missing value is a value of its own.
    """

    attribute: Attribute
    t: Fraction
    k: int
    asked: int | None = None
    missing_counts: bool = False
    _found: dict[int, Buckets] = field(default_factory=dict, repr=False)

    @cached_property
    def values(self) -> int:
        """How many different values there are."""
        present = np.bincount(self.attribute.codes, minlength=self.attribute.domain.size + 1)[:-1]
        return int(np.count_nonzero(present))

    @cached_property
    def number(self) -> int:
        """How many buckets of values: as many as asked for; by default as t allows and there are values."""
        return min(int(self.t) + 1, self.values) if self.asked is None else self.asked

    @property
    def buckets(self) -> Buckets:
        """The buckets. They are made once for each number of them."""
        if self.number not in self._found:
            self._found[self.number] = bucketise(self.attribute, self.number, missing_counts=self.missing_counts)
        return self._found[self.number]

    @cached_property
    def construction(self) -> Construction:
        """Classes over the buckets."""
        return Construction(self.buckets.masses, self.t)

    @cached_property
    def rounds(self) -> int:
        """How many classes can emphasise each bucket, at most; 0 where t and k cannot be attained."""
        if self.k < self.construction.buckets:
            return 0
        return int(self.construction.rounds(self.k).max(initial=0))

    def at(self, t: Fraction) -> Demand:
        """The same demand with another t."""
        return replace(self, t=t)

    def with_buckets(self, number: int) -> Demand:
        """The same demand with another number of buckets."""
        return replace(self, asked=number)
