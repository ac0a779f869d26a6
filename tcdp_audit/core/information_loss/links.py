"""The loss of histories: rows of a unit that its column joins in one release, and not in the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.encoding.keys import fold, tally
from tcdp_audit.core.information_loss.columns import share
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.release.unit_readings import linking_unit

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class LostLinks:
    """The pairs of rows that a released unit joins, before and after.

    Args:
        unit: the unit's column.
        before: the pairs of rows of one unit before.
        after: how many of them are joined after.
        loss: the mean over all rows before of the share of their unit's other rows that they are no longer joined to;
            1 for a suppressed row. From 0 to 1.
    """

    unit: str
    before: int
    after: int
    loss: float


def lost_links(before: Release, after: Release, position_before: NDArray[np.intp]) -> LostLinks | None:
    """The loss of histories; None where no column that stays joins rows before.

    Rows without a unit count as rows of one unit.

    Args:
        before: the release before the repair.
        after: what a remedy made of it.
        position_before: for each record of `after` its position in `before`.

    Cost: a scan of the column in each release, and a sort of the records.
    """
    name = linking_unit(before.policy)
    if name is None or before.obstacle(name) or after.obstacle(name) or not before.domains[name].repeats:
        return None
    units, new_units = (_codes(release, name) for release in (before, after))
    sizes = np.bincount(units)
    keys = fold([units[position_before], new_units], [len(sizes), int(new_units.max(initial=0)) + 1])
    distinct, rows = tally(keys.values, keys.span)
    unit, _ = keys.decode(distinct)
    size = sizes[unit]
    # of a row's other rows a share stays; a row without others loses nothing while it stays
    remaining = np.divide(rows - 1, size - 1, out=np.ones(len(rows)), where=size > 1)
    return LostLinks(
        name,
        int((sizes * (sizes - 1) // 2).sum()),
        int((rows * (rows - 1) // 2).sum()),
        1 - share(float(rows @ remaining), len(units)),
    )


def _codes(release: Release, name: str) -> Numbers:
    domain = release.domains[name]
    batches = release.engine.batches([domain])
    return np.concatenate([np.zeros(0, np.int64), *(one[name].astype(np.int64) for one in batches)])
