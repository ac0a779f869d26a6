"""The search: the node of a lattice that keeps the policy with the least loss.

In whatever order nodes are looked at, the best one so far is the best there is once no open node has a bound below its
loss. A node that is hopeless closes all finer ones (predictive tagging), so nodes are looked at by bisection of
ways up from the open node with the least bound, which closes many with few looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from tcdp_audit.plugin.remedy import Progress, silent
from tcdp_audit_plugins.remedies.generalization.lattice import Lattice, Place
from tcdp_audit_plugins.remedies.generalization.node_judge import JudgedNode, NodeJudge


@dataclass
class LatticeSearch:
    """A search in progress.

    Args:
        lattice: what is known of the nodes.
        judge: what becomes of a node.
        progress: called with the number of nodes that were looked at, and of all.
        best: the node with the least loss so far.
        seen: every node that was looked at.
    """

    lattice: Lattice
    judge: NodeJudge
    progress: Progress = silent
    best: JudgedNode | None = None
    seen: list[JudgedNode] = field(default_factory=list)

    @property
    def loss(self) -> float:
        """The least loss so far; infinite before any node was kept."""
        return inf if self.best is None else self.best.loss

    def run(self) -> JudgedNode | None:
        """The node with the least loss, the finest where it keeps the policy; None where none does.

        Cost: that of a judgement for each node looked at: all nodes with a bound below the least loss at worst.
        """
        self._rule_out_nothing_left()
        self._look(self.lattice.bottom)
        while (place := self.lattice.next(self.loss)) is not None:
            self._bisect(self.lattice.path(place, self.loss))
        return self.best

    def _rule_out_nothing_left(self) -> None:
        """A release of suppressed records only cannot be audited, so it is no answer, and rules out no finer one."""
        if self.judge.base.hidden(self.lattice.at(self.lattice.top)).all():
            self.lattice.close(self.lattice.top)

    def _bisect(self, way: Sequence[Place]) -> None:
        """Find where on a way up nodes cease to be hopeless."""
        low, high = 0, len(way)
        while low < high:
            middle = (low + high) // 2
            if self._look(way[middle]).hopeless:
                low = middle + 1
            else:
                high = middle

    def _look(self, place: Place) -> JudgedNode:
        node = self.judge.judge_node(self.lattice.at(place))
        self.seen.append(node)
        self.lattice.raise_coarser(place, node.bound)
        if node.hopeless:
            self.lattice.close_finer(place)
        self.lattice.close(place)
        if node.kept and node.loss < self.loss:
            self.best = node
        self.progress("searching levels", len(self.seen), self.lattice.nodes)
        return node
