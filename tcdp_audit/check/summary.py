"""The summary of a measure over classes: a monoid, so that shards merge to the whole, to the last digit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.arrays import Floats
from tcdp_audit.classes.histogram import Counts
from tcdp_audit.outcome import Comparison

WORST_SHOWN = 10
COUNTED = 2**22  # whole figures below this are kept exactly, all others to three digits
SMALLEST = 1e-12  # figures nearer to zero are binned there
SPARSE = 32  # figures up to so many times their number are counted, others are sorted first
RUN = 64  # keys of which only the least is looked at first
DIGITS = 3  # figures that are not whole numbers are binned to this many significant digits

_LOWEST, _HIGHEST = -13, 310  # decimal exponents of figures, and one more at either end
_SCALES = 10.0 ** (DIGITS - 1 - np.arange(_LOWEST, _HIGHEST, dtype=np.float64))  # by exponent; a power takes long


@dataclass(frozen=True)
class Candidate:
    """A class that may be among the worst."""

    value: float
    records: int
    cells: Mapping[str, str] | None = None


@dataclass(frozen=True)
class ClassSummary:
    """Counts, worst classes and distribution of one measure over the classes seen so far.

    Args:
        classes: how many there are.
        records: how many records they hold.
        failing_classes: classes that do not keep a threshold.
        failing_records: records in them.
        worst: the worst classes, worst first, larger first among equals.
        distribution: figure (whole below 2^22, or to three significant digits) -> (classes, records).
    """

    classes: int = 0
    records: int = 0
    failing_classes: int = 0
    failing_records: int = 0
    worst: tuple[Candidate, ...] = ()
    distribution: Mapping[float, tuple[int, int]] = field(default_factory=dict)

    @property
    def observed(self) -> float | None:
        """The figure of the worst class."""
        return self.worst[0].value if self.worst else None


def summarise(
    values: Floats,
    records: Counts,
    failing: NDArray[np.bool_],
    comparison: Comparison,
    cells_of: Callable[[NDArray[np.intp]], list[Mapping[str, str]]] | None = None,
) -> ClassSummary:
    """Summarise one measure over the classes of a shard.

    Args:
        values: the figure of each class.
        records: the records of each class.
        failing: which classes do not keep a threshold.
        comparison: says which end of the figures is the worst.
        cells_of: the quasi-identifiers' values of some classes, where a person asked to see them.

    Cost: O(classes log classes).
    """
    order = _worst_first(values, records, comparison)
    cells: list[Any] = [None] * len(order) if cells_of is None else cells_of(order)
    return ClassSummary(
        classes=len(values),
        records=int(records.sum()),
        failing_classes=int(failing.sum()),
        failing_records=int(records[failing].sum()),
        worst=tuple(Candidate(float(values[c]), int(records[c]), cell) for c, cell in zip(order, cells, strict=True)),
        distribution=_distribution(values, records),
    )


def merge(summaries: Sequence[ClassSummary], comparison: Comparison) -> ClassSummary:
    """Summaries of shards as one. Associative and commutative but for the cells of equal classes."""
    return ClassSummary(
        classes=sum(one.classes for one in summaries),
        records=sum(one.records for one in summaries),
        failing_classes=sum(one.failing_classes for one in summaries),
        failing_records=sum(one.failing_records for one in summaries),
        worst=_merge_worst([candidate for one in summaries for candidate in one.worst], comparison),
        distribution=_added(*(one.distribution for one in summaries)),
    )


def _merge_worst(candidates: Sequence[Candidate], comparison: Comparison) -> tuple[Candidate, ...]:
    sign = 1 if comparison.higher_is_safer else -1

    def rank(candidate: Candidate) -> tuple[Any, ...]:
        cells = tuple((candidate.cells or {}).items())
        return sign * candidate.value, -candidate.records, cells

    return tuple(sorted(candidates, key=rank)[:WORST_SHOWN])


def _worst_first(values: Floats, records: Counts, comparison: Comparison) -> NDArray[np.intp]:
    """The indices of the worst classes, larger first among equals."""
    worst: list[int] = []
    for equal in _least_first(values if comparison.higher_is_safer else -values, WORST_SHOWN):
        for alike in _least_first(-records[equal], WORST_SHOWN - len(worst)):
            worst += equal[alike[:WORST_SHOWN]].tolist()
    return np.array(worst[:WORST_SHOWN], dtype=np.intp)


def _least_first(keys: NDArray[Any], wanted: int) -> Iterator[NDArray[np.intp]]:
    """The indices of the least keys, then those of the next, until there are as many as wanted.

    Never a partition: numpy's takes long where many keys are equal, as those of small classes are.
    """
    left = np.arange(len(keys))
    if len(keys) > RUN * wanted:  # the least of some runs bound the keys that can be among the wanted ones
        bound = np.sort(np.minimum.reduceat(keys, left[::RUN]))[wanted - 1]
        left = np.flatnonzero(keys <= bound)
        keys = keys[left]
    while wanted > 0 and len(keys):
        least = keys == keys.min()
        yield left[least]
        wanted -= int(np.count_nonzero(least))
        keys, left = keys[~least], left[~least]


def _distribution(values: Floats, records: Counts) -> dict[float, tuple[int, int]]:
    """Classes and records by figure. Figures become small integers first, because counting beats sorting."""
    infinite = np.isinf(values)
    counted = (values == np.floor(values)) & (np.abs(values) < COUNTED)
    rest = ~(counted | infinite)
    bins, codes = _binned(values[rest])
    return _added(
        _tally(values[counted], values[counted].astype(np.int64), records[counted]),
        _tally(values[infinite], np.sign(values[infinite]).astype(np.int64), records[infinite]),
        _tally(bins, codes, records[rest]),
    )


def _added(*tallies: Mapping[float, tuple[int, int]]) -> dict[float, tuple[int, int]]:
    """Several distributions as one: 0.9996 falls into the bin of 1."""
    first, *others = tallies or ({},)
    total = dict(first)
    for tally in others:
        for figure, (classes, records) in tally.items():
            before = total.get(figure)
            total[figure] = (classes, records) if before is None else (before[0] + classes, before[1] + records)
    return total


def _tally(figures: Floats, codes: NDArray[np.int64], records: Counts) -> dict[float, tuple[int, int]]:
    """(classes, records) of each figure, given an integer that stands for it alone."""
    if not len(figures):
        return {}
    codes = codes - codes.min()
    if codes.max() > SPARSE * len(codes):  # then sorting a few beats counting up to the largest
        codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
    classes = np.bincount(codes)
    records_at = np.bincount(codes, weights=records)
    figure = np.zeros(len(classes))
    figure[codes] = figures
    filled = np.flatnonzero(classes)
    tallies = zip(classes[filled].tolist(), records_at[filled].astype(np.int64).tolist(), strict=True)
    return dict(zip(figure[filled].tolist(), tallies, strict=True))


def _binned(values: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Figures to three significant digits, and an integer for each bin: its exponent and its digits."""
    exponent = np.floor(np.log10(np.maximum(np.abs(values), SMALLEST))).astype(np.int64)
    digits = np.round(values * _SCALES.take(exponent - _LOWEST))
    carried = np.abs(digits) == 10**DIGITS  # 0.09996 is 0.1, and one bin with it
    exponent[carried] += 1
    digits[carried] /= 10
    return digits / _SCALES.take(exponent - _LOWEST), exponent * 4 * 10**DIGITS + digits.astype(np.int64)
