"""What an intruder learns who knows any few events of a unit: how many units have them, and what these units share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from tcdp_audit.plugin._internal import Counts, boundaries, checkpoint, order_of, positions_of, run_lengths
from tcdp_audit.plugin.check import Ratios
from tcdp_audit_plugins.checks.histories.combinations import BLOCK, Block, Ordered, visit_combinations
from tcdp_audit_plugins.checks.histories.events import Events, Flags, Positions, Secrets
from tcdp_audit_plugins.checks.histories.nearby import NearbyEvents

NONE = np.iinfo(np.int64).max  # what nothing was looked at for


@dataclass(frozen=True)
class KnowledgeOfSize:
    """What combinations of one number of events say of all units.

    A unit with fewer events counts with all that it has.

    Args:
        size: how many events an intruder knows.
        combinations: how many different ones of exactly this size occur.
        supports: the least number of units that have a combination which one unit has. Shape (units,).
        confidence: the largest share of the units that have a combination of this size and one of the values; None
            without a sensitive attribute.
        inferred: the units of which some combination of at most this size gives a value a larger share than allowed.
            Shape (units,).
    """

    size: int
    combinations: int
    supports: Counts
    confidence: Fraction | None
    inferred: Flags


@dataclass
class Tally:
    """Figures of the combinations of one size, to which blocks of them are added."""

    units: int
    secrets: Secrets | None
    most: Fraction | None  # the largest share allowed
    combinations: int = 0
    holders: int = 0
    confidence: Fraction = Fraction(-1)
    supports: Counts = field(init=False)
    inferred: Flags = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing."""
        self.supports = np.full(self.units, NONE)
        self.inferred = np.zeros(self.units, bool)

    def add(self, block: Block, supports: Counts) -> None:
        """Count combinations, and let each unit have the least support of its own."""
        self.combinations += len(supports)
        self.holders += len(block.holder)
        np.minimum.at(self.supports, block.holder, supports[block.number])

    def infer(self, block: Block, combination: Positions, unit: Positions, supports: Counts, start: int = 0) -> None:
        """Take the shares of values among the units that have each combination.

        Args:
            block: the combinations with the units that an intruder is after.
            combination: of some of them, counted from `start`; with `unit` the pairs that share it, ascending.
            unit: same shape.
            supports: of these combinations.
            start: the first of these combinations in the block.
        """
        if self.secrets is None:
            return
        values, shares = shares_of(combination, unit, len(supports), supports, self.secrets)
        if not len(values):
            self.confidence = max(self.confidence, Fraction(0))
            return
        self.confidence = max(self.confidence, largest(shares))
        if self.most is not None:
            sure = np.zeros(len(block.starts), bool)
            sure[start + values[shares.compare(self.most) > 0]] = True
            self.inferred[block.holder[sure[block.number]]] = True


def shares_of(
    combination: Positions, unit: Positions, combinations: int, supports: Counts, secrets: Secrets
) -> tuple[Positions, Ratios]:
    """The largest share of a value among the units of each combination that has any.

    Returns:
        The combinations, ascending; and of each the share of its units that have the value which most of them have.

    Cost: O(pairs of a unit and one of its values), with a sort of them.
    """
    lengths = secrets.lengths[unit]
    values = secrets.values[positions_of(secrets.offsets[:-1][unit], lengths)]
    keys = np.repeat(combination, lengths) * secrets.different + values
    order = order_of(keys, max(combinations * secrets.different, 1))
    keys = keys[order]
    starts = boundaries(keys)
    counts, of = run_lengths(starts, len(keys)), keys[starts] // max(secrets.different, 1)
    in_combination = boundaries(of)
    distinct = of[in_combination]
    most = np.maximum.reduceat(counts, in_combination) if len(in_combination) else counts
    return distinct, Ratios(most, supports[distinct])


def largest(shares: Ratios) -> Fraction:
    """The largest of some fractions, exactly."""
    near = np.flatnonzero(shares.values >= shares.values.max() * (1 - 1e-12))
    pairs = {*zip(shares.numerator[near].tolist(), shares.denominator[near].tolist(), strict=True)}
    return max(Fraction(*pair) for pair in pairs)


