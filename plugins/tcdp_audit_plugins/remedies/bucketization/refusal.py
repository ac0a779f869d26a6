"""Refusals where t and k cannot be attained: the inequality that fails, with its numbers, and the nearest that can."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

import numpy as np

from tcdp_audit.plugin.remedy import RemedyError
from tcdp_audit_plugins.remedies._shared.search import largest, last_before
from tcdp_audit_plugins.remedies.bucketization.goal import BucketGoal

TRIES = 12  # numbers of buckets that a search goes through
STEPS = 100  # t is searched in hundredths


def refusal(goal: BucketGoal) -> RemedyError:
    """The error to raise for a goal that cannot be attained."""
    name = goal.attribute.name
    if goal.values < 2:
        number = "only one" if goal.values else "no"
        return RemedyError(f"{name!r} has {number} value, so there is nothing to join into buckets")
    if goal.number > goal.values:
        return RemedyError(
            f"{goal.number} buckets of {name!r} cannot be made: it has only {goal.values} different values; "
            f"the nearest that can: buckets = {goal.values}"
        )
    wish = f"t = {_rounded(goal.t)}, k = {goal.k:,}"
    nearest = "; ".join(_nearest(goal)) or "nothing, in a table like this"
    return RemedyError(
        f"classes of {name!r} with {wish} cannot be made: {_failing(goal)}. The nearest that can: {nearest}"
    )


def _failing(goal: BucketGoal) -> str:
    """The first inequality that fails."""
    one, k = goal.design, goal.k
    b = one.buckets
    if k < b:
        return f"k >= b fails, because a class of {k:,} records cannot hold a record of each of {b} buckets"
    if one.records < b * k:
        return (
            f"N >= b k fails, because {one.records:,} records are too few for a class of {k:,} for each of {b} "
            f"buckets, {b * k:,} records"
        )
    return _of_shares(goal)


def _of_shares(goal: BucketGoal) -> str:
    """The bounds on whole numbers of records that fail in the smallest classes that are large enough."""
    one = goal.design
    size = one.records // (one.buckets * (one.records // (one.buckets * goal.k)))
    low, high = (bound[0] for bound in one.allowed(np.array([size])))
    empty = np.flatnonzero(low > high)
    if len(empty):
        bucket = int(empty[0])
        expected = Fraction(size * int(one.masses[bucket]), one.records)
        return (
            f"n q / t <= n p <= n q t fails, because in a class of n = {size:,} records bucket {bucket + 1}, whose "
            f"share q of the table is {_rounded(expected / size)}, must have from {_rounded(expected / one.t)} to "
            f"{_rounded(expected * one.t)} records, and no whole number lies between; no larger class does better"
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


def _nearest(goal: BucketGoal) -> Iterator[str]:
    """The nearest goals that can be attained, with one of t, k and the number of buckets changed."""
    t, k = _rounded(goal.t), goal.k
    most = goal.design.largest_k()
    if most >= goal.design.buckets:
        yield f"k = {min(max(k, goal.design.buckets), most):,} with t = {t}"
    other_t = nearest_t(goal)
    if other_t is not None:
        yield f"t = {_rounded(other_t)} with k = {k:,}"
    number = largest(lambda buckets: goal.with_buckets(buckets).classes_per_bucket, 2, min(goal.number - 1, k))
    if number is not None:
        yield f"buckets = {number} with t = {t}, k = {k:,}"


def nearest_t(goal: BucketGoal) -> Fraction | None:
    """The t in hundredths nearest to the one asked for at which k can be attained, None if no search meets one."""
    candidates = [t for t in (_above(goal), _below(goal)) if t is not None]
    return min(candidates, key=lambda t: abs(t - goal.t), default=None)


def _above(goal: BucketGoal) -> Fraction | None:
    """As long as the number of buckets stays, a larger t allows all that a smaller one does."""
    start = int(goal.t * STEPS) + 1
    for number in range(int(goal.t) + 1, int(goal.t) + 1 + TRIES):
        fixed = goal.asked is not None or number >= goal.values
        top = STEPS * (goal.design.records if fixed else number) - 1
        if top >= start and goal.at(Fraction(top, STEPS)).classes_per_bucket:
            step = last_before(lambda step: goal.at(Fraction(step, STEPS)).classes_per_bucket, top, start - 1)
            return Fraction(step, STEPS)
        if fixed:
            return None
        start = max(start, STEPS * number)
    return None


def _below(goal: BucketGoal) -> Fraction | None:
    """Only a smaller number of buckets can help a smaller t."""

    def largest_t(number: int) -> Fraction:
        return Fraction(min(STEPS * number, ceil(goal.t * STEPS)) - 1, STEPS)

    if goal.asked is not None or goal.t == 1:
        return None
    number = largest(lambda number: goal.at(largest_t(number)).classes_per_bucket, 2, min(int(goal.t) + 1, goal.k))
    return None if number is None else largest_t(number)


def _rounded(number: Fraction) -> str:
    return f"{float(number):.6g}"
