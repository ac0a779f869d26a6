"""Knowledge of any few events of a unit: the number of units that have them, and the values that these units share."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tcdp_audit.plugin._internal import Counts, boundaries, checkpoint, order_of, positions_of, run_lengths
from tcdp_audit.plugin.check import Ratios
from tcdp_audit_plugins.checks.histories.combinations import BLOCK, Block, Ordered, visit_combinations
from tcdp_audit_plugins.checks.histories.events import Events, Flags, Positions
from tcdp_audit_plugins.checks.histories.nearby import NearbyEvents
from tcdp_audit_plugins.checks.histories.sensitive import Secrets

NONE = np.iinfo(np.int64).max  # what nothing was looked at for


@dataclass(frozen=True)
class KnowledgeOfSize:
    """The figures of all combinations of one number of events.

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
        """Count combinations, and lower the support of each unit to the least of those that it has."""
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
    """Measure what any 1, 2, ... events of a unit reveal. Exact.

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
    return _by_size(events, ordered, tallies) if tallies else []


def _near_supports(nearby: NearbyEvents, block: Block, tally: Tally, size: int) -> Counts:
    supports = np.zeros(len(block.starts), np.int64)
    assert block.labels is not None  # noqa: S101 - it was asked for
    for some, fits in nearby.fits(block.labels, size):
        checkpoint()
        supports[some] = fits.supports
        tally.infer(block, fits.combination, fits.unit, fits.supports, some.start)
    return supports


def without_events(events: Events, secrets: Secrets | None, most: Fraction | None) -> Tally:
    """Figures of the units that have no event: by what is always known of them, and for these units alone.

    Args:
        events: of all units.
        secrets: the sensitive values of units.
        most: the largest share of a value that is allowed.

    Cost: O(units log units).
    """
    tally, lacking = Tally(events.units, secrets, most), events.lengths == 0
    if lacking.any():
        alike = np.flatnonzero(np.isin(events.static, events.static[lacking]))
        alike = alike[np.argsort(events.static[alike], kind="stable")]
        starts = boundaries(events.static[alike]).astype(np.int64)
        block = Block(0, starts, alike, alike, np.ones(len(alike), bool), None, None)
        tally.infer(block, block.number, alike, block.lengths)
        tally.supports[lacking] = events.alike[lacking]
        tally.inferred &= lacking
    return tally


def _by_size(events: Events, ordered: Ordered, tallies: list[Tally]) -> list[KnowledgeOfSize]:
    """The figures of each size, with what was left out because a part of it was enough."""
    amounts, none = ordered.amounts(len(tallies)), without_events(events, tallies[0].secrets, tallies[0].most)
    supports, inferred = none.supports, none.inferred
    sizes = []
    for size, (tally, amount) in enumerate(zip(tallies, amounts, strict=True), 1):
        sure = _is_alone_with_a_value(events, tally.secrets, supports, size)
        supports = np.minimum(supports, tally.supports)
        inferred = inferred | tally.inferred
        left_out = 0 if ordered.timed else round(amount) - tally.holders
        confidence = None
        if tally.secrets is not None:
            confidence = max(tally.confidence, none.confidence, Fraction(1 if left_out and sure else 0))
        sizes.append(KnowledgeOfSize(size, tally.combinations + left_out, supports, confidence, inferred))
    return sizes


def _is_alone_with_a_value(events: Events, secrets: Secrets | None, supports: Counts, size: int) -> bool:
    """Whether some unit has this many events, is alone by fewer, and has a value: it is then inferred for certain."""
    if secrets is None:
        return False
    return bool(((supports == 1) & (events.lengths >= size) & (secrets.lengths > 0)).any())


def known_at(sizes: list[KnowledgeOfSize], alike: Counts) -> dict[str, int]:
    """The number of units that no event, one, ... at the least single out, and of those that none of these does."""
    alone = [int((alike == 1).sum()), *(int((one.supports == 1).sum()) for one in sizes)]
    alone = [max(alone[: place + 1]) for place in range(len(alone))]
    counts = {str(place): number - (alone[place - 1] if place else 0) for place, number in enumerate(alone)}
    return {**counts, "none": len(alike) - alone[-1]}
