"""Two tables in units of the noise between them: the squared distance is -2 times the logarithm of the likelihood.

Numbers are turned to the principal axes of the noise, each in its standard deviations; axes without noise are left out,
as the pseudo-inverse does. An attribute to which nothing was added must agree. Noise on ranks, or on their normal
scores, is what a masking adds that moves values about among the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, Floats, fold
from tcdp_audit.plugin.check import Pairs
from tcdp_audit.plugin.engine import CheckError, CodedTable, Domain
from tcdp_audit_plugins.checks.masking_attacks.noise import INCOMPLETE, Noise, Scores
from tcdp_audit_plugins.checks.record_linkage.standardised import EPSILON, RecordPoints, Space

NO_NOISE = 1e-10  # of the largest variance along any axis, in standard deviations of attributes
IMPOSSIBLE = 1e6  # what a difference weighs where nothing was added: e^-500,000
RELEASED = 0  # the first of the two tables
LOST = 1e-6  # what a squared distance by products may be wrong by


@dataclass(frozen=True)
class Gaussian:
    """The likelihood of every pair of records under normal noise."""

    space: Space  # both tables in units of the noise

    @property
    def released(self) -> Counts:
        """Records on each released point."""
        return self.space.released.records

    @property
    def known(self) -> Counts:
        """Persons on each known point."""
        return self.space.known.records

    @property
    def rounding(self) -> float:
        """Ties are those of distances, which are distinguished elsewhere."""
        return LOST

    @cached_property
    def _squares(self) -> tuple[Floats, Floats] | None:
        """|a|^2 of the points of both tables where products give distances; None where they do not."""
        sides = (self.space.released.numbers, self.space.known.numbers)
        squares = [(one * one).sum(axis=1) for one in sides]
        largest = sum(one.max(initial=0) for one in squares)
        if len(self.space.label_weights) or not 32 * EPSILON * largest < LOST:  # NaN where a cell is missing
            return None
        return squares[0], squares[1]

    def block(self, some: slice) -> Floats:
        """-d^2 / 2 of some released points for all known ones."""
        if self._squares is None:
            points = np.arange(some.start, some.stop)
            return self.space.squared_distances(points[:, None], np.arange(len(self.known))[None]) / -2
        # |a - b|^2 = |a|^2 - 2ab + |b|^2 as one matrix product. It loses digits where |a| is large, which `_squares`
        # has ruled out: the error is below `LOST`. Links and their ties are counted from exact distances, see `credit`.
        own, other = self._squares
        product = self.space.released.numbers[some] @ self.space.known.numbers.T
        product -= own[some, None] / 2
        product -= other / 2
        return np.minimum(product, 0, out=product)

    def exceeds(self, released: NDArray[np.intp], known: NDArray[np.intp], share: Fraction) -> NDArray[np.bool_]:  # noqa: ARG002 - none does
        """Whether posteriors above which rounding alone could put them are above a share: none.

        Powers of e with different rational exponents never add up to a rational share, so that a posterior is equal to
        one only where all persons are equally likely, and is below it where some others are hardly possible.
        """
        return np.zeros(len(released), np.bool_)

    def of_pairs(self, released: NDArray[np.intp], known: NDArray[np.intp]) -> Floats:
        """-d^2 / 2 of points side by side."""
        return self.space.squared_distances(released, known) / -2


def in_units_of_noise(pairs: Pairs, noise: Noise) -> tuple[Space, int]:
    """Both tables, and along how many axes they are compared.

    Raises:
        CheckError: cells are missing, and the noise of different attributes is not independent.
    """
    variances = np.diag(noise.covariance)
    moved = np.flatnonzero(variances > 0)
    axes = _Axes(
        [noise.names[place] for place in moved.tolist()],
        [name for name, one in zip(noise.names, variances, strict=True) if one == 0],
        _turn(noise, moved),
        noise.is_independent,
        noise.stretch[moved],
        noise.mean[moved],
    )
    tables = (pairs.released, pairs.original)
    centre = np.array([_middle(pairs.original, name) for name in axes.moved])
    labels = [_labels(tables, name) for name in axes.still]
    first, second = (axes.points(table, centre, labels, side) for side, table in enumerate(tables))
    if not noise.is_independent and any(np.isnan(one.numbers).any() for one in (first, second)):
        raise CheckError(INCOMPLETE)
    weights = noise.spread[moved] ** 2 / variances[moved] if noise.is_independent else np.ones(axes.turn.shape[1])
    missing = sum(int((one.codes[name] == one.domains[name].size).sum()) for one in tables for name in noise.names)
    space = Space(first, second, weights, np.full(len(axes.still), IMPOSSIBLE), [], missing)
    return space, axes.turn.shape[1] + len(axes.still)


@dataclass(frozen=True)
class _Axes:
    """Attributes to which noise was added and those to which nothing was, and how the first are turned."""

    moved: list[str]  # the first
    still: list[str]  # the others
    turn: Floats  # to axes of noise with variance 1. Shape (moved attributes, axes).
    is_independent: bool  # whether each axis is one attribute
    stretch: Floats  # by how much released numbers are drawn away from the mean again. Shape (moved attributes,).
    mean: Floats  # from which they are. Shape (moved attributes,).

    def points(
        self, table: CodedTable, centre: Floats, labels: Sequence[tuple[Counts, Counts]], side: int
    ) -> RecordPoints:
        """The distinct records of a table, whatever the order of its rows is."""
        used = [*self.moved, *self.still]
        keys = fold([table.codes[name] for name in used], [table.domains[name].size + 1 for name in used]).values
        _, first, point, records = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        numbers = [table.numbers(name)[first] for name in self.moved]
        if side == RELEASED and (self.stretch != 1).any():
            ways = zip(numbers, self.stretch, self.mean, strict=True)
            numbers = [mean + stretch * (one - mean) for one, stretch, mean in ways]
        own = [one[side][table.codes[name][first]] for one, name in zip(labels, self.still, strict=True)]
        return RecordPoints(
            self._turned(np.column_stack([np.zeros((len(first), 0)), *numbers]) - centre),
            np.column_stack([np.zeros((len(first), 0), dtype=np.int64), *own]),
            records.astype(np.int64),
            point,
        )

    def _turned(self, numbers: Floats) -> Floats:
        """Numbers along the axes; one that is missing is missing along every axis that it has a part in."""
        return np.asarray(numbers * np.diag(self.turn) if self.is_independent else numbers @ self.turn)


def _turn(noise: Noise, moved: NDArray[np.intp]) -> Floats:
    covariance = noise.covariance[np.ix_(moved, moved)]
    # Eigenvectors are taken of the correlations, not of the covariances: units of attributes then do not decide which
    # axes count as free of noise, and `NO_NOISE` is one threshold for all tables.
    scale = np.sqrt(np.diag(covariance))
    if noise.is_independent:
        return np.diag(1 / scale)
    variances, axes = np.linalg.eigh(covariance / np.outer(scale, scale))
    noisy = variances > NO_NOISE * variances.max()
    return np.asarray(axes[:, noisy] / np.sqrt(variances[noisy]) / scale[:, None])


def _labels(tables: Sequence[CodedTable], name: str) -> tuple[Counts, Counts]:
    """For each code of either table a label: labels are equal where numbers are, and never where one is missing.

    Numbers are compared and not codes, since the same rank may be that of another value in either table.
    """
    numbers = [np.append(table.domains[name].values.astype(np.float64), np.nan) for table in tables]
    distinct = np.unique(np.concatenate(numbers))  # a missing one is the last
    first, second = (np.searchsorted(distinct, one) for one in numbers)
    return first, second + np.isnan(numbers[1])


def _middle(table: CodedTable, name: str) -> float:
    """Some number among those of an attribute, so that products lose few digits."""
    values = table.domains[name].values.astype(np.float64)
    return float(values[len(values) // 2]) if len(values) else 0.0


def scored(pairs: Pairs, scores: Scores) -> Pairs:
    """Both tables with the scores of their values, each by the ranks in its own column; suppressed cells have none.

    Raises:
        CheckError: generalised values overlap, so that they have no ranks.

    Cost: O(records) for each attribute.
    """
    if scores == "values":
        return pairs
    return replace(pairs, released=_scored(pairs.released, scores), original=_scored(pairs.original, scores))


def _scored(table: CodedTable, scores: Scores) -> CodedTable:
    codes, domains = dict(table.codes), dict(table.domains)
    for name, domain in table.domains.items():
        codes[name] = np.where(domain.is_uninformative[codes[name]], domain.size, codes[name])
        counts = np.bincount(codes[name], minlength=domain.size + 1)[:-1]
        _require_order(domain, counts)
        values = mean_ranks(counts) if scores == "ranks" else normal_scores(counts)
        domains[name] = replace(domain, values=values, counts=counts, suppressed=frozenset(), covers=None, rounded={})
    return replace(table, codes=codes, domains=domains)


def _require_order(domain: Domain, counts: Counts) -> None:
    occurring = None if domain.covers is None else tuple(compress(domain.covers, counts > 0))
    if not replace(domain, covers=occurring).is_ordered:
        raise CheckError(
            f"generalised values of {domain.attribute!r} overlap, so that they have no ranks; leave it out"
        )


def mean_ranks(counts: Counts) -> Floats:
    """The mean rank of the records with each value, from 1.

    Example:
        >>> mean_ranks(np.array([1, 2, 1])).tolist()
        [1.0, 2.5, 4.0]
    """
    return np.asarray(np.cumsum(counts) - (counts - 1) / 2)


def normal_scores(counts: Counts) -> Floats:
    """The quantile of the normal distribution at the mean rank by one more than the records.

    Example:
        >>> normal_scores(np.array([1, 2, 1])).round(3).tolist()
        [-0.842, 0.0, 0.842]
    """
    from scipy.special import ndtri  # noqa: PLC0415 - takes a while to import

    return np.asarray(ndtri(mean_ranks(counts) / (counts.sum() + 1)))
