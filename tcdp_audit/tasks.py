"""One expectation on one attribute: measured shard by shard, and told as one outcome."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.check import (
    Check,
    ClassCheck,
    ClassEvidence,
    Figure,
    Finding,
    Marginal,
    TableCheck,
    Target,
    Verdict,
)
from tcdp_audit.classes import Grouping
from tcdp_audit.encoding import Domain
from tcdp_audit.errors import CheckError
from tcdp_audit.hierarchy import Tree
from tcdp_audit.histogram import Counts, Histogram
from tcdp_audit.outcome import Comparison, Outcome, Status, Tally, WorstClass
from tcdp_audit.policy import Conventions, Expectation
from tcdp_audit.summary import ClassSummary, merge, summarise
from tcdp_audit.table_view import TableView

Summaries = tuple[ClassSummary, ...]  # one for each figure of the check, the headline first


@dataclass(frozen=True)
class Task:
    """A check to run over all shards.

    Args:
        expectation: the check, its parameters, and its place in the policy.
        target: the attributes that it runs on, by name.
        quasi_identifiers: the domains to group by.
        attribute: the sensitive attribute's domain (or that of several, joined), for a check that measures one.
        marginal: the reference distribution of that attribute.
        tree: its hierarchy, laid over its domain.
        records: the records of the whole release; its entities, where the policy names a unit.
        conventions: what the verdict means, as the outcome will say.
        obstacle: why it cannot be run at all, or nothing.
        violation: why it fails whatever is measured, or nothing.
    """

    expectation: Expectation
    target: Target
    quasi_identifiers: tuple[Domain, ...] = ()
    attribute: Domain | None = None
    marginal: Marginal | None = None
    tree: Tree | None = None
    records: int = 0
    conventions: Mapping[str, str] = field(default_factory=dict)
    obstacle: str = ""
    violation: str = ""

    def failing(self, size: Counts, histogram: Histogram | None) -> NDArray[np.bool_]:
        """Which of some classes, of at least one record each, fail whatever becomes of the others. Shape (classes,)."""
        return self._figures(size, histogram)[2]

    def _figures(
        self, size: Counts, histogram: Histogram | None
    ) -> tuple[tuple[Figure, ...], NDArray[np.bool_], NDArray[np.bool_]]:
        """The check's figures, the classes that have a distribution, and the classes that fail."""
        filled = np.ones(len(size), dtype=bool) if histogram is None else histogram.filled()
        evidence = self._evidence(size, histogram, filled)
        check = self.expectation.check
        assert not isinstance(check, TableCheck)  # noqa: S101 - a table check sees no shard
        figures = check.figures(evidence, self.expectation.parameters)
        failing = np.logical_or.reduce([~filled, *(_spread(figure.fails, filled, fill=True) for figure in figures)])
        return figures, filled, failing

    def measure(self, grouping: Grouping, histogram: Histogram | None, *, show_values: bool) -> Summaries:
        """The summaries of one shard. Cost: that of the check, and a sort of the classes."""
        figures, filled, failing = self._figures(grouping.size, histogram)
        cells = _cells(grouping) if show_values else None
        return tuple(
            summarise(
                _spread(figure.values, filled, figure.comparison.worst_possible),
                grouping.records,
                failing,
                figure.comparison,
                cells,
            )
            for figure in figures
        )

    def _evidence(self, size: Counts, histogram: Histogram | None, filled: NDArray[np.bool_]) -> ClassEvidence:
        if histogram is not None and not filled.all():
            histogram = histogram.take(np.flatnonzero(filled))
        numeric = self.attribute is not None and self.attribute.values.dtype != object
        return ClassEvidence(
            size=size[filled],
            histogram=histogram,
            marginal=self.marginal,
            values=self.attribute.values if self.attribute is not None and numeric else None,
            labels=() if self.attribute is None else self.attribute.labels,
            tree=self.tree,
            records=self.records,
        )

    def merge(self, shards: Sequence[Summaries]) -> Summaries:
        """The summaries of all shards as one."""
        comparisons = _comparisons(self.expectation.check)
        return tuple(merge(figures, one) for figures, one in zip(zip(*shards, strict=True), comparisons, strict=True))

    def outcome(self, result: Summaries | Exception | None) -> Outcome:
        """What came of it: the merged summaries, or what went wrong."""
        if self.obstacle:
            return replace(self._blank(), message=self.obstacle)
        if isinstance(result, Exception):
            return replace(self._blank(), message=_sentence(result))
        if result is None or not result[0].classes:
            return replace(self._blank(), message="no equivalence class was evaluated")
        check = self.expectation.check
        assert not isinstance(check, TableCheck)  # noqa: S101 - a table check is asked through `found`
        try:
            outcome = self._told(result, check.verdict(result, self.expectation.parameters))
            message = self.violation or (check.sentence(outcome) if check.sentence else _general(outcome))
            return replace(outcome, message=message)
        except Exception as error:  # noqa: BLE001 - a check that raises must not take the others down
            return replace(self._blank(), message=_sentence(error))

    def found(self, view: TableView) -> Outcome:
        """What came of a table check."""
        if self.obstacle:
            return replace(self._blank(), message=self.obstacle)
        check, parameters = self.expectation.check, self.expectation.parameters
        assert isinstance(check, TableCheck)  # noqa: S101 - the auditor asks only those
        try:
            finding = check.measure(view, parameters)
            outcome = self._shown(finding, check.verdict(finding, parameters))
            message = self.violation or (check.sentence(outcome) if check.sentence else _general(outcome))
            return replace(outcome, message=message)
        except Exception as error:  # noqa: BLE001 - a check that raises must not take the others down
            return replace(self._blank(), message=_sentence(error))

    def _shown(self, finding: Finding, verdict: Verdict) -> Outcome:
        failed = True if self.violation else verdict.failed
        distribution = {"distribution": [list(one) for one in finding.distribution]} if finding.distribution else {}
        return replace(
            self._blank(),
            status=Status.MEASURED if failed is None else Status.FAILED if failed else Status.PASSED,
            observed=verdict.observed,
            classes=None if finding.classes is None else Tally(*finding.classes),
            records=Tally(finding.records, finding.failing),
            details={**distribution, **finding.details},
        )

    def _blank(self) -> Outcome:
        """An outcome that says only what was asked for."""
        check, parameters = self.expectation.check, self.expectation.parameters
        return Outcome(
            check=check.name,
            title=check.titled(parameters),
            status=Status.ERROR,
            severity=parameters.severity,
            attribute=self.target.name,
            parameters=parameters.figures(),
            conventions=self.conventions,
            threshold=check.demanded(parameters),
            comparison=check.comparison,
            source=check.guide.source,
            line=self.expectation.line,
        )

    def _told(self, result: Summaries, verdict: Verdict) -> Outcome:
        headline = result[0]
        failed = True if self.violation else verdict.failed
        counted = failed is not None or not isinstance(self.expectation.check, ClassCheck)
        return replace(
            self._blank(),
            status=Status.MEASURED if failed is None else Status.FAILED if failed else Status.PASSED,
            observed=verdict.observed,
            threshold=verdict.threshold,
            comparison=verdict.comparison,
            classes=Tally(headline.classes, headline.failing_classes if counted else None),
            records=Tally(headline.records, headline.failing_records if counted else None),
            details={"distribution": _distribution(headline), **verdict.details},
            worst=tuple(
                WorstClass(ordinal, one.records, one.value, one.cells) for ordinal, one in enumerate(headline.worst, 1)
            ),
        )


