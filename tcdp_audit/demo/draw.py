"""Random whole numbers that are the same on every platform and under every version of numpy.

Only the raw 64-bit output of PCG64 is promised not to change, so everything is made from that, in integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

HALF = np.uint64(32)


class Draw:
    """A seeded source of integers."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def below(self, bound: int | NDArray[np.int64], n: int) -> NDArray[np.int64]:
        """Draw n integers from 0 to bound - 1, for a bound under 2^31 or one bound each. Shape (n,).

        Bias at most bound / 2^32.
        """
        high = self._bits.random_raw(n) >> HALF
        return ((high * np.asarray(bound, dtype=np.uint64)) >> HALF).astype(np.int64)

    def pick(self, weights: Sequence[int], n: int) -> NDArray[np.int64]:
        """Draw n positions in `weights`, each as likely as its weight. Shape (n,)."""
        cumulative = np.cumsum(weights)
        return np.searchsorted(cumulative, self.below(int(cumulative[-1]), n), side="right").astype(np.int64)

    def shuffled(self, n: int) -> NDArray[np.int64]:
        """The integers from 0 to n - 1 in random order."""
        return np.argsort(self._bits.random_raw(n), kind="stable").astype(np.int64)
