"""One expectation on one attribute: measured shard by shard, and told as one outcome."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.check import ClassEvidence, Marginal, Parameters, Threshold
from tcdp_audit.classes import Grouping
from tcdp_audit.encoding import Domain
from tcdp_audit.errors import CheckError
from tcdp_audit.exact import Floats, as_measured
from tcdp_audit.histogram import Histogram
from tcdp_audit.outcome import Outcome, Status, Tally, WorstClass
from tcdp_audit.policy import Conventions, Expectation
from tcdp_audit.summary import ClassSummary, merge, summarise

Summaries = tuple[ClassSummary, ...]  # one for each threshold of the check, the headline first


@dataclass(frozen=True)
class Task:
    """A check to run over all shards.

    Args:
        expectation: the check, its parameters, and its place in the policy.
        attribute: the sensitive attribute's domain, for a check that measures one.
        marginal: the reference distribution of that attribute.
        conventions: what the verdict means, as the outcome will say.
        obstacle: why it cannot be run at all, or nothing.
        violation: why it fails whatever is measured, or nothing.
    """

    expectation: Expectation
    attribute: Domain | None = None
    attribute_name: str | None = None
    marginal: Marginal | None = None
    conventions: Mapping[str, str] = field(default_factory=dict)
    obstacle: str = ""
    violation: str = ""

    @property
    def demanded(self) -> list[tuple[Threshold[Any], Fraction | None]]:
        """Each threshold of the check with its value in the policy."""
        parameters = self.expectation.parameters
        return [(one, one.demanded(parameters)) for one in self.expectation.check.thresholds]

    def measure(self, grouping: Grouping, histogram: Histogram | None, *, show_values: bool) -> Summaries:
        """The summaries of one shard. Cost: that of the check, and a sort of the classes."""
        size = grouping.size
        filled = np.ones(len(size), dtype=bool) if histogram is None else histogram.filled()
        evidence = self._evidence(size, histogram, filled)
        figures, failing = [], ~filled
        for threshold, demanded in self.demanded:
            values, fails = _compared(threshold, evidence, self.expectation.parameters, demanded)
            figures.append(_spread(values, filled, threshold.comparison.worst_possible))
            failing = failing | _spread(fails, filled, fill=True)
        cells = _cells(grouping) if show_values else None
        return tuple(
            summarise(values, grouping.records, failing, threshold.comparison, cells)
            for values, (threshold, _) in zip(figures, self.demanded, strict=True)
        )

    def _evidence(self, size: NDArray[np.int64], histogram: Histogram | None, filled: NDArray[np.bool_]) -> ClassEvidence:
        if histogram is not None and not filled.all():
            histogram = histogram.take(np.flatnonzero(filled))
        numeric = self.attribute is not None and self.attribute.values.dtype != object
        return ClassEvidence(
            size=size[filled],
            histogram=histogram,
            marginal=self.marginal,
            values=self.attribute.values if self.attribute is not None and numeric else None,
        )

    def merge(self, one: Summaries, other: Summaries) -> Summaries:
        """Two shards' summaries as one."""
        thresholds = self.expectation.check.thresholds
        return tuple(merge(a, b, t.comparison) for a, b, t in zip(one, other, thresholds, strict=True))

    def outcome(self, result: Summaries | Exception | None) -> Outcome:
        """What came of it: the merged summaries, or what went wrong."""
        if self.obstacle:
            return replace(self._blank(), message=self.obstacle)
        if isinstance(result, Exception):
            return replace(self._blank(), message=_sentence(result))
        if result is None or not result[0].classes:
            return replace(self._blank(), message="no equivalence class was evaluated")
        outcome = self._told(result)
        sentence = self.expectation.check.sentence
        return replace(outcome, message=self.violation or (sentence(outcome) if sentence else _general(outcome)))

    def _blank(self) -> Outcome:
        """An outcome that says only what was asked for."""
        check, parameters = self.expectation.check, self.expectation.parameters
        threshold, demanded = self.demanded[0]
        return Outcome(
            check=check.name,
            title=check.titled(parameters),
            status=Status.ERROR,
            severity=parameters.severity,
            attribute=self.attribute_name,
            parameters=parameters.figures(),
            conventions=self.conventions,
            threshold=demanded,
            comparison=threshold.comparison,
            source=check.guide.source,
            line=self.expectation.line,
        )

    def _told(self, result: Summaries) -> Outcome:
        headline = result[0]
        demands = any(demanded is not None for _, demanded in self.demanded) or bool(self.violation)
        failed = bool(self.violation) or headline.failing_classes > 0
        status = (Status.FAILED if failed else Status.PASSED) if demands else Status.MEASURED
        return replace(
            self._blank(),
            status=status,
            observed=headline.observed,
            classes=Tally(headline.classes, headline.failing_classes if demands else None),
            records=Tally(headline.records, headline.failing_records if demands else None),
            details=self._details(result),
            worst=tuple(
                WorstClass(ordinal, one.records, one.value, one.cells) for ordinal, one in enumerate(headline.worst, 1)
            ),
        )

    def _details(self, result: Summaries) -> dict[str, Any]:
        """Distribution of the headline figure over classes and records, and the other figures' observed values."""
        figures = sorted(result[0].distribution.items())
        details: dict[str, Any] = {"distribution": [[value, *counts] for value, counts in figures]}
        for (threshold, _), summary in zip(self.demanded[1:], result[1:], strict=True):
            details[threshold.parameter] = summary.observed
        return details


