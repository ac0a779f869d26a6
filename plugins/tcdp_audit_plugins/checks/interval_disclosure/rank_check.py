"""Rank-based interval disclosure as a check."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from tcdp_audit.plugin._internal import Codes, Counts
from tcdp_audit.plugin.detector import Exact, Scale
from tcdp_audit_plugins.checks.interval_disclosure.parameters import IntervalParameters, as_list, widths_schema
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


SCALES = frozenset({Scale.NUMERIC, Scale.ORDINAL})


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


CHECKS = [
    interval_check(
        "rank_interval_disclosure",
        "Rank-based interval disclosure",
        RankIntervalParameters,
        SCALES,
        lambda one, p: inside_rank_interval(one.released, one.original, one.released_counts, p),
        built_in_guide(__file__, "rank_interval_disclosure.md"),
    )
]
