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
from typing import Any

import numpy as np

from tcdp_audit.plugin._internal import Floats, checkpoint, fold, numbered
from tcdp_audit.plugin.remedy import MergedDemands, NewColumn
from tcdp_audit_plugins.remedies._shared.segments import rank_within
from tcdp_audit_plugins.remedies.generalization.histories import HistoryJudge
from tcdp_audit_plugins.remedies.generalization.lattice import JudgedNode, NodeJudge
from tcdp_audit_plugins.remedies.generalization.levels import ClassLabels, Mask, Numbers
from tcdp_audit_plugins.remedies.generalization.losses import LOSSES, Measure, Node


@dataclass(frozen=True)
class Division:
    """The classes divided by one quasi-identifier at one level."""

    attribute: int  # the position of the quasi-identifier
    level: int  # the level
    rows: Numbers  # the base classes that would get another label, shape (rows,)
    part: Numbers  # the part of each, from 0 to count - 1, likewise
    parent: Numbers  # the class of each part, shape (count,)


@dataclass(frozen=True)
class LocalRecoding:
    """Base classes and the levels that they can get. A state is the level of each: shape (base classes, attributes)."""

    class_labels: Sequence[ClassLabels]  # those of each quasi-identifier
    sizes: Numbers  # records of each base class, shape (base classes,)
    demands: MergedDemands  # what every class must keep; on the records that are there
    present: Mask  # which base classes are there; the others were dropped, shape (base classes,)
    next_only: bool  # whether a division is by the next level only, and not by any finer one

    def refined(self, state: Numbers) -> Numbers:
        """A state that keeps every demand, with no class left that could be divided.

        The given state keeps every demand, or all base classes show the token only in it.

        Cost: for every round, of which there are about as many as levels, three judgements or so of the base classes in
        classes that were divided in the round before, for each level of each quasi-identifier.
        """
        open_ = self.present
        while True:
            checkpoint()
            classes, count = self.classes(state)
            finer, divided = self._round(state, classes, count, open_)
            if not divided.any() or not self.satisfies_policy(finer):
                return state
            state, open_ = finer, divided[classes]

    def satisfies_policy(self, state: Numbers) -> bool:
        """Say whether every class keeps every demand; those that came to the same labels are one."""
        classes, count = self.classes(state)
        return bool(self.demands.satisfied_by(classes, count).all())

    def classes(self, state: Numbers) -> tuple[Numbers, int]:
        """The class of each base class by its labels, and how many there are; one that was dropped is in the first."""
        labels = [one.labels[state[:, column], self._every] for column, one in enumerate(self.class_labels)]
        keys = fold([one[self.present] for one in labels], [len(one.texts) for one in self.class_labels])
        distinct, number = numbered(keys.values, keys.span)
        classes = np.zeros(len(self.sizes), dtype=np.int64)
        classes[self.present] = number
        return classes, len(distinct)

    def penalty(self, state: Numbers) -> Floats:
        """The certainty penalty of each base class, a mean over the quasi-identifiers. Shape (base classes,)."""
        return np.mean(
            [one.penalty[state[:, column], self._every] for column, one in enumerate(self.class_labels)], axis=0
        )

    def hidden(self, state: Numbers) -> Mask:
        """The base classes that show no quasi-identifier. Shape (base classes,)."""
        return np.all(
            [one.hidden[state[:, column], self._every] for column, one in enumerate(self.class_labels)], axis=0
        )

    @cached_property
    def _every(self) -> Numbers:
        return np.arange(len(self.sizes))

    def _round(self, state: Numbers, classes: Numbers, count: int, open_: Mask) -> tuple[Numbers, Mask]:
        """The state after each open class was divided in the way that saves most, and which classes were. O(levels)."""
        best, finer = np.zeros(count), state.copy()
        for division in self._divisions(state, classes, np.flatnonzero(open_)):
            checkpoint()
            moved = self._allowed(division, classes, count)
            saving = self._saving(division, moved, state, classes, count)
            better = saving > best + 1e-9 * (1 + best)
            best[better] = saving[better]
            again = better[classes]
            finer[again] = state[again]
            finer[moved & again, division.attribute] = division.level
        return finer, best > 0

    def _divisions(self, state: Numbers, classes: Numbers, open_: Numbers) -> Iterator[Division]:
        for attribute, one in enumerate(self.class_labels):
            present = state[open_, attribute]
            for level in one.finer:
                rows = open_[one.below[present] == level if self.next_only else present > level]
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
        good = self.demands.satisfied_by(division.part, len(division.parent), chosen=division.rows)
        size = np.bincount(division.part, self.sizes[division.rows])
        moved, taken = self._moved(division, good), 1
        while (bad := self._failing_rests(moved, classes, count)).any():
            checkpoint()
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
            failing &= ~self.demands.satisfied_by(classes[rest], count, chosen=rest)
        return failing

    def _saving(self, division: Division, moved: Mask, state: Numbers, classes: Numbers, count: int) -> Floats:
        """The certainty penalty that a division of each class saves, summed over its records. Shape (classes,)."""
        penalty = self.class_labels[division.attribute].penalty
        before = penalty[state[moved, division.attribute], self._every[moved]]
        spared = (before - penalty[division.level, moved]) * self.sizes[moved]
        return np.bincount(classes[moved], spared, count).astype(np.float64)


