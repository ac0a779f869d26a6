"""Checks on equivalence classes: thresholds that every class must keep, or an attack on classes and its success."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.evidence import ClassEvidence, SingletonClasses, keeps, worst_share
from tcdp_audit.core.check.specification import P, Specification, T
from tcdp_audit.core.check.summary import ClassSummary
from tcdp_audit.core.check.threshold import Limit, Parameters, Threshold, Verdict, as_measured
from tcdp_audit.core.encoding.keys import Floats

if TYPE_CHECKING:
    from tcdp_audit.core.check.aggregate_check import AggregateCheck
    from tcdp_audit.core.check.table_check import TableCheck


@dataclass(frozen=True)
class Figure:
    """The figure of a check in the classes of a shard: a value for each, and which of them fail."""

    values: Floats
    fails: NDArray[np.bool_]
    comparison: Comparison


@dataclass(frozen=True, kw_only=True)
class CheckOnClasses(Specification[P]):
    """The base of checks on equivalence classes: figures in a shard, and a verdict over all shards."""

    on_classes: ClassVar[bool] = True

    def by_kind(
        self,
        of_classes: Callable[[CheckOnClasses[Any]], T],
        of_table: Callable[[TableCheck[Any]], T],  # noqa: ARG002 - the other kinds'
        of_cells: Callable[[AggregateCheck[Any]], T],  # noqa: ARG002 - likewise
    ) -> T:
        """The result of the first function for this check."""
        return of_classes(self)

    @property
    @abstractmethod
    def measures(self) -> tuple[Threshold[P], ...]:
        """The measure in each class; for an attack whether it succeeds there, as true or false."""

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The parameters with a threshold."""
        return tuple(one.limit for one in self.measures)

    @abstractmethod
    def figures(self, evidence: ClassEvidence, parameters: P) -> tuple[Figure, ...]:
        """The figure of each threshold in every class, and the classes that do not keep it."""

    @abstractmethod
    def unfailable(self, finest: SingletonClasses, parameters: P) -> tuple[str, ...]:
        """The parameters whose demand no grouping of the records of a release fails."""

    @abstractmethod
    def verdict(self, summaries: Sequence[ClassSummary], parameters: P) -> Verdict:
        """The verdict, from the merged summary of each figure."""

    def said_to_be_worst(self, finest: SingletonClasses, parameters: P) -> ClassEvidence | None:  # noqa: ARG002
        """Classes that records of a release could form, among them one with the worst figure; None if unsaid."""
        return None

    def of_worst_class(self, worst: ClassEvidence, parameters: P) -> Mapping[str, Any]:  # noqa: ARG002
        """Named figures of the worst class of all, the only one of the evidence."""
        return {}

    @abstractmethod
    def of_each_class(self, parameters: P) -> P:
        """The parameters that demand of every class by itself what these demand of a release at the strictest."""


@dataclass(frozen=True, kw_only=True)
class ClassCheck(CheckOnClasses[P]):
    """A check on equivalence classes: every class must keep every threshold; the worst class is the verdict.

    Args:
        thresholds: what each class must keep; the first is the headline figure.
        details: named figures of the whole release beyond the worst class, from the merged summaries.
        worst_details: named figures of the worst class, the only one of the evidence, if the check is of an attribute.
        worst_classes: classes that records of a release could form, among them one with the worst figure of all that
            they could form. It shows which demands nothing can fail. By default those of one record each if the check
            is `monotone`; where it is not, only `at_most: 1` of a share is taken for such a demand.
    """

    judges_each_class: ClassVar[bool] = True
    passes_if: ClassVar[str] = "Passes if, for every equivalence class,"

    thresholds: tuple[Threshold[P], ...]
    details: Callable[[Sequence[ClassSummary]], Mapping[str, Any]] = field(default=lambda _: {})
    worst_details: Callable[[ClassEvidence, P], Mapping[str, Any]] | None = None
    worst_classes: Callable[[SingletonClasses, P], ClassEvidence] | None = None

    @property
    def measures(self) -> tuple[Threshold[P], ...]:
        """The thresholds."""
        return self.thresholds

    @property
    def comparison(self) -> Comparison:
        """The comparison of the headline figure."""
        return self.thresholds[0].comparison

    @property
    def label(self) -> str:
        """The name of the headline figure."""
        return self.thresholds[0].label

    def figures(self, evidence: ClassEvidence, parameters: P) -> tuple[Figure, ...]:
        """The figure of each threshold in every class, and the classes that do not keep it."""
        return tuple(_compared(one, evidence, parameters) for one in self.thresholds)

    def unfailable(self, finest: SingletonClasses, parameters: P) -> tuple[str, ...]:
        """The parameters whose demand is kept by every class that the records of a release could form.

        Cost: that of the figures, on one class for each value of the attribute.
        """
        demanded = self.demands(parameters)
        return tuple(
            one.parameter
            for one in self.thresholds
            if one.parameter in demanded and self._always_holds(one, finest, parameters)
        )

    def _always_holds(self, threshold: Threshold[P], finest: SingletonClasses, parameters: P) -> bool:
        end = worst_share(self.parameters.model_fields[threshold.parameter], threshold.comparison)
        if keeps(end, self.demands(parameters)[threshold.parameter], threshold.comparison):
            return True
        worst = self.said_to_be_worst(finest, parameters)
        if worst is not None:
            return not _compared(threshold, worst, parameters).fails.any()
        others = {one.parameter: None for one in self.thresholds if one is not threshold}
        if not self.monotone(parameters.model_copy(update=others)):
            return False
        return not any(_compared(threshold, classes, parameters).fails.any() for classes in finest.rounds())

    def verdict(self, summaries: Sequence[ClassSummary], parameters: P) -> Verdict:
        """The worst class, and whether all classes keep all thresholds."""
        headline, demands = summaries[0], self.demands(parameters)
        if (observed := headline.observed) is None:
            raise CheckError("no equivalence class was evaluated")
        others = zip(self.thresholds[1:], summaries[1:], strict=True)
        return Verdict(
            observed=observed,
            threshold=self.demanded(parameters),
            comparison=self.comparison,
            failed=headline.failing_classes > 0 if demands else None,
            details={
                **{one.parameter: _of_worst_valued(summary) for one, summary in others},
                **self.details(summaries),
            },
        )

    def said_to_be_worst(self, finest: SingletonClasses, parameters: P) -> ClassEvidence | None:
        """The classes that `worst_classes` gives."""
        return None if self.worst_classes is None else self.worst_classes(finest, parameters)

    def of_worst_class(self, worst: ClassEvidence, parameters: P) -> Mapping[str, Any]:
        """The figures that `worst_details` gives."""
        return {} if self.worst_details is None else self.worst_details(worst, parameters)

    def of_each_class(self, parameters: P) -> P:
        """The same: every class must keep them."""
        return parameters


