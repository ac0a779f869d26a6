"""Regression coefficients of both releases, and how far their confidence intervals overlap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.information_loss.columns import records_with
from tcdp_audit.core.information_loss.coverage import Coverage
from tcdp_audit.core.information_loss.least_squares import Block, LeastSquares, least_squares, t_quantile
from tcdp_audit.core.information_loss.ordered import Ordered
from tcdp_audit.core.information_loss.prediction import LEAST_RECORDS_OF_A_VALUE, Features, Side, features_of
from tcdp_audit.core.policy.model import Regression

CONFIDENCE = 0.95
BLOCK = 2**14  # records at a time


@dataclass(frozen=True)
class Estimate:
    """A coefficient in the units of its columns, and its confidence interval."""

    estimate: float  # the coefficient
    low: float  # the lower end of its interval of 95 percent
    high: float  # the upper end


@dataclass(frozen=True)
class Effect:
    """The change of a coefficient."""

    column: str  # the attribute whose effect it is
    level: int | None  # of a nominal attribute the place of its value by frequency before, from 2; None of a number
    before: Estimate  # the coefficient before
    after: Estimate | None  # the one after; None where the release does not determine it any more
    overlap: float  # of the two intervals, from 0 to 1


@dataclass(frozen=True)
class Fitted:
    """One regression, fitted to both releases."""

    of: str  # the outcome
    by: tuple[str, ...]  # the attributes that it is explained by
    records: tuple[int, int] = (0, 0)  # with a value in each of these attributes, before and after
    effects: tuple[Effect, ...] = ()  # of each coefficient that the release determined before
    reason: str = ""  # why there is none, or nothing

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        overlaps = [one.overlap for one in self.effects]
        return {
            "of": self.of,
            "by": list(self.by),
            "records": {"before": self.records[0], "after": self.records[1]},
            "value": sum(overlaps) / len(overlaps) if overlaps else None,
            "least": min(overlaps, default=None),
            "effects": [asdict(one) for one in self.effects],
            "reason": self.reason,
        }


def regressions_as_json(fitted: Sequence[Fitted]) -> dict[str, Any]:
    """All regressions: mean and least overlap of the intervals of all coefficients, and each regression."""
    overlaps = [effect.overlap for one in fitted for effect in one.effects]
    return {
        "value": sum(overlaps) / len(overlaps) if overlaps else None,
        "least": min(overlaps, default=None),
        "coefficients": len(overlaps),
        "models": [one.as_json() for one in fitted],
    }


def regression(asked: Regression, columns: Mapping[str, Coverage[Any]], weight: str | None) -> Fitted:
    """A linear regression by least squares on both releases.

    Numbers and ranks have one coefficient, nominal attributes one for each frequent value but the most frequent; a
    range counts as its middle, a generalised nominal value is a share of each value that it covers. Records without a
    value in some column are left out. A coefficient that the release does not determine any more overlaps by 0.

    Args:
        asked: outcome and attributes.
        columns: both releases, by name.
        weight: the column of sampling weights, if any.

    Cost: two passes over each release of O(records x features squared).

    Source: Karr, Kohnen, Oganian, Reiter, Sanil, A framework for evaluating the utility of data altered to protect
    confidentiality, The American Statistician 60(3), 2006.
    """
    of, by = asked.of, tuple(asked.by)
    absent = [one for one in (of, *by, *([] if weight is None else [weight])) if one not in columns]
    if absent:
        return Fitted(of, by, reason=f"column {absent[0]!r} is not in the release")
    outcome, design = columns[of], [features_of(columns[one]) for one in by]
    unit = outcome.moments[1] or 1.0 if isinstance(outcome, Ordered) else 1.0
    scores, weights = features_of(outcome), None if weight is None else _weights(columns[weight])
    before = _fit([one.before for one in design], scores.before, None if weights is None else weights[0])
    after = _fit([one.after for one in design], scores.after, None if weights is None else weights[1])
    reason = _obstacle(before)
    effects = () if reason else tuple(_effects(design, unit, _estimates(before), _estimates(after)))
    return Fitted(of, by, (before.records, after.records), effects, reason)


def _fit(design: Sequence[Side], outcome: Side, weights: Side | None) -> LeastSquares:
    """One release, an intercept first."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    records, parts = len(outcome.codes), [*design, outcome, *([] if weights is None else [weights])]

    def blocks() -> Iterator[Block]:
        for start, end in pairwise([*range(0, records, BLOCK), records]):
            checkpoint()
            rows = np.hstack([np.ones((end - start, 1)), *(one.table[one.codes[start:end]] for one in parts)])
            rows = rows[np.isfinite(rows).all(axis=1)]
            y, own = (rows[:, -1], np.ones(len(rows))) if weights is None else (rows[:, -2], rows[:, -1])
            yield rows[:, :features], y, own

    features = 1 + sum(one.table.shape[1] for one in design)
    with threadpool_limits(1, "blas"):  # one order of summation
        return least_squares(blocks, features, weighted=weights is not None)


