"""Squared distances of many pairs by matrix products in float32, with a bound on their error.

d^2 = |x|^2 - 2xy + |y|^2 is one product of x with two more columns. It loses digits, so whatever is within the error
bound of a limit is compared again in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.standardised import RANDOM_PAIR, Space

CELLS = 2**20  # of a block: 4 MiB
MANY = 8  # where this part of a block cannot be told in float32, all of it is compared in float64, which needs no list
Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Factors:
    """Factors whose product is d^2 but for `own` and for nominal attributes.

    Args:
        space: the points.
        left: float32, shape (released points, terms).
        right: float32, shape (known points, terms).
        own: the part of d^2 that only the released point decides.
        norm: the length of each released point.
    """

    space: Space
    left: Singles
    right: Singles
    own: Floats
    norm: Floats

    @classmethod
    def of(cls, space: Space) -> Factors:
        """The factors of all points.

        With a missing cell, a^2 - 2ab + b^2 is to be 2w: a and b are 0 there, and two terms for each attribute put
        (a^2 - 2w) and b^2 in only where both cells are there.
        """
        released, known = space.released.numbers, space.known.numbers
        gaps = np.flatnonzero(np.isnan(released).any(axis=0) | np.isnan(known).any(axis=0))
        whole = np.setdiff1d(np.arange(released.shape[1]), gaps)
        a, b, weight = np.nan_to_num(released), np.nan_to_num(known), RANDOM_PAIR * space.number_weights[gaps]
        here, there = ~np.isnan(released[:, gaps]), ~np.isnan(known[:, gaps])
        left = [-2 * a, np.where(here, a[:, gaps] ** 2 - weight, 0), here, np.ones((len(a), 1))]
        right = [b, there, b[:, gaps] ** 2, (b[:, whole] ** 2).sum(axis=1, keepdims=True)]
        own = (a[:, whole] ** 2).sum(axis=1) + weight.sum()
        return cls(space, _single(left), _single(right), own, np.sqrt((a**2).sum(axis=1)))

    def error(self, squared: Floats, released: NDArray[np.intp] | slice = slice(None)) -> Floats:
        """What a product can be wrong by, and what counts as equal, for points no farther than this from released ones.

        Eight times the bound of the sum, which pays for limits and coordinates in float32 too.
        """
        missing = RANDOM_PAIR * self.space.number_weights.sum() + self.space.label_weights.sum()
        scale = (2 * self.norm[released] + np.sqrt(squared)) ** 2 + missing
        rounding = 8 * (self.left.shape[1] + 4) * float(np.finfo(np.float32).eps) * scale
        return np.asarray(rounding + (self.space.nearly(squared) - squared))

    def add_labels(self, product: Singles, known: NDArray[np.int32], released: NDArray[np.int32]) -> None:
        """Add the weight of every nominal attribute in which a pair differs; equal weights are counted together.

        Args:
            product: shape (known points, released points).
            known: labels of the known points, shape (known points, attributes).
            released: labels of the released points, shape (released points, attributes).
        """
        weights = self.space.label_weights
        for weight in set(weights.tolist()):
            differing = np.zeros(product.shape, dtype=np.uint8)
            for attribute in np.flatnonzero(weights == weight):
                differing += known[:, attribute, None] != released[:, attribute]
            product += differing if weight == 1 else differing * np.float32(weight)


def _single(columns: list[Floats] | list[NDArray[np.generic]]) -> Singles:
    return np.hstack(columns, dtype=np.float32, casting="same_kind")


def closer(space: Space, released: NDArray[np.intp], known: NDArray[np.intp]) -> NDArray[np.int64]:
    """How many known records are strictly closer to a released point than a given known one is.

    Args:
        space: released and known points.
        released: released points, shape (pairs,).
        known: the known point of each. Shape (pairs,).

    Cost: O(pairs x N x d) in products, in blocks.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    limit = np.maximum(np.sqrt(space.squared_distances(released, known)) - space.rounding, 0) ** 2
    step = max(1, CELLS // max(1, len(released)))
    with threadpool_limits(1, "blas"), np.errstate(over="ignore", invalid="ignore"):
        search = _Closer(Factors.of(replace(space, released=space.released.only(released))), limit)
        parts = (search.count(slice(start, start + step)) for start in range(0, len(space.known), step))
        return sum(parts, np.zeros(len(released), dtype=np.int64))


@dataclass(frozen=True)
class _Closer:
    """Released points, each with a limit that a squared distance is below or not.

    Args:
        factors: of a released point for each limit.
        limit: float64, shape (released points,).
    """

    factors: Factors
    limit: Floats

    def count(self, some: slice) -> NDArray[np.int64]:
        """How many records of some known points are below; whatever float32 cannot tell is compared in float64."""
        factors, known = self.factors, self.factors.space.known
        product = factors.right[some] @ factors.left.T
        labels = factors.space.released.labels
        factors.add_labels(product, known.labels[some].astype(np.int32), labels.astype(np.int32))
        middle, error = self.limit - factors.own, factors.error(self.limit)
        below = product < (middle - error).astype(np.float32)
        unsure = np.flatnonzero(below ^ ~(product > (middle + error).astype(np.float32)))
        if MANY * len(unsure) > below.size:
            every = np.arange(some.start, some.start + len(below))
            below = factors.space.squared_distances(np.arange(len(self.limit))[None], every[:, None]) < self.limit
        else:
            place, released = np.divmod(unsure, len(self.limit))
            squared = factors.space.squared_distances(released, place + some.start)
            below.ravel()[unsure] = squared < self.limit[released]
        return np.asarray(known.records[some].astype(np.float64) @ below).astype(np.int64)  # far below 2^53
