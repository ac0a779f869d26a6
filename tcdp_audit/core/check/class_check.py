"""A check on equivalence classes: a figure for each class, and thresholds that every class must keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.evidence import ClassEvidence
from tcdp_audit.core.check.exact import as_measured
from tcdp_audit.core.check.on_classes import CheckOnClasses, Figure
from tcdp_audit.core.check.parameters import Parameters
from tcdp_audit.core.check.specification import P
from tcdp_audit.core.check.summary import ClassSummary
from tcdp_audit.core.check.threshold import Threshold
from tcdp_audit.core.check.unfailable import SingletonClasses, keeps, worst_share
from tcdp_audit.core.check.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class ClassCheck(CheckOnClasses[P]):
    """A check on equivalence classes: every class must keep every threshold; the worst class is the verdict.

    Args:
        thresholds: what each class must keep; the first is the headline figure.
        details: named figures of the whole release beyond the worst class, from the merged summaries.
        worst_classes: classes that records of a release could form, among them one with the worst figure of all that
            they could form. It shows which demands nothing can fail. By default those of one record each if the check
            is `monotone`; where it is not, only `at_most: 1` of a share is taken for such a demand.
    """

    judges_each_class: ClassVar[bool] = True
    passes_if: ClassVar[str] = "Passes if, for every equivalence class,"

    thresholds: tuple[Threshold[P], ...]
    details: Callable[[Sequence[ClassSummary]], Mapping[str, Any]] = field(default=lambda _: {})
    worst_classes: Callable[[SingletonClasses, P], ClassEvidence] | None = None

    @property
    def measures(self) -> tuple[Threshold[P], ...]:
        """The thresholds."""
        return self.thresholds

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
        headline = summaries[0]
        demands = self.demands(parameters)
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

    def said_to_be_worst(self, finest: SingletonClasses, parameters: P) -> ClassEvidence | None:
        """Those of `worst_classes`."""
        return None if self.worst_classes is None else self.worst_classes(finest, parameters)

    def of_each_class(self, parameters: P) -> P:
        """The same: every class must keep them."""
        return parameters


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
