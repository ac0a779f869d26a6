"""Events of units as arrays: what an intruder may know of a unit, one event a row."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, Integers, boundaries, fold, numbered, occurrences, order_of

if TYPE_CHECKING:
    from tcdp_audit.plugin._internal import UnitRows

Positions = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Events:
    """Events of units.

    Args:
        unit: the unit of each event. Shape (events,).
        label: what is known of each event and what is always known of its unit, as one code: equal codes are equal in
            both, so that events with the same label are events of units that an intruder cannot distinguish without.
        static: what is always known of each unit, as a code. Shape (units,).
        time: when each event was, for an intruder who uses it apart from the label.
        without_time: which events have no time; their `time` says nothing.
    """

    unit: Positions
    label: Positions
    static: Positions
    time: Positions | None = None
    without_time: Flags | None = None

    @property
    def units(self) -> int:
        """The number of units, those without events included."""
        return len(self.static)

    @cached_property
    def lengths(self) -> Counts:
        """The number of events of each unit. Shape (units,)."""
        return np.bincount(self.unit, minlength=self.units)

    @cached_property
    def labels(self) -> int:
        """A number above all labels."""
        return int(self.label.max(initial=-1)) + 1

    @cached_property
    def alike(self) -> Counts:
        """The number of units with the static values of each unit: the support of nothing. Shape (units,)."""
        return occurrences(self.static, int(self.static.max(initial=-1)) + 1)[self.static]

    def of(self, some: Flags) -> Events:
        """Some of the events, of the same units."""
        time = None if self.time is None else self.time[some]
        without = None if self.without_time is None else self.without_time[some]
        return replace(self, unit=self.unit[some], label=self.label[some], time=time, without_time=without)

    def once_each(self) -> Events:
        """Each of a unit's equal events once. O(events log events)."""
        columns = [self.unit, self.label]
        if self.time is not None:
            columns += [numbered_values(self.time)]
        if self.without_time is not None:
            columns += [self.without_time.astype(np.int64)]
        keys = fold(columns, [int(one.max(initial=0)) + 1 for one in columns])
        order = order_of(keys.values, keys.span)
        first = np.zeros(len(order), bool)
        first[order[boundaries(keys.values[order])]] = True
        return self.of(first)


def numbered_values(values: Integers) -> Positions:
    """The rank of each value among the different ones, from 0. Shape as `values`."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def events_of(rows: UnitRows, *, timed: bool, left_out: Collection[str] = ()) -> Events:
    """The events of some rows.

    Args:
        rows: as the view gives them.
        timed: whether an intruder uses the time apart from the label.
        left_out: the columns of rows that are no part of the label.

    Cost: O(rows x columns), and a sort where the columns' codes leave 62 bits.
    """
    names = [name for name in rows.codes if name not in left_out]
    static = np.asarray(rows.static, np.int64)
    columns: list[Integers] = [static[rows.unit], *(rows.codes[name] for name in names)]
    keys = fold(columns, [int(static.max(initial=-1)) + 1, *(rows.sizes[name] for name in names)])
    _, label = numbered(keys.values, max(keys.span, 1))
    unit, label = np.asarray(rows.unit, np.int64), label.astype(np.int64)
    if not timed:
        return Events(unit, label, static)
    assert rows.time is not None  # noqa: S101 - the checks ask for a time first
    return Events(unit, label, static, np.asarray(rows.time, np.int64), np.asarray(rows.without_time, bool))