def _of_worst_valued(summary: ClassSummary) -> float | None:
    """A further figure of the worst class with a value: one without any has no size or share to speak of."""
    return summary.observed if summary.worst_valued is None else summary.worst_valued.value


def _compared(threshold: Threshold[Any], evidence: ClassEvidence, parameters: Parameters) -> Figure:
    """A figure per class, and which classes do not keep the threshold. A check's answer is never trusted blindly."""
    measured = as_measured(threshold.measure(evidence, parameters))
    values = measured.values
    if values.shape != evidence.size.shape:
        raise CheckError(f"the check gave {values.size} figures for {evidence.size.size} classes")
    if np.isnan(values).any():
        raise CheckError("the check gave NaN for a class; a figure must be a number or infinite")
    demanded = threshold.demanded(parameters)
    if demanded is None:
        return Figure(values, np.zeros(len(values), dtype=bool), threshold.comparison)
    holds = np.asarray(threshold.comparison.holds(measured.compare(demanded)), dtype=bool)
    return Figure(values, ~holds, threshold.comparison)


SHARE = "at_most"  # the parameter with the largest share of records exposed


@dataclass(frozen=True, kw_only=True)
class AttackCheck(CheckOnClasses[P]):
    """An attack that succeeds on some classes: the share of records in them must be at most the parameter `at_most`.

    Where the policy names a unit it is the share of entities that have a record in such a class, each counted once.

    Args:
        victims: which classes the attack succeeds on, bool, shape (classes,).
        label: what the share is a share of.
        worst: the largest share of a release's records that the attack could succeed on, however they were grouped. It
            shows which demands nothing can fail. By default the share with every record in a class of its own if the
            check is `monotone`, and otherwise 1.
    """

    victims: Callable[[ClassEvidence, P], NDArray[np.bool_]]
    label: str = "share of records exposed"
    worst: Callable[[SingletonClasses, P], Fraction] | None = None
    comparison: Comparison = Comparison.AT_MOST

    def figures(self, evidence: ClassEvidence, parameters: P) -> tuple[Figure, ...]:
        """The classes that are victims, whatever the threshold is."""
        exposed = np.asarray(self.victims(evidence, parameters))
        if exposed.dtype != bool or exposed.shape != evidence.size.shape:
            raise CheckError("the check must say true or false for each class")
        return (Figure(exposed.astype(np.float64), exposed, Comparison.AT_MOST),)

    @property
    def measures(self) -> tuple[Threshold[P], ...]:
        """Whether the attack succeeds on a class, next to the largest share of records exposed."""
        return (Threshold(SHARE, self.comparison, self.victims, self.label),)

    def unfailable(self, finest: SingletonClasses, parameters: P) -> tuple[str, ...]:
        """`at_most` if no grouping of the records of a release exposes more of them."""
        demanded = self.demanded(parameters)
        if demanded is None or (demanded < 1 and self._largest_share(finest, parameters) > demanded):
            return ()
        return (SHARE,)

    def _largest_share(self, finest: SingletonClasses, parameters: P) -> Fraction:
        if self.worst is not None:
            return self.worst(finest, parameters)
        if not self.monotone(parameters):
            return Fraction(1)
        return finest.share(self.figures(finest.classes, parameters)[0].fails)

    def verdict(self, summaries: Sequence[ClassSummary], parameters: P) -> Verdict:
        """The share of records, or entities, in classes that the attack succeeds on, compared exactly."""
        summary, demanded = summaries[0], self.demanded(parameters)
        share, details = Fraction(summary.failing_records, summary.records), {}
        if summary.entities is not None and summary.failing_entities is not None:
            share = Fraction(summary.failing_entities, summary.entities)
            details = {"units": summary.entities, "victim_units": summary.failing_entities}
        return Verdict(
            observed=float(share),
            threshold=demanded,
            comparison=self.comparison,
            failed=None if demanded is None else share > demanded,
            details={"victims": summary.failing_records, "victim_classes": summary.failing_classes, **details},
        )

    def of_each_class(self, parameters: P) -> P:
        """The demand that no class be a victim."""
        return parameters.model_copy(update={SHARE: Fraction(0)})
