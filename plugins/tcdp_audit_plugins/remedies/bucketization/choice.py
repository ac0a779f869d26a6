"""The records of each class: near each other in the quasi-identifiers, as many per bucket as the class needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import rank_within
from tcdp_audit.plugin.remedy import Attribute
from tcdp_audit_plugins.remedies._shared.recoding import is_ranged
from tcdp_audit_plugins.remedies.bucketization.composition import Composition
from tcdp_audit_plugins.remedies.bucketization.halving import Parts

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

FAR = 2.0  # where a missing value stands: as far from the others as they are from each other
MOST_SWEEPS = 100
WORK = 3_000_000  # records that all sweeps together may move: a second or so


def choose(
    quasi_identifiers: Sequence[Attribute], bucket: Integers, composition: Composition, generator: np.random.Generator
) -> Integers:
    """The class of each record.

    Args:
        quasi_identifiers: what the records of a class should have in common.
        bucket: the bucket of each record.
        composition: how many records of each bucket the classes have.
        generator: which classes exchange records.

    Returns:
        int64, shape (records,), from 0 to classes - 1; every class has exactly its composition.

    Cost: O(log classes) sorts of the records, and the sorts of `with_exchanges`.
    """
    places = np.array([place(one) for one in quasi_identifiers])
    chosen = np.zeros(len(bucket), dtype=np.int64)
    parts = Parts.whole(len(bucket), len(composition.counts)).without_settled(chosen)
    while len(parts.classes):
        parts = parts.halve(places, bucket, composition).without_settled(chosen)
    return with_exchanges(chosen, places, bucket, composition, generator)


def place(attribute: Attribute) -> Floats:
    """A quasi-identifier on a line from 0 to 1, near values near each other; a missing value stands apart.

    Its numbers or ranks; else the order of its hierarchy's leaves; else its values by descending frequency.

    Returns:
        float64, shape (records,).
    """
    domain = attribute.domain
    places = np.full(domain.size + 1, FAR)
    if is_ranged(attribute):
        known = ~domain.is_uninformative[:-1]
        numbers = attribute.numbers[known]
        extent = np.ptp(numbers) if len(numbers) else 0.0
        places[:-1][known] = (numbers - numbers.min(initial=np.inf)) / (extent or 1.0)
    else:
        order = np.argsort(-domain.counts, kind="stable")
        if attribute.tree is not None:
            order = np.lexsort(attribute.tree.ancestors)
        places[order] = np.arange(domain.size) / max(domain.size - 1, 1)
    places[domain.is_uninformative] = FAR
    return places[attribute.codes]


def with_exchanges(
    chosen: Integers, places: Floats, bucket: Integers, composition: Composition, generator: np.random.Generator
) -> Integers:
    """Classes that are more homogeneous than `chosen`, of the same composition.

    A sweep lines up the means of the classes in a random direction and pairs neighbours. Of the records that a pair
    has from one bucket, each class keeps as many as before, those nearer to its mean than to the other's; no sweep
    can increase the sum of squared distances to the means.

    Args:
        chosen: the class of each record.
        places: the place of every record on each quasi-identifier. Shape (attributes, records).
        bucket: the bucket of each record.
        composition: the classes.
        generator: the directions.

    Returns:
        int64, shape (records,).

    Cost: a sort of the records for each of 100 sweeps, fewer beyond 30,000 records.
    """
    for _ in range(min(MOST_SWEEPS, WORK // len(chosen)) if len(composition.counts) > 1 else 0):
        chosen = _swept(chosen, places, bucket, composition.counts, generator.normal(size=len(places)))
    return chosen


def _swept(chosen: Integers, places: Floats, bucket: Integers, counts: Integers, direction: Floats) -> Integers:
    classes, buckets = counts.shape
    sizes = counts.sum(axis=1)
    means = np.array([np.bincount(chosen, weights=one, minlength=classes) for one in places]) / sizes
    line = np.argsort(direction @ means, kind="stable")
    left, right = line[: classes // 2 * 2 : 2], line[1::2]
    pair = np.full(classes, -1)
    pair[left] = pair[right] = np.arange(len(left))
    moving = np.flatnonzero(pair[chosen] >= 0)
    of_pair = pair[chosen[moving]]
    towards_right = means[:, right] - means[:, left]
    leaning = np.einsum("ar,ar->r", places[:, moving], towards_right[:, of_pair])
    cell = of_pair * buckets + bucket[moving]
    stays_left = rank_within(cell, leaning) < counts[left].ravel()[cell]
    result = chosen.copy()
    result[moving] = np.where(stays_left, left[of_pair], right[of_pair])
    return result