def _comparisons(check: Check) -> list[Comparison]:
    """How each figure of a check is compared."""
    return [one.comparison for one in check.thresholds] if isinstance(check, ClassCheck) else [check.comparison]


def _distribution(summary: ClassSummary) -> list[list[float]]:
    """[figure, classes, records] in ascending order of the figure."""
    return [[figure, *counts] for figure, counts in sorted(summary.distribution.items())]


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
    observed = f"{outcome.observed:.6g}"
    over = f"over {outcome.classes.total:,} equivalence classes " if outcome.classes is not None else ""
    if outcome.status is Status.MEASURED:
        return f"The figure {over}is {observed}; the policy sets no threshold."
    demand = f"{outcome.comparison} {float(outcome.threshold or 0):.12g}"
    if outcome.status is Status.PASSED:
        return f"The release keeps {demand}: the figure {over}is {observed}."
    return f"The figure {over}is {observed}, where {demand} is demanded.{_exposed(outcome)}"


def _exposed(outcome: Outcome) -> str:
    """How many records fall short, where they are counted."""
    records = outcome.records
    if records is None or records.failing is None:
        return ""
    return f" {records.failing:,} of {records.total:,} records fall short."


def _sentence(error: Exception) -> str:
    """What went wrong in a check. Only our own errors are quoted: another's text may hold a cell."""
    if isinstance(error, CheckError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"the check raised {type(error).__name__}{where}"


def conventions_of(conventions: Conventions, *, sensitive: bool, declared: bool, unit: str | None) -> dict[str, str]:
    """The conventions that an outcome's verdict rests on."""
    named = {
        "missing_quasi_identifier": conventions.missing_quasi_identifier,
        "suppressed": conventions.suppressed,
        "unit": unit if unit is not None else "row",
    }
    if sensitive:
        named |= {
            "missing_sensitive": conventions.missing_sensitive,
            "multiple_sensitive": conventions.multiple_sensitive,
            "reference": conventions.reference,
            "domain": "declared" if declared else "observed",
        }
    return named
