"""Knowledge of all events of one window of time, and that there were no others in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_audit.plugin._internal import Counts, Integers, boundaries, checkpoint, order_of, run_lengths
from tcdp_audit.plugin.check import TableFigure
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.histories.combinations import Block
from tcdp_audit_plugins.checks.histories.events import Events, Positions, events_of, numbered_values
from tcdp_audit_plugins.checks.histories.knowledge import KnowledgeOfSize, Tally, without_events
from tcdp_audit_plugins.checks.histories.reading import (
    KnownEventsParameters,
    ReadEvents,
    event_details,
    failing_units,
)
from tcdp_audit_plugins.checks.histories.sensitive import Secrets, SensitiveValues

if TYPE_CHECKING:
    from tcdp_audit.plugin._internal import UnitRows


def in_windows(
    events: Events, window: Fraction, secrets: Secrets | None = None, confidence: Fraction | None = None
) -> tuple[KnowledgeOfSize, int]:
    """Measure what all events of one window of time reveal to an intruder who knows that there were no others.

    Args:
        events: with times; those without one are left out.
        window: its length in steps of the time. A window begins at each multiple of it and ends before the next.
        secrets: the sensitive values of units.
        confidence: the largest share of a value that is allowed.

    Returns:
        For each unit the least number of units that have the same events in some window in which it has one (for a
        unit without any, those with its static values); and how many pairs of a unit and such a window there are.

    Cost: O(events log events) to put them in order, then O(events of units that still share all events so far).
    """
    assert events.time is not None  # noqa: S101 - windows are of time
    timed = events if events.without_time is None else events.of(~events.without_time)
    assert timed.time is not None  # noqa: S101 - as above
    number = numbered_values(_windows_of(timed.time, window))
    part = timed.unit * (int(number.max(initial=0)) + 1) + number
    order = np.lexsort((timed.label, part))
    starts = boundaries(part[order])
    lengths = run_lengths(starts, len(order))
    holder, start_label = timed.unit[order][starts], timed.label[order]
    tally = Tally(events.units, secrets, confidence)
    for members in _equal_histories(number[order][starts], starts.astype(np.int64), lengths, start_label):
        sizes = members.lengths
        block = Block(1, members.starts, holder[members.of], members.of, np.ones(len(members.of), bool), None, None)
        tally.infer(block, block.number, block.holder, sizes)
        tally.add(block, sizes)
    none = without_events(timed, secrets, confidence)
    confident = None if secrets is None else max(tally.confidence, none.confidence, Fraction(0))
    supports, inferred = np.minimum(tally.supports, none.supports), tally.inferred | none.inferred
    return KnowledgeOfSize(1, tally.combinations, supports, confident, inferred), len(starts)


def known_windows(rows: UnitRows, parameters: KnownEventsParameters, sensitive: SensitiveValues) -> TableFigure:
    """The least number of units with the same events in one window, as the figure of `known_events`.

    Raises:
        CheckError: no event has a time.
    """
    if rows.time is None:
        raise CheckError("`window` needs the times of events; name their column in the policy as `time:`")
    events = events_of(rows, timed=True)
    assert parameters.window is not None and events.without_time is not None  # noqa: S101, PT018
    if events.without_time.all():
        raise CheckError("no event has a time, so that none is in a window")
    if parameters.repeats == "ignored":
        events = events.once_each()
    of_windows, windows = in_windows(events, parameters.window / rows.step, sensitive.secrets, parameters.C)
    missing = int(rows.without_time.sum())
    details: dict[str, Any] = {
        **event_details(ReadEvents(events, None, missing, rows)),
        "windows": windows,
        "alone": int((of_windows.supports == 1).sum()),
    }
    details |= sensitive.details(of_windows.confidence)
    return TableFigure(
        Fraction(int(of_windows.supports.min())),
        rows.units,
        failing_units(of_windows.supports, of_windows.inferred, parameters),
        details=details,
        distribution=distribution_of(of_windows.supports, np.ones(rows.units, np.int64)),
        further={"C": of_windows.confidence or Fraction(0)},
        violation=sensitive.violation,
    )


def _windows_of(time: Positions, window: Fraction) -> Integers:
    """The number of the window of each time: the floor of time / window, in integers."""
    numerator, denominator = window.numerator, window.denominator
    if int(np.abs(time).max(initial=0)) * denominator < 2**62 and numerator < 2**62:
        return time * denominator // numerator
    return np.array([one * denominator // numerator for one in time.tolist()], object)


@dataclass(frozen=True)
class _Classes:
    """Histories that are equal, class by class."""

    starts: Positions
    of: Positions  # the histories of each class, one class after the other

    @property
    def lengths(self) -> Counts:
        return run_lengths(self.starts, len(self.of))


def _equal_histories(state: Positions, starts: Positions, lengths: Counts, labels: Positions) -> Iterator[_Classes]:
    """Classes of equal rows of labels, each in ascending order, that begin in the same state. Exact.

    Cost: O(labels of histories that agree with another one up to there), with a sort at every place.
    """
    # Histories that agree in all labels so far have one number. At each place those that end there form classes, and
    # the others are numbered anew by number and next label. One that is alone stays alone, so it goes no further.
    active, number, place = np.arange(len(starts)), state.astype(np.int64), 0
    radix = int(labels.max(initial=-1)) + 2
    while len(active):
        checkpoint()
        ends = lengths[active] == place
        following = np.where(ends, 0, 1 + labels[np.minimum(starts[active] + place, len(labels) - 1)])
        keys = number * radix + following
        order = order_of(keys, (int(number.max()) + 1) * radix)
        active, keys, ends = active[order], keys[order], ends[order]
        begin = boundaries(keys)
        size = run_lengths(begin, len(keys))
        number = np.repeat(np.arange(len(begin)), size)
        complete = ends | (np.repeat(size, size) == 1)
        if complete.any():
            yield _Classes(boundaries(number[complete]).astype(np.int64), active[complete])
        active, number, place = active[~complete], number[~complete], place + 1
