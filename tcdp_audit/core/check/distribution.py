"""How the figures of classes are distributed: a monoid, so that shards add up to the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.arrays import Floats, freeze_arrays
from tcdp_audit.core.base.frozen import FrozenList
from tcdp_audit.core.encoding.keys import boundaries, occurrences

Counts = NDArray[np.int64]

COUNTED = 2**22  # whole figures below this are kept exactly, all others to three digits
SMALLEST = 1e-12  # figures nearer to zero are binned there
SPARSE = 32  # figures up to so many times their number are counted, others are sorted first
DIGITS = 3  # figures that are not whole numbers are binned to this many significant digits
_LOWEST, _HIGHEST = -13, 310  # decimal exponents of figures, and one more at either end
_SCALES = 10.0 ** (DIGITS - 1 - np.arange(_LOWEST, _HIGHEST, dtype=np.float64))  # by exponent; a power takes long
_POWERS = 10.0 ** np.arange(_LOWEST, _HIGHEST - 1, dtype=np.float64)
_MANTISSA, _BIAS = 52, 1023  # the bits of a float below its binary exponent, and what that is stored with
_EXPONENTS = np.floor((np.arange(2 * _BIAS + 1) - _BIAS) * np.log10(2)).astype(np.int64)  # of powers of two


@dataclass(frozen=True, eq=False)
class Distribution(Mapping[float, tuple[int, int]]):
    """Classes and records at each figure; as a mapping, figure -> (classes, records).

    Args:
        figures: whole below 2^22, all others to three significant digits; ascending, none twice. Shape (bins,).
        classes: how many classes have it. Shape (bins,).
        records: how many records they hold. Shape (bins,).
    """

    figures: Floats
    classes: Counts
    records: Counts

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "figures", "classes", "records")

    @staticmethod
    def of(values: Floats, records: Counts, times: Counts | None = None) -> Distribution:
        """That of some classes. Figures become small integers first, because counting beats sorting.

        Args:
            values: the figure of each class.
            records: the records of each class.
            times: how many classes each stands for, all of which hold the records; None where that is one.
        """
        size = np.abs(values)
        whole = (values == np.floor(values)) & (size < COUNTED)
        if whole.all():  # as counts are
            return _tally(values, values.astype(np.int64), records, times)
        if size.max() < 10**DIGITS and values.min() >= 0:  # then the digits kept hold the whole ones, too
            return _tally(*_binned(values), records, times)

        def tallied(some: NDArray[np.bool_], coded: Callable[[Floats], tuple[Floats, Counts]]) -> Distribution:
            return _tally(*coded(values[some]), records[some], None if times is None else times[some])

        infinite = np.isinf(values)
        return Distribution.merged(
            [
                tallied(whole, lambda figures: (figures, figures.astype(np.int64))),
                tallied(infinite, lambda figures: (figures, np.sign(figures).astype(np.int64))),
                tallied(~(whole | infinite), _binned),
            ]
        )

    @staticmethod
    def merged(parts: Sequence[Distribution]) -> Distribution:
        """Several as one: 0.9996 falls into the bin of 1."""
        figures, classes, records = (
            np.concatenate([getattr(one, name) for one in (*parts, NOTHING)])
            for name in ("figures", "classes", "records")
        )
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
        """How many different figures there are."""
        return len(self.figures)

    @property
    def rows(self) -> list[list[float]]:
        """[figure, classes, records] in ascending order of the figure, as outcomes hold them: read-only."""
        columns = (self.figures.tolist(), self.classes.tolist(), self.records.tolist())
        return FrozenList(map(FrozenList, zip(*columns, strict=True)))


NOTHING = Distribution(np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def _tally(figures: Floats, codes: NDArray[np.int64], records: Counts, times: Counts | None) -> Distribution:
    """Classes and records of each figure, given an integer that stands for it alone; `times` as in `of`."""
    if not len(figures):
        return NOTHING
    codes = codes - codes.min()
    if codes.max() > SPARSE * len(codes):  # then sorting a few beats counting up to the largest
        codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
    classes = occurrences(codes, int(codes.max()) + 1, times)
    records_at = np.bincount(codes, weights=records)
    figure = np.zeros(len(classes))
    figure[codes] = figures
    filled = np.flatnonzero(classes > 0)
    return Distribution(figure[filled], classes[filled], records_at[filled].astype(np.int64))


def _binned(values: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Figures to three significant digits, and an integer for each bin: its exponent and its digits."""
    exponent = _exponent(np.maximum(np.abs(values), SMALLEST))
    scale = _SCALES.take(exponent - _LOWEST)
    digits = np.round(values * scale)
    carried = np.flatnonzero(np.abs(digits) == 10**DIGITS)  # 0.09996 is 0.1, and one bin with it
    exponent[carried] += 1
    digits[carried] /= 10
    scale[carried] = _SCALES.take(exponent[carried] - _LOWEST)
    return digits / scale, exponent * (2 * 10**DIGITS) + digits.astype(np.int64)


def _exponent(positive: Floats) -> NDArray[np.int64]:
    """The decimal exponent of each number: that of its binary exponent, or one more."""
    least = _EXPONENTS.take(positive.view(np.int64) >> _MANTISSA)
    return least + (positive >= _POWERS.take(least - _LOWEST + 1))
