"""Properties of the figures of a check on classes on every case: shape, purity, order and comparison.

What a check says of demands that nothing can fail is held against many groupings of the same records.
"""

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
from tcdp_audit.testing.cases import SEED, Case, Counts
from tcdp_audit.testing.conformance import Subject
from tcdp_audit.testing.specification import shown_parameters, with_threshold

ALONE = 24  # classes of a case that are measured by themselves
APART = Fraction(1, 1000)  # relative distance at which no rounding excuses a wrong comparison
PROPERTY = "demands that nothing can fail"
LARGEST = 600  # cells of a case
VALUES = 6  # that are the rarest of a class in turn
LIMITS = 12  # thresholds that are tried

OVERFLOW = (
    "int64 overflow, as counts reach 2^31 and their products leave 62 bits; use Python integers "
    "(`counts.astype(object)`), or divide before you multiply"
)
SHARED = "the arrays are shared with every other check; copy them before you modify them (`np.sort(counts)`)"
STATE = "a random generator without a seed, or state that is kept between calls"
OTHERS = "a cumulative sum, a rank or a total over all classes; `evidence.records` has the records of the whole release"
ONE_EACH = "values are dropped or repeated; give `evidence.size`'s shape, with infinity where a class has no figure"


@dataclass(frozen=True)
class Setting:
    """A check on classes under some parameters without a threshold, on one case."""

    subject: Subject
    check: CheckOnClasses[Any]
    parameters: Parameters
    case: Case
    scale: Scale

    @property
    def at(self) -> Subject:
        """The check on this case."""
        return self.subject.at(f"{shown_parameters(self.parameters)}case: {self.case.name}; scale: {self.scale.value}")

    def evidence(self, classes: Sequence[int]) -> ClassEvidence:
        """Fresh evidence of some classes."""
        return self.case.of(classes, self.check, self.parameters, self.scale)


@dataclass(frozen=True)
class Trial:
    """One figure of a check in one setting."""

    setting: Setting
    threshold: Threshold[Any]

    @property
    def at(self) -> Subject:
        """The figure on its case."""
        at = self.setting.at
        return at.at(f"figure {self.threshold.parameter!r}; {at.place}")

    def measured(self, classes: Sequence[int]) -> Measured:
        """The figures of some classes."""
        return self._ask(self.setting.evidence(classes))

    @property
    def _every_class(self) -> range:
        return range(len(self.setting.case.counts))

    def _ask(self, evidence: ClassEvidence) -> Measured:
        try:
            measured = as_measured(self.threshold.measure(evidence, self.setting.parameters))
            _ = measured.values
        except Exception as error:
            if is_attempt_to_write(error):
                sentence = f"the measure tried to write to them: {error}"
                raise self.at.lacks("inputs are left alone", sentence, SHARED) from error
            raise self.at.lacks("figures", f"the measure raised {type(error).__name__}: {error}") from error
        return measured

    @cached_property
    def all_measured(self) -> Measured:
        """The figures of all classes, one each and sound.

        Raises:
            ConformanceError: they are not.
        """
        measured, classes = self.measured(self._every_class), len(self._every_class)
        values = np.asarray(measured.values)
        sentence = f"expected shape ({classes},), got {values.shape}"
        self.at.require(values.shape == (classes,), "one figure per class", sentence, ONE_EACH)
        cause = "an array of objects or of 32 bits; use `.astype(np.float64)`, or `Ratios` of integers"
        self.at.require(values.dtype == np.float64, "figures", f"expected float64, got {values.dtype}", cause)
        cause = "0 / 0 where a class has no value of the attribute; use infinity or a number"
        self.at.require(not np.isnan(values).any(), "figures", "a class got NaN", cause)
        if isinstance(measured, Ratios):
            negative = [one for one in measured.denominator.tolist() if one < 0]
            sentence = f"a denominator is negative: expected at least 0, got {negative[:1]}"
            self.at.require(not negative, "figures", sentence, OVERFLOW)
        return measured

    def is_sound(self) -> None:
        """Hold the figures against what every figure is: one for each class, and a number."""
        _ = self.all_measured

    def repeats(self) -> None:
        """Hold the figures against the same question, asked again of equal evidence and of the same."""
        evidence = self.setting.evidence(self._every_class)
        first, second = self._ask(evidence), self._ask(evidence)
        expected = self.all_measured.values
        self._equal(first, expected, "determinism", "two equal inputs gave different figures", STATE)
        self._equal(second, expected, "determinism", "the second call on the same input gave different figures", STATE)

    def leaves_inputs_alone(self) -> None:
        """Hold the evidence against what it was before it was measured."""
        evidence = self.setting.evidence(self._every_class)
        before = copy.deepcopy(_arrays(evidence))
        self._ask(evidence)
        unchanged = all(np.array_equal(one, other) for one, other in zip(before, _arrays(evidence), strict=True))
        self.at.require(unchanged, "inputs are left alone", "the measure changed the arrays that it was given", SHARED)

    def ignores_order(self) -> None:
        """Hold them against those of the classes in another order."""
        order = np.roll(np.arange(len(self._every_class)), 1)  # no class keeps its place
        expected = self.all_measured.values[order]
        permuted = self.measured(order.tolist())
        self._equal(permuted, expected, "order of classes", "permuted classes gave other figures", OTHERS)

    def ignores_other_classes(self) -> None:
        """Hold them against those of each class by itself: shards rest on it."""
        for one in self._every_class[:ALONE]:
            expected, alone = self.all_measured.values[[one]], self.measured([one])
            sentence = "a class measured by itself gave another figure than among others"
            self._equal(alone, expected, "a class alone", sentence, OTHERS)

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

    def _signed(self, measured: Measured, position: int, limit: Fraction, sign: int, sentence: str) -> None:
        signs = np.asarray(measured.compare(limit))
        shape = np.shape(measured.values)
        self.at.require(signs.shape == shape, "comparison", f"expected one sign per class, got {signs.shape}", ONE_EACH)
        got = f"{sentence}: expected {sign}, got {signs[position]}, class {position}"
        self.at.require(signs[position] == sign, "comparison", got, OVERFLOW)

    def _equal(self, measured: Measured, expected: Any, property_: str, sentence: str, cause: str) -> None:
        values = np.asarray(measured.values)
        same_shape = values.shape == expected.shape
        self.at.require(same_shape, property_, f"expected shape {expected.shape}, got {values.shape}", ONE_EACH)
        self.at.require_equal(values, expected, property_, sentence, cause)


