"""The lattice of all combinations of levels, and what is known of its nodes so far.

A node is a place in an array with one axis for each quasi-identifier, so that the nodes that are coarser in no
attribute, or finer in none, are a slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, prod
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, checkpoint
from tcdp_audit.plugin.remedy import MergedDemands, Progress, RemedyError, silent
from tcdp_audit_plugins.remedies.generalization.losses import LOSSES, Base, Measure, Node, least

MOST_NODES = 2_000_000
Place = tuple[int, ...]


@dataclass(frozen=True)
class Lattice:
    """Combinations of levels."""

    levels: Sequence[Sequence[int]]  # for each quasi-identifier the levels that it may have, ascending
    bounds: Floats  # a lower bound of each node's loss; infinite once nothing is left to find out there

    @classmethod
    def of(cls, levels: Sequence[Sequence[int]], costs: Sequence[Sequence[float]] | None) -> Lattice:
        """A lattice of which nothing is known but the costs.

        A node's loss is at least the sum of the costs of its levels; costs are None for no bound.

        Raises:
            RemedyError: it has too many nodes to be searched.
        """
        shape = [len(one) for one in levels]
        if prod(shape) > MOST_NODES:
            raise RemedyError(
                f"the hierarchies allow {prod(shape):,} combinations of levels, and at most {MOST_NODES:,} are "
                "searched; fix some of them with `levels`, or give some attributes fewer levels"
            )
        bounds = np.zeros(shape)
        for axis, (chosen, cost) in enumerate(zip(levels, costs or [], strict=False)):
            across = [-1 if one == axis else 1 for one in range(len(shape))]
            bounds += np.array([cost[level] for level in chosen]).reshape(across)
        return cls(levels, bounds)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.bounds.size

    def at(self, place: Place) -> list[int]:
        """The level of each quasi-identifier at a node."""
        return [levels[position] for levels, position in zip(self.levels, place, strict=True)]

    @property
    def bottom(self) -> Place:
        """The finest node."""
        return (0,) * len(self.levels)

    @property
    def top(self) -> Place:
        """The coarsest node."""
        return tuple(len(one) - 1 for one in self.levels)

    def next(self, below: float) -> Place | None:
        """The open node with the least bound, the finest of equals; None where no bound is below a loss."""
        place = tuple(int(one) for one in np.unravel_index(np.argmin(self.bounds), self.bounds.shape))
        return place if self.bounds[place] < below else None

    def path(self, place: Place, below: float) -> list[Place]:
        """A way up through open nodes with bounds below a loss: each time to the neighbour with the least bound."""
        way = [place]
        while steps := [step for step in self._above(way[-1]) if self.bounds[step] < below]:
            checkpoint()
            way.append(min(steps, key=lambda step: float(self.bounds[step])))
        return way

    def _above(self, place: Place) -> list[Place]:
        raised = ((*place[:axis], place[axis] + 1, *place[axis + 1 :]) for axis in range(len(place)))
        return [step for step in raised if all(a < b for a, b in zip(step, self.bounds.shape, strict=True))]

    def close(self, place: Place) -> None:
        """All is known of a node."""
        self.bounds[place] = inf

    def close_finer(self, place: Place) -> None:
        """No finer node can be kept."""
        self.bounds[tuple(slice(0, one + 1) for one in place)] = inf

    def raise_coarser(self, place: Place, loss: float) -> None:
        """No coarser node loses less than this one."""
        coarser = tuple(slice(one, None) for one in place)
        np.maximum(self.bounds[coarser], loss, out=self.bounds[coarser])


@dataclass(frozen=True)
class JudgedNode:
    """The figures of a node that was judged; figures only, so that many can be remembered."""

    levels: Sequence[int]  # the level of each quasi-identifier
    passes: bool  # whether the policy is kept, with no more suppression than is allowed
    suppressed: int  # records that have to be suppressed; at least so many, where that is more than is allowed
    grouped: bool  # whether they stay as one group that shows no quasi-identifier; otherwise they are dropped
    bound: float  # no coarser node costs less
    loss: float  # what it costs
    hopeless: bool  # whether it is known that no finer node can be kept either


@dataclass(frozen=True)
class Ways:
    """The fates of records that fail."""

    grouping: bool = True  # they may stay, as one group that shows no quasi-identifier
    dropping: bool = True  # they may be dropped


@dataclass(frozen=True)
class NodeJudge:
    """The judge of nodes."""

    base: Base  # the base classes
    demands: MergedDemands  # what their unions must keep
    measure: Measure  # the loss
    allowed: int  # how many records may be suppressed
    ways: Ways = Ways()  # what may become of them

    @cached_property
    def monotone(self) -> bool:
        """Say whether a node that fails rules out all finer ones, because unions of classes that pass always pass.

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
        passes = suppressed <= self.allowed and self._is_answer(node)
        # The cost of a node without suppression bounds its cost with suppression from below, because a suppressed
        # record costs as much as any other or more (from the average class size `least` takes the part that may be
        # suppressed). Coarser labels cost no less, so the bound holds for all coarser nodes, too: the search never
        # judges one whose bound is no better than the best loss so far. A hopeless node rules out all finer ones.
        whole = LOSSES[self.measure](self.base, finest)
        loss = LOSSES[self.measure](self.base, node) if passes else whole
        bound = least(self.measure, whole, self.allowed, len(self.base.classes))
        return JudgedNode(
            levels, passes, suppressed, node.grouped, bound, loss, self._is_hopeless(finest, passes=passes)
        )

    def hides_all(self, levels: Sequence[int]) -> bool:
        """Say whether a node shows no quasi-identifier of any record."""
        return bool(self.base.hidden(levels).all())

    def removed(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """The base classes that are suppressed at a node. Shape (base classes,)."""
        classes, count = self.base.merged(levels)
        return self._suppressed(Node(levels, classes, count, np.zeros(len(classes), dtype=bool))).removed

    def _suppressed(self, node: Node) -> Node:
        """A node with what fails there grouped or dropped; or with more that fails than is allowed."""
        failing = replace(
            node, removed=~self.demands.satisfied_by(node.classes, node.count, self.allowed)[node.classes]
        )
        if not failing.removed.any() or int(self.base.sizes[failing.removed].sum()) > self.allowed:
            return failing
        grouped = self._grouped(failing) if self.ways.grouping else None
        return grouped or (self._dropped(failing) if self.ways.dropping else failing)

    def _grouped(self, failing: Node) -> Node | None:
        """Group what fails, with all others that show no quasi-identifier; None where that fails as well.

        No record leaves, so the distributions that closeness is measured against are those that it failed by.
        """
        group = failing.removed | self.base.hidden(failing.levels)
        occupied, classes = np.unique(np.where(group, failing.count, failing.classes), return_inverse=True)
        passes = self.demands.satisfied_by(classes, len(occupied)).all()
        return replace(failing, classes=classes, count=len(occupied), grouped=True) if passes else None

    def _dropped(self, failing: Node) -> Node:
        """Drop what fails, again and again until nothing fails.

        Dropping changes the distributions that closeness is measured against, so what is left is judged anew. The
        rounds end before where more fail than are allowed, or where all that is left shows no quasi-identifier.
        """
        removed, hidden = failing.removed, self.base.hidden(failing.levels)
        while (spare := self.allowed - int(self.base.sizes[removed].sum())) >= 0 and not hidden[~removed].all():
            checkpoint()
            passes = self.demands.without(removed).satisfied_by(failing.classes, failing.count, spare)
            more = ~removed & ~passes[failing.classes]
            if not more.any():
                break
            removed = removed | more
        return replace(failing, removed=removed)

    def _is_answer(self, node: Node) -> bool:
        """Say whether no class fails. A release of records that show no quasi-identifier cannot be audited."""
        sound = self.ways.dropping or node.grouped or not node.removed.any()
        return sound and not self.base.hidden(node.levels)[~node.removed].all()

    def _is_hopeless(self, node: Node, *, passes: bool) -> bool:
        """Records in classes that are too small by their size alone are only more at a finer node."""
        if passes or self.monotone:
            return not passes
        sizes = np.bincount(node.classes, weights=self.base.sizes, minlength=node.count)
        return bool(sizes[sizes < self.demands.least_size].sum() > self.allowed)


class Judge(Protocol):
    """The judge of nodes, of records or of whole histories."""

    def hides_all(self, levels: Sequence[int]) -> bool:
        """Say whether a node shows no quasi-identifier."""
        ...

    def judge_node(self, levels: Sequence[int]) -> JudgedNode:
        """The figures of a node."""
        ...


J = TypeVar("J", bound=Judge)


@dataclass
class LatticeSearch(Generic[J]):
    """A search in progress."""

    lattice: Lattice  # what is known of the nodes
    judge: J  # what becomes of a node
    progress: Progress = silent  # called with the number of nodes that were looked at, and of all
    step: str = "searching levels"  # what they are looked at for
    best: JudgedNode | None = None  # the node with the least loss so far
    seen: list[JudgedNode] = field(default_factory=list)  # every node that was looked at

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
            checkpoint()
            self._bisect(self.lattice.path(place, self.loss))
        return self.best

    def _rule_out_nothing_left(self) -> None:
        """A release of suppressed records only cannot be audited, so it is no answer, and rules out no finer one."""
        if self.judge.hides_all(self.lattice.at(self.lattice.top)):
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
        if node.passes and node.loss < self.loss:
            self.best = node
        self.progress(self.step, len(self.seen), self.lattice.nodes)
        return node
