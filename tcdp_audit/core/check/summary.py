"""The summary of a measure over classes: a monoid, so that shards merge to the whole, to the last digit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.by_size import NO_CLASS, NOTHING, BySize, Distribution
from tcdp_audit.core.classes.histogram import AlikeClasses, Counts, Histogram
from tcdp_audit.core.encoding.keys import Floats

WORST_SHOWN = 10
RUN = 64  # keys of which only the least is looked at first

Pairs = bytes  # code and count of values, in ascending order of code: big-endian, so that they compare as numbers do
PAIR = np.dtype((">i8", 2))


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
        distribution: how many classes and records have each figure.
        valueless_classes: classes in which no record has a value of the measured attribute.
        valueless_records: records in them.
        worst_valued: the worst class with a value, without its cells; None where there is none.
        worst_values: code and count of each sensitive value in that class, ascending; of equally bad and equally
            large classes, those that come first. Empty where they are not wanted.
        by_size: how many classes have which figure and size, where the former are wanted.
        entities: where the policy names a unit, and the check is an attack: how many entities the release has.
        sizes: how many classes there are of each number of records.
        failing_entities: how many of them have a record in a class that does not keep a threshold. Both are known once
            all shards are merged: an entity may be in several.
    """

    classes: int = 0
    records: int = 0
    failing_classes: int = 0
    failing_records: int = 0
    worst: tuple[Candidate, ...] = ()
    valueless_classes: int = 0
    valueless_records: int = 0
    worst_valued: Candidate | None = None
    distribution: Distribution = field(default_factory=lambda: NOTHING)
    worst_values: Pairs = b""
    by_size: BySize = field(default_factory=lambda: NO_CLASS)
    entities: int | None = None
    sizes: Mapping[int, int] = field(default_factory=dict)
    failing_entities: int | None = None

    @property
    def observed(self) -> float | None:
        """The figure of the worst class."""
        return self.worst[0].value if self.worst else None


def summarise(
    values: Floats,
    classes: AlikeClasses,
    failing: NDArray[np.bool_],
    comparison: Comparison,
    filled: NDArray[np.bool_] | None = None,
    cells_of: Callable[[NDArray[np.intp]], list[Mapping[str, str]]] | None = None,
    *,
    pictured: bool = False,
) -> ClassSummary:
    """Summarise one measure over the classes of a shard.

    Args:
        values: the figure of each class, or of all that are alike.
        classes: the classes.
        failing: which of them do not keep a threshold.
        comparison: says which end of the figures is the worst.
        filled: which of them have a value; None where all have.
        cells_of: the quasi-identifiers' values of some classes, where a person asked to see them.
        pictured: whether pictures of the sensitive attribute in the classes are wanted.

    Cost: O(classes log classes).
    """
    records, held, times = classes.records, classes.held, classes.times
    histogram = classes.histogram if pictured else None
    order, equally_bad = _worst_first(values, records, comparison)
    if times is not None:
        order = np.repeat(order, np.minimum(times[order], WORST_SHOWN))[:WORST_SHOWN]
    cells: list[Any] = [None] * len(order) if cells_of is None else cells_of(order)
    valueless = np.zeros(0, dtype=np.intp) if filled is None else np.flatnonzero(~filled)
    if filled is not None and len(valueless):
        valued = np.flatnonzero(filled)
        equally_bad = valued[_worst_first(values[valued], records[valued], comparison)[1]]
    head = [Candidate(float(values[c]), int(records[c])) for c in equally_bad[:1]]
    return ClassSummary(
        classes=len(values) if times is None else int(times.sum()),
        records=int(held.sum()),
        failing_classes=int(np.count_nonzero(failing) if times is None else times @ failing),
        failing_records=int(held @ failing),
        valueless_classes=len(valueless) if times is None else int(times[valueless].sum()),
        valueless_records=int(held[valueless].sum()),
        worst_valued=head[0] if head else None,
        worst=tuple(Candidate(float(values[c]), int(records[c]), cell) for c, cell in zip(order, cells, strict=True)),
        distribution=Distribution.of(values, held, times),
        worst_values=b"" if histogram is None else _pairs(histogram, _least_row(histogram, equally_bad)),
        by_size=NO_CLASS if histogram is None else BySize.of(histogram, values, records, times),
        sizes=classes.sizes,
    )