@dataclass(frozen=True)
class Recoded:
    """Labels that differ from class to class."""

    recoding: LocalRecoding  # what led to them
    state: Numbers  # the level of each base class, shape (base classes, attributes)
    loss: float  # what they cost
    suppressed: int  # records that are dropped, or show no quasi-identifier and did before
    start: str  # `levels` or `hidden`, where it began

    def column(self, attribute: int, classes: Numbers) -> NewColumn | None:
        """A quasi-identifier record by record, from the base class of each; None where all keep their values."""
        class_labels, state = self.recoding.class_labels[attribute], self.state[:, attribute]
        if not state.any():
            return None
        return NewColumn.of_texts(class_labels.texts, class_labels.labels[state, np.arange(len(state))][classes])

    def notes(self) -> dict[str, Any]:
        """The figures that the guide explains."""
        return {
            "loss": self.loss,
            "classes": self.recoding.classes(self.state)[1],
            "suppressed": self.suppressed,
            "start": self.start,
            "steps": "next" if self.recoding.next_only else "any",
        }


def recoded_locally(judge: NodeJudge, best: JudgedNode, choices: Sequence[Sequence[int]], token: str) -> Recoded:
    """The finer labels that lose least, of those that were found.

    `choices` are the levels that each quasi-identifier may have.

    Cost: that of `LocalRecoding.refined`, four times.
    """
    every = zip(judge.base.levels_of_all, judge.base.codes, choices, strict=True)
    work = _Work(judge, best, [ClassLabels.of(*one, token) for one in every])
    return min(work.results(), key=lambda one: one.loss)


@dataclass(frozen=True)
class _Work:
    """A combination of levels to be recoded locally; see `recoded_locally`."""

    judge: NodeJudge
    best: JudgedNode
    class_labels: Sequence[ClassLabels]

    def results(self) -> Iterator[Recoded]:
        """Yield the result of each way, and last the levels as they are."""
        removed = self.judge.removed(self.best.levels)
        hidden = np.array([one.token for one in self.class_labels])
        levels = np.where((removed & self.best.grouped)[:, None], hidden, self.best.levels)
        dropped = removed & (not self.best.grouped)
        for next_only in (True, False):
            recoding = self._recoding(dropped, next_only=next_only)
            yield self._recoded(recoding, recoding.refined(levels), "levels")
        if self.judge.ways.grouping:
            for next_only in (True, False):
                recoding = self._recoding(np.zeros_like(dropped), next_only=next_only)
                result = self._recoded(recoding, recoding.refined(np.tile(hidden, (len(removed), 1))), "hidden")
                if self._is_answer(result):
                    yield result
        yield self._recoded(self._recoding(dropped, next_only=True), levels, "levels")

    def _recoding(self, dropped: Mask, *, next_only: bool) -> LocalRecoding:
        judge = self.judge
        demands = judge.demands.without(dropped) if dropped.any() else judge.demands
        return LocalRecoding(self.class_labels, judge.base.sizes, demands, ~dropped, next_only)

    def _recoded(self, recoding: LocalRecoding, state: Numbers, start: str) -> Recoded:
        base, dropped = self.judge.base, ~recoding.present
        nothing = dropped | (recoding.hidden(state) & ~base.hidden(base.lowest))
        return Recoded(recoding, state, self._loss(recoding, state), int(base.sizes[nothing].sum()), start)

    def _loss(self, recoding: LocalRecoding, state: Numbers) -> float:
        """As that of a combination of levels; a dropped record costs 1."""
        base, dropped = self.judge.base, ~recoding.present
        if self.judge.measure is Measure.NCP:
            penalty = np.where(dropped, 1.0, recoding.penalty(state))
            return float(penalty @ base.sizes) / int(base.sizes.sum())
        return LOSSES[self.judge.measure](base, Node((), *recoding.classes(state), dropped))

    def _is_answer(self, result: Recoded) -> bool:
        """Say whether no more is hidden than is allowed, something is shown, and every class keeps every demand."""
        recoding, state = result.recoding, result.state
        shows = not recoding.hidden(state).all()
        return result.suppressed <= self.judge.allowed and shows and recoding.satisfies_policy(state)


