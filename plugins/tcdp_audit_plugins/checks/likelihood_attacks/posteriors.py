"""What each released record says about who it is: likelihoods of all persons, in blocks, never of all pairs at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin import CheckError, Counts, Floats

CELLS = 2**20  # of a block: 8 MiB


class Likelihood(Protocol):
    """Ln Pr(released point | known point), but for what is the same for all known points."""

    @property
    def released(self) -> Counts:
        """Records on each released point."""
        ...

    @property
    def known(self) -> Counts:
        """Persons on each known point."""
        ...

    @property
    def rounding(self) -> float:
        """Logarithms that differ by less than this are equal."""
        ...

    def block(self, some: slice) -> Floats:
        """That of some released points for all known ones; a new array, shape (released points, known points)."""
        ...


@dataclass(frozen=True)
class Posteriors:
    """Who each released point may be, each person being as probable as any other beforehand.

    Args:
        top: logarithm of the largest likelihood; 0 where every person is impossible. float64, shape (released points,).
        ties: persons of that likelihood.
        total: the likelihoods of all persons together, over the largest. float64.
        candidates: persons whose posterior is above a probability.
    """

    top: Floats
    ties: Counts
    total: Floats
    candidates: Counts

    def of(self, released: NDArray[np.intp], likelihood: Floats) -> Floats:
        """The posterior of persons, each for a released point.

        Args:
            released: the points. Shape (pairs,).
            likelihood: logarithm of the likelihood of each person. float64, shape (pairs,).
        """
        return np.asarray(np.exp(likelihood - self.top[released]) / self.total[released])


def posteriors(likelihood: Likelihood, probability: float) -> Posteriors:
    """The posteriors of all persons for each released point, summed up.

    Args:
        likelihood: of each pair of points.
        probability: above which a person is a candidate.

    Cost: O(released points x known points) time, in blocks.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    with threadpool_limits(1, "blas"):  # blocks are small
        parts = [_of_block(likelihood, some, probability) for some in _blocks(likelihood)]
    top, ties, total, candidates = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Posteriors(top, ties, total, candidates)


def most_likely(likelihood: Likelihood) -> tuple[Floats, Counts]:
    """The largest likelihood of each released point, as its logarithm, and how many persons have it."""
    parts = [_top(likelihood.block(some), likelihood) for some in _blocks(likelihood)]
    return np.concatenate([top for top, _ in parts]), np.concatenate([ties for _, ties in parts])


def _blocks(likelihood: Likelihood) -> Iterator[slice]:
    points, step = len(likelihood.released), max(1, CELLS // len(likelihood.known))
    return (slice(start, min(start + step, points)) for start in range(0, points, step))


def _of_block(likelihood: Likelihood, some: slice, probability: float) -> tuple[Floats, Counts, Floats, Counts]:
    block = likelihood.block(some)
    top, ties = _top(block, likelihood)  # which leaves the block relative to the largest
    np.exp(block, out=block)
    total = exact_sums(block, likelihood.known)
    return top, ties, total, _persons(block > probability * total[:, None], likelihood)


def exact_sums(values: Floats, times: Counts) -> Floats:
    """Σ times x value of each row, whatever the order of columns is: neither names of values nor processors show in it.

    Each value is split into a multiple of 2^-26 and one of a far smaller power of two, small enough that all these add
    up without any rounding.

    Args:
        values: from 0 to 1. float64, shape (rows, columns).
        times: shape (columns,).

    Example:
        >>> values = np.array([[1.0, 1e-9, 1 / 3]])
        >>> exact_sums(values, np.array([1, 2, 3]))[0] == exact_sums(values[:, ::-1], np.array([3, 2, 1]))[0]
        np.True_
    """
    weights, middle = times.astype(np.float64), 1.5 * 2.0**52
    far = middle * 2.0 ** (int(times.sum()).bit_length() - 80)
    near = middle * 2.0**-26
    coarse = values + near
    coarse -= near
    fine = values - coarse
    fine += far
    fine -= far
    return np.asarray(coarse @ weights + fine @ weights)


def _top(block: Floats, likelihood: Likelihood) -> tuple[Floats, Counts]:
    top = block.max(axis=1)
    top[np.isneginf(top)] = 0
    block -= top[:, None]
    return top, _persons(block >= -likelihood.rounding, likelihood)


def _persons(chosen: NDArray[np.bool_], likelihood: Likelihood) -> Counts:
    place = np.flatnonzero(chosen)  # few
    row, known = np.divmod(place, chosen.shape[1])
    return np.bincount(row, likelihood.known[known], len(chosen)).astype(np.int64)  # far below 2^53


def require_few(likelihood: Likelihood, limit: int) -> None:
    """Insist that all pairs of points can be compared in reasonable time.

    Raises:
        CheckError: a table has more distinct records than the limit.
    """
    most = max(len(likelihood.released), len(likelihood.known))
    if most > limit:
        raise CheckError(
            f"it weighs every pair of two distinct records, and a table has {most:,} of them, beyond the limit of "
            f"{limit:,}; raise `limit`, or name fewer `attributes`"
        )


def posterior_figures(
    one: Posteriors, released: NDArray[np.intp], likelihood: Floats, probability: float
) -> dict[str, Any]:
    """What the posteriors of some records say, for details.

    Args:
        one: the posteriors of all released points.
        released: the point of each record whose person is known. Shape (records,).
        likelihood: logarithm of the likelihood of that person.
        probability: above which a person is a candidate.
    """
    truth, top, candidates = one.of(released, likelihood), 1 / one.total[released], one.candidates[released]
    return {
        "mean_posterior_of_truth": fsum(truth) / len(truth),
        "mean_top_posterior": fsum(top) / len(top),
        "above_half": int((top > 0.5).sum()),
        "right_above_half": int((truth > 0.5).sum()),
        "at_probability": {
            "probability": probability,
            "least_candidates": int(candidates.min()),
            "mean_candidates": float(candidates.sum() / len(candidates)),
            "single_candidate": int((candidates == 1).sum()),
            "truth_among_candidates": int((truth > probability).sum()),
        },
    }