def merge(summaries: Sequence[ClassSummary], comparison: Comparison) -> ClassSummary:
    """Summaries of shards as one. Associative and commutative, except for the cells of equal classes."""
    worst = _merge_worst([candidate for one in summaries for candidate in one.worst], comparison)
    valued = _merge_worst([one.worst_valued for one in summaries if one.worst_valued is not None], comparison)
    worst_valued = valued[0] if valued else None
    return ClassSummary(
        classes=sum(one.classes for one in summaries),
        records=sum(one.records for one in summaries),
        failing_classes=sum(one.failing_classes for one in summaries),
        failing_records=sum(one.failing_records for one in summaries),
        worst=worst,
        distribution=Distribution.merged([one.distribution for one in summaries]),
        valueless_classes=sum(one.valueless_classes for one in summaries),
        valueless_records=sum(one.valueless_records for one in summaries),
        worst_valued=worst_valued,
        worst_values=min((one.worst_values for one in summaries if one.worst_valued == worst_valued), default=b""),
        by_size=BySize.added_up([NO_CLASS, *(one.by_size for one in summaries)]),
        sizes=_added_up([one.sizes for one in summaries]),
    )


def _added_up(parts: Sequence[Mapping[int, int]]) -> Counter[int]:
    """The sums of several mappings. O(entries), where `Counter` adds two at a time and makes each sum anew."""
    sums: Counter[int] = Counter()
    for one in parts:
        sums.update(one)
    return sums


def _merge_worst(candidates: Sequence[Candidate], comparison: Comparison) -> tuple[Candidate, ...]:
    sign = 1 if comparison.higher_is_safer else -1

    def rank(candidate: Candidate) -> tuple[Any, ...]:
        cells = tuple((candidate.cells or {}).items())
        return sign * candidate.value, -candidate.records, cells

    return tuple(sorted(candidates, key=rank)[:WORST_SHOWN])


def _pairs(histogram: Histogram, classes: NDArray[np.intp]) -> Pairs:
    """The pairs of a class; without a histogram, none."""
    if not len(classes):
        return b""
    start, end = histogram.offsets[classes[0] : classes[0] + 2]
    return np.stack([histogram.values[start:end], histogram.counts[start:end]], axis=1).astype(PAIR.base).tobytes()


def _least_row(histogram: Histogram, classes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The one of some classes whose pairs come first: each step drops the classes that are beyond the least."""
    place = 0
    while len(classes) > 1:
        ended = histogram.distinct[classes] == place
        if ended.any():
            return classes[ended][:1]
        for numbers in (histogram.values, histogram.counts):
            here = numbers[histogram.offsets[classes] + place]
            classes = classes[here == here.min()]
        place += 1
    return classes


def _worst_first(values: Floats, records: Counts, comparison: Comparison) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The indices of the worst classes, larger first among equals, and of all that are as bad and large as the worst.

    That no class is left out of the latter makes it the same however classes are sharded.
    """
    worst: list[int] = []
    as_bad = np.zeros(0, dtype=np.intp)
    for equal in least_first(values if comparison.higher_is_safer else -values, WORST_SHOWN):
        for alike in least_first(-records[equal], WORST_SHOWN - len(worst)):
            if not worst:
                as_bad = equal[alike]
            worst += equal[alike[:WORST_SHOWN]].tolist()
    return np.array(worst[:WORST_SHOWN], dtype=np.intp), as_bad


def least_first(keys: NDArray[Any], wanted: int) -> Iterator[NDArray[np.intp]]:
    """The indices of the least keys, then those of the next, until there are as many as wanted.

    Never a partition: numpy's takes long where many keys are equal, as those of small classes are.
    """
    left = np.arange(len(keys))
    if len(keys) > RUN * wanted:  # the least of some runs bound the keys that can be among the wanted ones
        bound = np.sort(np.minimum.reduceat(keys, left[::RUN]))[wanted - 1]
        left = np.flatnonzero(keys <= bound)
        keys = keys[left]
    while wanted > 0 and len(keys):
        least = ~(keys > keys.min())  # true of all where one is NaN, so that this ends
        yield left[least]
        wanted -= int(np.count_nonzero(least))
        keys, left = keys[~least], left[~least]
