"""The improvement of local suppression: cells are shown again wherever every class still keeps the demands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcdp_audit_plugins.remedies.suppression.local_suppression import LocalSuppression
from tcdp_audit_plugins.remedies.suppression.quasi_identifier_cells import Integers, Mask

PATIENT = 8  # rounds in which a deserted class calls one record back; afterwards twice as many each time


def refine(search: LocalSuppression, attributes: Sequence[int], turn: Integers) -> None:
    """Show suppressed cells again, attribute by attribute, until nothing more can be shown.

    Args:
        search: no record is pending.
        attributes: those to be shown again first.
        turn: a different number for each record, from 0; where a class can spare some records, the last ones leave.

    Cost: some ten sorts of the records for each attribute and round.
    """
    while any([_show(search, attribute, turn) for attribute in attributes]):  # noqa: C419 - each takes its turn
        pass


def _show(search: LocalSuppression, attribute: int, turn: Integers) -> bool:
    """Show an attribute in as many records as the demands allow; whether it was shown in any."""
    counted = search.counted
    suppressed = search.suppressed[:, counted]
    shows = search.cells.changed(search.suppressed)[attribute, counted]
    before, _ = search.cells.classes(suppressed, counted)
    patience = 0
    while shows.any():
        trial = suppressed.copy()
        trial[attribute] &= ~shows
        numbers, kept = search.judged(trial, counted)
        if kept.all():
            break
        failing = ~kept[numbers]
        back = max(1, 2 ** (patience - PATIENT))
        shows &= ~failing & ~_called_back(failing & ~shows, shows & ~failing, before, turn[counted], back)
        patience += 1
    search.suppressed[attribute, counted[shows]] = False
    return bool(shows.any())


def _called_back(deserted: Mask, leaving: Mask, before: Integers, turn: Integers, most: int) -> Mask:
    """The first records that left a class which fails without them, at most so many of each class.

    Args:
        deserted: the records that stayed in such classes.
        leaving: the records that left theirs and could.
        before: the class of each record before any left.
        turn: the order in which records are called.
        most: how many a class calls.
    """
    called = np.zeros(len(before), dtype=bool)
    leavers = np.flatnonzero(leaving & np.isin(before, before[deserted]))
    leavers = leavers[np.lexsort((turn[leavers], before[leavers]))]
    classes = before[leavers]
    place = np.arange(len(classes)) - np.searchsorted(classes, classes)
    called[leavers[place < most]] = True
    return called
