"""Base classes: the records grouped once, at the lowest levels; and what a combination of levels costs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import fold
from tcdp_audit_plugins.remedies.generalization.levels import GeneralizationLevels, Numbers

ROOM = 16  # with at most so many possible keys for each class, marking them is quicker than sorting


@dataclass(frozen=True)
class Base:
    """Records that no node of a lattice distinguishes."""

    levels_of_all: Sequence[GeneralizationLevels]  # the quasi-identifiers
    lowest: Sequence[int]  # the lowest level of each

    @cached_property
    def _grouped(self) -> tuple[Numbers, Numbers, Numbers]:
        keys, _ = self._keys(self.lowest, [one.attribute.codes for one in self.levels_of_all])
        _, first, classes, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        return first, classes, sizes

    @property
    def classes(self) -> Numbers:
        """The base class of each record. Shape (records,)."""
        return self._grouped[1]

    @property
    def sizes(self) -> Numbers:
        """Records of each base class. Shape (base classes,)."""
        return self._grouped[2]

    @cached_property
    def codes(self) -> list[Numbers]:
        """For each quasi-identifier the code of one record of every base class, which represents all of them."""
        return [one.attribute.codes[self._grouped[0]] for one in self.levels_of_all]

    def _keys(self, levels: Sequence[int], codes: Sequence[Numbers]) -> tuple[NDArray[Any], int]:
        """The key of each base class at a node, and a number above every key."""
        chosen = [one.levels[level] for one, level in zip(self.levels_of_all, levels, strict=True)]
        columns = [level.codes[column] for level, column in zip(chosen, codes, strict=True)]
        keys = fold(columns, [len(level.labels) for level in chosen])
        return keys.values, keys.span

    def merged(self, levels: Sequence[int]) -> tuple[Numbers, int]:
        """The classes of a node: the number of the class that each base class goes to, and how many there are.

        Cost: O(base classes x attributes), and a sort of the base classes where many keys are possible.
        """
        keys, span = self._keys(levels, self.codes)
        if span <= ROOM * len(keys):
            return _mark_keys(keys, span)
        distinct, numbers = np.unique(keys, return_inverse=True)
        return numbers, len(distinct)

    def penalty(self, levels: Sequence[int], classes: NDArray[np.bool_]) -> float:
        """The certainty penalty of the records of some base classes at a node, summed over them and all attributes."""
        total = 0.0
        for attribute_levels, level, codes in zip(self.levels_of_all, levels, self.codes, strict=True):
            chosen = attribute_levels.levels[level]
            total += float(chosen.penalty[chosen.codes[codes[classes]]] @ self.sizes[classes])
        return total

    def hidden(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """The base classes that a node suppresses in every quasi-identifier. Shape (base classes,)."""
        hidden = np.ones(len(self.sizes), dtype=bool)
        for attribute_levels, level, codes in zip(self.levels_of_all, levels, self.codes, strict=True):
            chosen = attribute_levels.levels[level]
            if not chosen.hidden.any():
                return np.zeros_like(hidden)
            hidden &= chosen.hidden[chosen.codes[codes]]
        return hidden


def _mark_keys(keys: NDArray[Any], span: int) -> tuple[Numbers, int]:
    """Keys numbered in ascending order, and how many different ones there are."""
    seen = np.zeros(span, dtype=bool)
    seen[keys] = True
    rank = np.cumsum(seen) - 1
    return rank[keys], int(rank[-1]) + 1


class Measure(StrEnum):
    """The measure that the search makes least."""

    NCP = "ncp"
    DISCERNIBILITY = "discernibility"
    AVERAGE_CLASS_SIZE = "average_class_size"


@dataclass(frozen=True)
class Node:
    """One combination of levels, and the classes that it makes."""

    levels: Sequence[int]  # of each quasi-identifier
    classes: Numbers  # the class that each base class goes to, shape (base classes,)
    count: int  # how many classes there are
    removed: NDArray[np.bool_]  # which base classes are suppressed, shape (base classes,)
    grouped: bool = False  # whether those stay, as one class; otherwise they are dropped

    @property
    def dropped(self) -> NDArray[np.bool_]:
        """Say which base classes are dropped. Shape (base classes,)."""
        return self.removed & (not self.grouped)


def certainty_penalty(base: Base, node: Node) -> float:
    """The normalised certainty penalty, a mean over records and quasi-identifiers; a suppressed record costs 1.

    Returns:
        From 0 for values as they are to 1.

    Cost: O(quasi-identifiers + suppressed base classes).

    Source: Xu et al. (2006), section 3; Ghinita et al. (2007), section 3, global certainty penalty.
    """
    penalty = sum(costs[level] for costs, level in zip(mean_penalties(base.levels_of_all), node.levels, strict=True))
    if not node.removed.any():
        return penalty
    spared = base.penalty(node.levels, node.removed) / len(base.levels_of_all)
    return penalty + (int(base.sizes[node.removed].sum()) - spared) / int(base.sizes.sum())


def mean_penalties(levels_of_all: Sequence[GeneralizationLevels]) -> list[list[float]]:
    """The part of each level of each quasi-identifier in the penalty of a node without suppression."""
    return [[cost / len(levels_of_all) for cost in one.costs] for one in levels_of_all]


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
    """The least that a node can cost with suppression. `whole` is what the node costs without suppression.

    A suppressed record costs as much as any or more. Only of the average class size it takes its part away.
    """
    return whole * (records - allowed) / records if measure is Measure.AVERAGE_CLASS_SIZE else whole
