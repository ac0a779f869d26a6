"""Posteriors of each released record: likelihoods of all persons, in blocks, never of all pairs at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, fsum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, Floats
from tcdp_audit.plugin.check import Pairs, TableFigure
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, Sentences
from tcdp_audit_plugins.checks._shared.known_attributes import LINKED, finds
from tcdp_audit_plugins.checks.masking_attacks.parameters import LikelihoodParameters
from tcdp_audit_plugins.checks.record_linkage.credit import Credit, credit
from tcdp_audit_plugins.checks.record_linkage.standardised import Space

CELLS = 2**20  # of a block: 8 MiB
NEAR = 1e-11  # parts of a probability: posteriors that are nearer to it are decided exactly
HALF = Fraction(1, 2)
Flags = NDArray[np.bool_]


class Likelihood(Protocol):
    """Ln Pr(released point | known point), up to a term that is the same for all known points."""

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
        """The posteriors of some released points for all known ones; a new array, shape (released, known points)."""
        ...

    def of_pairs(self, released: NDArray[np.intp], known: NDArray[np.intp]) -> Floats:
        """The posteriors of points side by side."""
        ...

    def exceeds(self, released: NDArray[np.intp], known: NDArray[np.intp], share: Fraction) -> Flags:
        """Whether posteriors that rounding leaves undecided are above a share; pairs of points, released ones in order.

        Not asked where the largest likelihood is that of so many persons that none of them can have more.
        """
        ...


@dataclass(frozen=True)
class Posteriors:
    """The persons that each released point may be, each person being as probable as any other beforehand."""

    # logarithm of the largest likelihood; 0 where every person is impossible. float64, shape (released points,).
    top: Floats
    ties: Counts  # persons of that likelihood
    total: Floats  # the likelihoods of all persons together, over the largest. float64.
    candidates: Counts  # persons whose posterior is above a probability
    possible: Counts  # persons whose posterior is above 0, where no one is a candidate; 0 where a person is
    above_half: Flags  # whether that of a person is above 1/2
    rounding: float  # likelihoods that differ by less are equal

    def of(self, released: NDArray[np.intp], likelihood: Floats) -> Floats:
        """The posterior of persons, each for a released point.

        `likelihood` is the logarithm for each pair.
        """
        return np.asarray(np.exp(_levelled(likelihood - self.top[released], self.rounding)) / self.total[released])


def posteriors(likelihood: Likelihood, probability: Fraction) -> Posteriors:
    """The posteriors of all persons for each released point, summed up; candidates are above `probability`.

    Cost: O(released points x known points) time, in blocks.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    with threadpool_limits(1, "blas"):  # blocks are small
        parts = [_of_block(likelihood, some, probability) for some in _blocks(likelihood)]
    top, ties, total, candidates, possible, half = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Posteriors(top, ties, total, candidates, possible, half, likelihood.rounding)


def most_likely(likelihood: Likelihood) -> tuple[Floats, Counts]:
    """The largest likelihood of each released point, as its logarithm, and how many persons have it."""
    parts = [_top(likelihood.block(some), likelihood) for some in _blocks(likelihood)]
    return np.concatenate([top for top, _ in parts]), np.concatenate([ties for _, ties in parts])


