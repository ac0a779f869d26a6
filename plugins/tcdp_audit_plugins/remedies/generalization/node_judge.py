"""Judging a node: which of its classes keep the policy, what would have to be suppressed, and what it costs then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin import MergedDemands
from tcdp_audit_plugins.remedies.generalization.base import Base
from tcdp_audit_plugins.remedies.generalization.levels import Numbers
from tcdp_audit_plugins.remedies.generalization.losses import LOSSES, Measure, Node, least


@dataclass(frozen=True)
class JudgedNode:
    """The figures of a node that was judged; figures only, so that many can be remembered.

    Args:
        levels: the level of each quasi-identifier.
        kept: whether the policy is kept, with no more suppression than is allowed.
        suppressed: records that have to be suppressed; at least so many, where that is more than is allowed.
        bound: no coarser node costs less.
        loss: what it costs.
        hopeless: whether it is known that no finer node can be kept either.
    """

    levels: Sequence[int]
    kept: bool
    suppressed: int
    bound: float
    loss: float
    hopeless: bool


@dataclass(frozen=True)
class NodeJudge:
    """The judge of nodes.

    Args:
        base: the base classes.
        demands: what their unions must keep.
        measure: the loss.
        allowed: how many records may be suppressed.
    """

    base: Base
    demands: MergedDemands
    measure: Measure
    allowed: int

    @cached_property
    def monotone(self) -> bool:
        """Whether a node that fails rules out all finer ones, because unions of classes that pass always pass.

        With suppression they do not: a class that passes may fail together with one that fails, so that a coarser
        node can cost more records.
        """
        return not self.allowed and self.demands.demands.monotone

    def judge_node(self, levels: Sequence[int]) -> JudgedNode:
        """A node with what fails there suppressed.

        Cost: a sort of the base classes and their sensitive values for each round of `removed`; mostly one or two.
        """
        classes, count = self.base.merged(levels)
        whole = LOSSES[self.measure](self.base, Node(levels, classes, count, np.zeros(len(classes), dtype=bool)))
        hidden = self.base.hidden(levels)
        node = Node(levels, classes, count, self._removed(classes, count, hidden))
        suppressed = int(self.base.sizes[node.removed].sum())
        kept = suppressed <= self.allowed and not hidden[~node.removed].all()
        loss = LOSSES[self.measure](self.base, node) if kept else whole
        bound = least(self.measure, whole, self.allowed, len(self.base.classes))
        return JudgedNode(levels, kept, suppressed, bound, loss, self._is_hopeless(node, kept=kept))

    def removed(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """The base classes that are suppressed at a node: those that fail, again and again until none does.

        Suppression changes the distributions that closeness is measured against, so what is left is judged anew. The
        rounds end before where more fail than are allowed, or where all that is left is hidden.

        Returns:
            bool, shape (base classes,).
        """
        return self._removed(*self.base.merged(levels), self.base.hidden(levels))

    def _removed(self, classes: Numbers, count: int, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        removed, demands = np.zeros(len(classes), dtype=bool), self.demands
        while True:
            spare = self.allowed - int(self.base.sizes[removed].sum())
            failing = ~removed & ~demands.kept_by(classes, count, spare)[classes]
            removed |= failing
            if not failing.any() or int(self.base.sizes[failing].sum()) > spare or hidden[~removed].all():
                return removed
            demands = self.demands.without(removed)

    def _is_hopeless(self, node: Node, *, kept: bool) -> bool:
        """Records in classes that are too small by their size alone are only more at a finer node."""
        if kept or self.monotone:
            return not kept
        sizes = np.bincount(node.classes, weights=self.base.sizes, minlength=node.count)
        return bool(sizes[sizes < self.demands.least_size].sum() > self.allowed)
