"""Bins of whole figures: single ones where they fit, wider ones otherwise, with an edge at the demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcdp_audit_reports.chart import Distribution

LEAST = 4  # bins that are drawn however long their labels are


@dataclass(frozen=True)
class Bin:
    """Classes whose figure is from `low` to `high`; `high` is None where nothing above is left out."""

    low: int
    high: int | None
    classes: int
    records: int
    failing: bool

    @property
    def label(self) -> str:
        """The range in few letters."""
        if self.high is None:
            return f"{compact(self.low)}+"
        return compact(self.low) if self.low == self.high else f"{compact(self.low)}–{compact(self.high)}"

    @property
    def range(self) -> str:
        """The range to the last digit."""
        if self.high is None:
            return f"{self.low:,} or more"
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"


def compact(number: int) -> str:
    """A number in at most five letters: 9,999, 12k, 3.4M."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**4, "k")):
        if number >= size:
            scaled = number / (1000 if letter == "k" else size)
            return f"{scaled:.0f}{letter}" if scaled >= 10 else f"{scaled:.1f}{letter}"
    return f"{number:,}"


def binned(distribution: Distribution, threshold: int | None, bins: int) -> list[Bin]:
    """At most so many bins over a distribution of whole figures. Cost: O(distribution)."""
    lowest, highest = int(distribution[0][0]), int(distribution[-1][0])
    edge = lowest if threshold is None else threshold
    below = range(lowest, min(edge, highest + 1))
    above = range(max(edge, lowest), highest + 1)
    for_below = min(len(below), max(bins // 2, bins - len(above)))
    starts = [*_starts(below, for_below), *_starts(above, bins - for_below)]
    return _filled(distribution, starts, threshold)


def _starts(figures: range, bins: int) -> list[int]:
    """Where bins begin: at each figure if about as many fit, else at round numbers, evenly thinned."""
    if len(figures) <= 2 * bins:
        return list(figures)[:bins]
    for factors in ((1, 2, 5), (1,)):
        starts = [
            figures.start,
            *(n for n in _round_numbers(figures.stop, factors) if n in figures and n > figures.start),
        ]
        if len(starts) <= bins + 2:  # a last bin that takes in two more says little less
            return starts[:bins]
    return [starts[len(starts) * i // bins] for i in range(bins)]


def _round_numbers(limit: int, factors: Sequence[int]) -> list[int]:
    return [factor * 10**power for power in range(len(str(limit))) for factor in factors]


def _filled(distribution: Distribution, starts: Sequence[int], threshold: int | None) -> list[Bin]:
    ends = [*(start - 1 for start in starts[1:]), int(distribution[-1][0])]
    classes, records = [0] * len(starts), [0] * len(starts)
    position = 0
    for figure, more_classes, more_records in distribution:
        while figure > ends[position]:
            position += 1
        classes[position] += more_classes
        records[position] += more_records
    failing = [threshold is not None and end < threshold for end in ends]
    open_end = ends[-1] > starts[-1] and not failing[-1]
    upper_ends: list[int | None] = [*ends[:-1], None if open_end else ends[-1]]
    return [Bin(*one) for one in zip(starts, upper_ends, classes, records, failing, strict=True)]
