"""The model of Fellegi and Sunter: what agreement on each attribute says about a pair, from pattern counts.

A pattern has one bit for each level of agreement on each attribute. A pair reaches a level only if it reaches the ones
below, so that the probabilities of a bit are those of the pairs that reach the level below: given that, m among matches
and u among other pairs. Where an attribute agrees or not, it has one level, and every pair counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats

Whole = NDArray[np.int64]
EDGE = 1e-9  # probabilities stay so far from 0 and 1, where a weight would be infinite
SAME = 1e-9  # an attribute that adds less than this to a weight (natural logarithm) adds nothing
LIKELY = 0.9  # where the iteration starts: what agreement among matches usually is

Chosen = NDArray[np.bool_]


@dataclass(frozen=True)
class Linkage:
    """The estimated model."""

    prior: float  # the probability that a pair of random records is a match
    m: Floats  # the probability of reaching each level from the one below, among matches, float64, shape (p,)
    u: Floats  # the same among unmatched pairs, shape (p,)
    iterations: int  # how many steps the estimation took
    change: float  # the largest change of a probability in the last of them
    converged: bool  # whether that was within the tolerance
    levels: tuple[int, ...] | None = None  # the levels of each attribute, p in all; None if each has one

    @property
    def gains(self) -> Floats:
        """The weight that reaching each level adds to a pair, over missing it; 0 where it is nil. Shape (p,)."""
        gains = np.log(self.m / self.u) - np.log((1 - self.m) / (1 - self.u))
        return np.where(np.abs(gains) <= SAME, 0.0, gains)

    @cached_property
    def weights(self) -> Floats:
        """The logarithm of m(pattern) / u(pattern) of every pattern, shape (2^p,)."""
        missing = np.log((1 - self.m) / (1 - self.u))
        return np.asarray(self._open @ missing + (bits(len(self.m)) * self._open) @ self.gains)

    @cached_property
    def _open(self) -> Floats:
        return open_levels(self.levels or (1,) * len(self.m))

    @cached_property
    def ranks(self) -> Whole:
        """The place of each pattern in the order of the weights, equal for equal weights. Shape (2^p,)."""
        order = np.argsort(self.weights, kind="stable")
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.cumsum(np.diff(self.weights[order], prepend=self.weights[order[0]]) > SAME / 2)
        return ranks

    @property
    def posteriors(self) -> Floats:
        """The probability that a pair with each pattern is a match, shape (2^p,)."""
        return np.asarray(np.exp(-np.logaddexp(0, -self.weights - np.log(self.prior / (1 - self.prior)))))

    def among_matches(self) -> Floats:
        """P(pattern | match), shape (2^p,)."""
        return self._probability(self.m)

    def among_unmatched(self) -> Floats:
        """P(pattern | no match), shape (2^p,)."""
        return self._probability(self.u)

    def _probability(self, reached: Floats) -> Floats:
        """Each pattern's probability when attributes agree independently; 0 for a level without the one below."""
        agreed = bits(len(reached))
        logarithm = agreed @ np.log(reached) + (self._open - agreed) @ np.log1p(-reached)
        return np.where((agreed <= self._open).all(axis=1), np.exp(logarithm), 0.0)


def bits(p: int) -> Floats:
    """The attributes that each pattern agrees on, float64, shape (2^p, p)."""
    return (np.arange(1 << p)[:, None] >> np.arange(p) & 1).astype(np.float64)


