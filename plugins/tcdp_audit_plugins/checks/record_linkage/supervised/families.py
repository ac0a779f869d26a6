"""Families of distances that an intruder may learn; in each, d(a, b) is linear in features of the pair.

d(a, b) = Σ_q v_q f_q(a, b): the features are squared differences (weighted mean), squared differences in descending
order (OWA), minima over sets of attributes (Choquet integral), or products of differences (symmetric bilinear form).
A member of a family is its state: shares in a mixture of simple distances, or the coefficients of a form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import Literal

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.standardised import RANDOM_PAIR

FamilyName = Literal["weighted_mean", "owa", "bilinear", "choquet"]
ALL_SUBSETS = 6  # attributes up to which a Choquet integral has a coefficient for every set of them, not for pairs only
SLIGHT = 1e-3  # the share with which sets of attributes start
Sets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class WeightedMean:
    """d = Σ w_k d_k, w_k >= 0. A state has the weights."""

    attributes: int  # how many there are

    @cached_property
    def names(self) -> Sets:
        """The attributes, or the rank, that each feature is of."""
        return tuple((one,) for one in range(self.attributes))

    @cached_property
    def steps(self) -> Floats:
        """The coefficients of each simple distance: directions to walk in. Shape (features, directions)."""
        return np.eye(len(self.names))

    @property
    def equal(self) -> Floats:
        """The state in which all attributes weigh the same, and nothing else weighs."""
        return np.append(np.ones(self.attributes), np.zeros(self.steps.shape[1] - self.attributes))

    def features(self, differences: Floats) -> Floats:
        """Features of pairs, from differences of attributes. Shape (features, released points, known points)."""
        return squares(differences)

    def coefficients(self, state: Floats) -> Floats:
        """What the features are multiplied by. Shape (features,)."""
        return np.asarray(self.steps @ state)

    def normalised(self, coefficients: Floats) -> Floats:
        """As many as weigh 1 in all: weights, or the capacity of all attributes."""
        return coefficients / coefficients.sum()

    def start(self, scale: float) -> Floats:
        """Free parameters, which no bound holds, of equal weights times a scale: logarithms of the state."""
        return np.asarray(np.log(scale * np.maximum(self.equal, SLIGHT)))

    @property
    def widest(self) -> tuple[float, float]:
        """Between what free parameters stay, so that float32 holds the distances."""
        return -40.0, 25.0

    def state(self, free: Floats) -> Floats:
        """The state of free parameters."""
        return np.exp(free)

    def pulled_back(self, free: Floats, gradient: Floats) -> Floats:
        """The gradient by free parameters, from that by coefficients."""
        return np.asarray((self.steps.T @ gradient) * np.exp(free))

    def least_step(self, state: Floats, direction: int) -> float:
        """The farthest step in a direction, backwards: until its share is 0."""
        return -float(state[direction])

    def walked(self, state: Floats, direction: int, step: float) -> Floats:
        """The state after a step."""
        moved = state.copy()
        moved[direction] = max(0.0, moved[direction] + step)
        return moved


class OrderedWeights(WeightedMean):
    """d = Σ w_k d_(k), where d_(1) is the largest of a pair's squared differences."""

    def features(self, differences: Floats) -> Floats:
        """Squared differences of each pair in descending order."""
        return -np.sort(-squares(differences), axis=0)


class ChoquetIntegral(WeightedMean):
    """d = Σ_A m(A) min_{k in A} d_k, m the Möbius transform of a monotone capacity. A state mixes minima and maxima.

    Over pairs the mixtures are all 2-additive capacities: a pair's negative m belongs to its maximum,
    d_k + d_l - min(d_k, d_l), and monotonicity says that what then is left of single attributes is not negative.
    """

    @cached_property
    def names(self) -> Sets:
        """All sets of few attributes; single ones and pairs of many."""
        largest = self.attributes if self.attributes <= ALL_SUBSETS else 2
        sizes = range(1, largest + 1)
        return tuple(chain.from_iterable(combinations(range(self.attributes), size) for size in sizes))

    @cached_property
    def steps(self) -> Floats:
        """Minima of all sets, and the maxima of those of several: a sum over their subsets with alternating signs."""
        sets = [frozenset(one) for one in self.names]
        several = [one for one in sets if len(one) > 1]
        maxima = [[-((-1.0) ** len(part)) * (part <= one) for one in several] for part in sets]
        return np.hstack([np.eye(len(sets)), np.array(maxima).reshape(len(sets), len(several))])

    def features(self, differences: Floats) -> Floats:
        """The least squared difference in each set."""
        squared = squares(differences)
        return np.stack([squared[list(one)].min(axis=0) for one in self.names])


