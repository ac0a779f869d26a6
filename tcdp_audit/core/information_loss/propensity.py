"""Propensity: how well a logistic model distinguishes the two releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.keys import Floats, fold, tally
from tcdp_audit.core.information_loss.columns import PairedColumn, records_with
from tcdp_audit.core.information_loss.coverage import Coverage
from tcdp_audit.core.information_loss.ordered import Ordered

MOST_ITERATIONS = 50
RIDGE = 1e-6  # for each record: keeps the coefficients finite where a value separates the two groups
TOLERANCE = 1e-10  # of the log-likelihood for each record

# Features of shape (rows, features), 0 or 1 for each row, and how many records it represents.
Blocks = Callable[[], Iterator[tuple[Floats, Floats, Floats]]]
MOST_VALUES = 20  # of a nominal attribute get a coefficient of their own
MOST_RECORDS = 2**16  # before, evenly spaced, and their counterparts after
FARTHEST = 1000.0  # standard deviations; a number beyond counts as this
BLOCK = 2**14  # records at a time
CACHED_BYTES = 2**26  # bytes of features that are made once; more are made anew for each iteration
Part = tuple[Floats, NDArray[np.intp]]  # different rows of features of a column, and which of them each record has


@dataclass(frozen=True)
class Fit:
    """A fitted regression."""

    coefficients: Floats  # one for each feature
    iterations: int  # how many Newton steps were tried
    converged: bool  # whether the log-likelihood stopped growing


@dataclass(frozen=True)
class _Slope:
    """The penalised log-likelihood for each record at some coefficients, its gradient, and its negated Hessian."""

    height: float
    gradient: Floats
    curvature: Floats


def fit(blocks: Blocks, features: int) -> Fit:
    """Fit the probability of a 1.

    Args:
        blocks: gives the data anew at each call.
        features: how many there are; a column of ones among them.

    Cost: O(rows x features squared) for each of at most 50 iterations.
    """
    best = np.zeros(features)
    slope = _slope(blocks, best)
    step = np.linalg.solve(slope.curvature, slope.gradient)
    for iteration in range(1, MOST_ITERATIONS + 1):
        checkpoint()
        if slope.gradient @ step < TOLERANCE:
            return Fit(best + step, iteration, converged=True)
        tried = _slope(blocks, best + step)
        if tried.height < slope.height:
            step = step / 2  # overshot
            continue
        best, slope = best + step, tried
        step = np.linalg.solve(slope.curvature, slope.gradient)
    return Fit(best, MOST_ITERATIONS, converged=False)


def probabilities(features: Floats, coefficients: Floats) -> Floats:
    """The fitted probability of a 1, never overflowing."""
    return (1 + np.tanh(features @ coefficients / 2)) / 2


def _slope(blocks: Blocks, coefficients: Floats) -> _Slope:
    height, gradient = 0.0, np.zeros(len(coefficients))
    curvature, records = np.zeros((len(coefficients), len(coefficients))), 0.0
    for features, truth, times in blocks():
        checkpoint()
        logits = features @ coefficients
        fitted = probabilities(features, coefficients)
        height += float((truth * logits - np.logaddexp(0, logits)) @ times)
        gradient += features.T @ (times * (truth - fitted))
        scaled = features * np.sqrt(times * fitted * (1 - fitted))[:, None]
        curvature += scaled.T @ scaled  # a product with itself is half the work
        records += float(times.sum())
    penalty = RIDGE * np.eye(len(coefficients))
    return _Slope(
        height / records - RIDGE * float(coefficients @ coefficients) / 2,
        gradient / records - RIDGE * coefficients,
        curvature / records + penalty,
    )


@dataclass(frozen=True)
class Propensity:
    """The distance of the fitted probabilities of being a released record from knowing nothing."""

    # mean squared difference of the probability and the share of released records; None with a reason
    value: float | None = None
    expected: float | None = None  # what it would be if both tables were drawn from one population
    ratio: float | None = None  # value by expected
    parameters: int = 0  # independent coefficients of the model, the intercept included
    records: int = 0  # records of both tables that the model was fitted to
    iterations: int = 0  # Newton steps that it took
    reason: str = ""  # why there is no value, or nothing


@dataclass(frozen=True)
class _Features:
    """The features of one column."""

    table: Floats  # different rows of features, shape (rows, features)
    before: NDArray[np.intp]  # the row of each code before, the missing one included
    after: NDArray[np.intp]  # the row of each code after, likewise


def propensity(columns: Sequence[Coverage[Any]]) -> Propensity:
    """Propensity-score mean squared error of a logistic regression with main effects.

    Both tables are stacked and a model says for each record how probably it is a released one. Numbers and ranks are
    standardised, a range at its middle; a nominal value has a coefficient if it is one of the 20 most frequent after
    the first. Of larger tables 65,536 records, evenly spaced, and their counterparts are taken.

    Cost: O(different records x features squared) for each of at most 50 iterations.

    Source: Woo, Reiter, Oganian, Karr, Journal of Privacy and Confidentiality 1, 2009; its expectation
    (k - 1) (1 - c)^2 c / N with k parameters: Snoke, Raab, Nowok, Dibben, Slavkovic, JRSS A 181, 2018.
    """
    if not columns:
        return Propensity(reason="there is no quasi-identifier and no sensitive attribute")
    before, after = _chosen(columns[0].column)
    if not len(after):
        return Propensity(reason="no record is left")
    features = [(one.column, _numbers(one) if isinstance(one, Ordered) else _indicators(one.column)) for one in columns]
    sides = (
        (0.0, [(one.table, one.before[column.before_codes[before]]) for column, one in features]),
        (1.0, [(one.table, one.after[column.after_codes[after]]) for column, one in features]),
    )
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    distinct = [(truth, *_distinct(parts)) for truth, parts in sides]

    def blocks() -> Iterator[tuple[Floats, Floats, Floats]]:
        return (block for truth, parts, times in distinct for block in _blocks(parts, truth, times))

    width = 1 + sum(one.table.shape[1] for _, one in features)
    cached = list(blocks()) if 8 * width * sum(len(times) for *_, times in distinct) <= CACHED_BYTES else None
    with threadpool_limits(1, "blas"):  # threads of a busy machine wait for each other; and one order of summation
        return _error_of_fit(blocks if cached is None else lambda: iter(cached))


def _error_of_fit(blocks: Blocks) -> Propensity:
    gram, released = _sums(blocks)
    records, parameters = int(gram[0, 0]), int(np.linalg.matrix_rank(gram, hermitian=True))  # an intercept is first
    share = released / records
    fitted = fit(blocks, len(gram))
    if not fitted.converged:
        return Propensity(
            parameters=parameters,
            records=records,
            iterations=fitted.iterations,
            reason=f"the regression did not converge in {fitted.iterations} iterations",
        )
    squared = sum(float((probabilities(x, fitted.coefficients) - share) ** 2 @ times) for x, _, times in blocks())
    expected = (parameters - 1) * (1 - share) ** 2 * share / records
    value = squared / records
    return Propensity(value, expected, value / expected if expected else None, parameters, records, fitted.iterations)


def _sums(blocks: Blocks) -> tuple[Floats, float]:
    """Products of the features, summed over all records, and how many records are released ones."""
    products, released = zip(
        *(((features * times[:, None]).T @ features, float(truth @ times)) for features, truth, times in blocks()),
        strict=True,
    )
    return np.sum(products, axis=0), sum(released)


def _chosen(column: PairedColumn) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of evenly spaced records before, and of their counterparts after."""
    records = len(column.before_codes)
    before = np.arange(records) if records <= MOST_RECORDS else np.arange(MOST_RECORDS) * records // MOST_RECORDS
    taken = np.zeros(records, dtype=bool)
    taken[before] = True
    return before, np.flatnonzero(taken[column.position_before])


