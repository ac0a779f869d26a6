"""Why t and k cannot be attained: the inequality that fails, with its numbers, and what would be nearest."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from math import ceil

import numpy as np

from tcdp_audit.remedy import RemedyError
from tcdp_audit_plugins.remedies.bucketization.demand import Demand
from tcdp_audit_plugins.remedies.descent import most

TRIES = 12  # numbers of buckets that a search goes through
STEPS = 100  # t is searched in hundredths


def refusal(demand: Demand) -> RemedyError:
    """The error to raise for a demand that cannot be attained."""
    name = demand.attribute.name
    if demand.values < 2:
        number = "only one" if demand.values else "no"
        return RemedyError(f"{name!r} has {number} value, so there is nothing to join into buckets")
    if demand.number > demand.values:
        return RemedyError(
            f"{demand.number} buckets of {name!r} cannot be made: it has only {demand.values} different values; "
            f"the nearest that can: buckets = {demand.values}"
        )
    wish = f"t = {_plain(demand.t)}, k = {demand.k:,}"
    found = "; ".join(_nearest(demand)) or "nothing, in a table like this"
    return RemedyError(
        f"classes of {name!r} with {wish} cannot be made: {_failing(demand)}. The nearest that can: {found}"
    )


def _failing(demand: Demand) -> str:
    """The first inequality that fails."""
    one, k = demand.construction, demand.k
    b = one.buckets
    if k < b:
        return f"k >= b fails, because a class of {k:,} records cannot hold a record of each of {b} buckets"
    if one.records < b * k:
        return (
            f"N >= b k fails, because {one.records:,} records are too few for a class of {k:,} for each of {b} "
            f"buckets, {b * k:,} records"
        )
    return _of_shares(demand)


def _of_shares(demand: Demand) -> str:
    """Which bounds on whole numbers of records fail in the smallest classes that are large enough."""
    one = demand.construction
    size = one.records // (one.buckets * (one.records // (one.buckets * demand.k)))
    low, high = (bound[0] for bound in one.allowed(np.array([size])))
    empty = np.flatnonzero(low > high)
    if len(empty):
        bucket = int(empty[0])
        expected = Fraction(size * int(one.masses[bucket]), one.records)
        return (
            f"n q / t <= n p <= n q t fails, because in a class of n = {size:,} records bucket {bucket + 1}, whose "
            f"share q of the table is {_plain(expected / size)}, must have from {_plain(expected / one.t)} to "
            f"{_plain(expected * one.t)} records, and no whole number lies between; no larger class does better"
        )
    if low.sum() > size or high.sum() < size:
        least = low.sum() > size
        return (
            f"the {'least' if least else 'most'} that a class of {size:,} records may have of each bucket adds up to "
            f"{int((low if least else high).sum()):,}; no larger class does better"
        )
    return (
        f"classes of {size:,} records, or one more, cannot take up all records of every bucket while each keeps "
        "n q / t <= n p <= n q t; no larger classes do better"
    )


def _nearest(demand: Demand) -> Iterator[str]:
    """What can be attained with one of t, k and the number of buckets changed."""
    t, k = _plain(demand.t), demand.k
    largest = demand.construction.largest_k()
    if largest >= demand.construction.buckets:
        yield f"k = {min(max(k, demand.construction.buckets), largest):,} with t = {t}"
    nearest = nearest_t(demand)
    if nearest is not None:
        yield f"t = {_plain(nearest)} with k = {k:,}"
    number = most(lambda buckets: demand.with_buckets(buckets).rounds, 2, min(demand.number - 1, k))
    if number is not None:
        yield f"buckets = {number} with t = {t}, k = {k:,}"


def nearest_t(demand: Demand) -> Fraction | None:
    """The t in hundredths nearest to the one asked for at which k can be attained, None if none was found."""
    found = [t for t in (_above(demand), _below(demand)) if t is not None]
    return min(found, key=lambda t: abs(t - demand.t), default=None)


def _above(demand: Demand) -> Fraction | None:
    """As long as the number of buckets stays, a larger t allows all that a smaller one does."""
    start = int(demand.t * STEPS) + 1
    for number in range(int(demand.t) + 1, int(demand.t) + 1 + TRIES):
        fixed = demand.asked is not None or number >= demand.values
        top = STEPS * (demand.construction.records if fixed else number) - 1
        if top >= start and demand.at(Fraction(top, STEPS)).rounds:
            tried = range(start, top)
            place = bisect_left(tried, 1, key=lambda step: min(demand.at(Fraction(step, STEPS)).rounds, 1))
            return Fraction(start + place, STEPS)
        if fixed:
            return None
        start = max(start, STEPS * number)
    return None


def _below(demand: Demand) -> Fraction | None:
    """Only a smaller number of buckets can help a smaller t."""

    def largest(number: int) -> Fraction:
        return Fraction(min(STEPS * number, ceil(demand.t * STEPS)) - 1, STEPS)

    if demand.asked is not None or demand.t == 1:
        return None
    number = most(lambda number: demand.at(largest(number)).rounds, 2, min(int(demand.t) + 1, demand.k))
    return None if number is None else largest(number)


def _plain(number: Fraction) -> str:
    return f"{float(number):.6g}"
