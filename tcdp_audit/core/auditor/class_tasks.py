"""One expectation measured on the equivalence classes of a release, shard by shard.

The details of an outcome compare the sensitive values of the worst class with the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, reduce
from math import inf
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.auditor.tasks import Measurements, Summaries, Task, plain_figures
from tcdp_audit.core.auditor.worst_values import worst_values
from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import (
    BY_SIZE,
    CLASSES_WITHOUT_VALUE,
    MISSING_AS_VALUE,
    RECORDS_WITHOUT_VALUE,
    WORST_GROUP,
    WORST_WITH_VALUE,
    Comparison,
    Outcome,
    Status,
    Tally,
    WorstClass,
)
from tcdp_audit.core.base.provenance import Proof
from tcdp_audit.core.check.class_check import CheckOnClasses, Figure
from tcdp_audit.core.check.evidence import (
    ClassEvidence,
    CombinedAttribute,
    ReferenceDistribution,
    SingletonClasses,
    classes_of_one,
)
from tcdp_audit.core.check.summary import PAIR, ClassSummary, merge, summarise
from tcdp_audit.core.check.threshold import Ratios, Verdict, as_measured
from tcdp_audit.core.classes.grouping import Grouping, MatchedClasses
from tcdp_audit.core.classes.histogram import AlikeClasses, Counts, Histogram
from tcdp_audit.core.classes.shards import without_value
from tcdp_audit.core.encoding.domain import Domain, Labels

if TYPE_CHECKING:
    from tcdp_audit.core.encoding.hierarchy import Tree


NUMBER = "\0number"  # no column of a table has this name


@dataclass(frozen=True, eq=False)
class FailingRecordMask:
    """The records that fail one expectation.

    Args:
        incomplete: the attributes in which, by convention, a missing value is a failure.
        failing: whether each record of the release fails; written by the measuring threads. Shape (records,).
    """

    incomplete: Sequence[Domain]
    failing: NDArray[np.bool_]

    def add(self, grouping: Grouping | MatchedClasses, classes: NDArray[np.bool_]) -> None:
        """Mark the records of failing classes, and those that lack a required value."""
        shard = grouping.shard
        rows = without_value(shard, self.incomplete)
        if classes.any():
            rows |= grouping.rows_of(classes)
        if rows.any():
            self.failing[shard[NUMBER][rows]] = True


class FailingClasses(Protocol):
    """A collection of failing classes; see `exposure.ExposureMeasure`."""

    def add(self, task: ClassTask, classes: Grouping | MatchedClasses, failing: NDArray[np.bool_]) -> None:
        """Add the classes that fail a task."""


@dataclass(frozen=True)
class ClassTask(Task[CheckOnClasses[Any]]):
    """A check to run over all shards.

    Args:
        quasi_identifiers: the domains to group by.
        attribute: the sensitive attribute's domain (or that of several, joined), for a check that measures one.
        marginal: the reference distribution of that attribute.
        tree: its hierarchy, laid over its domain.
        records: the number of records of the whole release; of its entities, if the policy names a unit.
        failing_records: the mask in which failing records are marked; None if it is not requested.
        incomplete: the attributes in which, by convention, a missing value is a failure.
        certain_in: a column that joins classes; a value that is certain in the joined class is certain in each of them.
        counts_units: whether a share of a class is the share of its units that have a value in any row.
        resolve: gives the path of a file that parameters name relative to the policy.
        files: the digests of such files.
    """

    quasi_identifiers: tuple[Domain, ...] = ()
    attribute: Domain | None = None
    marginal: ReferenceDistribution | None = None
    tree: Tree | None = None
    records: int = 0
    failing_records: FailingRecordMask | None = None
    incomplete: Sequence[Domain] = ()
    certain_in: Domain | None = None
    counts_units: bool = False
    resolve: Callable[[str], str] = str
    files: tuple[str | None, ...] = ()

    def failing(self, size: Counts, histogram: Histogram | None) -> NDArray[np.bool_]:
        """Whether each class, of at least one record, fails independently of the others. Shape (classes,)."""
        return self._figures(size, histogram)[2]

    def attained(self, size: Counts, histogram: Histogram | None) -> list[tuple[float, Fraction, Comparison]]:
        """The figures of a single class for the demands that it fails, each with its threshold.

        Args:
            size: the number of its records, shape (1,).
            histogram: its counts of the attribute.

        Returns:
            Triples of figure, threshold and comparison; none for an attack, or if the class has no distribution.
        """
        figures, filled, _ = self._figures(size, histogram)
        demands = self.check.demands(self.expectation.parameters)
        if filled is not None or not self.check.judges_each_class:
            return []
        return [
            (float(figure.values[0]), demands[limit.parameter], figure.comparison)
            for figure, limit in zip(figures, self.check.limits, strict=True)
            if limit.parameter in demands and figure.fails[0]
        ]

    def _figures(
        self, size: Counts, histogram: Histogram | None
    ) -> tuple[tuple[Figure, ...], NDArray[np.bool_] | None, NDArray[np.bool_]]:
        """The check's figures, the classes that have a distribution (None if all have), and the classes that fail."""
        filled = None if histogram is None or histogram.distinct.all() else histogram.filled()
        figures = self.check.figures(self._evidence(size, histogram, filled), self.expectation.parameters)
        fails = [_with_empty_classes(figure.fails, filled, fill=True) for figure in figures]
        return figures, filled, reduce(np.logical_or, fails)

    @property
    def of_entities(self) -> bool:
        """Whether the policy names a unit."""
        return self.conventions.get("unit", "row") != "row"

    @property
    def can_fail(self) -> bool:
        """Whether some grouping of the records fails a demand, or leaves a class without a distribution."""
        parameters, finest = self.expectation.parameters, self._finest()
        demands = self.check.demands(parameters)
        if self.check.judges_each_class and finest.valueless:
            return bool(demands)
        return len(self.check.unfailable(finest, parameters)) < len(demands)

    def measure(
        self,
        grouping: Grouping | MatchedClasses,
        classes: AlikeClasses,
        *,
        show_values: bool,
        exposure: FailingClasses | None = None,
    ) -> Summaries:
        """Summarise some classes of a grouping. Cost: that of the check, and a sort of the classes."""
        summaries, failing = self.judge(grouping, classes, show_values=show_values)
        self.report_failing(grouping, failing, exposure)
        return summaries

    def judge(
        self, grouping: Grouping | MatchedClasses, classes: AlikeClasses, *, show_values: bool
    ) -> tuple[Summaries, NDArray[np.bool_]]:
        """Summarise some classes, and return which of them fail; it depends on the classes and on `basis` alone.

        Where values are shown, `classes` has every class by itself.
        """
        figures, filled, failing = self._figures(classes.size, classes.histogram)
        cells = _cells(grouping) if show_values else None
        pictured = self.check.judges_each_class and classes.histogram is not None  # the values of the worst are shown
        summaries = tuple(
            summarise(
                _with_empty_classes(figure.values, filled, figure.comparison.worst_possible),
                classes,
                failing,
                figure.comparison,
                filled,
                cells,
                pictured=pictured and not number,  # of the worst class by the first figure
            )
            for number, figure in enumerate(figures)
        )
        return summaries, classes.spread(failing)

    @cached_property
    def basis(self) -> Hashable:
        """A key of everything except the classes that `judge` depends on."""
        names = tuple(one.attribute for one in self.quasi_identifiers)
        objects = Identity(self.check, self.attribute, self.marginal, self.tree)
        return objects, repr(self.expectation.parameters), names, self.records, self.files

    def report_failing(
        self, grouping: Grouping | MatchedClasses, failing: NDArray[np.bool_], exposure: FailingClasses | None
    ) -> None:
        """Report the failing classes to the mask and the exposure, if they are requested."""
        if exposure is not None:
            exposure.add(self, grouping, failing)
        if self.failing_records is not None:
            self.failing_records.add(grouping, failing)

    def _evidence(
        self, size: Counts, histogram: Histogram | None, filled: NDArray[np.bool_] | None = None
    ) -> ClassEvidence:
        """The evidence of some classes, or of those among them that are `filled`."""
        if histogram is not None and filled is not None:
            size, histogram = size[filled], histogram.take(np.flatnonzero(filled))
        numeric = self.attribute is not None and self.attribute.values.dtype != object
        return ClassEvidence(
            size=size,
            histogram=histogram,
            marginal=self.marginal,
            values=self.attribute.values if self.attribute is not None and numeric else None,
            labels=() if self.attribute is None else Labels(self.attribute),
            tree=self.tree,
            records=self.records,
            parts=self._parts,
            resolve=self.resolve,
        )

    @cached_property
    def _parts(self) -> tuple[CombinedAttribute, ...]:
        """The attributes that are read together; none where one is read."""
        parts: Sequence[Domain] = getattr(self.attribute, "parts", ())
        codes: Sequence[NDArray[np.int64]] = getattr(self.attribute, "part_codes", ())
        return tuple(
            CombinedAttribute(one.attribute, Labels(one), None if one.values.dtype == object else one.values, own)
            for one, own in zip(parts, codes, strict=True)
        )

    def merge(self, shards: Sequence[Summaries]) -> Summaries:
        """Merge the summaries of all shards."""
        by_figure = zip(zip(*shards, strict=True), self.check.limits, strict=True)
        return tuple(merge(summaries, limit.comparison) for summaries, limit in by_figure)

    def with_entities(self, summaries: Summaries, failing: int | None) -> Summaries:
        """Add to an attack's merged summaries the number of its victims; None if no shard counts entities."""
        if self.check.judges_each_class or not self.of_entities:
            return summaries
        return tuple(
            replace(one, entities=self.records, failing_entities=one.failing_records if failing is None else failing)
            for one in summaries
        )

    def _outcome(self, measurements: Measurements) -> Outcome:
        result = measurements.of_classes.get(id(self))
        if isinstance(result, BaseException):
            return self._raised(result)
        if result is None or not result[0].classes:
            return replace(self._blank(), message="no equivalence class was evaluated")
        outcome = self._outcome_of_classes(result[0], self.check.verdict(result, self.expectation.parameters))
        if outcome.status is not Status.PASSED:
            return self._worded(outcome)
        finest = self._finest()
        every = "by every class that has a value, " if finest.valueless and self.check.judges_each_class else ""
        unfailable = self.check.unfailable(finest, self.expectation.parameters)
        return self._judged(outcome, unfailable, f"{every}however these records are grouped")

    def _finest(self) -> SingletonClasses:
        """The release's records, each in a separate class. Cost: O(domain)."""
        attribute, marginal, one = self.attribute, self.marginal, np.ones(1, dtype=np.int64)
        if attribute is None or marginal is None:
            evidence = ClassEvidence(size=one, records=self.records)
            return SingletonClasses(evidence, one * self.records, of_entities=self.of_entities)
        counts = np.append(attribute.counts, attribute.missing)
        counts, valueless = counts[: marginal.size], int(counts[marginal.size :].sum())
        if self.conventions["reference"] == "release":  # exempt records are not in it
            counts = np.where(marginal.weights > 0, counts, 0)
        values = np.flatnonzero(counts)
        size = np.ones(len(values), dtype=np.int64)
        classes = self._evidence(size, classes_of_one(values))
        return SingletonClasses(classes, counts[values], valueless, self.of_entities)

    def _outcome_of_classes(self, headline: ClassSummary, verdict: Verdict) -> Outcome:
        status = self._status(verdict)
        counted = status is not Status.MEASURED or not self.check.judges_each_class
        return replace(
            self._blank(),
            status=status,
            observed=verdict.observed,
            threshold=verdict.threshold,
            comparison=verdict.comparison,
            classes=Tally(headline.classes, headline.failing_classes if counted else None),
            records=Tally(headline.records, headline.failing_records if counted else None),
            details={
                "distribution": headline.distribution.rows,
                **self._pictures(headline),
                **self._valueless(headline),
                **plain_figures(verdict.details),
            },
            worst=tuple(
                WorstClass(ordinal, one.records, one.value, one.cells) for ordinal, one in enumerate(headline.worst, 1)
            ),
            proof=self._proof(headline, verdict),
        )

    def _proof(self, headline: ClassSummary, verdict: Verdict) -> Proof:
        """The exact figure behind the verdict, and the counts that it follows from."""
        observed, counts = self._exactly(headline)
        return Proof(headline.classes, headline.records, observed, verdict.threshold, counts, headline.sizes)

    def _exactly(self, headline: ClassSummary) -> tuple[Fraction | float | None, tuple[int, ...] | None]:
        """The headline figure as a fraction, None where it is none or is not known, and the worst class's counts."""
        if not self.check.judges_each_class:
            failing, whole = headline.failing_entities, headline.entities
            if failing is None or whole is None:
                failing, whole = headline.failing_records, headline.records
            return Fraction(failing, whole), None
        worst, valued = headline.worst[0], headline.worst_valued
        if valued is None or (worst.value, worst.records) != (valued.value, valued.records):  # no one has a value
            return (Fraction(0) if self.check.headline.comparison.higher_is_safer else inf), ()
        if self.attribute is None:
            counts, evidence = (worst.records,), ClassEvidence(size=np.array([worst.records]), records=self.records)
        else:
            histogram = _worst_histogram(headline)
            counts = tuple(sorted(histogram.counts.tolist(), reverse=True))
            evidence = self._evidence(histogram.total, histogram)
        if self.of_entities:  # a class of entities is more than its counts
            return None, counts
        measured = as_measured(self.check.measures[0].measure(evidence, self.expectation.parameters))
        if not isinstance(measured, Ratios) or float(measured.values[0]) != worst.value:
            return None, counts
        numerator, denominator = int(measured.numerator[0]), int(measured.denominator[0])
        return (Fraction(numerator, denominator) if denominator else inf), counts

    def _pictures(self, headline: ClassSummary) -> dict[str, Any]:
        """The values of the worst class and of the reference, and figures by size, for a check of an attribute."""
        if self.attribute is None or self.marginal is None:
            return {}
        named = bool(headline.worst) and headline.worst[0].cells is not None
        values = worst_values(headline.worst_values, self.marginal, self.attribute, named=named)
        details = {WORST_GROUP: values, BY_SIZE: headline.by_size.grid()}
        own = plain_figures(self._of_worst_class(headline)) if headline.worst_values else {}
        return {name: one for name, one in details.items() if one} | own

    def _valueless(self, headline: ClassSummary) -> dict[str, Any]:
        """The number of classes without a value and the worst of all others; or of missing values that count as one."""
        if headline.valueless_classes:
            worst = headline.worst_valued
            of_worst: dict[str, float] = {} if worst is None else {"members": worst.records}
            if worst is not None and self.check.judges_each_class:
                of_worst["figure"] = worst.value
            of_others = {WORST_WITH_VALUE: of_worst} if of_worst else {}
            counts = {
                CLASSES_WITHOUT_VALUE: headline.valueless_classes,
                RECORDS_WITHOUT_VALUE: headline.valueless_records,
            }
            return {**counts, **of_others}
        counts_missing = self.conventions.get("missing_sensitive") == "own_category"
        missing = 0 if self.attribute is None or not counts_missing else self.attribute.missing
        return {MISSING_AS_VALUE: missing} if missing else {}

    def _of_worst_class(self, headline: ClassSummary) -> Mapping[str, Any]:
        worst = _worst_histogram(headline)
        evidence = self._evidence(worst.total, worst)
        return self.check.of_worst_class(evidence, self.expectation.parameters)


def _worst_histogram(headline: ClassSummary) -> Histogram:
    """The worst class with a value, as the only one of a histogram."""
    codes, counts = np.frombuffer(headline.worst_values, dtype=PAIR).astype(np.int64).T
    return Histogram(np.array([0, len(codes)]), codes, counts)


def _with_empty_classes(values: NDArray[Any], filled: NDArray[np.bool_] | None, fill: Any) -> NDArray[Any]:
    """Extend the values of classes with a distribution to all classes, with `fill` for the others."""
    if filled is None:
        return values
    whole = np.full(len(filled), fill, dtype=values.dtype)
    whole[filled] = values
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


def only_on_classes(tasks: Iterable[Task[Any]]) -> list[ClassTask]:
    """The tasks that are measured on classes."""
    return [one for one in tasks if isinstance(one, ClassTask)]
