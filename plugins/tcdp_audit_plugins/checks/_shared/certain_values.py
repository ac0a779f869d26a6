"""Values that every member of a class has. A person with several records may have others besides, and yet it is known.

A histogram counts a person once for each of their values, so counts may add up to more than the members of a class. The
share of members who have a value is how sure a person is that a member has it: at 1 the value is certain, and the class
has no diversity, however many values there are next to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Histogram
from tcdp_audit.plugin.sentences import Outcome

SINGLE_VALUE = (  # an entity may have other values next to it
    "[{several_rows?}all have the same value of {attribute}, which is known for certain"
    "|{attribute} is the same throughout and known for certain]"
)
VALUES_LEFT = "[{observed>1?}only {observed} values of {attribute} are left for them|" + SINGLE_VALUE + "]"


def uncertain_values(histogram: Histogram) -> Counts:
    """How many different values each class has; 1 where one is certain. int64, shape (classes,). O(pairs)."""
    if histogram.entities is None:
        return histogram.distinct  # a value is certain where it is the only one
    return np.where(histogram.certain, 1, histogram.distinct)


def may_be_shared(outcome: Outcome) -> bool:
    """Whether an outcome is of entities that may have several values, so that all may share one of several."""
    return outcome.conventions.get("unit", "row") != "row"


def certain_among(histogram: Histogram, matters: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which classes have a certain value that matters.

    Args:
        histogram: counts of the classes, none of which is empty.
        matters: whether each code does. Shape (domain,).

    Returns:
        bool, shape (classes,).

    Cost: O(pairs).
    """
    held_by_all = histogram.counts == histogram.spread(histogram.members)
    return np.asarray(histogram.max(held_by_all & matters[histogram.values]))
