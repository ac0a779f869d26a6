"""The base classes of a search: the records grouped once, at the lowest levels that the search may choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import KeyArray, Keys, fold
from tcdp_audit_plugins.remedies.generalization.levels import Ladder, Numbers

ROOM = 16  # with at most so many possible keys for each class, marking them is quicker than sorting


@dataclass(frozen=True)
class Base:
    """Records that no node of a lattice tells apart.

    Args:
        ladders: the quasi-identifiers.
        lowest: the lowest level of each.
    """

    ladders: Sequence[Ladder]
    lowest: Sequence[int]

    @cached_property
    def _grouped(self) -> tuple[Numbers, Numbers, Numbers]:
        keys = self._keys(self.lowest, [one.attribute.codes for one in self.ladders])
        _, first, classes, sizes = np.unique(keys.values, return_index=True, return_inverse=True, return_counts=True)
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
        """For each quasi-identifier the code of one record of every base class, which stands for all of them."""
        return [one.attribute.codes[self._grouped[0]] for one in self.ladders]

    def _keys(self, levels: Sequence[int], codes: Sequence[Numbers]) -> Keys:
        chosen = [one.levels[level] for one, level in zip(self.ladders, levels, strict=True)]
        columns = [level.codes[column] for level, column in zip(chosen, codes, strict=True)]
        return fold(columns, [len(level.labels) for level in chosen])

    def merged(self, levels: Sequence[int]) -> tuple[Numbers, int]:
        """The classes of a node: the number of the class that each base class goes to, and how many there are.

        Cost: O(base classes x attributes), and a sort of the base classes where many keys are possible.
        """
        keys = self._keys(levels, self.codes)
        if keys.span <= ROOM * len(keys.values):
            return _mark_keys(keys.values, keys.span)
        distinct, numbers = np.unique(keys.values, return_inverse=True)
        return numbers, len(distinct)

    def penalty(self, levels: Sequence[int], classes: NDArray[np.bool_]) -> float:
        """The certainty penalty of the records of some base classes at a node, summed over them and all attributes."""
        total = 0.0
        for ladder, level, codes in zip(self.ladders, levels, self.codes, strict=True):
            chosen = ladder.levels[level]
            total += float(chosen.penalty[chosen.codes[codes[classes]]] @ self.sizes[classes])
        return total

    def hidden(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """The base classes that a node suppresses in every quasi-identifier. Shape (base classes,)."""
        hidden = np.ones(len(self.sizes), dtype=bool)
        for ladder, level, codes in zip(self.ladders, levels, self.codes, strict=True):
            chosen = ladder.levels[level]
            if not chosen.hidden.any():
                return np.zeros_like(hidden)
            hidden &= chosen.hidden[chosen.codes[codes]]
        return hidden


def _mark_keys(keys: KeyArray, span: int) -> tuple[Numbers, int]:
    """Keys numbered in ascending order, and how many different ones there are."""
    seen = np.zeros(span, dtype=bool)
    seen[keys] = True
    rank = np.cumsum(seen) - 1
    return rank[keys], int(rank[-1]) + 1
