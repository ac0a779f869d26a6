"""How the figures of classes go with their sizes: counts in fixed cells, so that shards add up to the whole.

A cell is read from the leading bits of two floats: equal ones fall into one, whatever the shard. Sizes below 16 are
exact and figures are kept within a thirtieth of themselves, so that each edge of the grid is one of cells, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, frexp, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.arrays import Floats, freeze_arrays
from tcdp_audit.core.classes.histogram import Counts, Histogram, cached_on_histogram
from tcdp_audit.core.encoding.keys import tally

MOST = 10  # columns of the grid, and rows; where edges are round numbers one more
EXACT = 16  # sizes below have a cell each
WIDE = 50  # a largest figure, above 1, this many times the least asks for rows of equal ratios
MANTISSA, BIAS = 52, 1023  # of a float of 64 bits
SIZE_BITS, FIGURE_BITS = 3, 5  # of the mantissa that are looked at
LEAST, GREATEST = -20, 40  # powers of two: figures below the first count as 0, from the second on as beyond all
_FIRST = (BIAS + LEAST) << FIGURE_BITS
BEYOND = ((GREATEST - LEAST) << FIGURE_BITS) + 1  # what stands for figures that are infinite, or as good as
SIZES = (1 + GREATEST) << SIZE_BITS


@dataclass(frozen=True, eq=False)
class BySize(Mapping[int, int]):
    """Classes in each cell; as a mapping, cell -> classes.

    Args:
        cells: `SIZES` times what stands for the figure, and what stands for the size; ascending. Shape (cells,).
        classes: how many there are. Shape (cells,).
    """

    cells: Counts
    classes: Counts

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "cells", "classes")

    @staticmethod
    def of(histogram: Histogram, values: NDArray[Any], records: Counts, times: Counts | None = None) -> BySize:
        """That of some classes.

        Args:
            histogram: of the classes, with which their sizes are kept for other figures.
            values: the figure of each class; those below zero count as zero.
            records: the records of each class.
            times: how many classes each stands for, which are alike; None where that is one.

        Cost: O(classes).
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
        """Those of several shards as one."""
        cells, classes = (np.concatenate([getattr(one, name) for one in parts]) for name in ("cells", "classes"))
        return BySize(*tally(cells, (BEYOND + 1) * SIZES, classes))

    def __getitem__(self, cell: int) -> int:
        """Classes in a cell."""
        return int(self.classes[self.cells == cell].sum())

    def __iter__(self) -> Iterator[int]:
        """The cells."""
        return iter(self.cells.tolist())

    def __len__(self) -> int:
        """How many cells there are."""
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
    """What stands for the size of each class."""
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
