"""Loss of numbers: IL1s, errors of means, and the change of correlations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tcdp_audit.core.base.frozen import Floats
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.information_loss.columns import records_with
from tcdp_audit.core.information_loss.ordered import Ordered

BLOCK = 2**16  # records at a time


@dataclass(frozen=True)
class Deviation:
    """IL1s: the mean deviation of numbers, each by the square root of 2 times its standard deviation before.

    Args:
        value: the mean over `cells`; None without any.
        attributes: the mean of each attribute that has any.
        cells: cells of records that stayed with a number before and after.
        cells_left_out: cells of records that stayed without: suppressed or missing, or of an attribute that has but
            one value before.
        records_left_out: suppressed records.
    """

    value: float | None
    attributes: dict[str, float]
    cells: int
    cells_left_out: int
    records_left_out: int


def deviation(columns: Sequence[Ordered], suppressed: int) -> Deviation:
    """IL1s of some numeric columns.

    |x - x'| / (sqrt(2) s), s the sample standard deviation before, averaged over all cells. A range stands at its
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
    """How far means moved, each by the standard deviation before.

    Args:
        value: the mean over the attributes that have one; None without any.
        attributes: of each attribute that has numbers before and after, and more than one before.
    """

    value: float | None
    attributes: dict[str, float]


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
            after = float(numbers[known] @ (records[known] / records[known].sum()))
            errors[one.column.name] = abs(after - mean) / spread
    return MeanError(sum(errors.values()) / len(errors) if errors else None, errors)


@dataclass(frozen=True)
class CorrelationChange:
    """The change of correlations.

    Args:
        value: mean absolute difference of Pearson's correlations before and after; None without pairs.
        pairs: how many pairs of attributes had a correlation before.
        largest: the largest of the differences; None without pairs.
    """

    value: float | None
    pairs: int
    largest: float | None = None


def correlation_change(columns: Sequence[Ordered]) -> CorrelationChange:
    """Change of the correlations between pairs of numeric columns; each by the records with both numbers.

    A range stands at its middle. A pair of which one has but one value after has lost its correlation: 0.

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
        yield np.stack([table[codes[start:end]] for table, (_, _, codes) in zip(tables, sides, strict=True)], axis=1)