def exact_figures(measured: Measured) -> Iterator[Fraction | None]:
    """Every figure as the exact number that it represents; None for infinity."""
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


@dataclass(frozen=True)
class UnfailableTrial:
    """A check in one setting, on the records of its case in many groupings."""

    setting: Setting

    def run(self) -> None:
        """Hold what the check says of thresholds at and next to generated figures against all groupings.

        Raises:
            ConformanceError: it calls a demand unfailable that a grouping fails, or names classes that cannot be.
        """
        check = self.setting.check
        worst = check.said_to_be_worst(self._finest, self.setting.parameters)
        if worst is not None:
            self._could_be(worst)
        for figure in check.measures:
            self._is_true_of(figure)

    @cached_property
    def _finest(self) -> Any:
        setting = self.setting
        return setting.case.finest(setting.check, setting.parameters, setting.scale)

    @cached_property
    def _groupings(self) -> list[ClassEvidence]:
        setting = self.setting
        tables = groupings(setting.case.counts)
        return [setting.case.grouped(table, setting.check, setting.parameters, setting.scale) for table in tables]

    def _is_true_of(self, figure: Threshold[Any]) -> None:
        setting = self.setting
        measured = [as_measured(figure.measure(one, setting.parameters)) for one in self._groupings]
        for limit in self._limits(figure, measured):
            demanding = with_threshold(setting.parameters, figure.parameter, limit)
            if demanding is None or figure.parameter not in setting.check.unfailable(self._finest, demanding):
                continue
            tried = zip(measured, self._groupings, strict=True)
            holds = not any(self._fails(figure, one, of, limit) for one, of in tried)
            sentence = f"no grouping was said to fail {figure.parameter}: {limit}, and one does"
            cause = "`monotone` where merging classes can fail, or `worst_classes` or `worst` that are not the worst"
            setting.at.require(holds, PROPERTY, sentence, cause)

    def _limits(self, figure: Threshold[Any], measured: list[Measured]) -> list[Fraction]:
        """Thresholds at, and a little apart from, the worst figures that groupings have."""
        if not self.setting.check.judges_each_class:
            shares = [_share(one, of) for one, of in zip(measured, self._groupings, strict=True)]
            worst = sorted({*shares, Fraction(1)})
        else:
            finite = {one for of in measured for one in exact_figures(of) if one is not None}
            worst = sorted(finite, reverse=not figure.comparison.higher_is_safer)
        near = worst[: LIMITS // 3]
        return [*near, *(one * (1 + APART) for one in near), *(one * (1 - APART) for one in near)]

    def _fails(self, figure: Threshold[Any], measured: Measured, evidence: ClassEvidence, limit: Fraction) -> bool:
        if not self.setting.check.judges_each_class:
            return _share(measured, evidence) > limit
        return not np.all(figure.comparison.holds(np.asarray(measured.compare(limit))))

    def _could_be(self, classes: ClassEvidence) -> None:
        """Insist that every class that is said to be the worst consists of records that there are."""
        histogram = classes.histogram
        if histogram is not None:
            available = self.setting.case.counts.sum(axis=0).take(histogram.values)
            possible = np.all(histogram.counts <= available)
            cause = "counts of classes are merged twice; `SingletonClasses.records` has what there is of each value"
            self.setting.at.require(possible, PROPERTY, "`worst_classes` has records that the release has not", cause)


def _share(measured: Measured, evidence: ClassEvidence) -> Fraction:
    """The share of records in victims' classes."""
    return Fraction(int(evidence.size[measured.values > 0].sum()), int(evidence.size.sum()))


def is_small(case: Case) -> bool:
    """True if all its groupings can be tried in a moment."""
    return case.counts.size <= LARGEST and not case.missing


def groupings(counts: Counts) -> Iterator[Counts]:
    """Other groupings of the same records: as they are, as one class, one value rare, one value alone, at random."""
    total = counts.sum(axis=0)
    yield counts
    yield total[None, :]
    values = np.flatnonzero(total)
    for value in values[np.argsort(total[values], kind="stable")][:VALUES]:
        is_value = np.arange(len(total)) == value
        yield _in_two(total, is_value.astype(np.int64))
        yield _in_two(total, np.where(is_value, 1, total))
        yield _in_two(total, np.where(is_value, total, 0))
    random = np.random.default_rng(SEED)
    for _ in range(VALUES):
        yield _in_two(total, random.integers(0, total + 1))


def _in_two(total: Counts, one: Counts) -> Counts:
    """A class and the rest, without an empty one."""
    table = np.stack([one, total - one])
    return table[table.any(axis=1)]
