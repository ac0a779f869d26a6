"""The records of a release as points.

A numeric attribute becomes (value - mean) / sd of the table, an ordinal one the same by its rank; a missing number
stands at the mean. What generalised cells cover counts as its middle, a suppressed cell as a missing one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.exact import Floats
from tcdp_audit.policy import Scale
from tcdp_audit.remedy_view import Attribute
from tcdp_audit_plugins.remedies.microaggregation.points import Ground, Points, Positions


def points_of(attributes: Sequence[Attribute], order: Positions) -> Points:
    """The records of a release, in a given order, by some of its attributes."""
    numbers = [standardised(one)[one.codes[order]] for one in attributes if has_numbers(one)]
    nominal = [one for one in attributes if not has_numbers(one)]
    stacked = np.array(numbers, dtype=np.float64).reshape(len(numbers), len(order)).T
    labels = tuple(labels_of(one)[one.codes[order]] for one in nominal)
    return Points(np.ascontiguousarray(stacked), labels, tuple(_ground(one) for one in nominal))


def has_numbers(attribute: Attribute) -> bool:
    """Whether the values of an attribute are numbers or ranks, or ranges of them."""
    ordinal = attribute.scale is Scale.ORDINAL and attribute.declaration.order is not None
    return attribute.scale is Scale.NUMERIC or ordinal


def numbers_of(attribute: Attribute) -> Floats:
    """The number or rank of each value, NaN for what covers everything and for a missing one. Shape (domain + 1,)."""
    low, high = attribute.bounds
    low, high = np.where(np.isinf(low), high, low), np.where(np.isinf(high), low, high)
    known = np.isfinite(low) & np.isfinite(high)
    middle = np.full(attribute.domain.size + 1, np.nan)
    middle[:-1][known] = low[known] + (high[known] - low[known]) / 2
    return middle


def standardised(attribute: Attribute) -> Floats:
    """(value - mean) / sd of each value, 0 where it is missing or the attribute does not vary. Shape (domain + 1,)."""
    numbers = numbers_of(attribute)
    known = np.isfinite(numbers[:-1])
    held = np.where(known, attribute.domain.counts, 0)
    if held.sum() == 0:
        return np.zeros(len(numbers))
    mean = np.average(np.where(known, numbers[:-1], 0), weights=held)
    centred = np.where(np.isfinite(numbers), numbers - mean, 0.0)
    sd = np.sqrt(np.average(centred[:-1] ** 2, weights=held))
    return np.asarray(centred / sd if sd > 0 else np.zeros(len(numbers)))


def labels_of(attribute: Attribute) -> NDArray[np.int64]:
    """The code of each value as a label, a suppressed one being missing. Shape (domain + 1,)."""
    codes = np.arange(attribute.domain.size + 1)
    codes[list(attribute.domain.suppressed)] = attribute.domain.size
    return codes


def _ground(attribute: Attribute) -> Ground:
    labels = np.arange(attribute.domain.size)[None, :]
    levels = labels if attribute.tree is None else attribute.tree.ancestors[:-1]
    missing = levels.max(axis=1, initial=-1, keepdims=True) + 1
    return Ground(np.hstack([levels, missing]))
