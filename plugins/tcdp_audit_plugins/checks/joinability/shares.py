"""What two tables have in common, exactly or between what: keys of either, of both together, and single records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from tcdp_audit.plugin._internal import interval_of_mean
from tcdp_audit_plugins.checks._shared.key_sketch import number_of_keys, rounded
from tcdp_audit_plugins.checks.joinability.common_keys import TableKeys

Number = Fraction | float
ERROR = Fraction(1, 100)  # how often some interval may miss
INTERVALS = 6  # that are right together: keys of either table, a share of each, of both, and of single records
EACH = float(ERROR) / INTERVALS


@dataclass(frozen=True)
class Between:
    """A figure, exact or estimated.

    Args:
        value: it, or its estimate.
        low: what the figure is not below.
        high: what it is not above; both are the value where that is exact.
    """

    value: Number
    low: Number
    high: Number

    @classmethod
    def share(cls, some: int, of: int, *, is_exact: bool) -> Between:
        """A share of all, from how many it is of those that were drawn; these are all where it is exact."""
        if is_exact:
            return cls(*[Fraction(some, of)] * 3)
        return cls(some / of, *interval_of_mean(some / of, of, EACH))

    @property
    def is_exact(self) -> bool:
        """Whether nothing was estimated."""
        return self.low == self.high

    def entry(self, name: str) -> dict[str, Number]:
        """How an outcome has it."""
        return {name: self.value, "low": self.low, "high": self.high}


def contained(one: TableKeys) -> Between:
    """The share of a table's keys that the other one has, too."""
    return Between.share(one.common, one.sampled, is_exact=one.sketch.is_complete)


def jaccard(tables: Sequence[TableKeys]) -> Between:
    """The share of the keys of either table that both have.

    Of the keys of either, those with the smallest hashes are among those kept of the one or of the other.
    """
    own, theirs = (table.sketch for table in tables)
    either = np.union1d(own.hashes, theirs.hashes)
    is_exact = own.is_complete and theirs.is_complete
    drawn = either if is_exact else either[: own.keep]
    both = int((np.isin(drawn, own.hashes) & np.isin(drawn, theirs.hashes)).sum())
    return Between.share(both, len(drawn), is_exact=is_exact)


def common_keys(tables: Sequence[TableKeys]) -> Between:
    """How many keys both tables have: counted where all keys of one were kept, else keys of one times the share.

    The table of which a larger share is common shows it better.
    """
    for one in tables:
        if one.sketch.is_complete:
            return Between(*[one.common] * 3)
    best = max(tables, key=lambda one: Fraction(one.common, one.sampled))
    share = contained(best)
    keys, fewest, most = number_of_keys(best.sketch, EACH)
    return Between(
        _whole(keys * share.value, round), _whole(fewest * share.low, floor), _whole(most * share.high, ceil)
    )


def one_to_one(release: TableKeys, records: int) -> Between:
    """The share of released records that are alone with their key, and whose key a single record elsewhere has.

    Args:
        release: its keys.
        records: how many records it has, those without a key included.
    """
    single = int(((release.sketch.records == 1) & (release.elsewhere == 1)).sum())
    if release.sketch.is_complete:
        return Between(*[Fraction(single, records)] * 3)
    share = Between.share(single, release.sampled, is_exact=False)
    keys, fewest, most = number_of_keys(release.sketch, EACH)
    scaled = ((keys, share.value), (fewest, share.low), (most, share.high))
    return Between(*(min(1.0, float(number * one / records)) for number, one in scaled))


def _whole(number: Any, to: Any) -> int:
    return rounded(float(number), to) if number else 0
