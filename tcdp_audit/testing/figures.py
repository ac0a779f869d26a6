"""Conformance of a measure: what its figures keep on every case, before any table is involved."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.api import CheckOnClasses, as_measured, is_attempt_to_write
from tcdp_audit.plugin.check import ClassEvidence, Measured, Parameters, Ratios, Threshold
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.testing.cases import Case
from tcdp_audit.testing.conformance import ConformanceError, Subject

ALONE = 24  # classes of a case that are measured by themselves
APART = Fraction(1, 1000)  # relative distance at which no rounding excuses a wrong comparison


@dataclass(frozen=True)
class Trial:
    """One figure of a check under some parameters on one case."""

    subject: Subject
    check: CheckOnClasses[Any]
    threshold: Threshold[Any]
    parameters: Parameters
    case: Case
    scale: Scale

    def measured(self, classes: Sequence[int] | None = None) -> Measured:
        """The figures of some classes; of all of them by default."""
        chosen = range(len(self.case.counts)) if classes is None else classes
        return self._ask(self._evidence(chosen))

    def _evidence(self, classes: Sequence[int]) -> ClassEvidence:
        return self.case.of(classes, self.check, self.parameters, self.scale)

    def _ask(self, evidence: ClassEvidence) -> Measured:
        try:
            measured = as_measured(self.threshold.measure(evidence, self.parameters))
            _ = measured.values
        except Exception as error:
            if is_attempt_to_write(error):
                raise self._lacks("inputs are left alone", f"the measure tried to write to them: {error}") from error
            raise self._lacks("figures", f"the measure raised {type(error).__name__}: {error}") from error
        return measured

    @cached_property
    def all_measured(self) -> Measured:
        """The figures of all classes, one each and sound.

        Raises:
            ConformanceError: they are not.
        """
        measured, classes = self.measured(), len(self.case.counts)
        values = np.asarray(measured.values)
        self._require(values.shape == (classes,), "one figure per class", f"{values.shape} came for {classes} classes")
        self._require(values.dtype == np.float64, "figures", f"values must be float64, not {values.dtype}")
        self._require(not np.isnan(values).any(), "figures", "a class got NaN; use infinity or a number")
        if isinstance(measured, Ratios):
            negative = any(one < 0 for one in measured.denominator)
            self._require(not negative, "figures", "a denominator is negative")
        return measured

    def repeats(self) -> None:
        """Hold the figures against the same question, asked again of equal evidence and of the same."""
        evidence = self._evidence(range(len(self.case.counts)))
        first, second = self._ask(evidence), self._ask(evidence)
        self._equal(first, self.all_measured, "determinism", "two equal inputs gave different figures")
        self._equal(second, first, "determinism", "the second call on the same input gave different figures")

    def leaves_inputs_alone(self) -> None:
        """Hold the evidence against what it was before it was measured."""
        evidence = self._evidence(range(len(self.case.counts)))
        before = copy.deepcopy(_arrays(evidence))
        self._ask(evidence)
        unchanged = all(np.array_equal(one, other) for one, other in zip(before, _arrays(evidence), strict=True))
        self._require(unchanged, "inputs are left alone", "the measure changed the arrays that it was given")

    def is_sound(self) -> None:
        """Hold the figures against what every figure is: one for each class, and a number."""
        _ = self.all_measured

    def ignores_order(self) -> None:
        """Hold them against those of the classes in another order."""
        measured = self.all_measured
        order = np.roll(np.arange(len(self.case.counts)), 1)  # no class keeps its place
        permuted = self.measured(order.tolist())
        self._equal(permuted, measured, "order of classes", "permuted classes gave other figures", order)

    def ignores_other_classes(self) -> None:
        """Hold them against those of each class by itself."""
        measured = self.all_measured
        for one in range(min(len(self.case.counts), ALONE)):
            alone, property_ = self.measured([one]), "a class alone"
            message = "a class measured by itself gave another figure than among others, so shards would matter"
            self._equal(alone, measured, property_, message, np.array([one]))

    def compares(self) -> None:
        """Hold comparisons with thresholds against the figures."""
        measured = self.all_measured
        for position, exact in enumerate(exact_figures(measured)):
            if exact is None:
                self._signed(measured, position, Fraction(10**30), 1, "infinity is above every threshold")
                continue
            apart = APART * max(Fraction(1), abs(exact))
            self._signed(measured, position, exact - apart, 1, "a figure above a threshold must compare as above")
            self._signed(measured, position, exact + apart, -1, "a figure below a threshold must compare as below")
            if isinstance(measured, Ratios):
                self._signed(measured, position, exact, 0, "a fraction must compare as equal to itself")

    def _signed(self, measured: Measured, position: int, limit: Fraction, sign: int, message: str) -> None:
        signs = np.asarray(measured.compare(limit))
        self._require(signs.shape == np.shape(measured.values), "comparison", "there must be one sign per class")
        self._require(signs[position] == sign, "comparison", message)

    def _equal(
        self,
        measured: Measured,
        expected: Measured,
        property_: str,
        message: str,
        at: NDArray[np.intp] | None = None,
    ) -> None:
        values = expected.values if at is None else expected.values[at]
        self._require(np.array_equal(measured.values, values), property_, message)

    def _require(self, holds: object, property_: str, sentence: str) -> None:
        if not holds:
            raise self._lacks(property_, sentence)

    def _lacks(self, property_: str, sentence: str) -> ConformanceError:
        return self.subject.lacks(property_, f"{sentence} ({self._where})")

    @property
    def _where(self) -> str:
        parameters = "".join(f", {name}={value}" for name, value in self.parameters.figures().items())
        return f"figure {self.threshold.parameter!r}{parameters}; case: {self.case.name}"


def exact_figures(measured: Measured) -> Iterator[Fraction | None]:
    """Every figure as the exact number that it stands for; None for infinity."""
    if isinstance(measured, Ratios):
        for numerator, denominator in zip(measured.numerator.tolist(), measured.denominator.tolist(), strict=True):
            yield Fraction(numerator, denominator) if denominator else None
        return
    for value in measured.values.tolist():
        yield Fraction(value) if np.isfinite(value) else None


def _arrays(evidence: ClassEvidence) -> list[NDArray[Any]]:
    histogram, marginal = evidence.histogram, evidence.marginal
    inner = [] if histogram is None else [histogram.offsets, histogram.values, histogram.counts]
    weights = [] if marginal is None else [marginal.weights]
    return [evidence.size, *inner, *weights, *([] if evidence.values is None else [evidence.values])]
