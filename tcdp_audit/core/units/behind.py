"""The units behind new pseudonyms: a class of five pseudonyms may be one person's rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.encoding.keys import Codes, fold, numbered
from tcdp_audit.core.units.coding import code_histories


@dataclass(frozen=True)
class UnitsBehind:
    """How many units are behind the classes of pseudonyms that were drawn anew.

    Args:
        fewest: the least number of units in a class of histories.
        hollow: the number of classes that have as many pseudonyms as are demanded, of fewer units.
    """

    fewest: int
    hollow: int


def units_behind(pseudonyms: Codes, units: Codes, labels: Codes, k: int) -> UnitsBehind:
    """Count the units behind classes of histories by new pseudonyms.

    Args:
        pseudonyms: the new pseudonym of each row, whose rows form a history. Shape (rows,), at least one.
        units: the unit of each row; all rows of a pseudonym have the same. Shape (rows,).
        labels: the label of each row, from 0. Shape (rows,).
        k: the number of units that a class has to have.

    Cost: that of `code_histories`, and a sort of the pseudonyms.

    Example:
        >>> units_behind(np.array([0, 1, 2]), np.array([7, 7, 8]), np.array([0, 0, 1]), 2)
        UnitsBehind(fewest=1, hollow=1)
    """
    distinct, drawn = numbered(pseudonyms.astype(np.int64), int(pseudonyms.max()) + 1)
    histories = code_histories(drawn, labels, len(distinct), int(labels.max()) + 1)
    owner = np.empty(len(distinct), dtype=np.int64)
    owner[drawn] = units
    keys = fold([histories.codes, owner], [histories.distinct, int(owner.max()) + 1])
    classes = keys.decode(numbered(keys.values, keys.span)[0])[0]
    behind = np.bincount(classes, minlength=histories.distinct)
    size: NDArray[np.int64] = np.bincount(histories.codes, minlength=histories.distinct)
    return UnitsBehind(int(behind.min()), int(((size >= k) & (behind < k)).sum()))
