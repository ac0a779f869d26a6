"""What a check is: a frozen specification around one pure function. Checks are found through plugins.

The kind of a check decides how the core runs it. A `ClassCheck` maps equivalence classes to one figure each, and
every class must keep the thresholds. A `VictimCheck` says which classes an attack succeeds on, and the share of
records in them must keep the threshold. Each kind answers four questions: why it cannot hold for a policy
(`faults`), what it runs on (`targets`), what it measures in a shard (`figures`), and what came of it (`verdict`). And
each says which of its demands nothing can fail (`unfailable`): those are measured and judge nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.arrays import Floats
from tcdp_audit.check.evidence import ClassEvidence, Marginal, Target
from tcdp_audit.check.exact import Measured, as_measured
from tcdp_audit.check.guide import Guide, Quarter
from tcdp_audit.check.parameters import AttributeParameters, Parameters, ShareParameters
from tcdp_audit.check.specification import P, Specification
from tcdp_audit.check.summary import ClassSummary
from tcdp_audit.check.unfailable import FinestGrouping, keeps, worst_share
from tcdp_audit.errors import CheckError
from tcdp_audit.outcome import Comparison
from tcdp_audit.policy.model import PolicyDocument

if TYPE_CHECKING:
    from tcdp_audit.check.table_view import TableView

__all__ = [
    "KINDS",
    "AttributeParameters",
    "Check",
    "ClassCheck",
    "ClassEvidence",
    "Figure",
    "Finding",
    "FinestGrouping",
    "Guide",
    "Marginal",
    "Parameters",
    "Quarter",
    "ShareParameters",
    "Specification",
    "TableCheck",
    "Target",
    "Threshold",
    "Verdict",
    "VictimCheck",
]


@dataclass(frozen=True)
class Threshold(Generic[P]):
    """One figure that a class must keep, and the parameter that says how large it may or must be.

    Args:
        parameter: the field of the check's parameters with the threshold; None there means measure only.
        comparison: how the observed figure must stand to it.
        measure: one figure per class; `Ratios` for exact fractions, an integer array, or `Transcendental`.
        label: what the figure is called in a report.
    """

    parameter: str
    comparison: Comparison
    measure: Callable[[ClassEvidence, P], Measured | NDArray[Any]]
    label: str = ""

    def demanded(self, parameters: Parameters) -> Fraction | None:
        """The threshold in a set of parameters."""
        value = getattr(parameters, self.parameter)
        return None if value is None else Fraction(value)


@dataclass(frozen=True)
class Figure:
    """What a check measured in the classes of a shard: a value for each, and which of them fail."""

    values: Floats
    fails: NDArray[np.bool_]
    comparison: Comparison


@dataclass(frozen=True)
class Verdict:
    """What came of a check over all shards; `failed` is None where no threshold was demanded."""

    observed: float
    threshold: Fraction | None
    comparison: Comparison
    failed: bool | None
    details: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ClassCheck(Specification[P]):
    """A check on equivalence classes: every class must keep every threshold; the worst class is the verdict.

    Args:
        thresholds: what each class must keep; the first is the headline figure.
        details: named figures of the whole release beyond the worst class, from the merged summaries.
        worst_classes: classes that records of a release could form, among them one with the worst figure of all that
            they could form. It tells which demands nothing can fail. By default those of one record each if the check
            is `monotone`; where it is not, only `at_most: 1` of a share is taken for such a demand.
    """

    thresholds: tuple[Threshold[P], ...]
    details: Callable[[Sequence[ClassSummary]], Mapping[str, Any]] = field(default=lambda _: {})
    worst_classes: Callable[[FinestGrouping, P], ClassEvidence] | None = None

    @property
    def comparison(self) -> Comparison:
        """How the headline figure is compared."""
        return self.thresholds[0].comparison

    @property
    def label(self) -> str:
        """What the headline figure is called."""
        return self.thresholds[0].label

    def figures(self, evidence: ClassEvidence, parameters: P) -> tuple[Figure, ...]:
        """The figure of each threshold in every class, and the classes that do not keep it."""
        return tuple(_compared(one, evidence, parameters) for one in self.thresholds)

    def demanded(self, parameters: P) -> Fraction | None:
        """The headline threshold of an expectation."""
        return self.thresholds[0].demanded(parameters)

    def demands(self, parameters: P) -> dict[str, Fraction]:
        """Every threshold of an expectation, by the parameter that has it."""
        given = {one.parameter: one.demanded(parameters) for one in self.thresholds}
        return {name: value for name, value in given.items() if value is not None}

    def unfailable(self, finest: FinestGrouping, parameters: P) -> tuple[str, ...]:
        """The parameters whose demand is kept by every class that the records of a release could form.

        Cost: that of the figures, on one class for each value of the attribute.
        """
        demanded = self.demands(parameters)
        return tuple(
            one.parameter
            for one in self.thresholds
            if one.parameter in demanded and self._always_kept(one, finest, parameters)
        )

    def _always_kept(self, threshold: Threshold[P], finest: FinestGrouping, parameters: P) -> bool:
        end = worst_share(self.parameters.model_fields[threshold.parameter], threshold.comparison)
        if keeps(end, self.demands(parameters)[threshold.parameter], threshold.comparison):
            return True
        if self.worst_classes is not None:
            return not _compared(threshold, self.worst_classes(finest, parameters), parameters).fails.any()
        others = {one.parameter: None for one in self.thresholds if one is not threshold}
        if not self.monotone(parameters.model_copy(update=others)):
            return False
        return not any(_compared(threshold, classes, parameters).fails.any() for classes in finest.rounds())

    def verdict(self, summaries: Sequence[ClassSummary], parameters: P) -> Verdict:
        """The worst class, and whether all classes keep all thresholds."""
        headline = summaries[0]
        demands = any(one.demanded(parameters) is not None for one in self.thresholds)
        observed = headline.observed
        if observed is None:
            raise CheckError("no equivalence class was evaluated")
        others = zip(self.thresholds[1:], summaries[1:], strict=True)
        return Verdict(
            observed=observed,
            threshold=self.demanded(parameters),
            comparison=self.comparison,
            failed=headline.failing_classes > 0 if demands else None,
            details={**{one.parameter: summary.observed for one, summary in others}, **self.details(summaries)},
        )


@dataclass(frozen=True, kw_only=True)
class VictimCheck(Specification[P]):
    """An attack that succeeds on some classes: the share of records in them must be at most the parameter `at_most`.

    Args:
        victims: which classes the attack succeeds on, bool, shape (classes,).
        label: what the share is a share of.
        worst: the largest share of a release's records that the attack could succeed on, however they were grouped. It
            tells which demands nothing can fail. By default the share with every record in a class of its own if the
            check is `monotone`, and otherwise 1.
    """

    victims: Callable[[ClassEvidence, P], NDArray[np.bool_]]
    label: str = "share of records exposed"
    worst: Callable[[FinestGrouping, P], Fraction] | None = None
    comparison: Comparison = Comparison.AT_MOST

    def figures(self, evidence: ClassEvidence, parameters: P) -> tuple[Figure, ...]:
        """Which classes are victims, whatever the threshold is."""
        exposed = np.asarray(self.victims(evidence, parameters))
        if exposed.dtype != bool or exposed.shape != evidence.size.shape:
            raise CheckError("the check must say true or false for each class")
        return (Figure(exposed.astype(np.float64), exposed, Comparison.AT_MOST),)

    def demanded(self, parameters: P) -> Fraction | None:
        """The largest share of an expectation."""
        value = getattr(parameters, "at_most", None)
        return None if value is None else Fraction(value)

    def demands(self, parameters: P) -> dict[str, Fraction]:
        """The largest share of an expectation, by its parameter."""
        demanded = self.demanded(parameters)
        return {} if demanded is None else {"at_most": demanded}

    def unfailable(self, finest: FinestGrouping, parameters: P) -> tuple[str, ...]:
        """`at_most` if no grouping of the records of a release exposes more of them."""
        demanded = self.demanded(parameters)
        if demanded is None or (demanded < 1 and self._largest_share(finest, parameters) > demanded):
            return ()
        return ("at_most",)

    def _largest_share(self, finest: FinestGrouping, parameters: P) -> Fraction:
        if self.worst is not None:
            return self.worst(finest, parameters)
        if not self.monotone(parameters):
            return Fraction(1)
        return finest.share(self.figures(finest.classes, parameters)[0].fails)

    def verdict(self, summaries: Sequence[ClassSummary], parameters: P) -> Verdict:
        """The share of records in classes that the attack succeeds on, compared exactly."""
        summary, demanded = summaries[0], self.demanded(parameters)
        share = Fraction(summary.failing_records, summary.records)
        return Verdict(
            observed=float(share),
            threshold=demanded,
            comparison=self.comparison,
            failed=None if demanded is None else share > demanded,
            details={"victims": summary.failing_records, "victim_classes": summary.failing_classes},
        )


@dataclass(frozen=True)
class Finding:
    """What a table check found.

    Args:
        value: the figure: exact where it can be, infinite or finite, never NaN.
        records: how many records it is about.
        failing: how many of them are exposed, where that is a matter of yes or no.
        classes: how many equivalence classes it is about, and how many of them are exposed, where it is about classes.
        details: further figures by documented names; no cell among them.
        distribution: [figure, classes, records] triples for the chart, in ascending order of the figure.
    """

    value: Fraction | float
    records: int
    failing: int | None = None
    classes: tuple[int, int | None] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    distribution: Sequence[Sequence[float]] = ()


@dataclass(frozen=True, kw_only=True)
class TableCheck(Specification[P]):
    """A check on the release as a whole, and on the tables that it can be compared with.

    Args:
        measure: the figure, from a view that reads what it is asked for.
        threshold: the parameter with the largest (or least) figure allowed.
        comparison: how the figure must stand to it.
        label: what the figure is called.
        requires: the further tables that it needs: "original", "population", "holdout".
        worst: the worst figure that a release could have, of as many records as the finding is about; None if there is
            none. It tells which demands nothing can fail. By default 1 (or 0, where more is safer) if the threshold is
            declared to lie from 0 to 1, as a share does; otherwise none.
    """

    measure: Callable[[TableView, P], Finding]
    threshold: str = "at_most"
    comparison: Comparison = Comparison.AT_MOST
    label: str = "share of records"
    requires: frozenset[str] = frozenset()
    worst: Callable[[Finding, P], Fraction | float | None] | None = None

    def demanded(self, parameters: P) -> Fraction | None:
        """The threshold of an expectation."""
        value = getattr(parameters, self.threshold)
        return None if value is None else Fraction(value)

    def demands(self, parameters: P) -> dict[str, Fraction]:
        """Every threshold of an expectation, by the parameter that has it."""
        demanded = self.demanded(parameters)
        return {} if demanded is None else {self.threshold: demanded}

    def unfailable(self, finding: Finding, parameters: P) -> tuple[str, ...]:
        """The parameters whose demand is kept by every release of as many records."""
        demanded = self.demanded(parameters)
        if demanded is None or not keeps(self._worst_figure(finding, parameters), demanded, self.comparison):
            return ()
        return (self.threshold,)

    def _worst_figure(self, finding: Finding, parameters: P) -> Fraction | float | None:
        if self.worst is not None:
            return self.worst(finding, parameters)
        return worst_share(self.parameters.model_fields[self.threshold], self.comparison)

    def faults(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        """Why an expectation cannot hold for this policy: (parameter or "", sentence)."""
        yield from Specification.faults(self, parameters, document)
        if document.conventions.suppressed == "exempt":
            yield "", ALL_COUNTED
        if "original" in self.requires and document.key is None and not document.rows_aligned:
            yield "", NO_PAIRING

    def verdict(self, finding: Finding, parameters: P) -> Verdict:
        """The figure, compared exactly with the threshold."""
        value, demanded = finding.value, self.demanded(parameters)
        if not isinstance(value, Real):
            raise CheckError(f"the check gave a {type(value).__name__}; a figure must be a real number")
        if value != value:  # noqa: PLR0124 - NaN
            raise CheckError("the check gave NaN; a figure must be a number or infinite")
        sign = 0 if demanded is None else (value > demanded) - (value < demanded)
        kept = bool(self.comparison.holds(sign))
        return Verdict(float(value), demanded, self.comparison, None if demanded is None else not kept, finding.details)


ALL_COUNTED = (
    "it counts every record, and `suppressed: exempt` would leave some out; use `counted`, or drop the suppressed "
    "records from the release"
)
NO_PAIRING = (
    "which released record came from which original is not declared; add `key:` with the attribute that both tables "
    "share, or `rows_aligned: true` if row i of one is row i of the other"
)
Check = ClassCheck[Any] | VictimCheck[Any] | TableCheck[Any]
KINDS = (ClassCheck, VictimCheck, TableCheck)


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
    kept = np.asarray(threshold.comparison.holds(measured.compare(demanded)), dtype=bool)
    return Figure(values, ~kept, threshold.comparison)
