"""Bins of whole figures: single ones where they fit, wider ones otherwise, with an edge at the demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcdp_audit.plugin.report import Chart, Rows
from tcdp_audit.plugin.sentences import agree, count, say, share
from tcdp_audit_reports.charts.drawing import (
    SMALL_LETTER,
    Distribution,
    Drawing,
    Label,
    Line,
    Measured,
    Rectangle,
    figure_table,
    shortened,
    text_width,
)
from tcdp_audit_reports.languages import localised

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
    """The starts of the bins: at each figure if about as many fit, else at round numbers, evenly thinned."""
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


MOST, ENOUGH = 9, 6  # bins; the least number of which counts are written out rather than in few letters
LEFT, LEFT_MOST = 12, 26  # percent of the width for the names of the rows: at least and at most
WIDEST = 14  # percent of the width that a bar takes at most
HEIGHT, BASE, TALLEST = 250, 190, 150  # pixels


def chart(measured: Measured) -> Chart:
    """The histogram of a distribution of whole figures."""
    threshold = None if measured.threshold is None else int(measured.threshold)
    left = min(max(LEFT, text_width(localised(measured.people), SMALL_LETTER) + 2), LEFT_MOST)
    bins, texts = _fitting(measured, threshold, left)
    return Chart(
        kind="histogram",
        title=_title(measured, threshold),
        subtitle=f"Groups by {measured.label}",
        description=_description(bins),
        drawing=_drawing(bins, texts, threshold, measured.people, left),
        data=_table(bins, measured),
    )


Texts = tuple[str, str, str]  # of a bin: its groups, its figures, its records


def _fitting(measured: Measured, threshold: int | None, left: float) -> tuple[list[Bin], list[Texts]]:
    """As many bins as have room for their labels on a phone, with these: counts in few letters if many do not fit."""
    bins: list[Bin] = []
    texts: list[Texts] = []
    for write, least in ((count, ENOUGH), (compact, LEAST)):
        for number in range(MOST, least - 1, -1):
            bins = binned(measured.distribution, threshold, number)
            texts = [(write(one.classes), one.label, write(one.records)) for one in bins]
            widest = max(text_width(text, SMALL_LETTER) for row in texts for text in row)
            if widest + 1 <= (100 - left) / len(bins):
                return bins, texts
    return bins, texts  # the fewest bins, however long their labels are


def _title(measured: Measured, threshold: int | None) -> str:
    figures = [int(figure) for figure, _, _ in measured.distribution]
    total = count(measured.classes, "group")
    if threshold is None:
        return (
            f"{total}, from {min(figures):,} to {max(figures):,}"
            if len(figures) > 1
            else f"{total}, all at {figures[0]:,}"
        )
    below = sum(classes for figure, classes, _ in measured.distribution if figure < threshold)
    if not below:
        return f"No group is below {threshold:,}"
    return f"{below:,} of {total} {agree(below, 'is', 'are')} below {threshold:,}"


def _description(bins: Sequence[Bin]) -> str:
    bars = "; ".join(say("{range:text}: {n:group}", range=one.range, n=one.classes) for one in bins)
    return f"A bar chart: {bars}."


def _table(bins: Sequence[Bin], measured: Measured) -> Rows:
    rows = [[one.range, count(one.classes), count(one.records), share(one.records, measured.records)] for one in bins]
    return figure_table("", (measured.label, "groups", measured.people, f"share of {measured.people}"), rows)


def _drawing(bins: Sequence[Bin], texts: Sequence[Texts], threshold: int | None, people: str, left: float) -> Drawing:
    step = (100 - left) / len(bins)
    tallest = max(one.classes for one in bins)
    areas, labels = [], list(_row_names(people, left))
    for position, (one, written) in enumerate(zip(bins, texts, strict=True)):
        middle, height = left + (position + 0.5) * step, TALLEST * one.classes / tallest
        width = min(0.8 * step, WIDEST)
        bar = (round(middle - width / 2, 2), round(width, 2), round(BASE - height, 1), round(height, 1))
        areas.append(Rectangle("bad" if one.failing else "bar", *bar))
        if one.failing:
            areas.append(Rectangle("hatched", *bar))
        labels += _bar_labels(written, round(middle, 2), round(BASE - 6 - height, 1))
    lines = [Line("axis", left, 100, BASE, BASE), Line("grid", 0, 100, 219, 219)]
    if threshold is not None:
        place = round(left + step * sum(one.failing for one in bins), 2)
        lines.append(Line("limit", place, place, 6, 216))
        labels.append(_limit_label(f"demanded: {threshold:,} or more", place))
    return Drawing(HEIGHT, tuple(areas), tuple(lines), tuple(labels))


def _row_names(people: str, left: float) -> tuple[Label, ...]:
    rows = (("groups", 184), ("value", 209), (shortened(localised(people), left, SMALL_LETTER), 235))
    return tuple(Label(text, 0, y, "label", "start") for text, y in rows)


def _bar_labels(texts: Texts, middle: float, top: float) -> list[Label]:
    classes, label, records = texts
    return [Label(classes, middle, top, "value"), Label(label, middle, 209, "tick strong"), Label(records, middle, 235)]


def _limit_label(text: str, place: float) -> Label:
    fits = place + 1.2 + text_width(f"{text} →", SMALL_LETTER) <= 100
    if fits:
        return Label(f"{text} →", round(place + 1.2, 2), 16, "limit-label", "start")
    return Label(text, round(place - 1.2, 2), 16, "limit-label", "end")
