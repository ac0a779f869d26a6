"""A hold-out that is larger than the original: what is to be expected of a draw of as many records, and none drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats


def none_drawn(records: int, drawn: int) -> Floats:
    """The probability that a draw without replacement has none of a given records, for a from 0 to all.

    Shape (records + 1,). Where all are drawn it is 1 for a = 0, and 0 beyond.

    Example:
        >>> none_drawn(4, 2).round(3).tolist()
        [1.0, 0.5, 0.167, 0.0, 0.0]
        >>> none_drawn(2, 2).tolist()
        [1.0, 0.0, 0.0]
    """
    each = np.arange(records)
    return np.append(1.0, np.cumprod(np.maximum(records - drawn - each, 0) / (records - each)))


def one_drawn(groups: NDArray[np.int64], records: int, drawn: int) -> Floats:
    """The probability that a draw has exactly one of a group, for groups of so many records.

    Example:
        >>> one_drawn(np.array([0, 1, 2]), 2, 2).tolist()
        [0.0, 1.0, 0.0]
        >>> one_drawn(np.array([0, 1, 2]), 4, 2).round(3).tolist()
        [0.0, 0.5, 0.667]
    """
    others = none_drawn(records - 1, drawn - 1)[np.maximum(groups - 1, 0)]
    return np.asarray(groups * (drawn / records) * others)
