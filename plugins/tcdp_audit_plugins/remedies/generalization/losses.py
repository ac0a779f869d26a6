"""The loss of a node, by each measure that a search can make least.

Without suppression a coarser node costs at least what a finer one does, by every measure; and suppression lowers a loss
by no more than `least` says. The search prunes by both. The measures are those of the report on information loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from tcdp_audit_plugins.remedies.generalization.base import Base
from tcdp_audit_plugins.remedies.generalization.levels import Ladder, Numbers


class Measure(StrEnum):
    """The measure that the search makes least."""

    NCP = "ncp"
    DISCERNIBILITY = "discernibility"
    AVERAGE_CLASS_SIZE = "average_class_size"


@dataclass(frozen=True)
class Node:
    """One combination of levels, and the classes that it makes.

    Args:
        levels: of each quasi-identifier.
        classes: the class that each base class goes to. Shape (base classes,).
        count: how many classes there are.
        removed: which base classes are suppressed. Shape (base classes,).
        grouped: whether those stay, as one class; otherwise they are dropped.
    """

    levels: Sequence[int]
    classes: Numbers
    count: int
    removed: NDArray[np.bool_]
    grouped: bool = False

    @property
    def dropped(self) -> NDArray[np.bool_]:
        """Which base classes are dropped. Shape (base classes,)."""
        return self.removed & (not self.grouped)


def certainty_penalty(base: Base, node: Node) -> float:
    """The normalised certainty penalty, a mean over records and quasi-identifiers; a suppressed record costs 1.

    Returns:
        From 0 for values as they are to 1.

    Cost: O(quasi-identifiers + suppressed base classes).

    Source: Xu et al. (2006), section 3; Ghinita et al. (2007), section 3, global certainty penalty.
    """
    penalty = sum(costs[level] for costs, level in zip(mean_penalties(base.ladders), node.levels, strict=True))
    if not node.removed.any():
        return penalty
    spared = base.penalty(node.levels, node.removed) / len(base.ladders)
    return penalty + (int(base.sizes[node.removed].sum()) - spared) / int(base.sizes.sum())


def mean_penalties(ladders: Sequence[Ladder]) -> list[list[float]]:
    """The part of each level of each quasi-identifier in the penalty of a node without suppression."""
    return [[cost / len(ladders) for cost in one.costs] for one in ladders]


def discernibility(base: Base, node: Node) -> float:
    """Sum of n_E^2 over the classes, and N for each dropped record.

    Source: Bayardo, Agrawal (2005), section 4, discernability metric.
    """
    sizes = _sizes(base, node).astype(np.float64)
    return float(sizes @ sizes) + float(base.sizes.sum()) * float(base.sizes[node.dropped].sum())


def average_class_size(base: Base, node: Node) -> float:
    """Records over classes, dropped records left out. The literature divides it by k, too.

    Source: LeFevre, DeWitt, Ramakrishnan (2006), section 5, average equivalence class size.
    """
    sizes = _sizes(base, node)
    return float(sizes.sum() / np.count_nonzero(sizes))


def _sizes(base: Base, node: Node) -> Numbers:
    """Records of each class that are not dropped. Shape (classes,)."""
    left = np.where(node.dropped, 0, base.sizes)
    return np.bincount(node.classes, weights=left, minlength=node.count).astype(np.int64)


LOSSES: dict[Measure, Callable[[Base, Node], float]] = {
    Measure.NCP: certainty_penalty,
    Measure.DISCERNIBILITY: discernibility,
    Measure.AVERAGE_CLASS_SIZE: average_class_size,
}


def least(measure: Measure, whole: float, allowed: int, records: int) -> float:
    """The least that a node can cost with suppression.

    A suppressed record costs as much as any or more. Only of the average class size it takes its part away.

    Args:
        measure: the loss.
        whole: what the node costs without suppression.
        allowed: how many records may be suppressed.
        records: how many there are.
    """
    return whole * (records - allowed) / records if measure is Measure.AVERAGE_CLASS_SIZE else whole