def _distinct(parts: Sequence[Part]) -> tuple[list[Part], Floats]:
    """The different records of one table, and how often each occurs. A sort of the records."""
    keys = fold([rows for _, rows in parts], [len(table) for table, _ in parts])
    distinct, times = tally(keys.values, keys.span)
    rows = keys.decode(distinct.astype(np.int64, copy=False))
    return [(table, one) for (table, _), one in zip(parts, rows, strict=True)], times.astype(np.float64)


def _blocks(parts: Sequence[Part], truth: float, times: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
    """The features of one table, an intercept first, some of its different records at a time."""
    for start in range(0, len(times), BLOCK):
        checkpoint()
        here = slice(start, min(start + BLOCK, len(times)))
        ones = np.ones((here.stop - here.start, 1))
        yield np.hstack([ones, *(table[rows[here]] for table, rows in parts)]), np.full(len(ones), truth), times[here]


def _numbers(ordered: Ordered) -> _Features:
    """A standardised number, and whether there is none."""
    domains = (ordered.column.before, ordered.column.after)
    numbers = np.concatenate([ordered.standard_scores(one) for one in domains])
    known = np.nan_to_num(np.clip(numbers, -FARTHEST, FARTHEST))
    table = np.stack([known, np.isnan(numbers).astype(np.float64)], axis=1)
    before, after = np.split(np.arange(len(numbers)), [domains[0].size + 1])
    return _Features(table, before, after)


def _indicators(column: PairedColumn) -> _Features:
    """Indicators of the frequent values, each compared with the most frequent one."""
    values = column.before.size + 1
    after = np.where(column.same >= 0, column.same, values + np.arange(len(column.same)))
    records = np.append(records_with(column.before), np.zeros(len(after), dtype=np.int64))
    np.add.at(records, after, records_with(column.after))
    frequent = np.argsort(-records, kind="stable")[1 : MOST_VALUES + 1]
    frequent = frequent[records[frequent] > 0]
    row = np.full(len(records), len(frequent))
    row[frequent] = np.arange(len(frequent))
    return _Features(np.eye(len(frequent) + 1, len(frequent)), row[:values], row[after])
