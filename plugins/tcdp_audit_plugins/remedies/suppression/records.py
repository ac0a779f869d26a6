"""Suppression of records: drop classes that fail, fewest records first, until those that are left keep the policy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.remedy import Demands, MergedDemands, RemedyError, RemedyView, Treatment
from tcdp_audit.plugin.sentences import count as count_of
from tcdp_audit_plugins.remedies.suppression.quasi_identifier_cells import Integers, Mask, QuasiIdentifierCells

AT_ONCE = 8  # an eighth of the failing records is dropped before the others are judged again
FORESEEN = 16  # with so few failing classes, each is dropped on trial


def drop_records(view: RemedyView, demands: Demands) -> Treatment:
    """Drop the records of failing classes. Each drop moves the distributions that the other classes are held against.

    Two orders are followed, and the one that drops fewer records is taken: always the smallest failing classes; or,
    once few classes fail, the one after which the fewest records fail.

    Raises:
        RemedyError: no record would be left.

    Cost: a pass over the records and a sort of the pairs of class and value for each of some 30 to 300 rounds of
    judging; 2 rounds where the demands look at no distribution.
    """
    cells = QuasiIdentifierCells.of(view)
    classes, count = cells.classes()
    release = _Classes(MergedDemands(demands.without(cells.exempt), classes, count))
    ways = [release.drop(foreseen) for foreseen in (0, FORESEEN)]
    gone, rounds = min(ways, key=lambda way: release.records(way[0]))
    kept = ~gone[classes] | cells.exempt
    if gone[release.sizes > 0].all():
        raise RemedyError(
            f"no record would be left: each of the {int((release.sizes > 0).sum()):,} classes fails, at the latest "
            f"once others are dropped; the largest has {count_of(int(release.sizes.max()), 'record')}; generalise "
            "first, or use `of: cells`"
        )
    dropped = view.records - int(kept.sum())
    notes = {"records": dropped, "share": dropped / view.records, "classes": int(gone.sum()), "rounds": rounds}
    return Treatment(kept=kept if dropped else None, notes=notes)


@dataclass(frozen=True)
class _Classes:
    """The classes of a release, some of which go."""

    demands: MergedDemands

    @cached_property
    def sizes(self) -> Counts:
        return self.demands.sizes

    @cached_property
    def _numbers(self) -> Integers:
        return np.arange(self.demands.count)

    def records(self, classes: Mask) -> int:
        """The records of some classes."""
        return int(self.sizes[classes].sum())

    def failing(self, gone: Mask) -> Mask:
        """The classes that fail once others are gone. One without records neither fails nor is there."""
        there = ~gone & (self.sizes > 0)
        if not there.any():
            return there
        return there & ~self.demands.without(gone).kept_by(self._numbers, len(gone))

    def drop(self, foreseen: int) -> tuple[Mask, int]:
        """Drop classes until none fails.

        Args:
            foreseen: with at most so many failing classes, look what dropping each of them would do.

        Returns:
            Which classes are gone, bool, shape (classes,), and in how many rounds.
        """
        gone, rounds = np.zeros(len(self.sizes), dtype=bool), 0
        while (failing := self.failing(gone)).any():
            foresee = failing.sum() <= foreseen
            gone = gone | (self._most_helpful(gone, failing) if foresee else self._smallest(failing))
            rounds += 1
        return gone, rounds

    def _smallest(self, failing: Mask) -> Mask:
        """The smallest failing classes, equal sizes together, until they have their part of the failing records."""
        ordered = np.sort(self.sizes[failing])
        limit = ordered[np.searchsorted(np.cumsum(ordered) * AT_ONCE, ordered.sum())]
        return np.asarray(failing & (self.sizes <= limit))

    def _most_helpful(self, gone: Mask, failing: Mask) -> Mask:
        """The failing class without which the fewest records fail; all of them where none helps another."""
        trials: list[Mask] = [self._numbers == number for number in np.flatnonzero(failing)]
        left = [self.failing(gone | trial) for trial in trials]
        if all(np.array_equal(after, failing & ~trial) for trial, after in zip(trials, left, strict=True)):
            return failing
        costs = [(self.records(trial | after), self.records(trial)) for trial, after in zip(trials, left, strict=True)]
        return trials[costs.index(min(costs))]