def _blocks(likelihood: Likelihood) -> Iterator[slice]:
    points, step = len(likelihood.released), max(1, CELLS // len(likelihood.known))
    return (slice(start, min(start + step, points)) for start in range(0, points, step))


def _of_block(
    likelihood: Likelihood, some: slice, probability: Fraction
) -> tuple[Floats, Counts, Floats, Counts, Counts, Flags]:
    block = likelihood.block(some)
    top, ties = _top(block, likelihood)  # which leaves the block relative to the largest
    np.exp(_levelled(block, likelihood.rounding), out=block)
    total = exact_sums(block, likelihood.known)
    candidates, halves = (_above(likelihood, some, block, total, ties, one) for one in (probability, HALF))
    return top, ties, total, candidates, _possible(block, candidates, likelihood), halves > 0


def _possible(block: Floats, candidates: Counts, likelihood: Likelihood) -> Counts:
    """Persons with any probability in the rows of a block in which no one is a candidate."""
    possible = np.zeros_like(candidates)
    none = np.flatnonzero(candidates == 0)
    possible[none] = (block[none] > 0) @ likelihood.known
    return possible


def _levelled(relative: Floats, rounding: float) -> Floats:
    """Likelihoods relative to the largest, in place: those within rounding of it become equal."""
    relative[relative >= -rounding] = 0
    return relative


def _above(likelihood: Likelihood, some: slice, block: Floats, total: Floats, ties: Counts, share: Fraction) -> Counts:
    """Persons with a posterior above a share, for each row of a block; what rounding leaves open is decided exactly."""
    # A posterior equal to the share is not above it, and floats cannot say which it is. Those that are clearly on one
    # side are decided here; the few within `NEAR` of the line go to `Likelihood.exceeds`, which decides in whole
    # numbers.
    line = float(share) * total[:, None]
    chosen = block > line * (1 - NEAR)
    row, known = np.divmod(np.flatnonzero(chosen & (block <= line * (1 + NEAR))), block.shape[1])
    chosen[row, known] = _decided(likelihood, (row, known), some.start, share, (block[row, known] == 1) * ties[row])
    return _persons(chosen, likelihood)


def _decided(
    likelihood: Likelihood, pairs: tuple[NDArray[np.intp], NDArray[np.intp]], start: int, share: Fraction, ties: Counts
) -> Flags:
    """Whether posteriors near a share are above it, for pairs of a row of the block and a known point.

    `ties` are persons who are as likely where these are the likeliest, else 0.
    """
    row, known = pairs
    above = np.zeros(len(row), np.bool_)
    enough = min(ceil(1 / share), 2**62) if share else 1
    open_ones = np.flatnonzero(ties < enough)  # n people who are as likely have at most 1/n each
    above[open_ones] = likelihood.exceeds(row[open_ones] + start, known[open_ones], share)
    return above


def exact_sums(values: Floats, times: Counts) -> Floats:
    """Σ times x value of each row, whatever the order of columns is: neither names of values nor processors show in it.

    Each value is split into a multiple of 2^-26 and one of a far smaller power of two, small enough that all these add
    up without any rounding.

    Values are from 0 to 1, of shape (rows, columns).

    Example:
        >>> values = np.array([[1.0, 1e-9, 1 / 3]])
        >>> exact_sums(values, np.array([1, 2, 3]))[0] == exact_sums(values[:, ::-1], np.array([3, 2, 1]))[0]
        np.True_
    """
    # Adding 1.5 * 2^52 * u to a float64 and taking it off again rounds it to a multiple of u. `near` has u = 2^-26: a
    # value from 0 to 1 leaves at most 27 bits, and sums of up to 2^26 of them, in whole multiples of u, fit into the 53
    # bits of a float64. The rest is at most 2^-27, and is rounded to a multiple so small that its sums fit, too. Both
    # products are then free of rounding, whatever their order; the last addition rounds once. The cost is two passes.
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
    one: Posteriors, likelihood: Likelihood, ends: tuple[NDArray[np.intp], NDArray[np.intp]], probability: Fraction
) -> dict[str, Any]:
    """The details of the posteriors of some records.

    `ends` are the released point of each record whose person is known, and the person's.
    """
    released = ends[0]
    own = likelihood.of_pairs(*ends)
    truth, top, candidates = one.of(released, own), 1 / one.total[released], one.candidates[released]
    right, among = (_truth_above(one, likelihood, ends, own, share) for share in (HALF, probability))
    return {
        "mean_posterior_of_truth": fsum(truth) / len(truth),
        "mean_top_posterior": fsum(top) / len(top),
        "above_half": int(one.above_half[released].sum()),
        "right_above_half": int(right.sum()),
        "at_probability": {
            "probability": float(probability),
            "least_candidates": int(candidates.min()),
            "mean_candidates": float(candidates.sum() / len(candidates)),
            "single_candidate": int((candidates == 1).sum()),
            "truth_among_candidates": int(among.sum()),
        },
    }