def knowledge_of(
    events: Events,
    most: int,
    *,
    secrets: Secrets | None = None,
    confidence: Fraction | None = None,
    nearby: NearbyEvents | None = None,
    block: int = BLOCK,
) -> list[KnowledgeOfSize]:
    """What any 1, 2, ... events of a unit reveal. Exact.

    Args:
        events: with times, if it matters which event was earlier.
        most: how many events an intruder knows; at least 1.
        secrets: the sensitive values of units.
        confidence: the largest share of a value that is allowed.
        nearby: where the intruder may err about times, the events with what is near to each. `events` then have points
            for labels, and no times.
        block: how many combinations are looked at together.

    Returns:
        One for each size up to `most`, or up to the events of the longest history.

    Cost: O(combinations of events that units have), less those that begin with one which a single unit has.
    """
    longest = min(most, int(events.lengths.max(initial=0)))
    ordered = Ordered.of(events, longest)
    tallies = [Tally(events.units, secrets, confidence) for _ in range(longest)]

    def visit(some: Block) -> Flags:
        tally = tallies[some.size - 1]
        if nearby is None:
            supports = some.supports
            tally.infer(some, some.number[some.first], some.holder[some.first], supports)
        else:
            supports = _near_supports(nearby, some, tally, block)
        tally.add(some, supports)
        # What one unit alone has, with anything more, it has alone as well: no other unit needs to be looked at.
        return np.ones(len(supports), bool) if ordered.timed else supports > 1

    visit_combinations(ordered, longest, visit, block=block, labelled=nearby is not None)
    return _by_size(events, ordered, tallies)


def _near_supports(nearby: NearbyEvents, block: Block, tally: Tally, size: int) -> Counts:
    supports = np.zeros(len(block.starts), np.int64)
    assert block.labels is not None  # noqa: S101 - it was asked for
    for some, fits in nearby.fits(block.labels, size):
        checkpoint()
        supports[some] = fits.supports
        tally.infer(block, fits.combination, fits.unit, fits.supports, some.start)
    return supports


def _by_size(events: Events, ordered: Ordered, tallies: list[Tally]) -> list[KnowledgeOfSize]:
    """The figures of each size, with what was left out because a part of it was enough."""
    amounts = ordered.amounts(len(tallies))
    supports = np.where(events.lengths == 0, events.alike, NONE)
    inferred = np.zeros(events.units, bool)
    sizes = []
    for size, (tally, amount) in enumerate(zip(tallies, amounts, strict=True), 1):
        sure = _is_alone_with_a_value(events, tally.secrets, supports, size)
        supports = np.minimum(supports, tally.supports)
        inferred = inferred | tally.inferred
        left_out = 0 if ordered.timed else round(amount) - tally.holders
        confidence = None
        if tally.secrets is not None:
            confidence = max(tally.confidence, Fraction(1 if left_out and sure else 0))
        sizes.append(KnowledgeOfSize(size, tally.combinations + left_out, supports, confidence, inferred))
    return sizes


def _is_alone_with_a_value(events: Events, secrets: Secrets | None, supports: Counts, size: int) -> bool:
    """Whether some unit has this many events, is alone by fewer, and has a value: it is then inferred for certain."""
    if secrets is None:
        return False
    return bool(((supports == 1) & (events.lengths >= size) & (secrets.lengths > 0)).any())


def known_at(sizes: list[KnowledgeOfSize], alike: Counts) -> dict[str, int]:
    """How many units are alone by no event, by one, ... and by none of these: the least number that is enough."""
    alone = [int((alike == 1).sum()), *(int((one.supports == 1).sum()) for one in sizes)]
    alone = [max(alone[: place + 1]) for place in range(len(alone))]
    counts = {str(place): number - (alone[place - 1] if place else 0) for place, number in enumerate(alone)}
    return {**counts, "none": len(alike) - alone[-1]}


def merged(one: KnowledgeOfSize, supports: Counts) -> KnowledgeOfSize:
    """The same with smaller supports of some units."""
    return replace(one, supports=np.minimum(one.supports, supports))


def in_windows(
    events: Events, window: Fraction, secrets: Secrets | None = None, confidence: Fraction | None = None
) -> tuple[KnowledgeOfSize, int]:
    """What all events of one window of time reveal of a unit to an intruder who knows that there were no others in it.

    Args:
        events: with times; those without one are left out.
        window: its length in steps of the time. A window begins at each multiple of it and ends before the next.
        secrets: the sensitive values of units.
        confidence: the largest share of a value that is allowed.

    Returns:
        For each unit the least number of units that have the same events in some window in which it has one (a very
        large number for a unit without any); and how many pairs of a unit and such a window there are.

    Cost: O(events log events) to put them in order, then O(events of units that still share all events so far).
    """
    assert events.time is not None  # noqa: S101 - windows are of time
    timed = events if events.without_time is None else events.of(~events.without_time)
    assert timed.time is not None  # noqa: S101 - as above
    number = np.array(_windows_of(timed.time, window), np.int64)
    _, number = np.unique(number, return_inverse=True)
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
    confident = None if secrets is None else max(tally.confidence, Fraction(0))
    return KnowledgeOfSize(1, tally.combinations, tally.supports, confident, tally.inferred), len(starts)


def _windows_of(time: Positions, window: Fraction) -> list[int] | Positions:
    """The number of the window of each time: the floor of time / window, in integers."""
    numerator, denominator = window.numerator, window.denominator
    if int(np.abs(time).max(initial=0)) * denominator < 2**62 and numerator < 2**62:
        return time * denominator // numerator
    return [int(one) * denominator // numerator for one in time.tolist()]


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
