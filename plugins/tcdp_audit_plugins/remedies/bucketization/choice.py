"""Which records each class takes: those near each other in the quasi-identifiers, as many per bucket as it needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.remedy_view import Attribute
from tcdp_audit_plugins.remedies.bucketization.composition import Composition
from tcdp_audit_plugins.remedies.bucketization.exchange import exchanged
from tcdp_audit_plugins.remedies.bucketization.halving import Parts
from tcdp_audit_plugins.remedies.recoding import is_ranged

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

FAR = 2.0  # where a missing value stands: as far from the others as they are from each other


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

    Cost: O(log classes) sorts of the records, and the sorts of `exchanged`.
    """
    places = np.array([place(one) for one in quasi_identifiers])
    chosen = np.zeros(len(bucket), dtype=np.int64)
    parts = Parts.whole(len(bucket), len(composition.counts)).without_settled(chosen)
    while len(parts.classes):
        parts = parts.halved(places, bucket, composition).without_settled(chosen)
    return exchanged(chosen, places, bucket, composition, generator)


def place(attribute: Attribute) -> Floats:
    """A quasi-identifier on a line from 0 to 1, near values near each other; a missing value stands apart.

    Its numbers or ranks; else the order of its hierarchy's leaves; else its values by descending frequency.

    Returns:
        float64, shape (records,).
    """
    domain = attribute.domain
    places = np.full(domain.size + 1, FAR)
    if is_ranged(attribute):
        numbers = attribute.numbers
        places[:-1] = (numbers - numbers.min(initial=np.inf)) / (np.ptp(numbers) if len(np.unique(numbers)) > 1 else 1)
    else:
        order = np.argsort(-domain.counts, kind="stable")
        if attribute.tree is not None:
            order = np.lexsort(attribute.tree.ancestors)
        places[order] = np.arange(domain.size) / max(domain.size - 1, 1)
    places[list(domain.suppressed)] = FAR
    return places[attribute.codes]