def _truth_above(
    one: Posteriors,
    likelihood: Likelihood,
    ends: tuple[NDArray[np.intp], NDArray[np.intp]],
    own: Floats,
    share: Fraction,
) -> Flags:
    """Whether the posterior of each record's person is above a share."""
    released, known = ends
    truth = one.of(released, own)
    above = np.asarray(truth > float(share))
    near = np.flatnonzero(np.abs(truth - float(share)) <= NEAR * float(share)) if share else np.zeros(0, np.intp)
    near = near[np.argsort(released[near], kind="stable")]
    likeliest = own[near] >= one.top[released[near]] - one.rounding
    pairs = (released[near], known[near])
    above[near] = _decided(likelihood, pairs, 0, share, likeliest * one.ties[released[near]])
    return above


@dataclass(frozen=True)
class Attack:
    """The links and posteriors of an attack."""

    pairs: Pairs
    credit: Mapping[str, Credit]  # right links by direction
    without_knowledge: Space | None  # the space in which a person looks who knows nothing of the masking
    posteriors: Posteriors  # of released points
    likelihood: Likelihood  # that the posteriors are of
    ends: tuple[NDArray[np.intp], NDArray[np.intp]]  # the released point of each matched record, and its person's
    estimated: list[str]  # what was estimated from the pairs

    def figure(self, parameters: LikelihoodParameters, further: Mapping[str, Any]) -> TableFigure:
        """The figure of the direction that is asked for."""
        headline = self.credit[parameters.direction]
        return TableFigure(
            value=headline.share,
            records=headline.attempts,
            details={
                **headline.figures(),
                **{name: one.figures() for name, one in self.credit.items()},
                "without_knowledge": self._baseline(),
                **posterior_figures(self.posteriors, self.likelihood, self.ends, parameters.probability),
                "estimated": self.estimated,
                **further,
                **self.pairs.counted(),
            },
        )

    def _baseline(self) -> dict[str, Any]:
        if self.without_knowledge is None:
            return {}
        earned = {name: credit(*one).expected for name, one in both_ways(self.without_knowledge, self.pairs).items()}
        return {name: {"expected_correct": expected} for name, expected in earned.items()}

    @property
    def candidates(self) -> Counts:
        """The number of people that each matched released record may be: by a posterior above the probability.

        Where no one has one, all who are possible are alike.
        """
        counted = np.where(self.posteriors.candidates, self.posteriors.candidates, self.posteriors.possible)
        return counted[self.ends[0]]


def both_ways(space: Space, pairs: Pairs) -> dict[str, tuple[Space, NDArray[np.intp], NDArray[np.intp]]]:
    """The search in both directions: a space, the point of each seeker, and that of its true match."""
    released, known = space.released.point[pairs.matched], space.known.point[pairs.partner[pairs.matched]]
    return {"masked_to_original": (space, released, known), "original_to_masked": (space.turned(), known, released)}


def attack_sentences(columns: str, knowledge: str) -> Sentences:
    """The sentences on how many people an intruder finds who knows what the masking does, and one who does not.

    `columns` are the attributes that the intruder knows; `knowledge` is what else weighs the candidates.
    """
    return Sentences(
        passed=(
            "An intruder who knows {columns} and {knowledge} should find the right person for {linked}.[{without?} "
            "Without that knowledge the nearest record is right for {without:%}.][{estimated?} That knowledge was "
            "estimated from the true pairs.]"
        ),
        impact=finds("weighs {knowledge}").removesuffix(".") + LIKELIER,
        parts={"columns": columns, "knowledge": knowledge, "linked": LINKED},
        values=_values,
    )


LIKELIER = (
    "[{above_half>0?}; for {above_half:released {record}} one person is likelier than all others together"
    "|; no one is likelier than all others together]."
)


def _values(outcome: Outcome) -> dict[str, float]:
    """The share that the nearest record is right for, without that knowledge; nothing where it is unknown."""
    baseline = outcome.details["without_knowledge"].get(outcome.parameters["direction"])
    if baseline is None or outcome.records is None:
        return {}
    return {"without": float(baseline["expected_correct"]) / outcome.records.total}
