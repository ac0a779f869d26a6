"""Numbers and ranks, single or in ranges: width, displacement, earth mover's distance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import Floats
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import Ranges
from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.information_loss.columns import records_with
from tcdp_audit.core.information_loss.coverage import MOST_GROUPS, Coverage
from tcdp_audit.core.information_loss.penalty import Penalty
from tcdp_audit.core.policy.model import AttributeDeclaration

RANGES = 10  # groups of numbers, of more than can each stand alone
LARGEST = 1e100  # numbers beyond stand here, so that squares and sums of them stay finite


@dataclass(frozen=True)
class RangePenalty(Penalty):
    """Width of a range by the range of the attribute; 0 for a single number.

    Args:
        limits: least and largest number of the attribute; first and last rank of a declared order.
    """

    limits: tuple[float, float]

    @classmethod
    def of_attribute(cls, declaration: AttributeDeclaration, domain: Domain) -> RangePenalty:
        """The penalty of an attribute with the values of a domain."""
        if declaration.order is not None:
            return cls((0.0, float(len(declaration.order) - 1)))
        return cls(ranges(domain).limits)  # of a suppressed value no end is finite

    def ranges(self, domain: Domain) -> Ranges:
        """The range of each value of a domain within the limits."""
        return ranges(domain).within(*self.limits)

    def share(self, lengths: Floats) -> Floats:
        """Lengths as parts of the range, at most 1; where there is but one value any length is all of it."""
        extent = self.limits[1] - self.limits[0]
        return np.minimum(lengths / extent, 1.0) if extent else (lengths > 0).astype(np.float64)

    def of_values(self, domain: Domain) -> Floats:
        """Width of each value's range by the range of the attribute."""
        return self.share(self.ranges(domain).width)


class Ordered(Coverage[RangePenalty]):
    """A numeric column, or an ordinal one by its ranks."""

    @cached_property
    def _before(self) -> Ranges:
        return self.penalty.ranges(self.column.before)

    @cached_property
    def _after(self) -> Ranges:
        return self.penalty.ranges(self.column.after)

    def _middles(self, ranges: Ranges) -> Floats:
        return ranges.middles(*self.penalty.limits)

    def growth(self, before: Codes, after: Codes) -> Floats:
        """Growth of the width, plus how far the old range sticks out of the new one, by the range of the attribute.

        For one number replaced by another this is their difference.
        """
        old, new = self._before, self._after
        wider = np.maximum(new.width[after] - old.width[before], 0)
        outside = np.maximum(new.low[after] - old.low[before], old.high[before] - new.high[after])
        return self.penalty.share(wider + np.maximum(outside, 0))

    def numbers(self, domain: Domain) -> Floats:
        """The number or rank of each code, a range's middle; NaN where there is none. Shape (domain + 1,)."""
        ranges = self._before if domain is self.column.before else self._after
        return np.where(domain.is_uninformative, np.nan, np.append(self._middles(ranges), np.nan))

    def standard_scores(self, domain: Domain) -> Floats:
        """The numbers less their mean before, by their standard deviation before; see `numbers`."""
        mean, deviation = self.moments
        return (self.numbers(domain) - mean) / (deviation or 1.0)

    @cached_property
    def moments(self) -> tuple[float, float]:
        """Mean and sample standard deviation before; (0, 0) without numbers."""
        numbers, records = self.numbers(self.column.before), records_with(self.column.before)
        known = np.isfinite(numbers) & (records > 0)
        numbers, records = numbers[known], records[known]
        if not known.any() or numbers.min() == numbers.max():
            return float(numbers[0]) if known.any() else 0.0, 0.0
        total = int(records.sum())
        mean = float(numbers @ records) / total
        return mean, float(np.sqrt((numbers - mean) ** 2 @ records / (total - 1)))

    def groups(self) -> NDArray[np.intp]:
        """Consecutive values, a range at its middle."""
        before = self.column.before
        known = np.flatnonzero(~before.is_uninformative[:-1] & (records_with(before)[:-1] > 0))
        support, place = np.unique(self._middles(self._before)[known], return_inverse=True)
        groups = np.full(before.size, -1, dtype=np.intp)
        if len(support) <= MOST_GROUPS:
            groups[known] = place
            return groups
        records = np.bincount(place, records_with(before)[known], len(support))
        tenth = np.floor(RANGES * (np.cumsum(records) - records / 2) / records.sum()).astype(np.intp)
        groups[known] = np.unique(tenth, return_inverse=True)[1][place]
        return groups

    def landing(self, groups: NDArray[np.intp], number: int) -> Floats:
        """A range is spread over the values before within it. O(values x groups)."""
        known = groups >= 0
        support, first = np.unique(self._middles(self._before)[known], return_index=True)
        starts = np.searchsorted(groups[known][first], np.arange(number))
        own = np.searchsorted(support[starts], self._middles(self._after), side="right") - 1
        shares = (np.maximum(own, 0)[:, None] == np.arange(number)).astype(np.float64)
        start, end = (one[:, None] for one in self._after.inside(support))
        within = np.minimum(end, np.append(starts[1:], len(support))) - np.maximum(start, starts)
        spread = (self._after.width > 0) & (end > start)[:, 0] & (self.column.same[:-1] < 0)
        shares[spread] = np.maximum(within, 0)[spread] / (end - start)[spread]
        return shares

    def distance(self, before: Floats, after: Floats) -> float:
        """Earth mover's distance by the range of the attribute, at most 1. O(values log values)."""
        support, where = np.unique(self._middles(self._before)[before > 0], return_inverse=True)
        standing = np.bincount(where, weights=before[before > 0])
        points, landed = self._landed(support, after)
        work = _work_of_moving(np.concatenate([support, points]), np.concatenate([standing / before.sum(), -landed]))
        return float(self.penalty.share(np.array([work]))[0])

    def _landed(self, support: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Points and shares of the distribution after."""
        start, end = self._after.inside(support)
        spread = (self._after.width > 0) & (end > start) & (self.column.same[:-1] < 0)
        each = weights[spread] / (end - start)[spread]
        steps = np.bincount(start[spread], each, len(support) + 1) - np.bincount(end[spread], each, len(support) + 1)
        points = np.concatenate([self._middles(self._after)[~spread], support])
        return points, np.concatenate([weights[~spread], np.cumsum(steps)[:-1]]) / weights.sum()


def ranges(domain: Domain) -> Ranges:
    """The range of each value of a domain: itself where no value is generalised. Finite ends are clipped to 1e100."""
    if domain.covers is None:
        own = (domain.values if domain.values.dtype != object else np.arange(domain.size)).astype(np.float64)
        return Ranges.of_numbers(np.clip(own, -LARGEST, LARGEST))
    covered = Ranges.of(domain.covers)
    low, high = (
        np.where(np.isfinite(end), np.clip(end, -LARGEST, LARGEST), end) for end in (covered.low, covered.high)
    )
    return replace(covered, low=low, high=high)


def _work_of_moving(points: Floats, surplus: Floats) -> float:
    """The work of moving a surplus that sums to 0: the area under the absolute cumulated surplus."""
    order = np.argsort(points, kind="stable")
    return float(np.abs(np.cumsum(surplus[order])[:-1]) @ np.diff(points[order]))
