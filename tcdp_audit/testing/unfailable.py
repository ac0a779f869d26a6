"""Conformance of what a check says of demands that nothing can fail: no generated grouping ever fails one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tcdp_audit.api import CheckOnClasses, Counts, as_measured
from tcdp_audit.plugin.check import ClassEvidence, Measured, Parameters, Threshold
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.testing.cases import SEED, Case
from tcdp_audit.testing.conformance import ConformanceError, Subject
from tcdp_audit.testing.figures import exact_figures
from tcdp_audit.testing.variants import with_threshold

PROPERTY = "demands that nothing can fail"
LARGEST = 600  # cells of a case
VALUES = 6  # that are the rarest of a class in turn
LIMITS = 12  # thresholds that are tried
BESIDE = Fraction(1, 1000)  # relative distance from a figure to the thresholds beside it


@dataclass(frozen=True)
class UnfailableTrial:
    """A check under some parameters without a threshold, on the records of one case in many groupings."""

    subject: Subject
    check: CheckOnClasses[Any]
    parameters: Parameters
    case: Case
    scale: Scale

    def run(self) -> None:
        """Hold what the check says of thresholds at and beside generated figures against all groupings.

        Raises:
            ConformanceError: it calls a demand unfailable that a grouping fails, or names classes that cannot be.
        """
        worst = self.check.said_to_be_worst(self._finest, self.parameters)
        if worst is not None:
            self._could_be(worst)
        for figure in self.check.measures:
            self._sound(figure)

    @cached_property
    def _finest(self) -> Any:
        return self.case.finest(self.check, self.parameters, self.scale)

    @cached_property
    def _groupings(self) -> list[ClassEvidence]:
        tables = groupings(self.case.counts)
        return [self.case.grouped(table, self.check, self.parameters, self.scale) for table in tables]

    def _sound(self, figure: Threshold[Any]) -> None:
        measured = [as_measured(figure.measure(one, self.parameters)) for one in self._groupings]
        for limit in self._limits(figure, measured):
            demanding = with_threshold(self.parameters, figure.parameter, limit)
            if demanding is None or figure.parameter not in self.check.unfailable(self._finest, demanding):
                continue
            tried = zip(measured, self._groupings, strict=True)
            kept = not any(self._fails(figure, one, of, limit) for one, of in tried)
            self._require(kept, f"no grouping was said to fail {figure.parameter}: {limit}, and one does")

    def _limits(self, figure: Threshold[Any], measured: list[Measured]) -> list[Fraction]:
        """Thresholds at, and a little beside, the worst figures that groupings have."""
        if not self.check.judges_each_class:
            shares = [self._share(one, of) for one, of in zip(measured, self._groupings, strict=True)]
            worst = sorted({*shares, Fraction(1)})
        else:
            finite = {one for of in measured for one in exact_figures(of) if one is not None}
            worst = sorted(finite, reverse=not figure.comparison.higher_is_safer)
        near = worst[: LIMITS // 3]
        beside = [one * (1 + BESIDE) for one in near] + [one * (1 - BESIDE) for one in near]
        return [*near, *beside]

    def _fails(self, figure: Threshold[Any], measured: Measured, evidence: ClassEvidence, limit: Fraction) -> bool:
        if not self.check.judges_each_class:
            return self._share(measured, evidence) > limit
        return not np.all(figure.comparison.holds(np.asarray(measured.compare(limit))))

    @staticmethod
    def _share(measured: Measured, evidence: ClassEvidence) -> Fraction:
        return Fraction(int(evidence.size[measured.values > 0].sum()), int(evidence.size.sum()))

    def _could_be(self, classes: ClassEvidence) -> None:
        """Every class that is said to be the worst must consist of records that there are."""
        histogram = classes.histogram
        if histogram is None:
            return
        available = self.case.counts.sum(axis=0).take(histogram.values)
        self._require(np.all(histogram.counts <= available), "`worst_classes` has records that the release has not")

    def _require(self, holds: object, sentence: str) -> None:
        if not holds:
            raise self._lacks(sentence)

    def _lacks(self, sentence: str) -> ConformanceError:
        parameters = "".join(f", {name}={value}" for name, value in self.parameters.figures().items())
        return self.subject.lacks(PROPERTY, f"{sentence} (case: {self.case.name}{parameters})")


def is_small(case: Case) -> bool:
    """Whether all its groupings can be tried in a moment."""
    return case.counts.size <= LARGEST and not case.missing


def groupings(counts: Counts) -> Iterator[Counts]:
    """Other groupings of the same records: as they are, as one class, one value rare, one value alone, at random."""
    total = counts.sum(axis=0)
    yield counts
    yield total[None, :]
    values = np.flatnonzero(total)
    for value in values[np.argsort(total[values], kind="stable")][:VALUES]:
        alone = np.zeros_like(total)
        alone[value] = 1
        yield _in_two(total, alone)
        yield _in_two(total, np.where(np.arange(len(total)) == value, 1, total))
        yield _in_two(total, np.where(np.arange(len(total)) == value, total, 0))
    random = np.random.default_rng(SEED)
    for _ in range(VALUES):
        yield _in_two(total, random.integers(0, total + 1))


def _in_two(total: Counts, one: Counts) -> Counts:
    """A class and the rest, without an empty one."""
    table = np.stack([one, total - one])
    return table[table.any(axis=1)]
