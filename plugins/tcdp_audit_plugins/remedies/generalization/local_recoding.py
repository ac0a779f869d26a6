"""Local recoding: from a release that keeps the policy to finer labels, class by class, as far as they can be had.

A class is divided by one quasi-identifier at a finer level. The parts that keep every demand get that level's labels;
what fails keeps the class's own labels, as one class that must keep every demand too; so it takes in the smallest
parts until it does. All classes are divided at once, each in the way that saves most certainty
penalty, and again, until none can be. Every change is to a finer level, so it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_audit.plugin._internal import Floats, fold, numbered, rank_within
from tcdp_audit.plugin.remedy import MergedDemands
from tcdp_audit_plugins.remedies.generalization.levels import Mask, Numbers
from tcdp_audit_plugins.remedies.generalization.rungs import Rungs


@dataclass(frozen=True)
class Division:
    """The classes divided by one quasi-identifier at one level.

    Args:
        attribute: the position of the quasi-identifier.
        level: the level.
        rows: the base classes that would get another label. Shape (rows,).
        part: the part of each, from 0 to count - 1, likewise.
        parent: the class of each part. Shape (count,).
    """

    attribute: int
    level: int
    rows: Numbers
    part: Numbers
    parent: Numbers


@dataclass(frozen=True)
class LocalRecoding:
    """Base classes and the rungs they can stand on. A state is the rung of each: shape (base classes, attributes).

    Args:
        rungs: those of each quasi-identifier.
        sizes: records of each base class. Shape (base classes,).
        demands: what every class must keep; on the records that are there.
        present: which base classes are there; the others were dropped. Shape (base classes,).
        next_only: whether a division is by the next level only, and not by any finer one.
    """

    rungs: Sequence[Rungs]
    sizes: Numbers
    demands: MergedDemands
    present: Mask
    next_only: bool

    def refined(self, state: Numbers) -> Numbers:
        """A state that keeps every demand, with no class left that could be divided.

        Args:
            state: one that keeps every demand, or one in which all base classes show the token only.

        Cost: for every round, of which there are about as many as levels, three judgements or so of the base classes in
        classes that were divided in the round before, for each level of each quasi-identifier.
        """
        open_ = self.present
        while True:
            classes, count = self.classes(state)
            finer, divided = self._round(state, classes, count, open_)
            if not divided.any() or not self.is_kept(finer):
                return state
            state, open_ = finer, divided[classes]

    def is_kept(self, state: Numbers) -> bool:
        """Whether every class keeps every demand; those that came to the same labels are one."""
        classes, count = self.classes(state)
        return bool(self.demands.kept_by(classes, count).all())

    def classes(self, state: Numbers) -> tuple[Numbers, int]:
        """The class of each base class by its labels, and how many there are; one that was dropped is in the first."""
        labels = [one.labels[state[:, column], self._every] for column, one in enumerate(self.rungs)]
        keys = fold([one[self.present] for one in labels], [len(one.texts) for one in self.rungs])
        distinct, number = numbered(keys.values, keys.span)
        classes = np.zeros(len(self.sizes), dtype=np.int64)
        classes[self.present] = number
        return classes, len(distinct)

    def penalty(self, state: Numbers) -> Floats:
        """The certainty penalty of each base class, a mean over the quasi-identifiers. Shape (base classes,)."""
        return np.mean([one.penalty[state[:, column], self._every] for column, one in enumerate(self.rungs)], axis=0)

    def hidden(self, state: Numbers) -> Mask:
        """The base classes that show no quasi-identifier. Shape (base classes,)."""
        return np.all([one.hidden[state[:, column], self._every] for column, one in enumerate(self.rungs)], axis=0)

    @cached_property
    def _every(self) -> Numbers:
        return np.arange(len(self.sizes))

    def _round(self, state: Numbers, classes: Numbers, count: int, open_: Mask) -> tuple[Numbers, Mask]:
        """The state after each open class was divided in the way that saves most, and which classes were. O(levels)."""
        best, finer = np.zeros(count), state.copy()
        for division in self._divisions(state, classes, np.flatnonzero(open_)):
            moved = self._allowed(division, classes, count)
            saving = self._saving(division, moved, state, classes, count)
            better = saving > best + 1e-9 * (1 + best)
            best[better] = saving[better]
            again = better[classes]
            finer[again] = state[again]
            finer[moved & again, division.attribute] = division.level
        return finer, best > 0

    def _divisions(self, state: Numbers, classes: Numbers, open_: Numbers) -> Iterator[Division]:
        for attribute, one in enumerate(self.rungs):
            rung = state[open_, attribute]
            for level in one.finer:
                rows = open_[one.below[rung] == level if self.next_only else rung > level]
                new = one.labels[level, rows]
                rows = rows[new != one.labels[state[rows, attribute], rows]]
                if len(rows):
                    radix = len(one.texts)
                    parts, part = np.unique(classes[rows] * radix + one.labels[level, rows], return_inverse=True)
                    yield Division(attribute, level, rows, part, parts // radix)

    def _allowed(self, division: Division, classes: Numbers, count: int) -> Mask:
        """The base classes that get another label: their part keeps every demand, and so does the rest of the class.

        Cost: a judgement of the parts, and one of the rests for each doubling of the parts that they take in.
        """
        good = self.demands.kept_by(division.part, len(division.parent), chosen=division.rows)
        size = np.bincount(division.part, self.sizes[division.rows])
        moved, taken = self._moved(division, good), 1
        while (bad := self._failing_rests(moved, classes, count)).any():
            parts = np.flatnonzero(good & bad[division.parent])
            good[parts[rank_within(division.parent[parts], size[parts]) < taken]] = False
            moved, taken = self._moved(division, good), 2 * taken
        return moved

    def _moved(self, division: Division, good: Mask) -> Mask:
        moved = np.zeros(len(self.sizes), dtype=bool)
        moved[division.rows[good[division.part]]] = True
        return moved

    def _failing_rests(self, moved: Mask, classes: Numbers, count: int) -> Mask:
        """The classes that some base classes leave, and whose others fail together. Shape (classes,)."""
        left = np.zeros(count, dtype=bool)
        left[classes[moved]] = True
        rest = np.flatnonzero(self.present & ~moved & left[classes])
        failing = np.zeros(count, dtype=bool)
        if len(rest):
            failing[classes[rest]] = True
            failing &= ~self.demands.kept_by(classes[rest], count, chosen=rest)
        return failing

    def _saving(self, division: Division, moved: Mask, state: Numbers, classes: Numbers, count: int) -> Floats:
        """The certainty penalty that a division of each class saves, summed over its records. Shape (classes,)."""
        penalty = self.rungs[division.attribute].penalty
        before = penalty[state[moved, division.attribute], self._every[moved]]
        spared = (before - penalty[division.level, moved]) * self.sizes[moved]
        return np.bincount(classes[moved], spared, count).astype(np.float64)
