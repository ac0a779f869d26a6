"""Points on a line, and masses whose weight decays exponentially with distance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats


@dataclass(frozen=True)
class Line:
    """The values of an attribute, and the scale that distances between them are counted in.

    Args:
        values: ascending, int64 or float64.
        scale: more than 0.
    """

    values: NDArray[Any]
    scale: float

    @cached_property
    def _from_first(self) -> NDArray[Any]:
        """Distances from the first value, exact where they fit into 64 bits."""
        if self.values.dtype.kind == "i" and int(self.values[-1]) - int(self.values[0]) >= 2**63:
            return np.asarray(self.values.astype(np.float64) - float(self.values[0]))
        return np.asarray(self.values - self.values[0])

    @cached_property
    def position(self) -> Floats:
        """Positions in scales, with the middle at 0; no finer than floating point is at the ends."""
        scaled = np.asarray(self._from_first / self.scale)
        return np.asarray(scaled - scaled[-1] / 2)

    @property
    def length(self) -> float:
        """From the first to the last value, in scales."""
        return float(self._from_first[-1] / self.scale)

    def distance(self, one: NDArray[Any], other: NDArray[Any]) -> Floats:
        """From the values with some codes to those with others, in scales; negative to the left."""
        return np.asarray((self._from_first.take(other) - self._from_first.take(one)) / self.scale)

    def decay(self, one: NDArray[Any], other: NDArray[Any]) -> Floats:
        """e^-distance between values, the second not before the first."""
        return np.asarray(np.exp(-self.distance(one, other)))


def decayed_sums(mass: Floats, decay: Floats) -> Floats:
    """s[i] = mass[i] + decay[i] s[i - 1], for many rows at once: where a row begins, its decay is 0.

    A scan by doubling: after k passes each sum reaches 2^k masses back. What a row gets does not depend on others.

    Args:
        mass: at least 0, shape (n,).
        decay: from 0 to 1, shape (n,).

    Cost: O(n log(longest row)).

    Example:
        >>> decayed_sums(np.array([1.0, 1.0, 1.0, 5.0]), np.array([0.0, 0.5, 0.5, 0.0])).tolist()
        [1.0, 1.5, 1.75, 5.0]
    """
    sums, carry, spare, step = mass.copy(), decay.copy(), np.empty_like(decay), 1
    while carry[step:].any():
        sums[step:] += np.multiply(carry[step:], sums[:-step], out=spare[step:])
        np.multiply(carry[step:], carry[:-step], out=spare[step:])
        spare[:step] = 0.0  # the first row has nothing before it
        carry, spare, step = spare, carry, 2 * step
    return sums


def reversed_sums(mass: Floats, decay: Floats) -> Floats:
    """s[i] = mass[i] + decay[i + 1] s[i + 1]: the same from right to left, with the decays of `decayed_sums`."""
    return decayed_sums(mass[::-1], np.append(decay[1:], 0.0)[::-1])[::-1]
