"""Losses of ordered attributes, and of numeric ones their moments, correlations and distances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import fsum

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import Ranges
from tcdp_audit.core.encoding.keys import Codes, Floats
from tcdp_audit.core.information_loss.columns import records_with
from tcdp_audit.core.information_loss.coverage import MOST_GROUPS, Coverage, Penalty
from tcdp_audit.core.policy.model import AttributeDeclaration

RANGES = 10  # groups of numbers where there are too many for one group each
LARGEST = 1e100  # numbers beyond count as this, so that squares and sums of them stay finite
BLOCK = 2**16  # records at a time


@dataclass(frozen=True)
class RangePenalty(Penalty):
    """Width of a range by the range of the attribute; 0 for a single number."""

    limits: tuple[float, float]  # least and largest number of the attribute; first and last rank of a declared order

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
        mean = _mean(numbers, records)
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
        masses_before = np.bincount(where, weights=before[before > 0])
        points, masses_after = self._mass_points(support, after)
        work = _work_of_moving(
            np.concatenate([support, points]), np.concatenate([masses_before / before.sum(), -masses_after])
        )
        return float(self.penalty.share(np.array([work]))[0])

    def _mass_points(self, support: Floats, weights: Floats) -> tuple[Floats, Floats]:
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


@dataclass(frozen=True)
class Deviation:
    """IL1s: the mean deviation of numbers, each by the square root of 2 times its standard deviation before."""

    value: float | None  # the mean over `cells`; None without any
    attributes: dict[str, float]  # the mean of each attribute that has any
    cells: int  # cells of records that stayed with a number before and after
    # cells of records that stayed without: suppressed or missing, or of an attribute that has but one value before
    cells_left_out: int
    records_left_out: int  # suppressed records


def deviation(columns: Sequence[Ordered], suppressed: int) -> Deviation:
    """IL1s of some numeric columns.

    |x - x'| / (sqrt(2) s), s the sample standard deviation before, averaged over all cells. A range counts as its
    middle.

    Cost: O(distinct changes of values).

    Source: Mateo-Sanz, Domingo-Ferrer, Sebé, Data Mining and Knowledge Discovery 11, 2005; as in sdcMicro.
    """
    sums: dict[str, tuple[float, int]] = {}
    left_out = 0
    for one in columns:
        change = one.column.transitions
        apart = np.abs(one.numbers(one.column.before)[change.before] - one.numbers(one.column.after)[change.after])
        there = np.isfinite(apart) & (one.moments[1] > 0)
        cells = int(change.records[there].sum())
        left_out += int(change.records.sum()) - cells
        if cells:
            far = float(apart[there] @ change.records[there]) / (np.sqrt(2) * one.moments[1])
            sums[one.column.name] = float(far), cells
    cells = sum(count for _, count in sums.values())
    return Deviation(
        value=sum(far for far, _ in sums.values()) / cells if cells else None,
        attributes={name: far / count for name, (far, count) in sums.items()},
        cells=cells,
        cells_left_out=left_out,
        records_left_out=suppressed,
    )


@dataclass(frozen=True)
class MeanError:
    """The distance by which means moved, in standard deviations before."""

    value: float | None  # the mean over the attributes that have one; None without any
    attributes: dict[str, float]  # of each attribute that has numbers before and after, and more than one before


def _mean(numbers: Floats, records: NDArray[np.int64]) -> float:
    """The mean of some numbers, each of so many records: the same on every processor, as the sum is rounded once."""
    return fsum(numbers * records) / int(records.sum())


def mean_error(columns: Sequence[Ordered]) -> MeanError:
    """Error of the means of numeric columns: |m - m'| / s, s the sample standard deviation before.

    m' is over all numbers of the records that stayed, a range at its middle.

    Cost: O(values).
    """
    errors: dict[str, float] = {}
    for one in columns:
        domain = one.column.after
        numbers, records = one.numbers(domain), records_with(domain)
        known = np.isfinite(numbers) & (records > 0)
        mean, spread = one.moments
        if known.any() and spread:
            errors[one.column.name] = abs(_mean(numbers[known], records[known]) - mean) / spread
    return MeanError(sum(errors.values()) / len(errors) if errors else None, errors)


@dataclass(frozen=True)
class CorrelationChange:
    """The change of correlations."""

    value: float | None  # mean absolute difference of Pearson's correlations before and after; None without pairs
    pairs: int  # how many pairs of attributes had a correlation before
    largest: float | None = None  # the largest of the differences; None without pairs


def correlation_change(columns: Sequence[Ordered]) -> CorrelationChange:
    """Change of the correlations between pairs of numeric columns; each by the records with both numbers.

    A range counts as its middle. A pair of which one has but one value after has lost its correlation: 0.

    Cost: O(records x columns squared).
    """
    if len(columns) < 2:
        return CorrelationChange(None, 0)
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    with threadpool_limits(1, "blas"):
        before = _correlations([(one, one.column.before, one.column.before_codes) for one in columns])
        after = _correlations([(one, one.column.after, one.column.after_codes) for one in columns])
    pairs = np.triu_indices(len(columns), 1)
    old, new = before[pairs], after[pairs]
    known = np.isfinite(old)
    if not known.any():
        return CorrelationChange(None, 0)
    changes = np.abs(old - np.nan_to_num(new))[known]
    return CorrelationChange(float(changes.mean()), len(changes), float(changes.max()))


Side = tuple[Ordered, Domain, Codes]


def _correlations(sides: Sequence[Side]) -> Floats:
    """Pairwise complete correlations; NaN where one of a pair does not vary. Shape (columns, columns)."""
    size = len(sides)
    counts, sums, squares, products = (np.zeros((size, size)) for _ in range(4))
    for numbers in _blocks(sides):
        checkpoint()
        known = np.isfinite(numbers).astype(np.float64)
        filled = np.nan_to_num(numbers)
        counts += known.T @ known
        sums += filled.T @ known
        squares += (filled**2).T @ known
        products += filled.T @ filled
    with np.errstate(invalid="ignore", divide="ignore"):
        covariances = products / counts - sums * sums.T / counts**2
        variances = squares / counts - (sums / counts) ** 2
        spread = np.sqrt(np.where(variances > 1e-12, variances, np.nan))  # of standardised numbers: above rounding
        return np.clip(covariances / (spread * spread.T), -1, 1)


def _blocks(sides: Sequence[Side]) -> Iterator[Floats]:
    """The columns' numbers, standardised by what they were before, some records at a time."""
    tables = [one.standard_scores(domain) for one, domain, _ in sides]
    records = len(sides[0][2])
    for start, end in pairwise([*range(0, records, BLOCK), records]):
        checkpoint()
        yield np.stack([table[codes[start:end]] for table, (_, _, codes) in zip(tables, sides, strict=True)], axis=1)