def _compared(
    threshold: Threshold[Any], evidence: ClassEvidence, parameters: Parameters, demanded: Fraction | None
) -> tuple[Floats, NDArray[np.bool_]]:
    """A figure per class, and which classes do not keep the threshold. A check's answer is never trusted blindly."""
    measured = as_measured(threshold.measure(evidence, parameters))
    values = measured.values
    if values.shape != evidence.size.shape:
        raise CheckError(f"the check gave {values.size} figures for {evidence.size.size} classes")
    if np.isnan(values).any():
        raise CheckError("the check gave NaN for a class; a figure must be a number or infinite")
    if demanded is None:
        return values, np.zeros(len(values), dtype=bool)
    return values, ~np.asarray(threshold.comparison.holds(measured.compare(demanded)), dtype=bool)


def _spread(found: NDArray[Any], filled: NDArray[np.bool_], fill: Any) -> NDArray[Any]:
    """Figures of the classes that have a distribution, with `fill` for those that have none."""
    if filled.all():
        return found
    whole = np.full(len(filled), fill, dtype=found.dtype)
    whole[filled] = found
    return whole


def _cells(grouping: Grouping) -> Callable[[NDArray[np.intp]], list[Mapping[str, str]]]:
    """The quasi-identifiers' values of some classes, for `--show-values` only."""

    def of(classes: NDArray[np.intp]) -> list[Mapping[str, str]]:
        codes = grouping.codes()
        return [
            {d.attribute: d.label(int(column[c])) for d, column in zip(grouping.quasi_identifiers, codes, strict=True)}
            for c in classes
        ]

    return of


def _general(outcome: Outcome) -> str:
    """One sentence about an outcome, for checks that bring none."""
    classes, records = outcome.classes, outcome.records
    assert classes is not None and records is not None  # noqa: S101, PT018 - told outcomes have both
    observed = f"{outcome.observed:.6g}"
    if outcome.status is Status.MEASURED:
        return f"The worst of {classes.total:,} equivalence classes has {observed}; the policy sets no threshold."
    demand = f"{outcome.comparison} {float(outcome.threshold or 0):g}"
    if outcome.status is Status.PASSED:
        return f"All {classes.total:,} equivalence classes keep {demand}; the worst has {observed}."
    return (
        f"{classes.failing:,} of {classes.total:,} equivalence classes, with {records.failing:,} of "
        f"{records.total:,} records, do not keep {demand}; the worst has {observed}."
    )


def _sentence(error: Exception) -> str:
    """What went wrong in a check. Only our own errors are quoted: another's text may hold a cell."""
    if isinstance(error, CheckError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"the check raised {type(error).__name__}{where}"


def conventions_of(conventions: Conventions, attribute: Domain | None, *, declared: bool, unit: str | None) -> dict[str, str]:
    """The conventions that an outcome's verdict rests on."""
    named = {
        "missing_quasi_identifier": conventions.missing_quasi_identifier,
        "suppressed": conventions.suppressed,
        "unit": unit if unit is not None else "row",
    }
    if attribute is not None:
        named |= {
            "missing_sensitive": conventions.missing_sensitive,
            "multiple_sensitive": conventions.multiple_sensitive,
            "reference": conventions.reference,
            "domain": "declared" if declared else "observed",
        }
    return named


def first_of(reasons: Sequence[str]) -> str:
    """The first reason that is one."""
    return next((reason for reason in reasons if reason), "")
