"""Interval disclosure by rank and by standard deviation as checks."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from tcdp_audit.plugin._internal import BORDERLINE, Codes, Counts, Floats
from tcdp_audit.plugin.check import Check
from tcdp_audit.plugin.detector import Exact, Scale
from tcdp_audit_plugins.checks.interval_disclosure.parameters import IntervalParameters, Widths, as_list, widths_schema
from tcdp_audit_plugins.checks.interval_disclosure.shares import interval_check
from tcdp_audit_plugins.guides import built_in_guide


def half_width(records: int, percent: Fraction) -> int:
    """The half width w = floor(p N / 200), exact: how many positions an interval reaches to either side.

    N counts released records that have a value; p is the width of the whole interval in percent of these.

    Example:
        >>> half_width(1080, Fraction(2)), half_width(1080, Fraction(4))
        (10, 21)
    """
    return int(percent * records / 200)


def rank_intervals(counts: Counts, percent: Fraction) -> tuple[Counts, Counts]:
    """The interval around every masked value: [R[max(i - w, 0)], R[min(i + w, N - 1)]], R the sorted masked values.

    Values that are equal share their rank: w is counted downwards from the first record of the tie group and upwards
    from its last, and the groups at both ends are inside as a whole. No interval depends on how ties are sorted.

    Args:
        counts: released records with each value of the domain, in ascending order of the values, shape (domain,).
        percent: p, above 0.

    Returns:
        The codes of the lowest and of the highest value inside, both int64, shape (domain,); meaningless for values
        that no released record has.

    Cost: O(domain log domain).

    Source: Torra, Privacy models and disclosure risk (lecture, 2020), rank-based interval disclosure. Its pseudo-code
    has min and max exchanged at the ends, which would make every interval the whole range.

    Example:
        >>> low, high = rank_intervals(np.array([1, 1, 2, 1, 1]), Fraction(40))  # N = 6, w = 1
        >>> low.tolist(), high.tolist()
        ([0, 0, 1, 2, 3], [1, 2, 3, 4, 4])
    """
    after = np.cumsum(counts)
    records = int(after[-1]) if len(after) else 0
    width = half_width(records, percent)
    low = np.searchsorted(after, np.maximum(after - counts - width, 0), side="right")
    high = np.searchsorted(after, np.minimum(after - 1 + width, records - 1), side="right")
    return low, high


def inside_rank_interval(released: Codes, original: Codes, counts: Counts, percent: Fraction) -> NDArray[np.bool_]:
    """The original values that lie in the closed interval by rank around their masked value, as a mask.

    Args:
        released: code of each pair's masked value, the domain's size where it is missing, shape (pairs,).
        original: code of its original value over the same domain, likewise.
        counts: records of the whole release with each value, shape (domain,).
        percent: p, above 0.

    Returns:
        bool, shape (pairs,); False where either value is missing. Exact: codes are in the order of the values.

    Cost: O(pairs + domain log domain).
    """
    low, high = rank_intervals(counts, percent)
    nowhere = len(counts)  # the code of a missing value: above every interval, and around it there is none
    from_, to = np.append(low, nowhere + 1)[released], np.append(high, -1)[released]
    return np.asarray((from_ <= original) & (original <= to))


RANKED = frozenset({Scale.NUMERIC, Scale.ORDINAL})


class RankIntervalParameters(IntervalParameters):
    """Parameters of `rank_interval_disclosure`."""

    p: Annotated[
        list[Annotated[Exact, Field(gt=0, le=100)]],
        Field(
            min_length=1,
            description="Width of the whole interval in percent of the released records: p/2 to either side. "
            "One number, or several at once.",
        ),
        BeforeValidator(as_list),
        widths_schema(exclusiveMinimum=0, maximum=100),
    ]


def inside_sd_interval(
    released: Codes, original: Codes, values: NDArray[Any], counts: Counts, percent: Fraction
) -> NDArray[np.bool_]:
    """The pairs with |v - v'| <= p sd(v) / 100, with sd of all original values and n - 1 in its denominator.

    Differences within 1e-9 (relative) of the limit are decided in fractions: 100² (v - v')² n (n - 1) against
    p² (n Σ v² - (Σ v)²), where a number that is stored as floating point denotes the decimal that it prints as.

    Args:
        released: code of each pair's masked value, the domain's size where it is missing, shape (pairs,).
        original: code of its original value over the same domain, likewise.
        values: the domain's numbers in ascending order, int64 or float64, shape (domain,).
        counts: records of the whole original with each value, shape (domain,); at least two records.
        percent: p, above 0.

    Returns:
        bool, shape (pairs,); False where either value is missing.

    Cost: O(pairs + domain), and rational arithmetic over the domain where floating point does not decide.

    Source: Torra, Privacy models and disclosure risk (lecture, 2020), SD-based interval disclosure.

    Example:
        >>> values, counts = np.array([0, 1, 2, 3, 4]), np.array([1, 0, 1, 0, 1])  # originals 0, 2, 4: sd = 2
        >>> inside_sd_interval(np.array([1, 3, 1]), np.array([0, 2, 4]), values, counts, Fraction(50)).tolist()
        [True, True, False]
    """
    scaled = _scaled(values)
    limit = float(percent) / 100 * _standard_deviation(scaled, counts)
    numbers = np.append(scaled, np.nan)
    distance = np.abs(numbers[original] - numbers[released])
    doubt = BORDERLINE * limit + 8 * np.finfo(np.float64).eps * (1 + float(percent) / 100)
    inside = np.asarray(distance <= limit)
    close = np.flatnonzero(np.abs(distance - limit) <= doubt)
    if len(close):
        inside[close] = _decided(released[close], original[close], values, counts, percent)
    return inside


def _scaled(values: NDArray[Any]) -> Floats:
    """The numbers divided by a power of two, which is exact, so that none exceeds 1 and no square overflows."""
    floats = values.astype(np.float64)
    _, exponent = np.frexp(np.abs(floats).max(initial=0.0))
    return np.asarray(np.ldexp(floats, -exponent))


def _standard_deviation(values: Floats, counts: Counts) -> float:
    """With n - 1. It does not depend on the order of records, as values are added in their own order."""
    records = int(counts.sum())
    mean = float((values * counts).sum()) / records
    return sqrt(float((np.square(values - mean) * counts).sum()) / (records - 1))


def _decided(
    released: Codes, original: Codes, values: NDArray[Any], counts: Counts, percent: Fraction
) -> NDArray[np.bool_]:
    """Borderline pairs, each pair of values once."""
    limit = percent**2 * _variance(values, counts)
    pairs, which = np.unique(np.stack([released, original]), axis=1, return_inverse=True)
    within = [(100 * (_decimal(values[a]) - _decimal(values[b]))) ** 2 <= limit for a, b in pairs.T.tolist()]
    return np.array(within, dtype=bool)[which.reshape(-1)]


def _variance(values: NDArray[Any], counts: Counts) -> Fraction:
    """The variance with n - 1: (n Σ v² - (Σ v)²) / (n (n - 1))."""
    present = np.flatnonzero(counts)
    weights: list[int] = counts[present].tolist()
    numbers = [_decimal(value) for value in values[present]]
    records = sum(weights)
    total = sum((number * weight for number, weight in zip(numbers, weights, strict=True)), Fraction(0))
    squares = sum((number * number * weight for number, weight in zip(numbers, weights, strict=True)), Fraction(0))
    return (records * squares - total * total) / (records * (records - 1))


def _decimal(value: Any) -> Fraction:
    return Fraction(str(value.item()))


MEASURED = frozenset({Scale.NUMERIC})


class SdIntervalParameters(IntervalParameters):
    """Parameters of `sd_interval_disclosure`."""

    p: Annotated[
        Widths,
        Field(
            description="Half the width of the interval in percent of the original's standard deviation. One number, "
            "or several at once."
        ),
    ]


CHECKS: list[Check] = [
    interval_check(
        "rank_interval_disclosure",
        "Rank-based interval disclosure",
        RankIntervalParameters,
        RANKED,
        lambda one, p: inside_rank_interval(one.released, one.original, one.released_counts, p),
        built_in_guide(__file__, "rank_interval_disclosure.md"),
    ),
    interval_check(
        "sd_interval_disclosure",
        "Standard-deviation interval disclosure",
        SdIntervalParameters,
        MEASURED,
        lambda one, p: inside_sd_interval(one.released, one.original, one.values, one.original_counts, p),
        built_in_guide(__file__, "sd_interval_disclosure.md"),
    ),
]