def open_levels(levels: Sequence[int]) -> Floats:
    """The levels that each pattern may reach: the first of each attribute, and those above one that it reaches.

    float64 of 0 and 1, shape (2^p, p), where p is the number of levels of all attributes.

    Example:
        >>> open_levels([2]).tolist()
        [[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    may = np.ones((1 << sum(levels), sum(levels)))
    first = np.cumsum([0, *levels])
    upper = [bit for bit in range(sum(levels)) if bit not in first]
    may[:, upper] = bits(sum(levels))[:, [bit - 1 for bit in upper]]
    return may


def agreement_rates(counts: Whole) -> Floats:
    """The share of pairs that agree on each attribute, shape (p,), from pairs with each pattern."""
    return np.asarray(counts @ bits(len(counts).bit_length() - 1) / counts.sum())


@dataclass(frozen=True)
class Estimation:
    """The method by which a model is estimated."""

    # estimate prior and u as well, by plain maximum likelihood; otherwise only m, kept above u
    unconstrained: bool = False
    # how many agreeing, and as many disagreeing, pairs each m is given beforehand; not if unconstrained
    smoothing: float = 1.0
    convergence: float = 1e-9  # it ends when no probability changes by more in a step
    iterations: int = 10_000  # or after so many steps
    # whether each bit is of an attribute that makes blocks; empty without blocks
    blocking: tuple[bool, ...] = ()


def estimate(counts: Whole, prior: float, how: Estimation, levels: tuple[int, ...] | None = None) -> Linkage:
    """Expectation and maximisation of the likelihood of the pattern counts.

    By default u stays the agreement rate of random pairs and the prior stays as given; only m is estimated. Among the
    pairs of blocks, where matches are not rare, u is estimated as well, from the pairs that do not match; and m of an
    attribute that makes blocks may be below u, since other pairs are there because they agree on it. A
    smoothing of 1 is Laplace's rule of succession: no number of matches proves that they always agree, and a weight
    that claimed so would let one changed value rule a match out. Either way m starts at 0.9 and u at that rate.

    Args:
        counts: pairs with each agreement pattern, shape (2^p,).
        prior: the share of pairs that are matches, between 0 and 1; where to start, if unconstrained.
        how: what is estimated, and when it ends.
        levels: how many levels of agreement, and bits of a pattern, each attribute has; None if each has one.

    Returns:
        The estimates, each at least 1e-9 from 0 and from 1.

    Cost: O(iterations p 2^p), whatever the number of pairs.

    Source: Fellegi, Sunter (1969), sections 2 and 3; Winkler (1988) for the estimation.

    Example:
        >>> import numpy
        >>> model = estimate(numpy.array([800, 50, 50, 100]), 0.1, Estimation())
        >>> model.u.tolist(), model.m.round(3).tolist()
        ([0.15, 0.15], [0.976, 0.976])
    """
    present = np.flatnonzero(counts)
    p = len(counts).bit_length() - 1
    may = open_levels(levels or (1,) * p)
    pairs = _Pairs(bits(p)[present], may[present], counts[present].astype(np.float64))
    u = pairs.rates(pairs.number)
    estimates = (np.float64(_inside(np.float64(prior))), _inside(np.maximum(LIKELY, u)), u)
    step, change = 0, np.inf
    while step < how.iterations and change > how.convergence:
        before, estimates = estimates, pairs.step(*estimates, how)
        change = max(float(np.abs(new - old).max()) for new, old in zip(estimates, before, strict=True))
        step += 1
    share, m, u = estimates
    return Linkage(float(share), np.asarray(m), np.asarray(u), step, change, change <= how.convergence, levels)


@dataclass(frozen=True)
class _Pairs:
    """The patterns that occur: which levels they reach, which they may reach, and how many pairs have them."""

    agreed: Floats
    may: Floats
    number: Floats

    def step(self, p: np.float64, m: Floats, u: Floats, how: Estimation) -> tuple[np.float64, Floats, Floats]:
        """One step: how likely each pattern is a match, and the estimates that follow from it."""
        matched = self.number * self._posterior(p, m, u)
        if how.unconstrained:
            return (
                np.float64(_inside(matched.sum() / self.number.sum())),
                self.rates(matched),
                self.rates(self.number - matched),
            )
        agreeing = self.rates(matched, how.smoothing)
        if not how.blocking:
            return p, _inside(np.maximum(agreeing, u + EDGE)), u
        u = self.rates(self.number - matched)
        return p, _inside(np.where(how.blocking, agreeing, np.maximum(agreeing, u + EDGE))), u

    def rates(self, number: Floats, smoothing: float = 0.0) -> Floats:
        """The share of pairs that reach each level, among those that may."""
        return np.asarray(
            _inside((number @ self.agreed + smoothing) / np.maximum(number @ self.may + 2 * smoothing, EDGE))
        )

    def _posterior(self, p: np.float64, m: Floats, u: Floats) -> Floats:
        """P(match | pattern)."""
        weights = self.agreed @ np.log(m / u) + (self.may - self.agreed) @ np.log((1 - m) / (1 - u))
        return np.asarray(1 / (1 + np.exp(-np.clip(weights + np.log(p / (1 - p)), -700, 700))))


def _inside(probability: Any) -> Any:
    return np.clip(probability, EDGE, 1 - EDGE)


@dataclass(frozen=True)
class Decision:
    """The patterns that are links and those that are non-links; the others are left to a clerk. bool, shape (2^p,)."""

    link: Chosen
    non_link: Chosen


def decide(model: Linkage, false_links: float, missed_links: float) -> Decision:
    """The optimal rule: patterns by falling weight are links while the probability of a false one is tolerated.

    From the top, patterns are links while P(link | unmatched) = sum of u(pattern) is at most `false_links`; from the
    bottom, non-links while P(non-link | matched) = sum of m(pattern) is at most `missed_links`. Patterns of equal
    weight stay together. Those that both rates allow are links where the posterior is at least 1/2.

    Cost: O(2^p p).

    Source: Fellegi, Sunter (1969), the fundamental theorem, without its randomised decisions.
    """
    unmatched = np.bincount(model.ranks, weights=model.among_unmatched())
    matched = np.bincount(model.ranks, weights=model.among_matches())
    link = (np.cumsum(unmatched[::-1])[::-1] <= false_links)[model.ranks]
    non_link = (np.cumsum(matched) <= missed_links)[model.ranks]
    likely, both = model.posteriors >= 0.5, link & non_link
    return Decision(link & ~(both & ~likely), non_link & ~(both & likely))


def link_figures(chosen: Chosen, pairs: Whole, matches: Whole, matched: int) -> dict[str, Any]:
    """What linking the pairs with some patterns would find.

    `pairs` and `matches` are those with each pattern, of shape (2^p,).

    Returns:
        `links`, `correct` (links that are matches), `precision` = correct / links (None without a link) and `recall` =
        correct / matched.
    """
    links, correct = int(pairs[chosen].sum()), int(matches[chosen].sum())
    precision = Fraction(correct, links) if links else None
    return {"links": links, "correct": correct, "precision": precision, "recall": Fraction(correct, matched)}
