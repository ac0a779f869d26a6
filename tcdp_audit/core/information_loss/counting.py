"""A workload of counting queries: the cells of all tables of one and of two columns, and of declared ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.keys import Codes, Floats
from tcdp_audit.core.information_loss.coverage import Coverage, project_to_groups

BLOCK = 2**16  # pairs of landings at a time
LEAST = 1000  # a count is compared with no less than this part of all records


@dataclass(frozen=True)
class CountingError:
    """The error of counting queries."""

    value: float | None  # the mean relative error of all queries; None without any
    one_way: float | None  # of those on one column
    two_way: float | None  # of those on two columns; None without a pair
    queries: int  # how many there are


@dataclass(frozen=True)
class TableError:
    """The error of the counts of a declared table."""

    by: tuple[str, ...]  # its columns
    value: float | None = None  # the mean relative error of its cells; None without any
    largest: float | None = None  # the largest of them
    queries: int = 0  # how many cells it has
    reason: str = ""  # why there is no value, or nothing


@dataclass(frozen=True)
class _Side:
    """A column of one release by what its records count for."""

    shares: Floats  # how different records are divided among the groups of values, shape (landings, groups)
    landing: NDArray[np.int64]  # the row of each record, shape (records,)

    @classmethod
    def of(cls, shares: Floats, codes: Codes) -> _Side:
        """Take the shares of each code, the missing one included: equal rows become one."""
        distinct, row = _distinct(shares)
        return cls(distinct, row[codes])

    def counts(self) -> Floats:
        """The records of each group."""
        return np.bincount(self.landing, minlength=len(self.shares)).astype(np.float64) @ self.shares

    def counts_with(self, other: _Side) -> Floats:
        """The records of each pair of groups. Shape (groups, groups of the other)."""
        pairs, records = np.unique(self.landing * len(other.shares) + other.landing, return_counts=True)
        rows, columns = np.divmod(pairs, len(other.shares))
        table = np.zeros((self.shares.shape[1], other.shares.shape[1]))
        for start, end in pairwise([*range(0, len(pairs), BLOCK), len(pairs)]):
            checkpoint()
            here = slice(start, end)
            table += (self.shares[rows[here]] * records[here, None]).T @ other.shares[columns[here]]
        return table


def counting_error(columns: Sequence[Coverage[Any]], records: int) -> CountingError:
    """The mean relative error of all counts of one and of two groups of values.

    |c - c'| / max(c, N / 1000, 1): c records have the values before, c' after. A generalised record counts for each
    group by the share of the values before that it covers; one that is uninformative counts nowhere.

    Args:
        columns: the columns.
        records: N, the records before.

    Cost: for each pair of columns a sort of the records.

    Source: for generalised tables Xiao, Tao, Anatomy, VLDB 2006; the least count as Xiao, Wang, Gehrke, ICDE 2010.
    """
    grouped = [(one, groups) for one in columns if (groups := one.groups()).max(initial=-1) >= 0]
    if not grouped:
        return CountingError(None, None, None, 0)
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    sides = [_sides(one, groups) for one, groups in grouped]
    least = max(records / LEAST, 1.0)
    with threadpool_limits(1, "blas"):  # one order of summation
        one_way = np.concatenate([_errors(old.counts(), new.counts(), least) for old, new in sides])
        tables = (
            (old.counts_with(old_2), new.counts_with(new_2)) for (old, new), (old_2, new_2) in combinations(sides, 2)
        )
        two_way = np.concatenate([np.zeros(0), *(_errors(old.ravel(), new.ravel(), least) for old, new in tables)])
    return CountingError(
        value=float(np.concatenate([one_way, two_way]).mean()),
        one_way=float(one_way.mean()),
        two_way=float(two_way.mean()) if len(two_way) else None,
        queries=len(one_way) + len(two_way),
    )


def table_error(by: Sequence[str], columns: Mapping[str, Coverage[Any]], records: int) -> TableError:
    """The error of the counts of a table of one to three columns; see `counting_error`.

    Args:
        by: its columns.
        columns: both releases, by name.
        records: N, the records before.

    Cost: a sort of the records; of three columns with generalised cells the product of the groups for each
    combination of cells.
    """
    absent = [one for one in by if one not in columns]
    if absent:
        return TableError(tuple(by), reason=f"column {absent[0]!r} is not in the release")
    grouped = [(one, one.groups()) for one in (columns[name] for name in by)]
    empty = [one.column.name for one, groups in grouped if groups.max(initial=-1) < 0]
    if empty:
        return TableError(tuple(by), reason=f"column {empty[0]!r} has no value in the release before the repair")
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    pairs = [_sides(one, groups) for one, groups in grouped]
    with threadpool_limits(1, "blas"):  # one order of summation
        before, after = (_table([pair[side] for pair in pairs]) for side in (0, 1))
    errors = _errors(before.ravel(), after.ravel(), max(records / LEAST, 1.0))
    return TableError(tuple(by), float(errors.mean()), float(errors.max()), len(errors))


def _table(sides: Sequence[_Side]) -> Floats:
    """The records of each combination of groups. Shape (groups of the first, groups of the second, ...)."""
    key = np.zeros(len(sides[0].landing), dtype=np.int64)
    for one in sides:
        key = key * len(one.shares) + one.landing
    distinct, records = np.unique(key, return_counts=True)
    rows = np.unravel_index(distinct, [len(one.shares) for one in sides])
    table = np.zeros([one.shares.shape[1] for one in sides])
    for start, end in pairwise([*range(0, len(distinct), BLOCK), len(distinct)]):
        checkpoint()
        parts = [one.shares[row[start:end]] for one, row in zip(sides, rows, strict=True)]
        table += _spread(parts, records[start:end].astype(np.float64))
    return table


def _spread(parts: Sequence[Floats], records: Floats) -> Floats:
    """Records that are divided among the groups of each column by their shares."""
    first, *rest = parts
    if not rest:
        return records @ first
    if len(rest) == 1:
        return (first * records[:, None]).T @ rest[0]
    return np.stack([_spread(rest, records * first[:, group]) for group in range(first.shape[1])])


def _errors(before: Floats, after: Floats, least: float) -> Floats:
    return np.abs(before - after) / np.maximum(before, least)


def _sides(coverage: Coverage[Any], groups: NDArray[np.intp]) -> tuple[_Side, _Side]:
    """A column before and after by its groups of values."""
    column, number = coverage.column, int(groups.max()) + 1
    before = np.append(groups, -1)[:, None] == np.arange(number)
    after = project_to_groups(coverage, groups, number)
    return _Side.of(before.astype(np.float64), column.before_codes), _Side.of(after, column.after_codes)


def _distinct(shares: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The different rows of shares, and which of them each row is. Rows of a single group need no sort."""
    number = shares.shape[1]
    single = np.vstack([np.eye(number), np.zeros((1, number))])
    row = np.full(len(shares), number, dtype=np.int64)
    whole = shares.max(axis=1, initial=0.0) == 1.0
    row[whole] = shares[whole].argmax(axis=1)
    mixed = ~whole & shares.any(axis=1)
    several, place = np.unique(shares[mixed], axis=0, return_inverse=True)
    row[mixed] = len(single) + place.reshape(-1)
    return np.vstack([single, several]), row