@dataclass(frozen=True)
class BilinearForm:
    """d = (a - b)' Q (a - b), Q symmetric and positive semidefinite. A state has the upper triangle of Q.

    A difference of nominal attributes is 0 or 1; one with a missing cell has the square of two random records, and
    products of 0 with others.
    """

    attributes: int  # how many there are

    @cached_property
    def names(self) -> Sets:
        """Each attribute, then each pair."""
        every = range(self.attributes)
        return (*((one,) for one in every), *combinations(every, 2))

    @cached_property
    def steps(self) -> Floats:
        """Squares of differences, and of the sums and differences of two."""
        return np.stack([self._upper(np.outer(one, one)) for one in self._directions], axis=1)

    @cached_property
    def _directions(self) -> Floats:
        unit = np.eye(self.attributes)
        pairs = [unit[k] + sign * unit[el] for k, el in self.names[self.attributes :] for sign in (1, -1)]
        return np.array([*unit, *pairs])

    @property
    def equal(self) -> Floats:
        """The identity."""
        return self._upper(np.eye(self.attributes))

    def features(self, differences: Floats) -> Floats:
        """Products of differences, twice for two attributes."""
        squared = squares(differences)
        known = np.nan_to_num(differences, copy=False)
        pairs = self.names[self.attributes :]
        products = [2 * known[k] * known[el] for k, el in pairs]
        return np.concatenate([squared, np.reshape(products, (len(pairs), *squared.shape[1:]))])

    def coefficients(self, state: Floats) -> Floats:
        """The upper triangle itself."""
        return state

    def normalised(self, coefficients: Floats) -> Floats:
        """The matrix scaled to trace 1."""
        return coefficients / coefficients[: self.attributes].sum()

    def start(self, scale: float) -> Floats:
        """Free parameters: L of Q = L'L."""
        return np.sqrt(scale) * np.eye(self.attributes).ravel()

    @property
    def widest(self) -> tuple[float, float]:
        """Between what free parameters stay, so that float32 holds the distances."""
        return -1e5, 1e5

    def state(self, free: Floats) -> Floats:
        """The upper triangle of L'L."""
        root = free.reshape(self.attributes, -1)
        return self._upper(root.T @ root)

    def pulled_back(self, free: Floats, gradient: Floats) -> Floats:
        """The gradient by L: 2 L M, M the gradient as a symmetric matrix."""
        halves = np.where([len(one) == 1 for one in self.names], gradient, gradient / 2)
        return np.asarray(2 * free.reshape(self.attributes, -1) @ self.matrix(halves)).ravel()

    def least_step(self, state: Floats, direction: int) -> float:
        """The farthest step backwards along uu': until Q is singular, 1 / (u' Q^-1 u)."""
        values, vectors = np.linalg.eigh(self.matrix(state))
        along = vectors.T @ self._directions[direction]
        return -float((1 - 1e-9) / (along**2 / np.maximum(values, 1e-12 * values[-1])).sum())

    def walked(self, state: Floats, direction: int, step: float) -> Floats:
        """The state after a step."""
        return np.asarray(state + step * self.steps[:, direction])

    def matrix(self, state: Floats) -> Floats:
        """Q from its upper triangle."""
        whole = np.diag(state[: self.attributes])
        for (k, el), value in zip(self.names[self.attributes :], state[self.attributes :], strict=True):
            whole[k, el] = whole[el, k] = value
        return whole

    def _upper(self, matrix: Floats) -> Floats:
        return np.array([matrix[one[0], one[-1]] for one in self.names])


Family = WeightedMean | BilinearForm
FAMILIES: dict[FamilyName, type[Family]] = {
    "weighted_mean": WeightedMean,
    "owa": OrderedWeights,
    "bilinear": BilinearForm,
    "choquet": ChoquetIntegral,
}


def squares(differences: Floats) -> Floats:
    """Squared differences; one with a missing cell is that of two random records."""
    squared = np.square(differences)
    squared[np.isnan(squared)] = RANDOM_PAIR
    return squared
