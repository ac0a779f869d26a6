"""The figures of classes by the size of the classes: counts in fixed cells, so that shards add up to the whole.

A cell is read from the leading bits of two floats: equal ones fall into one, whatever the shard. Sizes below 16 are
exact and figures are kept within a thirtieth of themselves, so that each edge of the grid is one of cells, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, floor, frexp, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import FrozenList, dataclass
from tcdp_audit.core.classes.histogram import Counts, Histogram, cached_on_histogram
from tcdp_audit.core.encoding.keys import Floats, boundaries, freeze_arrays, numbered, occurrences, tally

MOST = 10  # columns of the grid, and rows; where edges are round numbers one more
EXACT = 16  # sizes below have a cell each
WIDE = 50  # a largest figure, above 1, this many times the least asks for rows of equal ratios
MANTISSA, BIAS = 52, 1023  # of a float of 64 bits
SIZE_BITS, FIGURE_BITS = 3, 5  # of the mantissa that are looked at
LEAST, GREATEST = -20, 40  # powers of two: figures below the first count as 0, from the second on as beyond all
_FIRST = (BIAS + LEAST) << FIGURE_BITS
BEYOND = ((GREATEST - LEAST) << FIGURE_BITS) + 1  # the code of figures that are infinite, or as good as
SIZES = (1 + GREATEST) << SIZE_BITS


@dataclass(frozen=True, eq=False)
class BySize(Mapping[int, int]):
    """Classes in each cell; as a mapping, cell -> classes."""

    cells: Counts  # `SIZES` times the code of the figure, and the code of the size; ascending, shape (cells,)
    classes: Counts  # how many there are, shape (cells,)

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "cells", "classes")

    @staticmethod
    def of(histogram: Histogram, values: NDArray[Any], records: Counts, times: Counts | None = None) -> BySize:
        """The cells of classes, from the figure (one below zero counts as zero) and the records of each. O(classes).

        `times` says how many classes, which are alike, each represents; None where that is one. The sizes of classes
        are cached with the histogram for other figures.
        """
        if not len(values):
            return NO_CLASS
        figure, size = _leading(values, FIGURE_BITS), _codes_of_sizes(histogram, records)
        figure -= _FIRST - 1
        np.maximum(figure, 0, out=figure)
        np.minimum(figure, BEYOND, out=figure)
        least, sizes = int(figure.min()), int(size.max()) + 1  # so that few cells are possible
        figure -= least
        figure *= sizes
        figure += size
        places, classes = tally(figure, int(figure.max()) + 1, times)
        figures, size_of = np.divmod(places.astype(np.int64), sizes)
        return BySize((figures + least) * SIZES + size_of, classes)

    @staticmethod
    def added_up(parts: Sequence[BySize]) -> BySize:
        """Add up the cells of several shards."""
        cells, classes = (np.concatenate([getattr(one, name) for one in parts]) for name in ("cells", "classes"))
        return BySize(*tally(cells, (BEYOND + 1) * SIZES, classes))

    def __getitem__(self, cell: int) -> int:
        """Classes in a cell."""
        return int(self.classes[self.cells == cell].sum())

    def __iter__(self) -> Iterator[int]:
        """The cells."""
        return iter(self.cells.tolist())

    def __len__(self) -> int:
        """The number of cells."""
        return len(self.cells)

    def grid(self) -> dict[str, Any]:
        """At most some hundred cells: edges of sizes and of figures, and [column, row, classes] from the first on.

        A column or a row reaches from its edge to below the next. The row of figures beyond all is None. Empty where
        all classes are in one cell.
        """
        if len(self) < 2:
            return {}
        figure, size = np.divmod(self.cells, SIZES)
        sizes = _edges_of_sizes(_sizes(size))
        figures = _edges_of_figures(figure[figure < BEYOND])
        row = np.where(figure < BEYOND, _places(figures, _figures(figure)), len(figures))
        place = _places(sizes, _sizes(size)) * (len(figures) + 1) + row
        counts = np.bincount(place, weights=self.classes).astype(np.int64)
        groups = [(*divmod(one, len(figures) + 1), int(counts[one])) for one in np.flatnonzero(counts).tolist()]
        if len(groups) < 2:
            return {}
        rows = [*range(len(figures)), None]
        return {"sizes": sizes, "figures": figures, "groups": [[column, rows[row], n] for column, row, n in groups]}


NO_CLASS = BySize(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@cached_on_histogram
def _codes_of_sizes(_: Histogram, records: Counts) -> NDArray[np.int32]:
    """The code of the size of each class."""
    codes = _leading(records, SIZE_BITS)
    codes -= BIAS << SIZE_BITS
    return codes


def _leading(numbers: NDArray[Any], bits: int) -> NDArray[np.int32]:
    """Exponent and leading bits of the mantissa as floats have them: an ascending number, negative below zero."""
    halves = np.ascontiguousarray(numbers, dtype="<f8").view("<i4")
    return halves[1::2] >> (MANTISSA - 32 - bits)


def _floats(leading: Counts, bits: int) -> Floats:
    """The least float with each of such numbers."""
    return (leading << (MANTISSA - bits)).view(np.float64)


def _sizes(codes: Counts) -> Floats:
    """The least size in a cell."""
    return _floats(codes + (BIAS << SIZE_BITS), SIZE_BITS)


def _figures(codes: Counts) -> Floats:
    """The least figure in a cell, which the cell before reaches up to."""
    return np.where(codes > 0, _floats(codes + (_FIRST - 1), FIGURE_BITS), 0.0)


def _places(edges: Sequence[float], values: Floats) -> NDArray[np.intp]:
    return np.searchsorted(np.array(edges, dtype=np.float64), values, side="right") - 1


def _edges_of_sizes(sizes: Floats) -> list[int]:
    """Each size where few are possible, otherwise powers of two."""
    least, greatest = int(sizes.min()), int(sizes.max())
    if greatest < EXACT and greatest - least < MOST:
        return list(range(least, greatest + 2))
    return [1 << power for power in _evenly(least.bit_length() - 1, greatest.bit_length())]


def _edges_of_figures(codes: Counts) -> list[float]:
    """Multiples of a power of two, or powers of two where figures differ by orders of magnitude."""
    if not len(codes):
        return []
    least, last, upper = (float(one) for one in _figures(np.array([codes.min(), codes.max(), codes.max() + 1])))
    if least > 0 and upper > max(1, WIDE * least):
        return [2.0**power for power in _evenly(_power(least), ceil(log2(upper)))]
    least = 0.0 if least < upper / 2 else least
    step = 2.0 ** max(ceil(log2((upper - least) / MOST)), _power(last) - FIGURE_BITS)
    return [step * number for number in range(floor(least / step), ceil(upper / step) + 1)]


def _power(value: float) -> int:
    """The exponent of the power of two that is not above a value."""
    return frexp(value)[1] - 1 if value else LEAST


def _evenly(first: int, last: int) -> list[int]:
    """From the first number to the last or beyond in at most so many even steps."""
    step = max(1, ceil((last - first) / MOST))
    return list(range(first, last + step, step))


COUNTED = 2**22  # whole figures below this are kept exactly, all others to three digits
SMALLEST = 1e-12  # figures nearer to zero are binned there
SPARSE = 32  # figures up to so many times their number are counted, others are sorted first
DIGITS = 3  # figures that are not whole numbers are binned to this many significant digits
_LOWEST, _HIGHEST = -13, 310  # decimal exponents of figures, and one more at either end
_SCALES = 10.0 ** (DIGITS - 1 - np.arange(_LOWEST, _HIGHEST, dtype=np.float64))  # by exponent; a power takes long
_PLACES = 4 * 10**DIGITS  # codes for each exponent: more than digits, which are as many below zero as above
_BINARY = np.arange(2 * BIAS + 1)  # binary exponents as a float has them
_LEAST = np.maximum(np.floor((_BINARY - BIAS) * np.log10(2)), _LOWEST).astype(np.int64)  # their decimal exponents, or
_NEXT = 10.0 ** (_LEAST + 1.0)  # from this number on one more


@dataclass(frozen=True, eq=False)
class Distribution(Mapping[float, tuple[int, int]]):
    """Classes and records at each figure; as a mapping, figure -> (classes, records)."""

    figures: Floats  # whole below 2^22, all others to three significant digits; ascending, none twice, shape (bins,)
    classes: NDArray[np.int64]  # how many classes have it, shape (bins,)
    records: NDArray[np.int64]  # how many records they hold, shape (bins,)

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "figures", "classes", "records")

    @staticmethod
    def of(values: Floats, records: NDArray[np.int64], times: NDArray[np.int64] | None = None) -> Distribution:
        """The distribution of some classes, from the figure and the records of each.

        `times` says how many classes each represents, all of which hold the records; None where that is one. Figures
        become small integers first, because counting beats sorting.
        """
        if not len(values):
            return NOTHING
        whole = values == np.floor(values)
        largest = max(float(values.max()), -float(values.min()))
        if largest < COUNTED and whole.all():  # as counts are
            return _tally(values.astype(np.int64), records, times)
        if largest < 10**DIGITS and values.min() >= 0:  # then the digits kept hold the whole ones, too
            return _tally(_bins(values), records, times, _figures_of_bins)

        def tallied(
            some: NDArray[np.bool_],
            coded: Callable[[Floats], NDArray[np.int64]],
            figures_of: Callable[[NDArray[np.int64]], Floats],
        ) -> Distribution:
            here = np.flatnonzero(some)
            return _tally(
                coded(values.take(here)), records.take(here), None if times is None else times.take(here), figures_of
            )

        infinite = np.isinf(values)
        whole &= np.abs(values) < COUNTED
        of_whole = tallied(whole, lambda figures: figures.astype(np.int64), _as_they_are)
        of_infinite = tallied(infinite, lambda figures: np.sign(figures).astype(np.int64), _infinities)
        return Distribution.merged([of_whole, of_infinite, tallied(~(whole | infinite), _bins, _figures_of_bins)])

    @staticmethod
    def merged(parts: Sequence[Distribution]) -> Distribution:
        """Several as one: 0.9996 falls into the bin of 1."""
        names, every = ("figures", "classes", "records"), (*parts, NOTHING)
        figures, classes, records = (np.concatenate([getattr(one, name) for one in every]) for name in names)
        order = np.argsort(figures, kind="stable")  # which merges what is in order already
        starts = boundaries(figures[order])
        if not len(starts):
            return NOTHING
        sums = (np.add.reduceat(counts[order], starts) for counts in (classes, records))
        return Distribution(figures[order[starts]], *sums)

    def __getitem__(self, figure: float) -> tuple[int, int]:
        """Classes and records at a figure."""
        position = int(np.searchsorted(self.figures, figure))
        if position == len(self.figures) or self.figures[position] != figure:
            raise KeyError(figure)
        return int(self.classes[position]), int(self.records[position])

    def __iter__(self) -> Iterator[float]:
        """The figures."""
        return iter(self.figures.tolist())

    def __len__(self) -> int:
        """The number of different figures."""
        return len(self.figures)

    @property
    def rows(self) -> list[list[float]]:
        """[figure, classes, records] in ascending order of the figure, as outcomes hold them: read-only."""
        columns = (self.figures.tolist(), self.classes.tolist(), self.records.tolist())
        return FrozenList(map(FrozenList, zip(*columns, strict=True)))


NOTHING = Distribution(np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def _as_they_are(codes: NDArray[np.int64]) -> Floats:
    return codes.astype(np.float64)


def _infinities(signs: NDArray[np.int64]) -> Floats:
    return np.copysign(np.inf, signs)


def _tally(
    codes: NDArray[np.int64],
    records: NDArray[np.int64],
    times: NDArray[np.int64] | None,
    figures_of: Callable[[NDArray[np.int64]], Floats] = _as_they_are,
) -> Distribution:
    """Classes and records of each figure, of which the codes are integers in the same order; `times` as in `of`."""
    if not len(codes):
        return NOTHING
    least = int(codes.min())
    codes = codes - least
    span, distinct = int(codes.max()) + 1, None
    if span > SPARSE * len(codes):  # then sorting a few beats counting up to the largest
        distinct, codes = numbered(codes, span)
        span = len(distinct)
    classes = occurrences(codes, span, times)
    filled = np.flatnonzero(classes > 0)
    bins = filled if distinct is None else distinct[filled]
    return Distribution(figures_of(bins + least), classes[filled], occurrences(codes, span, records)[filled])


def _bins(values: Floats) -> NDArray[np.int64]:
    """A code for each finite figure: its decimal exponent and its first three digits."""
    size = np.maximum(np.abs(values), SMALLEST)
    binary = size.view(np.int64) >> MANTISSA
    exponent = _LEAST.take(binary)
    exponent += size >= _NEXT.take(binary)
    digits = np.rint(values * _SCALES.take(exponent - _LOWEST)).astype(np.int64)
    carried = np.flatnonzero(np.abs(digits) == 10**DIGITS)  # 0.09996 is 0.1, and one bin with it
    exponent[carried] += 1
    digits[carried] //= 10
    return exponent * _PLACES + digits


def _figures_of_bins(codes: NDArray[np.int64]) -> Floats:
    """The figure of each code: not in order where some are below zero."""
    exponent = (codes + _PLACES // 2) // _PLACES
    return (codes - exponent * _PLACES) / _SCALES.take(exponent - _LOWEST)
