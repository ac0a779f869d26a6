"""Noise: the mechanisms, and the remedy from a view to a masked column: one draw, or draws until one is close."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from math import expm1, floor, log1p, sinh, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Codes, checkpoint, count_pairs, fold
from tcdp_audit.plugin.check import ReferenceDistribution
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.checks._shared.distances import multiplicative_distance
from tcdp_audit_plugins.checks.differential_privacy.stochastic_t_closeness import FINEST
from tcdp_audit_plugins.remedies.noise.parameters import (
    Draw,
    FittedMechanism,
    Mechanism,
    NoiseParameters,
    at_least,
    at_most,
    masked_column,
    opendp,
    records_with_value,
)

BLOCK = 2**12  # values that are given noise at once, in a tenth of a second
LARGEST_EXPONENT = 700.0  # of e that float64 holds
LEAST_PERCENT = 1e-6  # of a standard deviation: less is no noise
WARNING = (
    "The noise was drawn again until it was close, so that a draw was accepted says something about the table itself: "
    "no epsilon holds for this release."
)


def added_noise(attribute: Attribute, parameters: NoiseParameters) -> FittedMechanism:
    """Clamp every value to the bounds, and add noise of scale b = (high - low) / epsilon to each by itself.

    Pr(noise = x) is proportional to e^(-|x|/b). Two values within the bounds differ by at most high - low, so no
    output is more than e^epsilon times as likely from one as from the other.

    Raises:
        RemedyError: OpenDP is not installed; or values are no numbers, or for `geometric` not whole.

    Cost of a draw: O(records), 6 to 25 µs each in OpenDP's exact samplers, and a sort of them.
    """
    has_value = records_with_value(attribute)
    values = _numbers(attribute, parameters)[attribute.codes[has_value]]
    low, high = parameters.range
    clamped = np.clip(values, *_inside(low, high, values.dtype))
    scale = at_least(parameters.scale)

    def draw() -> NewColumn:
        noisy = noisy_numbers(clamped, parameters)
        cells, codes = np.unique(noisy, return_inverse=True)
        return masked_column(cells, codes, has_value)

    notes = {"scale": scale, "clamped": int((clamped != values).sum())}
    known = _known(parameters.mechanism, scale, float(values.std(ddof=1)) if len(values) > 1 else 0.0)
    return FittedMechanism(draw, {"mechanism": parameters.mechanism.value, "noise_scale": scale}, notes, known)


def noisy_numbers(numbers: NDArray[Any], parameters: NoiseParameters) -> NDArray[Any]:
    """Numbers with independent noise of the parameters' scale."""
    measurement = _measurement(parameters.mechanism, at_least(parameters.scale))

    def measured(values: NDArray[Any]) -> NDArray[Any]:
        checkpoint()
        return np.array(measurement(values), dtype=numbers.dtype)

    return np.concatenate([*map(measured, _blocks(numbers))])


def _known(mechanism: Mechanism, scale: float, spread: float) -> tuple[str, dict[str, Any]]:
    """The attack on noise with the standard deviation of a mechanism, in percent of that of the values.

    Of a column that does not vary, or beyond what percentages can say, it is left to be estimated.
    """
    half = min(0.5 / scale, LARGEST_EXPONENT)
    deviation = sqrt(2) * scale if mechanism is Mechanism.LAPLACE else 1 / (sqrt(2) * sinh(half))
    percent = 100 * deviation / spread if spread else 0.0
    return "noise_attack", {"sd": percent} if LEAST_PERCENT < percent < 1 / LEAST_PERCENT else {}


def _numbers(attribute: Attribute, parameters: NoiseParameters) -> NDArray[Any]:
    """The domain as numbers: float64 for real noise, int64 for whole noise."""
    values = attribute.domain.values
    if not attribute.is_numeric:
        raise RemedyError(f"column {attribute.name!r} holds no numbers, and {parameters.mechanism.value} adds to those")
    if parameters.mechanism is Mechanism.LAPLACE:
        return values.astype(np.float64)
    if (values != np.round(values)).any():
        raise RemedyError(
            f"geometric noise is for whole numbers, and column {attribute.name!r} has others; use laplace"
        )
    low, high = parameters.range
    fitting = np.clip(values, int(low) - 1, int(high) + 1)  # what is outside stays outside
    return np.asarray(fitting.astype(np.int64))


