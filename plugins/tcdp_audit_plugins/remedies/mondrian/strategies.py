"""In which order a partition's attributes are tried, and when cuts below the children of a node are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.exact import Floats


class Worth(NamedTuple):
    """What cutting each partition on an axis does, if all parts are allowed. All shapes (partitions,).

    Args:
        width: its certainty penalty on that axis.
        saved: how much less the mean penalty of its records is after the cut.
        bits: the entropy of the parts' sizes, which is what the cut uses up; 0 where it leaves a single part.
    """

    width: Floats
    saved: Floats
    bits: Floats

    def of(self, partitions: NDArray[np.intp]) -> Worth:
        """That of some partitions."""
        return Worth(self.width[partitions], self.saved[partitions], self.bits[partitions])


@dataclass(frozen=True)
class Strategy:
    """A way to choose the next cut.

    Args:
        score: how early an axis is tried, given the worth of its cuts; at least 0.
        deeper_at_once: whether an axis whose cut is not allowed is tried level by level below it before the next axis
            is; otherwise only after all axes.
    """

    score: Callable[[Worth], Floats]
    deeper_at_once: bool = False

    def turns(self, axes: int, depths: int) -> Iterator[tuple[int, int]]:
        """Which rank among the axes, and which depth of its cut, is tried when."""
        if self.deeper_at_once:
            return ((rank, depth) for rank in range(axes) for depth in range(depths))
        return ((rank, depth) for depth in range(depths) for rank in range(axes))


def _saving_per_bit(worth: Worth) -> Floats:
    return worth.saved / worth.bits


STRATEGIES: Mapping[str, Strategy] = {
    "widest": Strategy(lambda worth: worth.width),
    "saving_per_bit": Strategy(_saving_per_bit),
    "saving_per_bit_deeper": Strategy(_saving_per_bit, deeper_at_once=True),
    "saving_per_root_bit_deeper": Strategy(lambda worth: worth.saved / np.sqrt(worth.bits), deeper_at_once=True),
}
