"""A column of two releases as features of a model: a number, or one for each frequent value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.arrays import Floats
from tcdp_audit.core.information_loss.columns import records_with
from tcdp_audit.core.information_loss.coverage import Coverage
from tcdp_audit.core.information_loss.ordered import Ordered

LEAST = 10  # records before that a value needs to be told apart: no figure is about fewer


@dataclass(frozen=True)
class Side:
    """The features of one column in one release.

    Args:
        table: the features of each code, the missing one last; NaN where a cell tells nothing. Shape (codes, features).
        codes: the code of each record.
    """

    table: Floats
    codes: NDArray[Any]

    def of(self, records: slice | NDArray[np.intp]) -> Floats:
        """The features of some records. Shape (records, features)."""
        return self.table[self.codes[records]]


@dataclass(frozen=True)
class Features:
    """The features of one column.

    Args:
        name: the column's.
        levels: of each feature, the place of its value among the values before, the most frequent being 1; None for a
            number. The value of place 1 has no feature: the others are compared with it.
        spread: what a unit of each feature is in the column's own unit.
        before: in the first release.
        after: in the second one.
    """

    name: str
    levels: tuple[int | None, ...]
    spread: float
    before: Side
    after: Side


def features_of(coverage: Coverage[Any]) -> Features:
    """A number, or how much of a cell is each frequent value.

    Numbers and ranks are standardised by what they were before, a range at its middle. Of a nominal column the 20 most
    frequent values but the first have a feature, and all others together; values that fewer than ten records have are
    among the others. A generalised cell is a share of each value that it covers.
    """
    column = coverage.column
    if isinstance(coverage, Ordered):
        before, after = (coverage.standard_scores(domain)[:, None] for domain in (column.before, column.after))
        levels: tuple[int | None, ...] = (None,)
        spread = coverage.moments[1] or 1.0
    else:
        before, after = _shares(coverage)
        levels, spread = tuple(range(2, 2 + before.shape[1])), 1.0
    return Features(column.name, levels, spread, Side(before, column.before_codes), Side(after, column.after_codes))


def _shares(coverage: Coverage[Any]) -> tuple[Floats, Floats]:
    """The share of each value but the most frequent one, before and after."""
    groups = _frequent(coverage)
    number = int(groups.max(initial=-1)) + 1
    before = (np.append(groups, -1)[:, None] == np.arange(number)).astype(np.float64)
    after = project_to_groups(coverage, groups, number)
    return _known(before), _known(after)


def _known(shares: Floats) -> Floats:
    """The shares without those of the most frequent value; NaN where a cell has none at all."""
    return np.where(shares.any(axis=1, keepdims=True), shares, np.nan)[:, 1:]


def project_to_groups(coverage: Coverage[Any], groups: NDArray[np.intp], number: int) -> Floats:
    """The share of each group of values in each code after, the missing one last; none where a cell tells nothing."""
    after = np.vstack([coverage.landing(groups, number), np.zeros(number)])
    after[coverage.column.after.is_uninformative] = 0.0
    return after


def _frequent(coverage: Coverage[Any]) -> NDArray[np.intp]:
    """The groups of a nominal column, those of fewer than ten records put together, or to the least of the others."""
    groups, domain = coverage.groups(), coverage.column.before
    records = np.bincount(groups[groups >= 0], records_with(domain)[:-1][groups >= 0])
    own = records >= LEAST
    place = np.where(own, np.cumsum(own) - 1, own.sum())
    if 0 < records[~own].sum() < LEAST and own.any():
        place[~own] -= 1
    return np.append(place, -1)[groups]
