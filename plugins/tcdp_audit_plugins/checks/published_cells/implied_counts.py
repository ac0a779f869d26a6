"""Counts of people that follow from published shares, means and deviations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, inf, isqrt
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.aggregate import (
    UNBOUNDED,
    AggregateCheck,
    CellFigure,
    CellsView,
    FailingCell,
    Figures,
    PublishedTable,
)
from tcdp_audit.plugin.check import DisclosureType, Parameters
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks.published_cells.cell_frequency import noun_of_people
from tcdp_audit_plugins.guides import built_in_guide

Integers = NDArray[Any]
PERCENT = 100
PAIR, TRIPLE = 2, 3  # people whose values follow from a mean and a deviation, or from a mean and the extremes
TRIED = 10_000  # numbers of people tried for one figure


class ImpliedCountsParameters(Parameters):
    """Parameters of `implied_counts`."""

    k: Annotated[int | None, Field(ge=2, description="The fewest people that an implied count may be of.")] = None
    up_to: Annotated[
        int, Field(ge=1, le=100_000, description="The largest number of people tried where it is not published.")
    ] = 60


@dataclass(frozen=True)
class Implied:
    """A number of people that follows from published figures.

    Args:
        table: the table; `measure` the measure from which it follows, `cell` the number of the cell.
        fewest: the fewest people that it can be; `most` the most.
        people: what is compared with the demand: the most where the people are counted, the least base elsewhere.
        says: why, in words and labels.
        bases: the numbers of people that fit, where the base is unknown.
        values: the values of people that follow.
    """

    table: str
    measure: str
    cell: int
    fewest: int
    most: int
    people: int
    says: str
    bases: Sequence[int] = ()
    values: Sequence[Fraction] = ()


def implied_counts(view: CellsView, parameters: ImpliedCountsParameters) -> CellFigure:
    """The fewest people that a count is of which follows from a share, a mean or a deviation.

    A share p, known to within u, of N people is of ceil((p - u) N) to floor((p + u) N) of them, and not of the rest.
    Where N is not published, every N up to `up_to` is tried. The mean of n whole numbers is a whole number over n.
    Two values follow from their mean and deviation, three from their mean and extremes.

    Returns:
        A number of people, infinite where no count follows.

    Raises:
        CheckError: no table has a share, a mean or another statistic of people.

    Cost: O(cells x up_to).
    """
    implied, judged = list[Implied](), 0
    for table in view.tables.values():
        for name, figures in table.figures.items():
            measure = figures.measure
            if measure.counts is None and measure.sum is None:
                judged += int(figures.shown.sum())
            if measure.share is not None:
                implied += _of_shares(table, name, figures, parameters)
            elif measure.mean is not None:
                implied += _of_means(table, name, figures, parameters)
    if not judged:
        raise CheckError("no table has shares, means or other statistics of people; leave this demand out")
    few = sorted((one for one in implied if one.people < (parameters.k or 0)), key=lambda one: one.people)
    cells: dict[Any, FailingCell] = {}
    for one in few:
        figures_of_it = {"low": one.fewest, "high": one.most, "values": [float(value) for value in one.values] or None}
        shown = (
            {name: value for name, value in figures_of_it.items() if value is not None} if view.show_values else None
        )
        key = one.table, one.measure, one.cell
        cells.setdefault(key, view.failing_cell(*key, says=one.says, figures=shown))
    return CellFigure(_least(implied), judged, tuple(cells.values()), _details(implied))


def _least(implied: Sequence[Implied]) -> Fraction | float:
    return min((Fraction(one.people) for one in implied), default=inf)


def _details(implied: Sequence[Implied]) -> dict[str, Any]:
    """The number of counts that follow; of the smallest unknown base every number that fits and what divides them."""
    unknown = min((one for one in implied if one.bases), key=lambda one: one.people, default=None)
    details: dict[str, Any] = {"implied": len(implied), "values_known": sum(bool(one.values) for one in implied)}
    if unknown is not None:
        divisor = gcd(*unknown.bases)
        details |= {"bases": list(unknown.bases[:10]), "bases_in_all": len(unknown.bases), "divisor": divisor}
    return details


# Shares


def counts_of_shares(table: PublishedTable, bases: Mapping[str, tuple[Integers, Integers]]) -> Iterator[Implied]:
    """The counts that follow from shares of people whose number is known, or has both ends.

    Args:
        table: the table with the shares.
        bases: the least and the largest number of people of each cell, by the measure that counts them.
    """
    for name, figures in table.figures.items():
        over = figures.measure.over
        if figures.measure.share is None or over is None or over not in bases:
            continue
        low, high = bases[over]
        whole = figures.scale * (PERCENT if figures.measure.as_ == "percent" else 1)
        for cell in np.flatnonzero(figures.shown & (high < UNBOUNDED)).tolist():
            base = int(low[cell]), int(high[cell])
            yield from _of_known_base(table.name, name, cell, _ends(figures, cell), whole, base)


def _of_shares(
    table: PublishedTable, name: str, figures: Figures, parameters: ImpliedCountsParameters
) -> Iterator[Implied]:
    """The counts that follow from the shares of one measure."""
    whole = figures.scale * (PERCENT if figures.measure.as_ == "percent" else 1)
    known = _known_bases(table, figures)
    for cell in np.flatnonzero(figures.shown & known):
        assert figures.measure.over is not None  # noqa: S101 - bases are known
        base = _ends(table.figures[figures.measure.over], cell)
        yield from _of_known_base(table.name, name, int(cell), _ends(figures, cell), whole, base)
    lines = list(_wholes(table, figures, whole, ~known))
    within = {cell for line in lines for cell in line}
    others = np.flatnonzero(figures.shown & ~known)
    alone: list[tuple[int, ...]] = [(int(cell),) for cell in others if int(cell) not in within]
    for line, bases in _unknown_bases([*lines, *alone], figures, whole, parameters.up_to):
        least = bases[0]
        says = "the shares of its line fit so few people" if len(line) > 1 else "the share fits so few people"
        yield Implied(table.name, name, next(iter(line)), least, bases[-1], least, says, bases)


def _ends(figures: Figures, cell: Any) -> tuple[int, int]:
    return int(figures.low[cell]), int(figures.high[cell])


def _known_bases(table: PublishedTable, figures: Figures) -> NDArray[np.bool_]:
    """The cells whose number of people has both ends."""
    if figures.measure.over is None:
        return np.zeros(table.cells, np.bool_)
    return np.asarray(table.figures[figures.measure.over].high < UNBOUNDED)


def _of_known_base(
    table: str, name: str, cell: int, share: tuple[int, int], whole: int, base: tuple[int, int]
) -> Iterator[Implied]:
    """The people who have what a share is of, those who do not, and all of them where their number is uncertain.

    A number that may be 0 is left out, and so is one of which nothing is known that its token or rounding does not say.
    """
    least, largest = base
    if least < largest <= least + TRIED:
        fitting = [n for n in range(max(least, 1), largest + 1) if -(-share[0] * n // whole) <= share[1] * n // whole]
        if fitting and len(fitting) < largest - max(least, 1) + 1:
            says = "the share fits only so many people"
            yield Implied(table, name, cell, fitting[0], fitting[-1], fitting[-1], says)
        least, largest = (fitting[0], fitting[-1]) if fitting else base
    with_it = -(-share[0] * least // whole), share[1] * largest // whole
    without = -(-(whole - share[1]) * least // whole), (whole - share[0]) * largest // whole
    for (fewest, most), says in ((with_it, "the count follows from the share"), (without, "so few do not have it")):
        if 1 <= fewest <= most and (base[0] == base[1] or (fewest, most) != (max(base[0], 1), base[1])):
            yield Implied(table, name, cell, fewest, most, most, says)


def _wholes(
    table: PublishedTable, figures: Figures, whole: int, unknown: NDArray[np.bool_]
) -> Iterator[tuple[int, ...]]:
    """The lines whose shares are of one whole: all are shown without a known base, and they can add up to 100 %."""
    usable = (figures.shown & unknown).reshape(table.shape)
    low, high = figures.low.reshape(table.shape), figures.high.reshape(table.shape)
    cells = np.arange(table.cells).reshape(table.shape)
    for axis, nodes in enumerate(table.dimensions):
        splits = [children for _, children, complete in nodes.sums if complete] or [tuple(range(len(nodes.labels)))]
        for children in splits:
            part = [np.moveaxis(one, axis, 0)[list(children)] for one in (usable, low, high, cells)]
            shown, least, most, number = (one.reshape(len(children), -1) for one in part)
            adds_up = shown.all(axis=0) & (least.sum(axis=0) <= whole) & (most.sum(axis=0) >= whole)
            if len(children) > 1:
                yield from (tuple(map(int, number[:, place])) for place in np.flatnonzero(adds_up))


def _unknown_bases(
    lines: Sequence[tuple[int, ...]], figures: Figures, whole: int, up_to: int
) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """The numbers of people that the shares of each line fit; one share is taken for itself and the rest.

    A share that may be 0 or 100 % alone says nothing of any number.
    """
    bases = np.arange(1, up_to + 1, dtype=object)
    for line in lines:
        ends = [_ends(figures, cell) for cell in line]
        if len(ends) == 1:
            if ends[0][0] <= 0 or ends[0][1] >= whole:
                continue
            ends.append((whole - ends[0][1], whole - ends[0][0]))
        fewest = [-(-low * bases // whole) for low, _ in ends]
        most = [high * bases // whole for _, high in ends]
        fits = np.logical_and.reduce([one <= other for one, other in zip(fewest, most, strict=True)])
        fits &= (sum(fewest) <= bases) & (sum(most) >= bases)
        fitting = [int(one) for one in bases[fits.astype(np.bool_)]]
        if fitting:
            yield line, fitting


# Means


def _of_means(
    table: PublishedTable, name: str, figures: Figures, parameters: ImpliedCountsParameters
) -> Iterator[Implied]:
    """The numbers of people that a mean fits, and the values that follow where these are few."""
    yield from _of_few(table, name, figures)
    if not figures.measure.integers:
        return
    over = figures.measure.over
    base = None if over is None else table.figures[over]
    for cell in np.flatnonzero(figures.shown):
        low, high = (1, parameters.up_to) if base is None else _ends(base, cell)
        unknown = base is None or high >= UNBOUNDED
        low, high = max(low, 1), parameters.up_to if unknown else high
        if low == high or high - low > TRIED:
            continue  # it is published, or far from any small number
        fitting = people_of_mean(_ends(figures, cell), figures.scale, range(low, high + 1))
        if fitting and len(fitting) < high - low + 1:
            says = "the mean of whole numbers fits so few people"
            people = fitting[0] if unknown else fitting[-1]
            bases = fitting if unknown else ()
            yield Implied(table.name, name, int(cell), fitting[0], fitting[-1], people, says, bases)


def people_of_mean(ends: tuple[int, int], scale: int, tried: Iterable[int]) -> list[int]:
    """The numbers n of people for which a sum of whole numbers over n lies between two ends: the GRIM test.

    Args:
        ends: the least and the largest mean, in steps.
        scale: the steps of one unit.
        tried: the numbers to try.

    Source: Brown, Heathers, The GRIM test, Social Psychological and Personality Science 8(4), 2017.

    Example:
        >>> people_of_mean((1124, 1126), 100, range(1, 10))
        [4, 8]
    """
    low, high = ends
    return [n for n in tried if -(-low * n // scale) * scale <= high * n]


def _of_few(table: PublishedTable, name: str, figures: Figures) -> Iterator[Implied]:
    """The values of two people from their mean and deviation, and of three from their mean and extremes."""
    measure = figures.measure
    if measure.over is None:
        return
    base = table.figures[measure.over]
    alike = {
        one.measure.kind: one
        for one in table.figures.values()
        if one.measure.column == measure.column and one.measure.over == measure.over
    }
    exactly = (base.low == base.high) & figures.shown
    deviation, least, largest = (alike.get(kind) for kind in ("deviation", "minimum", "maximum"))
    if deviation is not None:
        for cell in np.flatnonzero(exactly & (base.low == PAIR) & deviation.shown):
            mean, spread = _middle(figures, cell), _middle(deviation, cell)
            half = _root(spread * spread / 2)
            values = [_as_value(one, measure.integers) for one in (mean - half, mean + half)]
            says = "both values follow from the mean and the deviation"
            yield Implied(table.name, name, int(cell), PAIR, PAIR, PAIR, says, values=values)
    if least is not None and largest is not None:
        for cell in np.flatnonzero(exactly & (base.low == TRIPLE) & least.shown & largest.shown):
            ends = _middle(least, cell), _middle(largest, cell)
            between = _as_value(TRIPLE * _middle(figures, cell) - sum(ends), measure.integers)
            says = "all three values follow from the mean, the least and the largest"
            yield Implied(table.name, name, int(cell), TRIPLE, TRIPLE, TRIPLE, says, values=(ends[0], between, ends[1]))


def _middle(figures: Figures, cell: Any) -> Fraction:
    return Fraction(int(figures.low[cell]) + int(figures.high[cell]), 2 * figures.scale)


def _root(number: Fraction) -> Fraction:
    """The square root, to twelve decimals."""
    return Fraction(isqrt(number.numerator * 10**24 // number.denominator), 10**12)


def _as_value(number: Fraction, integers: bool) -> Fraction:  # noqa: FBT001 - a property of the measure
    return Fraction(round(number)) if integers else Fraction(round(number, 4))


IMPLIED_COUNTS = AggregateCheck(
    name="implied_counts",
    title="Implied counts",
    disclosure_type=DisclosureType.IDENTITY_MODEL,
    parameters=ImpliedCountsParameters,
    measure=implied_counts,
    threshold="k",
    comparison=Comparison.AT_LEAST,
    label="people in the smallest implied count",
    sentences=Sentences(
        passed=(
            "[{infinite?}From {cells:published statistic} no number of people follows|From {cells:published statistic} "
            "{implied:number} of people {implied:follows|follow}, the smallest of "
            "[{k?}at least {k:{unit}}, as demanded|{observed:{unit}}]]{more}."
        ),
        failed="From {failing_cells/cells:published statistic} numbers of fewer than {k:{unit}} follow{more}.",
        parts={
            "more": (
                "[{values_known>0?}; in {values_known:cell} the values of all its people follow]"
                "[{divisor>1?}; where nothing says of how many people shares or means are, a multiple of {divisor} "
                "fits]"
            )
        },
        values=noun_of_people,
    ),
    guide=built_in_guide(__file__, "implied_counts.md"),
)
