"""One expectation on one attribute: measured shard by shard, and told as one outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.check.kinds import (
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
from tcdp_audit.check.summary import ClassSummary, merge, summarise
from tcdp_audit.check.table_view import TableView
from tcdp_audit.check.unfailable import FinestGrouping, classes_of_one, sentence as sentence_on_unfailable
from tcdp_audit.classes.grouping import Grouping, MatchedClasses
from tcdp_audit.classes.histogram import Counts, Histogram
from tcdp_audit.encoding.domain import Domain
from tcdp_audit.encoding.hierarchy import Tree
from tcdp_audit.errors import CheckError
from tcdp_audit.outcome import UNFAILABLE, Comparison, Outcome, Status, Tally, WorstClass
from tcdp_audit.plugin_faults import sentence_about
from tcdp_audit.policy import Conventions, Expectation

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

    @property
    def can_fail(self) -> bool:
        """Whether some grouping of the records fails a demand, or leaves a class no distribution to be judged by."""
        check, parameters, finest = self.expectation.check, self.expectation.parameters, self._finest()
        assert not isinstance(check, TableCheck)  # noqa: S101 - a table check asks nothing of a class
        demands = check.demands(parameters)
        if isinstance(check, ClassCheck) and finest.valueless:
            return bool(demands)
        return len(check.unfailable(finest, parameters)) < len(demands)

    def measure(
        self, grouping: Grouping | MatchedClasses, histogram: Histogram | None, *, show_values: bool
    ) -> Summaries:
        """The summaries of some classes. Cost: that of the check, and a sort of the classes."""
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

    def outcome(self, result: Summaries | BaseException | None) -> Outcome:
        """What came of it: the merged summaries, or what went wrong."""
        if self.obstacle:
            return replace(self._blank(), message=self.obstacle)
        if isinstance(result, BaseException):
            return self._raised(result)
        if result is None or not result[0].classes:
            return replace(self._blank(), message="no equivalence class was evaluated")
        check = self.expectation.check
        assert not isinstance(check, TableCheck)  # noqa: S101 - a table check is asked through `found`
        try:
            outcome = self._told(result, check.verdict(result, self.expectation.parameters))
            if outcome.status is not Status.PASSED:
                return self._worded(outcome)
            finest = self._finest()
            of_values = (
                "by every class that has a value, " if finest.valueless and isinstance(check, ClassCheck) else ""
            )
            unfailable = check.unfailable(finest, self.expectation.parameters)
            return self._judged(outcome, unfailable, f"{of_values}however these records are grouped")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a check that raises must not take the others down
            return self._raised(error)

    def found(self, view: TableView) -> Outcome:
        """What came of a table check."""
        if self.obstacle:
            return replace(self._blank(), message=self.obstacle)
        check, parameters = self.expectation.check, self.expectation.parameters
        assert isinstance(check, TableCheck)  # noqa: S101 - the auditor asks only those
        try:
            finding = check.measure(view, parameters)
            outcome = self._shown(finding, check.verdict(finding, parameters))
            if outcome.status is not Status.PASSED:
                return self._worded(outcome)
            return self._judged(outcome, check.unfailable(finding, parameters), "by every release")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a check that raises must not take the others down
            return self._raised(error)

    def _raised(self, error: BaseException) -> Outcome:
        """An outcome that says what the check raised, and whose check it is."""
        return replace(self._blank(), message=sentence_about(error, "the check", self.expectation.plugin))

    def _judged(self, outcome: Outcome, unfailable: tuple[str, ...], whatever: str) -> Outcome:
        """An outcome that passed, but for the demands that nothing can fail: without another it is only measured."""
        if not unfailable:
            return self._worded(outcome)
        demands = self.expectation.check.demands(self.expectation.parameters)
        judged = len(unfailable) < len(demands)
        worded = self._worded(outcome if judged else replace(outcome, status=Status.MEASURED))
        why = sentence_on_unfailable(unfailable, demands, judged=judged, whatever=whatever)
        details = {**outcome.details, UNFAILABLE: list(unfailable)}
        return replace(worded, details=details, message=f"{worded.message} {why}")

    def _worded(self, outcome: Outcome) -> Outcome:
        """An outcome with its sentence."""
        check = self.expectation.check
        message = self.violation or (check.sentence or _general)(outcome)
        return replace(outcome, message=message, details=plain_figures(outcome.details))

    def _finest(self) -> FinestGrouping:
        """The release's records, each in a class of its own. Cost: O(domain)."""
        attribute, marginal, one = self.attribute, self.marginal, np.ones(1, dtype=np.int64)
        if attribute is None or marginal is None:
            return FinestGrouping(ClassEvidence(size=one, records=self.records), one * self.records)
        counts = np.append(attribute.counts, attribute.missing)
        counts, valueless = counts[: marginal.size], int(counts[marginal.size :].sum())
        if self.conventions["reference"] == "release":  # exempt records are not in it
            counts = np.where(marginal.weights > 0, counts, 0)
        values = np.flatnonzero(counts)
        size = np.ones(len(values), dtype=np.int64)
        classes = self._evidence(size, classes_of_one(values), size > 0)
        return FinestGrouping(classes, counts[values], valueless)

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
            title=self._title(),
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

    def _title(self) -> str:
        """The check's title; without what its parameters add where the check cannot say it."""
        check: Check = self.expectation.check
        try:
            return str(check.titled(self.expectation.parameters))
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - the outcome says elsewhere what the check raised
            return check.title

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


def _cells(grouping: Grouping | MatchedClasses) -> Callable[[NDArray[np.intp]], list[Mapping[str, str]]]:
    """The quasi-identifiers' values of some classes, for `--show-values` only."""

    def of(classes: NDArray[np.intp]) -> list[Mapping[str, str]]:
        codes = grouping.codes()
        return [
            {d.attribute: d.label(int(column[c])) for d, column in zip(grouping.quasi_identifiers, codes, strict=True)}
            for c in classes
        ]

    return of


def plain_figures(details: Any) -> Any:
    """Details as they are, if a result can hold them.

    Raises:
        CheckError: one is neither a number nor text, nor a list or a mapping of such.
    """
    if isinstance(details, Mapping):
        return {str(name): plain_figures(one) for name, one in details.items()}
    if isinstance(details, list | tuple):
        return [plain_figures(one) for one in details]
    if details is None or isinstance(details, str | bool | int | float | Fraction):
        return details
    raise CheckError(f"the check gave a {type(details).__name__} among its details; they hold numbers and text")


def _general(outcome: Outcome) -> str:
    """One sentence about an outcome, for checks that bring none."""
    observed = f"{outcome.observed:.6g}"
    over = f"over {outcome.classes.total:,} equivalence classes " if outcome.classes is not None else ""
    if outcome.status is Status.MEASURED:
        unset = "; the policy sets no threshold" if outcome.threshold is None else ""
        return f"The figure {over}is {observed}{unset}."
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