@dataclass(frozen=True)
class LocalHistories:
    """Finer labels of classes of units, each class by itself: all rows of a unit, in every table, on one level.

    A class is divided by one axis on a finer level. Parts that are large enough get that level; the rest keeps its
    labels, and takes in the smallest parts until it is large enough, too. An audit then decides, and classes whose
    units fail go back.

    Args:
        judge: the judge of nodes.
        removed: which base classes are dropped.
        next_only: whether a division is by the next level only, and not by any finer one.
    """

    judge: HistoryJudge
    removed: Mask
    next_only: bool

    @property
    def _sizes(self) -> Numbers:
        return np.where(self.removed, 0, self.judge.base.sizes)

    def refined(self, state: Numbers) -> Numbers:
        """Levels that keep every demand, from some that do. Cost: an audit, or a few, for each round of divisions."""
        while True:
            checkpoint()
            classes = self.judge.base.classes(state)
            audited = self._audited(state, self._divided(state, classes), classes)
            if (audited == state).all():
                return state
            state = audited

    def _divided(self, state: Numbers, classes: Numbers) -> Numbers:
        """The levels after each class was divided in the way that saves most."""
        finer, best = state.copy(), np.zeros(int(classes.max()) + 1)
        every = np.arange(len(state))
        for at, level, rows in self._divisions(state):
            checkpoint()
            trial = state.copy()
            trial[rows, at] = level
            moved = self._moved(classes, self.judge.base.classes(trial)) & rows
            costs = self.judge.base.penalties[at]
            saved = np.where(moved, costs[state[:, at], every] - costs[level], 0.0)
            saving = np.bincount(classes, saved, len(best))
            better = saving > best + 1e-9 * (1 + best)
            best[better] = saving[better]
            again = better[classes]
            finer[again] = state[again]
            finer[moved & again, at] = level
        return finer

    def _divisions(self, state: Numbers) -> Iterator[tuple[int, int, Mask]]:
        """An axis, a level, and the base classes that may get it."""
        for at, axis in enumerate(self.judge.base.axes):
            for level in axis.choices:
                above = [one for one in axis.choices if one > level]
                next_one = above[0] if above else None
                rows = state[:, at] == next_one if self.next_only else state[:, at] > level
                rows = rows & ~self.removed
                if rows.any():
                    yield at, level, rows

    def _moved(self, classes: Numbers, parts: Numbers) -> Mask:
        """The base classes in parts that get other labels: each is large enough, and so is the rest of its class."""
        _, part = np.unique(classes * (int(parts.max()) + 1) + parts, return_inverse=True)
        size = np.bincount(part, self._sizes)
        good = size >= max(self.judge.k, 1)
        parent = np.zeros(len(size), dtype=np.int64)
        parent[part] = classes
        smallest_first = np.lexsort((size, parent))
        while True:
            rest = np.bincount(classes, np.where(good[part], 0, self._sizes), int(classes.max()) + 1)
            wanting = (rest > 0) & (rest < self.judge.k)
            taken = smallest_first[good[smallest_first] & wanting[parent[smallest_first]]]
            if not len(taken):
                return good[part] & ~wanting[classes]
            good[taken[np.unique(parent[taken], return_index=True)[1]]] = False

    def _audited(self, state: Numbers, finer: Numbers, classes: Numbers) -> Numbers:
        """The finer levels where the audit passes; classes with units that fail have their former ones."""
        while (finer != state).any():
            treatment = self.judge.trials.treatment(finer, self.removed)
            left = self.judge.trials.left(treatment)
            if not left:
                return finer
            failing = np.zeros(int(classes.max()) + 1, dtype=bool)
            failing[classes[self.judge.trials.failing(treatment, left)]] = True
            back = failing[classes] & (finer != state).any(axis=1)
            if not back.any():
                return state
            finer = np.where(back[:, None], state, finer)
        return state


def recoded_histories(judge: HistoryJudge, state: Numbers, removed: Mask) -> tuple[Numbers, dict[str, Any]]:
    """The finer levels that lose least, of those that were found, and the figures that the guide explains.

    Args:
        judge: the judge of nodes.
        state: the levels of the best node, for each base class.
        removed: which base classes are dropped.

    Cost: that of `LocalHistories.refined`, twice.
    """
    results: list[tuple[Numbers, dict[str, Any]]] = []
    for steps, next_only in (("next", True), ("any", False)):
        finer = LocalHistories(judge, removed, next_only).refined(state)
        classes = judge.base.classes(finer)
        notes = {
            "loss": judge.loss(finer, classes, removed),
            "classes": len(np.unique(classes[~removed])),
            "suppressed": int(judge.base.sizes[removed].sum()),
            "start": "levels",
            "steps": steps,
        }
        results.append((finer, notes))
    return min(results, key=lambda one: float(one[1]["loss"]))
