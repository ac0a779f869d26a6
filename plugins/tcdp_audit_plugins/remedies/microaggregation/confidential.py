"""The order of the records by their confidential values, which clusters are to have in the table's proportions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.keys import fold
from tcdp_audit.remedy import RemedyError
from tcdp_audit.remedy_view import Attribute
from tcdp_audit_plugins.remedies.microaggregation.points import Positions


def places(sensitive: Sequence[Attribute], order: Positions) -> NDArray[np.int64]:
    """The place of each record's confidential values, first by the first attribute.

    Args:
        sensitive: the sensitive attributes; without any, all records have one place.
        order: the records.

    Returns:
        int64, shape (records,).

    Cost: O(records x attributes), and a sort of the labels of each.
    """
    columns = [_places_of_values(one)[one.codes[order]] for one in sensitive]
    radices = [one.domain.size + 1 for one in sensitive]
    return fold(columns, radices).values if columns else np.zeros(len(order), dtype=np.int64)


def _places_of_values(attribute: Attribute) -> NDArray[np.int64]:
    """The place of each value: of the scale, or such that labels of one node of the hierarchy are neighbours."""
    found = np.arange(attribute.domain.size + 1)  # missing values come last
    if attribute.tree is not None and not attribute.is_ordered:
        found[np.lexsort(attribute.tree.ancestors)] = np.arange(attribute.domain.size)
    return found


def named(sensitive: Sequence[Attribute], name: str | None) -> Attribute:
    """The attribute of this name, or the only one.

    Raises:
        RemedyError: there is none, or no name and several.
    """
    found = [one for one in sensitive if name in (None, one.name)]
    if len(found) != 1:
        raise RemedyError("`closeness: first` starts from one sensitive attribute; name it in `attribute`")
    return found[0]
