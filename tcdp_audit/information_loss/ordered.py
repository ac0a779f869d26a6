"""Numbers and ranks, single or in ranges: width, displacement, earth mover's distance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.encoding import Domain
from tcdp_audit.exact import Floats
from tcdp_audit.information_loss.columns import records_with, unknown
from tcdp_audit.information_loss.coverage import Coverage
from tcdp_audit.keys import Codes

LARGEST = 1e100  # numbers beyond stand here, so that squares and sums of them stay finite


@dataclass(frozen=True)
class Ranges:
    """What each value of a domain covers. All shapes (domain,); a single number is a range of width 0.

    Args:
        low: lower ends.
        high: upper ends.
        low_open: whether the lower end is left out.
        high_open: whether the upper end is left out.
    """

    low: Floats
    high: Floats
    low_open: NDArray[np.bool_]
    high_open: NDArray[np.bool_]

    @property
    def width(self) -> Floats:
        """Upper end minus lower end."""
        return self.high - self.low

    @property
    def middle(self) -> Floats:
        """Half way between the ends."""
        return self.low + self.width / 2

    def within(self, least: float, largest: float) -> Ranges:
        """The same ranges cut to an interval; single numbers stay."""
        single = self.low == self.high
        low, high = (np.where(single, end, np.clip(end, least, largest)) for end in (self.low, self.high))
        return Ranges(low, high, self.low_open, self.high_open)

    def inside(self, support: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the numbers of a sorted support that each range covers start, and where they end."""
        left, right = (np.searchsorted(support, self.low, side) for side in ("left", "right"))
        start = np.where(self.low_open, right, left)
        left, right = (np.searchsorted(support, self.high, side) for side in ("left", "right"))
        return start, np.maximum(np.where(self.high_open, left, right), start)


class Ordered(Coverage):
    """A numeric column, or an ordinal one by its ranks."""

    @cached_property
    def _limits(self) -> tuple[float, float]:
        """Least and largest number before; first and last rank of a declared order."""
        order = self.column.declaration.order
        if not self.column.is_numeric and order is not None:
            return 0.0, float(len(order) - 1)
        found, told = ranges(self.column.before), ~unknown(self.column.before)[:-1]
        ends = np.concatenate([found.low[told], found.high[told]])
        ends = ends[np.isfinite(ends)]
        return (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 0.0)

    @cached_property
    def _before(self) -> Ranges:
        return ranges(self.column.before).within(*self._limits)

    @cached_property
    def _after(self) -> Ranges:
        return ranges(self.column.after).within(*self._limits)

    def _of_range(self, lengths: Floats) -> Floats:
        """Lengths as parts of the range before, at most 1; where there is but one value any length is all of it."""
        extent = self._limits[1] - self._limits[0]
        return np.minimum(lengths / extent, 1.0) if extent else (lengths > 0).astype(np.float64)

    def penalties(self, domain: Domain) -> Floats:
        """Width of a range by the range of the attribute; 0 for a single number."""
        return self._of_range((self._before if domain is self.column.before else self._after).width)

    def growth(self, before: Codes, after: Codes) -> Floats:
        """How much wider the new range is, plus how far the old one sticks out of it, by the range of the attribute.

        For one number replaced by another this is their difference.
        """
        old, new = self._before, self._after
        wider = np.maximum(new.width[after] - old.width[before], 0)
        outside = np.maximum(new.low[after] - old.low[before], old.high[before] - new.high[after])
        return self._of_range(wider + np.maximum(outside, 0))

    def numbers(self, domain: Domain) -> Floats:
        """The number or rank of each code, a range's middle; NaN where there is none. Shape (domain + 1,)."""
        middle = (self._before if domain is self.column.before else self._after).middle
        return np.where(unknown(domain), np.nan, np.append(middle, np.nan))

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

    def distance(self, before: Floats, after: Floats) -> float:
        """Earth mover's distance by the range of the attribute, at most 1. O(values log values)."""
        support, where = np.unique(self._before.middle[before > 0], return_inverse=True)
        standing = np.bincount(where, weights=before[before > 0])
        points, landed = self._landed(support, after)
        work = _earth_moved(np.concatenate([support, points]), np.concatenate([standing / before.sum(), -landed]))
        return float(self._of_range(np.array([work]))[0])

    def _landed(self, support: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Points and shares of the distribution after."""
        start, end = self._after.inside(support)
        spread = (self._after.width > 0) & (end > start) & (self.column.same[:-1] < 0)
        each = weights[spread] / (end - start)[spread]
        steps = np.bincount(start[spread], each, len(support) + 1) - np.bincount(end[spread], each, len(support) + 1)
        points = np.concatenate([self._after.middle[~spread], support])
        return points, np.concatenate([weights[~spread], np.cumsum(steps)[:-1]]) / weights.sum()


def ranges(domain: Domain) -> Ranges:
    """What each value of a domain covers: itself where no value is generalised."""
    if domain.covers is None:
        own = (domain.values if domain.values.dtype != object else np.arange(domain.size)).astype(np.float64)
        own, closed = np.clip(own, -LARGEST, LARGEST), np.zeros(domain.size, dtype=bool)
        return Ranges(own, own, closed, closed)
    ends = np.array([(one.low, one.high) for one in domain.covers], dtype=np.float64).reshape(-1, 2)
    ends = np.where(np.isfinite(ends), np.clip(ends, -LARGEST, LARGEST), ends)
    opened = np.array([(one.low_open, one.high_open) for one in domain.covers], dtype=bool).reshape(-1, 2)
    return Ranges(ends[:, 0], ends[:, 1], opened[:, 0], opened[:, 1])


def _earth_moved(points: Floats, surplus: Floats) -> float:
    """The work of moving a surplus that sums to 0: the area under the absolute cumulated surplus."""
    order = np.argsort(points, kind="stable")
    return float(np.abs(np.cumsum(surplus[order])[:-1]) @ np.diff(points[order]))
