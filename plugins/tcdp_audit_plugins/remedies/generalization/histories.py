"""Generalization where whole histories are judged: every column at one level, in all tables at once.

A node of the lattice gives equal values equal labels in every row, so equal histories stay equal, and classes of units
only merge. The sizes of classes rule out nodes; of those that are left an audit of the recoded tables decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil

import numpy as np

from tcdp_audit.plugin._internal import checkpoint
from tcdp_audit.plugin.remedy import DominatedError, NewColumn, RemedyView, Treatment, failing_demands
from tcdp_audit.plugin.sentences import Outcome, Status, count
from tcdp_audit_plugins.remedies._shared.search import reached
from tcdp_audit_plugins.remedies.generalization.lattice import JudgedNode, LatticeSearch, Place
from tcdp_audit_plugins.remedies.generalization.levels import Mask, Numbers
from tcdp_audit_plugins.remedies.generalization.losses import Measure, least
from tcdp_audit_plugins.remedies.generalization.unit_base import UnitBase

Demand = tuple[str, str | None, str]  # the check, the attribute and the scenario of an outcome


@dataclass(frozen=True)
class HistoryTrials:
    """Recoded tables, and the audit of them.

    Args:
        view: the table of units, or the only one.
        base: the units in base classes.
        unhelped: the demands that fail, and that recoding cannot help.
    """

    view: RemedyView
    base: UnitBase
    unhelped: frozenset[Demand]

    @cached_property
    def _checks(self) -> frozenset[str]:
        judged = (one for one in self.view.outcomes if not one.is_structural and one.status is not Status.MEASURED)
        return frozenset(one.check for one in judged)

    def treatment(self, state: Numbers, removed: Mask) -> Treatment:
        """The columns of all tables at the levels of each base class, and which units stay.

        Args:
            state: the levels, shape (base classes, axes).
            removed: which base classes are dropped, shape (base classes,).
        """
        columns: dict[str, NewColumn] = {}
        for at, axis in enumerate(self.base.axes):
            for one in axis.columns if state[:, at].any() else ():
                level = state[self.base.of_root[self.base.rows.roots_of(one.table)], at]
                columns[one.levels.name] = NewColumn.of_texts(one.texts, one.labels[level, one.codes])
        dropped = removed[self.base.of_root[self.base.rows.roots]]
        return Treatment(columns, ~dropped if dropped.any() else None)

    def left(self, treatment: Treatment) -> list[Outcome]:
        """The demands that fail after a treatment, without those that it cannot help. Cost: an audit."""
        failing = failing_demands(self.view.outcomes_of(self._checks, treatment))
        return [one for one in failing if (one.check, one.attribute, one.scenario) not in self.unhelped]

    def failing(self, treatment: Treatment, left: Sequence[Outcome]) -> Mask:
        """The base classes with units that fail a demand on classes after a treatment.

        None does where no demand on classes is `left`: a table as a whole does not say who fails. Cost: an audit.
        """
        roots = self.base.rows.roots
        staying = roots if treatment.retained is None else roots[treatment.retained]
        failing = np.zeros(len(self.base.sizes), dtype=bool)
        if not self.view.failing_on_classes(left):
            return failing
        failing[self.base.of_root[staying[self.view.failing_records(treatment)]]] = True
        return failing


@dataclass(frozen=True)
class HistoryJudge:
    """The judge of nodes where whole histories are judged.

    Args:
        trials: the audits of recoded tables.
        measure: the loss.
        allowed: how many units may be dropped.
        k: the size that every class must have, in units; 1 where sizes rule out no node.
        dropped: what was dropped at nodes that pass, by their levels.
        dominated: nodes that lose more than another remedy after which the release passes.
    """

    trials: HistoryTrials
    measure: Measure
    allowed: int
    k: int
    dropped: dict[tuple[int, ...], Mask] = field(default_factory=dict)
    dominated: list[DominatedError] = field(default_factory=list)

    @property
    def base(self) -> UnitBase:
        """The units in base classes."""
        return self.trials.base

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self.base.sizes.sum())

    def hides_all(self, levels: Sequence[int]) -> bool:
        """Say whether a node shows no quasi-identifier of any unit."""
        return self.base.hides_all(levels)

    def small(self, classes: Numbers) -> Mask:
        """The base classes in classes of fewer than k units. Shape (base classes,)."""
        return np.bincount(classes, self.base.sizes)[classes] < self.k

    def judge_node(self, levels: Sequence[int]) -> JudgedNode:
        """A node with what fails there dropped, as the audit of the recoded tables decides.

        Cost: the histories of a unit of each base class; where sizes leave the node possible an audit, and two for each
        round of dropping.
        """
        # A unit in a class that is too small is in one at every finer node, since that only divides classes. So a node
        # with more such units than may be dropped rules out all finer ones. No other demand rules out a node.
        state = self.base.state(levels)
        classes = self.base.classes(state)
        removed = self.small(classes)
        suppressed = int(self.base.sizes[removed].sum())
        whole = self.loss(state, classes, np.zeros_like(removed))
        bound = least(self.measure, whole, self.allowed, self.units)
        if suppressed > self.allowed:
            return self._judged(levels, suppressed, bound, whole, passes=False, hopeless=True)
        passes, removed = self._proven(state, removed)
        if passes:
            self.dropped[tuple(levels)] = removed
        suppressed = int(self.base.sizes[removed].sum())
        loss = self.loss(state, classes, removed) if passes else whole
        return self._judged(levels, suppressed, bound, loss, passes=passes, hopeless=False)

    @staticmethod
    def _judged(
        levels: Sequence[int], suppressed: int, bound: float, loss: float, *, passes: bool, hopeless: bool
    ) -> JudgedNode:
        """The figures of a node; what it suppresses is dropped, since histories without values differ in length."""
        return JudgedNode(levels, passes, suppressed, grouped=False, bound=bound, loss=loss, hopeless=hopeless)

    def is_hopeless(self, levels: Sequence[int]) -> bool:
        """Say whether sizes of classes rule out a node, and so all finer ones."""
        return int(self.base.sizes[self.small(self.base.classes(self.base.state(levels)))].sum()) > self.allowed

    def _proven(self, state: Numbers, removed: Mask) -> tuple[bool, Mask]:
        """The verdict of the audit of a node, and what is dropped for it: again and again what still fails."""
        while not removed.all() and int(self.base.sizes[removed].sum()) <= self.allowed:
            checkpoint()
            treatment = self.trials.treatment(state, removed)
            try:
                left = self.trials.left(treatment)
            except DominatedError as error:
                self.dominated.append(error)
                break
            if not left:
                return True, removed
            more = self.trials.failing(treatment, left) & ~removed if self.allowed else np.zeros_like(removed)
            if not more.any():
                break
            removed = removed | more
        return False, removed

    def loss(self, state: Numbers, classes: Numbers, removed: Mask) -> float:
        """The loss by levels of each base class: the certainty penalty of all columns, or a measure of class sizes.

        Args:
            state: the levels, shape (base classes, axes).
            classes: the class of each base class.
            removed: which base classes are dropped.
        """
        if self.measure is Measure.NCP:
            every = np.arange(len(self.base.sizes))
            cost = np.sum([costs[state[:, at], every] for at, costs in enumerate(self.base.penalties)], axis=0)
            return float(np.where(removed, self.base.whole, cost).sum())
        sizes = np.bincount(classes, np.where(removed, 0, self.base.sizes))
        if self.measure is Measure.DISCERNIBILITY:
            return float(sizes @ sizes) + float(self.units) * float(self.base.sizes[removed].sum())
        return float(sizes.sum() / max(np.count_nonzero(sizes), 1))


class HistorySearch(LatticeSearch[HistoryJudge]):
    """A search that audits only the finest nodes on its ways that sizes of classes leave possible."""

    def _bisect(self, way: Sequence[Place]) -> None:
        low, high = 0, len(way)
        while low < high:
            middle = (low + high) // 2
            if self.judge.is_hopeless(self.lattice.at(way[middle])):
                self.lattice.close_finer(way[middle])
                low = middle + 1
            else:
                high = middle
        if low < len(way):
            self._look(way[low])


def refusal_of_histories(search: HistorySearch, noun: str) -> str:
    """The reason why no node keeps the policy, and what the coarsest one that shows anything would take."""
    judge, units = search.judge, search.judge.units
    limit = f" with at most {judge.allowed:,} of {count(units, noun)} suppressed" if judge.allowed else ""
    failed = f"none of the {search.lattice.nodes:,} combinations of levels keeps the policy{limit}"
    states = map(judge.base.state, _coarsest(search))
    trials = [(state, judge.small(judge.base.classes(state))) for state in states]
    if not trials:
        return f"{failed}; the only one that is left shows nothing"
    state, removed = min(trials, key=lambda one: int(judge.base.sizes[one[1]].sum()))
    suppressed = int(judge.base.sizes[removed].sum())
    if removed.all():
        return f"{failed}; even at the coarsest of them, no {noun} is in a group of {judge.k:,}"
    left = "; ".join(filter(None, map(reached, judge.trials.left(judge.trials.treatment(state, removed)))))
    if not suppressed:
        return f"{failed}; the coarsest of them leaves {left or 'a demand that fails'}"
    share = ceil(suppressed * 1000 / units) / 1000
    would = f", and then leaves {left}" if left else f", so `suppression: {share:g}` would do" if share < 1 else ""
    return f"{failed}; the coarsest of them needs {suppressed:,} of {count(units, noun)} suppressed{would}"


def _coarsest(search: HistorySearch) -> list[list[int]]:
    """The coarsest node; where it shows nothing, those that are one step below it."""
    top = search.lattice.top
    if not search.judge.hides_all(search.lattice.at(top)):
        return [search.lattice.at(top)]
    below = [(*top[:axis], top[axis] - 1, *top[axis + 1 :]) for axis in range(len(top)) if top[axis]]
    return [search.lattice.at(place) for place in below]
