"""One attribute of release and original, pair by pair, as codes over a common domain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Codes, Counts
from tcdp_audit.plugin.check import Pairs


@dataclass(frozen=True)
class AttributePairs:
    """What an interval check sees of one attribute.

    Args:
        name: the attribute.
        values: the common domain in ascending order, shape (domain,).
        released: code of every pair's masked value, the domain's size where it is missing, shape (pairs,).
        original: code of every pair's original value, likewise.
        released_counts: records of the whole release with each value, shape (domain,).
        original_counts: records of the whole original with each value, shape (domain,).
    """

    name: str
    values: NDArray[Any]
    released: Codes
    original: Codes
    released_counts: Counts
    original_counts: Counts

    @property
    def is_constant(self) -> bool:
        """Whether all original values are equal, so that there is nothing to disclose and no spread."""
        return int(np.count_nonzero(self.original_counts)) == 1

    @cached_property
    def missing(self) -> int:
        """Pairs in which one value or both are missing."""
        nowhere = len(self.values)
        return int(((self.released == nowhere) | (self.original == nowhere)).sum())

    @property
    def may_have_values(self) -> bool:
        """Whether any pair of the whole tables may have both values."""
        return bool(self.released_counts.any() and self.original_counts.any())

    @property
    def has_values(self) -> bool:
        """Whether any pair has both values."""
        return self.missing < len(self.released)


def attribute_pairs(pairs: Pairs, name: str) -> AttributePairs:
    """The pairs of one attribute. O(pairs)."""
    released, original = pairs.released.domains[name], pairs.original.domains[name]
    return AttributePairs(
        name,
        released.values,
        pairs.released.codes[name][pairs.matched],
        pairs.original.codes[name][pairs.partner[pairs.matched]],
        released.counts,
        original.counts,
    )