def _blocks(values: NDArray[Any]) -> list[NDArray[Any]]:
    """Values in blocks, one at least: every place has a noise of its own, so that blocks change no distribution."""
    return np.array_split(values, max(-(-len(values) // BLOCK), 1))


def _inside(low: Fraction, high: Fraction, kind: np.dtype[Any]) -> tuple[Any, Any]:
    """The bounds in a type, rounded inwards so that the range never grows."""
    if kind.kind == "i":
        return int(low), int(high)
    return at_least(low), at_most(high)


def _measurement(mechanism: Mechanism, scale: float) -> Any:
    """OpenDP's mechanism on vectors, whose noise is independent from place to place."""
    dp = opendp()
    if mechanism is Mechanism.LAPLACE:
        domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
        return (domain, dp.l1_distance(T=float)) >> dp.m.then_laplace(scale=scale)
    return (dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")) >> dp.m.then_geometric(scale=scale)


def randomised_response(attribute: Attribute, parameters: NoiseParameters) -> FittedMechanism:
    """Keep each value with probability r, else answer one of the m values of the domain, each equally likely.

    With r = (e^epsilon - 1) / (e^epsilon + m - 1) a value is answered at most e^epsilon times as often by a record
    that has it, r + (1 - r)/m, as by one that has not, (1 - r)/m. r is rounded down to nine decimals, so that it can
    be declared exactly as it was drawn with.

    Raises:
        RemedyError: OpenDP is not installed, the domain has fewer than two values, or epsilon is too small for them.

    Cost of a draw: O(records), about 1 µs each in OpenDP's exact sampler.

    Source: Warner, Journal of the American Statistical Association 60, 1965; Kairouz, Oh, Viswanath, Journal of
    Machine Learning Research 17, 2016 (for more than two values).
    """
    has_value, values = records_with_value(attribute), attribute.domain.size
    if values < 2:
        raise RemedyError(f"column {attribute.name!r} has one value only, so there is nothing to answer instead")
    retention = retention_of(parameters.epsilon, values)
    if not retention:
        least = 2 * log1p(values / FINEST)
        raise RemedyError(
            f"epsilon is so small that no record would keep its value among {values:,}; {least:.2g} would do"
        )
    own = attribute.codes[has_value].astype(np.int64)
    replaced = _coins(retention)

    def draw() -> NewColumn:
        replace = replaced(len(own))
        answers = own.copy()
        answers[replace] = _any_of(values, int(replace.sum()))
        return masked_column(attribute.domain.values, answers, has_value)

    declared = {"mechanism": Mechanism.RANDOMISED_RESPONSE.value, "retention": float(retention)}
    known = ("pram_attack", {"retention": retention + (1 - retention) / values})
    return FittedMechanism(draw, declared, {"retention": float(retention), "answers": values}, known)


def retention_of(epsilon: Fraction, values: int) -> Fraction:
    """The probability of keeping a value, rounded down to nine decimals.

    Example:
        >>> retention_of(Fraction(1), 2)
        Fraction(462117157, 1000000000)
    """
    gain = expm1(min(float(epsilon), LARGEST_EXPONENT))
    exact = gain / (gain + values)
    return Fraction(min(floor(exact * FINEST * (1 - 1e-15)), FINEST - 1), FINEST)


def _coins(retention: Fraction) -> Callable[[int], NDArray[np.bool_]]:
    """A draw of the records that answer at random, from OpenDP's randomised response on bits.

    It flips every bit with probability f/2, and f is at most 1; so flips are what happens less often.
    """
    dp = opendp()
    keeps_more = retention >= Fraction(1, 2)
    f = at_least(2 * (1 - retention)) if keeps_more else at_most(2 * retention)
    flips = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=f)

    def toss(records: int) -> NDArray[np.bool_]:
        flipped = np.frombuffer(flips(bytes(-(-records // 8))), dtype=np.uint8)
        tossed = np.unpackbits(flipped)[:records].astype(bool)
        return tossed if keeps_more else ~tossed

    return toss


def _any_of(values: int, number: int) -> NDArray[np.int64]:
    """Numbers from 0 to values - 1, exactly equally likely, from the operating system's cryptographic source."""
    words = np.frombuffer(os.urandom(8 * number), dtype=np.uint64).copy()
    last = np.uint64(2**64 - 2**64 % values - 1)  # words beyond it would favour the first values
    while (beyond := words > last).any():
        checkpoint()
        words[beyond] = np.frombuffer(os.urandom(8 * int(beyond.sum())), dtype=np.uint64)
    return (words % np.uint64(values)).astype(np.int64)


def mask(view: RemedyView, parameters: NoiseParameters) -> Treatment:
    """Mask an attribute by its mechanism.

    Raises:
        RemedyError: OpenDP is not installed, the attribute has no values of the mechanism's kind, or no draw is close.

    Cost: that of the mechanism for each draw.
    """
    attribute = view.attribute(parameters.attribute)
    answers = parameters.mechanism is Mechanism.RANDOMISED_RESPONSE
    masking = (randomised_response if answers else added_noise)(attribute, parameters)
    if parameters.until_close is not None:
        column, draws = close_draw(view, masking.draw, parameters.until_close, parameters.draws)
        conditioned = {"epsilon": None, "conditioned": True, "draws": draws, "warning": WARNING}
        notes = {**conditioned, **_notes(attribute, masking, column)}
        return Treatment({attribute.name: column}, notes=notes, attacks=masking.attacks(attribute.name))
    column = masking.draw()
    notes = {"epsilon": float(parameters.epsilon), "conditioned": False, **_notes(attribute, masking, column)}
    lines, attacks = masking.lines(attribute.name), masking.attacks(attribute.name)
    return Treatment({attribute.name: column}, notes=notes, lines=lines, attacks=attacks)


def _notes(attribute: Attribute, masking: FittedMechanism, column: NewColumn) -> dict[str, object]:
    before, after = _cells(attribute.domain.values, attribute.codes), _cells(column.cells, column.codes)
    return {
        "mechanism": masking.audited_as["mechanism"],
        **masking.notes,
        "records": int((before != after).sum()),
        "missing": attribute.domain.missing,
    }


def _cells(values: NDArray[Any], codes: Codes) -> NDArray[Any]:
    return np.array([*values.tolist(), None], dtype=object)[codes]


def close_draw(view: RemedyView, draw: Draw, t: Fraction, most: int) -> tuple[NewColumn, int]:
    """The first draw whose values are t-close in the multiplicative distance, and which one it is.

    Raises:
        RemedyError: none of them is.

    Source: Domingo-Ferrer (2013), note 1; the distance is that of Domingo-Ferrer, Soria-Comas (2015), definition 4.
    """
    if not view.quasi_identifiers:
        raise RemedyError("the policy declares no quasi-identifier, so there are no classes to compare with the table")
    classes, count = view.classes()
    least = np.inf
    for number in range(1, most + 1):
        checkpoint()
        column = draw()
        distance, close = _closeness(column, classes, count, t)
        if close:
            return column, number
        least = min(least, distance)
    reached = (
        f"the closest was within a factor of {least:.4g}" if least < np.inf else "some class always lacked a value"
    )
    raise RemedyError(
        f"none of {most:,} draws had every class within a factor of {float(t):.4g} of the table; {reached}. Larger "
        "classes or fewer values would help"
    )


def _closeness(column: NewColumn, classes: NDArray[np.int64], count: int, t: Fraction) -> tuple[float, bool]:
    """The largest distance of a class from the table, and whether all are t-close; missing values are left out."""
    values = len(column.cells)
    present = column.codes != values
    histogram = count_pairs(fold([classes[present]], [count]), column.codes[present], values)
    table = ReferenceDistribution(np.bincount(column.codes[present], minlength=values))
    distances = multiplicative_distance(histogram, table)
    close = len(histogram) == count and bool((distances.compare(t) <= 0).all())
    return float(distances.values.max()), close
