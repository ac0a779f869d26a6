"""Local recoding of a full-domain generalization: from where it begins, how it goes on, and which result is taken.

It begins with the best combination of levels, what fails there hidden, and once more with all records hidden, because
what one level for all has decided cannot be taken back; and it goes on by the next finer level only, or by any. The
result with the least loss is taken: the least that was found, not the least there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_audit.plugin.remedy import NewColumn
from tcdp_audit_plugins.remedies.generalization.levels import Mask, Numbers
from tcdp_audit_plugins.remedies.generalization.local_recoding import LocalRecoding
from tcdp_audit_plugins.remedies.generalization.losses import LOSSES, Measure, Node
from tcdp_audit_plugins.remedies.generalization.node_judge import JudgedNode, NodeJudge
from tcdp_audit_plugins.remedies.generalization.rungs import Rungs


@dataclass(frozen=True)
class Recoded:
    """Labels that differ from class to class.

    Args:
        recoding: what led to them.
        state: the rung of each base class. Shape (base classes, attributes).
        loss: what they cost.
        suppressed: records that are dropped, or show no quasi-identifier and did before.
        start: `levels` or `hidden`, where it began.
    """

    recoding: LocalRecoding
    state: Numbers
    loss: float
    suppressed: int
    start: str

    def column(self, attribute: int, classes: Numbers) -> NewColumn | None:
        """A quasi-identifier record by record, from the base class of each; None where all keep their values."""
        rungs, state = self.recoding.rungs[attribute], self.state[:, attribute]
        if not state.any():
            return None
        return NewColumn.of_texts(rungs.texts, rungs.labels[state, np.arange(len(state))][classes])

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

    Args:
        judge: the base classes, and what they must keep.
        best: the best combination of levels.
        choices: for each quasi-identifier the levels that it may have.
        token: the cell that stands for a suppressed value.

    Cost: that of `LocalRecoding.refined`, four times.
    """
    every = zip(judge.base.ladders, judge.base.codes, choices, strict=True)
    work = _Work(judge, best, [Rungs.of(*one, token) for one in every])
    return min(work.results(), key=lambda one: one.loss)


@dataclass(frozen=True)
class _Work:
    """A combination of levels to be recoded locally; see `recoded_locally`."""

    judge: NodeJudge
    best: JudgedNode
    rungs: Sequence[Rungs]

    def results(self) -> Iterator[Recoded]:
        """What came of each way, and last the levels as they are."""
        removed = self.judge.removed(self.best.levels)
        hidden = np.array([one.token for one in self.rungs])
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
        return LocalRecoding(self.rungs, judge.base.sizes, demands, ~dropped, next_only)

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
        """Whether no more is hidden than is allowed, something is shown, and every class keeps every demand."""
        recoding, state = result.recoding, result.state
        shows = not recoding.hidden(state).all()
        return result.suppressed <= self.judge.allowed and shows and recoding.is_kept(state)
