"""Judging a node: which of its classes keep the policy, what would have to be suppressed, and what it costs then.

What fails stays as one group that shows no quasi-identifier, where that group keeps the policy: then nobody is lost,
and no distribution moves. Otherwise it is dropped, and what is left is judged anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.remedy import MergedDemands
from tcdp_audit_plugins.remedies.generalization.base import Base
from tcdp_audit_plugins.remedies.generalization.losses import LOSSES, Measure, Node, least


@dataclass(frozen=True)
class JudgedNode:
    """The figures of a node that was judged; figures only, so that many can be remembered.

    Args:
        levels: the level of each quasi-identifier.
        kept: whether the policy is kept, with no more suppression than is allowed.
        suppressed: records that have to be suppressed; at least so many, where that is more than is allowed.
        grouped: whether they stay as one group that shows no quasi-identifier; otherwise they are dropped.
        bound: no coarser node costs less.
        loss: what it costs.
        hopeless: whether it is known that no finer node can be kept either.
    """

    levels: Sequence[int]
    kept: bool
    suppressed: int
    grouped: bool
    bound: float
    loss: float
    hopeless: bool


@dataclass(frozen=True)
class Ways:
    """What may become of records that fail.

    Args:
        grouping: they may stay, as one group that shows no quasi-identifier.
        dropping: they may be dropped.
    """

    grouping: bool = True
    dropping: bool = True


@dataclass(frozen=True)
class NodeJudge:
    """The judge of nodes.

    Args:
        base: the base classes.
        demands: what their unions must keep.
        measure: the loss.
        allowed: how many records may be suppressed.
        ways: what may become of them.
    """

    base: Base
    demands: MergedDemands
    measure: Measure
    allowed: int
    ways: Ways = Ways()

    @cached_property
    def monotone(self) -> bool:
        """Whether a node that fails rules out all finer ones, because unions of classes that pass always pass.

        With suppression they do not: a class that passes may fail together with one that fails, so that a coarser
        node can cost more records.
        """
        return not self.allowed and self.demands.demands.monotone

    def judge_node(self, levels: Sequence[int]) -> JudgedNode:
        """A node with what fails there suppressed.

        Cost: a sort of the base classes and their sensitive values, another where little fails, and one for each round
        of dropping; mostly one or two.
        """
        classes, count = self.base.merged(levels)
        finest = Node(levels, classes, count, np.zeros(len(classes), dtype=bool))
        node = self._suppressed(finest)
        suppressed = int(self.base.sizes[node.removed].sum())
        kept = suppressed <= self.allowed and self._is_answer(node)
        whole = LOSSES[self.measure](self.base, finest)
        loss = LOSSES[self.measure](self.base, node) if kept else whole
        bound = least(self.measure, whole, self.allowed, len(self.base.classes))
        return JudgedNode(levels, kept, suppressed, node.grouped, bound, loss, self._is_hopeless(finest, kept=kept))

    def removed(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """The base classes that are suppressed at a node. Shape (base classes,)."""
        classes, count = self.base.merged(levels)
        return self._suppressed(Node(levels, classes, count, np.zeros(len(classes), dtype=bool))).removed

    def _suppressed(self, node: Node) -> Node:
        """A node with what fails there grouped or dropped; or with more that fails than is allowed."""
        failing = replace(node, removed=~self.demands.kept_by(node.classes, node.count, self.allowed)[node.classes])
        if not failing.removed.any() or int(self.base.sizes[failing.removed].sum()) > self.allowed:
            return failing
        grouped = self._grouped(failing) if self.ways.grouping else None
        return grouped or (self._dropped(failing) if self.ways.dropping else failing)

    def _grouped(self, failing: Node) -> Node | None:
        """What fails as one group, with all others that show no quasi-identifier; None where that fails as well.

        No record leaves, so the distributions that closeness is measured against are those that it failed by.
        """
        group = failing.removed | self.base.hidden(failing.levels)
        occupied, classes = np.unique(np.where(group, failing.count, failing.classes), return_inverse=True)
        kept = self.demands.kept_by(classes, len(occupied)).all()
        return replace(failing, classes=classes, count=len(occupied), grouped=True) if kept else None

    def _dropped(self, failing: Node) -> Node:
        """What fails is dropped, again and again until nothing fails.

        Dropping changes the distributions that closeness is measured against, so what is left is judged anew. The
        rounds end before where more fail than are allowed, or where all that is left shows no quasi-identifier.
        """
        removed, hidden = failing.removed, self.base.hidden(failing.levels)
        while (spare := self.allowed - int(self.base.sizes[removed].sum())) >= 0 and not hidden[~removed].all():
            kept = self.demands.without(removed).kept_by(failing.classes, failing.count, spare)
            more = ~removed & ~kept[failing.classes]
            if not more.any():
                break
            removed = removed | more
        return replace(failing, removed=removed)

    def _is_answer(self, node: Node) -> bool:
        """Whether no class fails. A release of records that show no quasi-identifier cannot be audited."""
        sound = self.ways.dropping or node.grouped or not node.removed.any()
        return sound and not self.base.hidden(node.levels)[~node.removed].all()

    def _is_hopeless(self, node: Node, *, kept: bool) -> bool:
        """Records in classes that are too small by their size alone are only more at a finer node."""
        if kept or self.monotone:
            return not kept
        sizes = np.bincount(node.classes, weights=self.base.sizes, minlength=node.count)
        return bool(sizes[sizes < self.demands.least_size].sum() > self.allowed)
