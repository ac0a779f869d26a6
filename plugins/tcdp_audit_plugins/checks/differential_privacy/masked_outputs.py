"""Mechanisms with finitely many outputs that matter: the largest ratio of their likelihoods in a class and the table.

A channel says how likely each value becomes each output. Attributes that are masked independently of each other have
the product of their channels, over all combinations of their outputs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from math import floor, log, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import ApproximateFigure, Histogram, ReferenceDistribution, Signs
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks.differential_privacy.line import distinct_rows
from tcdp_audit_plugins.checks.masking_attacks.channel import Declared, declared, places
from tcdp_audit_plugins.checks.masking_attacks.parameters import matrix_of, read_matrix

BLOCK = 2**22  # likelihoods that are computed at once: 32 MiB
MOST = 2**31  # outputs times values: some seconds for each class
STEEPEST = 600.0  # scales between two values: e^-600 and products of some are still numbers
CLEARLY = 1 - 1e-9  # what is smaller by this factor is smaller, however both were rounded
FIRST_DIGITS = 50

Term = tuple[Fraction, Fraction]  # a coefficient and an exponent: coefficient * e^-exponent
Lines = Mapping[str, Mapping[str, Fraction]]


@dataclass(frozen=True)
class OutputChannel:
    """The likelihood of every output of a mechanism under every value, up to a factor that is the same for all.

    Args:
        likelihoods: float64, shape (outputs, values).
        terms: the same exactly, as a sum of terms, for a position of an output and one of a value.
    """

    likelihoods: Floats
    terms: Callable[[int, int], Sequence[Term]]


def response_channel(size: int, retention: Fraction) -> OutputChannel:
    """Keep one of `size` values with probability r, else answer any of them, each equally likely."""
    other = (1 - retention) / size
    likelihoods = np.full((size, size), float(other))
    np.fill_diagonal(likelihoods, float(retention + other))
    return OutputChannel(
        likelihoods, lambda output, value: [(other + retention if output == value else other, Fraction(0))]
    )


def matrix_channel(given: str | Lines, name: str, labels: Sequence[str], used: NDArray[np.bool_]) -> OutputChannel:
    """A declared matrix of transition probabilities, as PRAM has it, its rows divided by their sums.

    Args:
        given: the path of a CSV file, or the lines of the matrix.
        name: what messages call the matrix.
        labels: the values in the order of their codes.
        used: the values that the table or a class has, shape (values,) or one longer: a missing value that counts as
            one stays missing.

    Raises:
        CheckError: it cannot be read, is no matrix of probabilities, or lacks the row of a value.
    """
    matrix = read_matrix(Path(given), name) if isinstance(given, str) else matrix_of(given, name)
    every = [*labels, *sorted({*matrix.rows, *matrix.columns}.difference(labels))]
    if len(every) ** 2 > MOST:
        raise CheckError(f"{name}: {len(every):,} values are too many to be computed with; generalise them first")
    if extra := Counter(every) - Counter(set(every)):
        raise CheckError(f"{name}: {count(len(extra), 'label')} of the column stand for several values")
    own = np.zeros(len(every), dtype=np.int64)
    own[: len(labels)] = used[: len(labels)]
    floats = declared(matrix, every, own, np.zeros_like(own)).T[:, : len(labels)]
    exact = Declared(matrix, places(every, matrix.rows), places(every, matrix.columns))
    column = cache(exact.column)
    if len(used) == len(labels):
        return OutputChannel(floats, lambda output, value: [(column(output)[value] or Fraction(0), Fraction(0))])
    whole = np.zeros((len(every) + 1, len(labels) + 1))
    whole[:-1, :-1], whole[-1, -1] = floats, 1.0

    def terms(output: int, value: int) -> Sequence[Term]:
        if output == len(every) or value == len(labels):
            return [(Fraction(output == len(every) and value == len(labels)), Fraction(0))]
        return [(column(output)[value] or Fraction(0), Fraction(0))]

    return OutputChannel(whole, terms)


def laplace_channel(values: NDArray[Any], scale: Fraction) -> OutputChannel:
    """Laplace or two-sided geometric noise, at the values themselves: where the supremum over all outputs is.

    Raises:
        CheckError: the noise is tiny next to the range of the values.
    """
    require_noise(values, scale)
    numbers = [Fraction(one) for one in values.tolist()]
    distance = np.abs(values[:, None] - values[None, :].astype(np.float64)) / float(scale)
    return OutputChannel(
        np.exp(-distance),
        lambda output, value: [(Fraction(1), abs(numbers[output] - numbers[value]) / scale)],
    )


def rounded_channel(values: NDArray[Any], scale: Fraction, base: Fraction) -> OutputChannel:
    """Laplace noise whose result is rounded to the nearest multiple of a base.

    An output is the interval of length `base` around a multiple. Over a run of intervals without any value the ratio
    of two mixtures is monotone, and constant outside of all values; so the intervals with a value and their neighbours
    have the supremum.

    Raises:
        CheckError: the noise is tiny next to the range of the values.
    """
    require_noise(values, scale, 2 * base)
    numbers = [Fraction(one) for one in values.tolist()]
    homes = {floor(one / base + Fraction(1, 2)) for one in numbers}
    cells = sorted({home + step for home in homes for step in (-1, 0, 1)})
    if len(cells) * len(numbers) > MOST:
        raise CheckError(f"{len(numbers):,} values are too many for rounded noise; round them first")

    @cache
    def terms(output: int, value: int) -> list[Term]:
        low, high = base * (cells[output] - Fraction(1, 2)), base * (cells[output] + Fraction(1, 2))
        to_low, to_high = (numbers[value] - low) / scale, (high - numbers[value]) / scale
        if to_low <= 0:
            return [(Fraction(1), -to_low), (Fraction(-1), to_high)]
        if to_high <= 0:
            return [(Fraction(1), -to_high), (Fraction(-1), to_low)]
        return [(Fraction(2), Fraction(0)), (Fraction(-1), to_low), (Fraction(-1), to_high)]

    def likelihood(output: int, value: int) -> float:
        if (output_terms := terms(output, value))[0][1]:
            (_, near), (_, far) = output_terms
            return float(np.exp(-float(near)) * -np.expm1(-float(far - near)))
        return float(-sum(np.expm1(-float(one)) for _, one in output_terms))

    places_of = product(range(len(cells)), range(len(numbers)))
    floats = np.array([likelihood(*place) for place in places_of]).reshape(len(cells), len(numbers))
    return OutputChannel(floats, terms)


def require_noise(values: NDArray[Any], scale: Fraction, beyond: Fraction = Fraction(0)) -> None:
    """Refuse noise under which the likelihoods of outputs up to `beyond` the values are beyond floating point."""
    if (Fraction(values[-1].item()) - Fraction(values[0].item()) + beyond) / scale > STEEPEST:
        raise CheckError(
            f"the noise is too small to be computed with: the values span more than {STEEPEST:g} times its scale"
        )


def channel_distance(
    histogram: Histogram,
    marginal: ReferenceDistribution,
    channels: Sequence[OutputChannel],
    codes: Sequence[NDArray[np.int64]],
) -> ApproximateFigure:
    """Largest max(f_E(o) / f_T(o), f_T(o) / f_E(o)) over all combinations o of outputs; 0/0 is left out.

    Args:
        histogram: the true values of each class, or combinations of values.
        marginal: the table's.
        channels: one for each attribute.
        codes: for each attribute its value in each of the histogram's, shape (domain,).

    Returns:
        float64 of at least 1, shape (classes,); infinite where an output is possible in the class or in the table
        only. Close to a threshold, fractions and decimals of growing precision decide, equality included.

    Raises:
        CheckError: there are too many outputs.

    Cost: O(outputs x pairs of class and value).

    Source: Domingo-Ferrer, Soria-Comas (2015), definition 3, of the product of mechanisms.
    """
    task = _Product(marginal, channels, codes)
    if task.outputs * max(marginal.size, 1) > MOST:
        raise CheckError(
            f"{task.outputs:,} combinations of outputs are too many to be tried; name fewer attributes, or generalise "
            "them first"
        )
    task.require_likelihoods()
    values = task.largest(histogram)

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> Signs:
        signs = np.zeros(len(classes), dtype=np.int8)
        for row, counts, positions in distinct_rows(histogram, classes):
            signs[positions] = task.sign(row, counts, threshold)
        return signs

    return ApproximateFigure(values, decide)


@dataclass(frozen=True)
class _Product:
    """Channels of attributes that are masked independently, over combinations of values."""

    marginal: ReferenceDistribution
    channels: Sequence[OutputChannel]
    codes: Sequence[NDArray[np.int64]]

    @property
    def _shape(self) -> list[int]:
        return [len(one.likelihoods) for one in self.channels]

    @property
    def outputs(self) -> int:
        """Number of combinations of outputs."""
        return prod(self._shape)

    def require_likelihoods(self) -> None:
        """Refuse channels whose product is beyond floating point."""
        least = [float(one.likelihoods[one.likelihoods > 0].min(initial=1.0)) for one in self.channels]
        if sum(map(log, least)) < -STEEPEST:
            raise CheckError(
                "some outputs are too unlikely to be computed with; declare more noise or fewer attributes"
            )

    @cached_property
    def _step(self) -> int:
        return max(BLOCK // max(self.marginal.size, 1), 1)

    def _blocks(self) -> Iterator[tuple[NDArray[np.intp], Floats]]:
        """Numbers of outputs, and their likelihoods under every combination of values."""
        for start in range(0, self.outputs, self._step):
            numbers = np.arange(start, min(start + self._step, self.outputs))
            likelihoods = np.ones((len(numbers), self.marginal.size))
            for channel, output, own in zip(
                self.channels, np.unravel_index(numbers, self._shape), self.codes, strict=True
            ):
                likelihoods *= channel.likelihoods[output[:, None], own[None, :]]
            yield numbers, likelihoods

    def largest(self, histogram: Histogram) -> Floats:
        """The largest ratio of every class."""
        best = np.ones(len(histogram.offsets) - 1)
        shares = histogram.counts / histogram.spread(histogram.total)
        for _, likelihoods in self._blocks():
            table = self._of_table(likelihoods)
            for some in self._parts(histogram):
                pairs = slice(histogram.offsets[some.start], histogram.offsets[some.stop])
                weighted = likelihoods[:, histogram.values[pairs]] * shares[pairs]
                own = np.add.reduceat(weighted, histogram.offsets[some] - pairs.start, axis=1)
                np.maximum(best[some], _ratio(own, table[:, None]).max(axis=0), out=best[some])
        return best

    def _parts(self, histogram: Histogram) -> Iterator[slice]:
        """Classes in turn, so many that their likelihoods take about one block."""
        classes, room = len(histogram.offsets) - 1, max(BLOCK // self._step, 1)
        start = 0
        while start < classes:
            limit = np.searchsorted(histogram.offsets, histogram.offsets[start] + room, side="right") - 1
            stop = min(max(int(limit), start + 1), classes)
            yield slice(start, stop)
            start = stop

    def _of_table(self, likelihoods: Floats) -> Floats:
        return np.asarray((likelihoods * (self.marginal.weights / self.marginal.total)).sum(axis=1))

    def sign(self, row: Sequence[int], counts: Sequence[int], threshold: Fraction) -> int:
        """Sign of the largest ratio of a class minus a threshold, exactly: at the outputs that may have it."""
        near: list[tuple[float, int]] = []
        for numbers, likelihoods in self._blocks():
            own = (likelihoods[:, list(row)] * (np.array(counts) / sum(counts))).sum(axis=1)
            ratio = _ratio(own, self._of_table(likelihoods))
            close = ratio >= CLEARLY * max([ratio.max(), *(one for one, _ in near)])
            near += zip(ratio[close].tolist(), numbers[close].tolist(), strict=True)
        least = CLEARLY * max(one for one, _ in near)
        signs = (self._sign_at(output, row, counts, threshold) for ratio, output in near if ratio >= least)
        return max(signs, default=-1)

    def _sign_at(self, output: int, row: Sequence[int], counts: Sequence[int], threshold: Fraction) -> int:
        """The larger sign of f_E - t f_T and f_T - t f_E at an output; where it is impossible, that of 1 - t."""
        weights = self.marginal.weights.tolist()
        table = self._mixture(
            output, {code: Fraction(one, self.marginal.total) for code, one in enumerate(weights) if one}
        )
        own = self._mixture(output, {code: Fraction(one, sum(counts)) for code, one in zip(row, counts, strict=True)})
        if not own and not table:
            return (threshold < 1) - (threshold > 1)
        return max(_sign_of_difference(own, table, threshold), _sign_of_difference(table, own, threshold))

    def _mixture(self, output: int, shares: Mapping[int, Fraction]) -> dict[Fraction, Fraction]:
        """The likelihood of an output under some shares of values: the coefficient of e^-exponent by exponent."""
        at = [int(one) for one in np.unravel_index(output, self._shape)]
        total: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
        for code, share in shares.items():
            factors = [
                channel.terms(one, int(own[code]))
                for channel, one, own in zip(self.channels, at, self.codes, strict=True)
            ]
            for way in product(*factors):
                total[sum((one for _, one in way), Fraction(0))] += share * prod(
                    (one for one, _ in way), start=Fraction(1)
                )
        return {exponent: one for exponent, one in total.items() if one}


def _ratio(one: Floats, other: Floats) -> Floats:
    """The larger of two quotients; 1 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.maximum(one / other, other / one)
    return np.where((one == 0) & (other == 0), 1.0, quotient)


def _sign_of_difference(one: Mapping[Fraction, Fraction], other: Mapping[Fraction, Fraction], times: Fraction) -> int:
    """Sign of one - times * other, both sums of coefficients times e^-exponent."""
    # Powers of e with different rational exponents are linearly independent over the rationals (Lindemann and
    # Weierstrass): the sum is 0 only if every coefficient is, which fractions decide. Otherwise digits end the search.
    whole = {
        exponent: one.get(exponent, Fraction(0)) - times * other.get(exponent, Fraction(0))
        for exponent in {*one, *other}
    }
    left = {exponent: coefficient for exponent, coefficient in whole.items() if coefficient}
    if len(left) < 2:
        return sum((one > 0) - (one < 0) for one in left.values())
    least, digits = min(left), FIRST_DIGITS
    while True:
        with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
            terms = [_decimal(one) * (-_decimal(exponent - least)).exp() for exponent, one in left.items()]
            size = sum(map(abs, terms), Decimal(0))
            error = size * Decimal(int(max(left) - least) + 8 * len(terms) + 100).scaleb(1 - digits)
            if abs(value := sum(terms, Decimal(0))) > error:
                return 1 if value > 0 else -1
        digits *= 2


def _decimal(fraction: Fraction) -> Decimal:
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)