def _weights(column: Coverage[Any]) -> tuple[Side, Side]:
    """The weights before and after; NaN where there is none above 0."""
    if not isinstance(column, Ordered):
        raise TypeError(f"the weight {column.column.name!r} is not numeric")
    pair = column.column
    numbers = (np.where((one := column.numbers(domain)) > 0, one, np.nan) for domain in (pair.before, pair.after))
    before, after = (one[:, None] for one in numbers)
    return Side(before, pair.before_codes), Side(after, pair.after_codes)


def _obstacle(before: LeastSquares) -> str:
    """The reason why the coefficients before cannot be estimated, or nothing."""
    least = LEAST_RECORDS_OF_A_VALUE
    if before.freedom < least:
        return f"fewer than {least} records more than coefficients have a value in each of its columns"
    if before.is_exact:
        return "its columns predict the outcome without error, so that there are no intervals"
    return "" if np.isfinite(before.coefficients[1:]).any() else "none of its columns has an effect of its own"


def _estimates(fitted: LeastSquares) -> list[Estimate | None]:
    """Each coefficient with its interval, the intercept first; None for one that the data do not determine."""
    reach = fitted.errors * t_quantile((1 + CONFIDENCE) / 2, max(fitted.freedom, 1))
    return [
        Estimate(value, value - far, value + far) if np.isfinite(value) else None
        for value, far in zip(fitted.coefficients.tolist(), reach.tolist(), strict=True)
    ]


def _effects(
    design: Sequence[Features], unit: float, before: Sequence[Estimate | None], after: Sequence[Estimate | None]
) -> Iterator[Effect]:
    places = [(one.name, level, unit / one.spread) for one in design for level in one.levels]
    for (name, level, scale), old, new in zip(places, before[1:], after[1:], strict=True):
        if old is not None:
            overlap = 0.0 if new is None else interval_overlap(old, new)
            yield Effect(name, level, _scaled(old, scale), None if new is None else _scaled(new, scale), overlap)


def _scaled(estimate: Estimate, scale: float) -> Estimate:
    return Estimate(estimate.estimate * scale, estimate.low * scale, estimate.high * scale)


def interval_overlap(one: Estimate, other: Estimate) -> float:
    """The mean of the parts of two intervals that lie in both; 0 where they have nothing in common.

    ((u - l) / (U1 - L1) + (u - l) / (U2 - L2)) / 2 with l the larger of the lower ends and u the smaller of the upper
    ones; an interval of a single point that lies in the other one is wholly in it.

    Example:
        >>> interval_overlap(Estimate(2, 0, 4), Estimate(4, 2, 6))
        0.5
    """
    common = min(one.high, other.high) - max(one.low, other.low)
    if common < 0:
        return 0.0
    parts = (common / width if (width := each.high - each.low) else 1.0 for each in (one, other))
    return sum(parts) / 2


def default_regressions(columns: Sequence[Coverage[Any]]) -> Sequence[Regression]:
    """Each numeric sensitive attribute by the quasi-identifiers that vary before."""
    pairs = [one.column for one in columns]
    varying = [one for one in pairs if int((records_with(one.before) > 0)[:-1].sum()) > 1]
    by = [one.name for one in varying if one.is_quasi_identifier]
    outcomes = [one.name for one in pairs if one.is_numeric and not one.is_quasi_identifier]
    return [Regression(of=name, by=by) for name in outcomes] if by else []
