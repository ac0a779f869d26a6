"""The properties of a check on equivalence classes: its specification, its figures, and its audits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tcdp_audit.api import Expectation, Plugins, Policy, audit
from tcdp_audit.plugin.check import Measured, Need, Parameters, Threshold
from tcdp_audit.plugin.detector import PolicyDocument, Scale
from tcdp_audit.plugin.sentences import Outcome, Status
from tcdp_audit.testing.cases import QUASI_IDENTIFIER, cases, declarations, leaked, table_of
from tcdp_audit.testing.class_figures import (
    OTHERS,
    PROPERTY,
    Setting,
    Trial,
    UnfailableTrial,
    exact_figures,
    is_small,
)
from tcdp_audit.testing.conformance import AuditedTrial, Subject, Suite, every
from tcdp_audit.testing.specification import (
    NOT_ADMISSIBLE,
    examinations_of,
    scales_of,
    shown_parameters,
    variants,
    with_threshold,
)

SHARDS = 5


class ClassCheckSuite(Suite):
    """A class check or an attack on classes, under every parameter to try, on every scale that it takes."""

    kind = "check"

    @property
    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """By property."""
        return {
            **examinations_of(self.subject, self.specification),
            "scales": self._can_be_measured,
            "figures": lambda: every(self._trials, Trial.is_sound),
            "determinism": lambda: every(self._trials, Trial.repeats),
            "inputs are left alone": lambda: every(self._trials, Trial.leaves_inputs_alone),
            "order of classes": lambda: every(self._trials, Trial.ignores_order),
            "a class alone": lambda: every(self._trials, Trial.ignores_other_classes),
            "comparison": lambda: every(self._trials, Trial.compares),
            PROPERTY: lambda: every(self._groupings, UnfailableTrial.run),
            "end to end": lambda: every(self._audits, ClassAuditTrial.is_measured),
            "shards": lambda: every(self._audits, ClassAuditTrial.merges_shards),
            "order of records": lambda: every(self._audits, ClassAuditTrial.ignores_order),
            "message": lambda: every(self._audits, ClassAuditTrial.has_a_message),
            "no cell in evidence": lambda: every(self._audits, ClassAuditTrial.shows_no_cell),
            "at the threshold": self._decides_at_the_threshold,
        }

    def _can_be_measured(self) -> None:
        for parameters, scales in self._scales:
            at, sentence = self.subject.at(shown_parameters(parameters)), "there must be a scale that the check takes"
            at.require(scales, "scales", sentence, "`scales` gives an empty set; None stands for every scale")

    @cached_property
    def _scales(self) -> list[tuple[Parameters, list[Scale]]]:
        example, *choices = variants(self.subject, self.specification, self.given)
        tried = [example, *(one for one in choices if not self._is_refused(one))]
        return [(parameters, scales_of(self.specification, parameters)) for parameters in tried]

    def _is_refused(self, parameters: Parameters) -> bool:
        """True if `validate` refuses a choice on every scale: it does not go with the other parameters."""
        first, scales = next(iter(cases())), scales_of(self.specification, parameters)
        settings = [Setting(self.subject, self.specification, parameters, first, scale) for scale in scales]
        faults = [[*self.specification.faults(parameters, _document(one, parameters))] for one in settings]
        return bool(faults) and all(faults)

    @cached_property
    def _settings(self) -> list[Setting]:
        settings = [
            Setting(self.subject, self.specification, parameters, case, scale)
            for parameters, scales in self._scales
            for scale in scales
            for case in cases()
        ]
        measurable = settings and self.specification.measures
        self.subject.require(
            measurable, "thresholds", "there must be at least one figure, and a scale to measure it on"
        )
        return settings

    @cached_property
    def _trials(self) -> list[Trial]:
        return [Trial(setting, figure) for setting in self._settings for figure in self.specification.measures]

    @cached_property
    def _groupings(self) -> list[UnfailableTrial]:
        return [UnfailableTrial(setting) for setting in self._settings if is_small(setting.case)]

    @cached_property
    def _audits(self) -> list[ClassAuditTrial]:
        plugins = Plugins.load(external=False)
        return [ClassAuditTrial(setting, plugins) for setting in self._settings if setting.case.audited]

    def _decides_at_the_threshold(self) -> None:
        every(self._audits, ClassAuditTrial.decides_at_the_threshold)
        for parameters, _ in self._scales:
            admissible = sum(one.admissible for one in self._audits if one.setting.parameters is parameters)
            self.subject.require(admissible, "at the threshold", NOT_ADMISSIBLE)


@dataclass(frozen=True)
class _Demand:
    """An observed figure as the threshold, the outcome, and whether the figure keeps itself."""

    text: str
    outcome: Outcome | None = None
    holds: bool = False


@dataclass(frozen=True)
class ClassAuditTrial(AuditedTrial):
    """A check in one setting, audited on the records of its case."""

    setting: Setting
    plugins: Plugins

    @property
    def at(self) -> Subject:
        """The check on its case."""
        return self.setting.at

    @cached_property
    def measured(self) -> Outcome:  # pyright: ignore[reportIncompatibleMethodOverride] - a property that is computed once
        """Outcome of an audit without a threshold."""
        return self._outcome(self.setting.parameters)

    def is_measured(self) -> None:
        """Hold the outcome without a threshold against what was asked for."""
        status = self.measured.status
        sentence = f"without a threshold, expected the status measured, got {status}: {self.measured.message}"
        self.at.require(status is Status.MEASURED, "end to end", sentence)

    def merges_shards(self) -> None:
        """Hold the outcome against that of several shards."""
        sharded = self._outcome(self.setting.parameters, shards=SHARDS)
        self.require_same(sharded, "shards", f"{SHARDS} shards gave another outcome than one", OTHERS)

    def ignores_order(self) -> None:
        """Hold the outcome against that of the records in another order."""
        shuffled = self._outcome(self.setting.parameters, shuffle=1)
        cause = "a figure that reads classes or values in their order; count or sort them first"
        self.require_same(shuffled, "order of records", "shuffled records gave another outcome", cause)

    def shows_a_cell(self, text: str) -> bool:
        """True if a text shows a cell of the case."""
        return leaked(text, self.setting.case, self.setting.scale)

    def decides_at_the_threshold(self) -> None:
        """Demand each exact observed figure: the declared comparison alone decides."""
        for demand in self._demands:
            if demand.outcome is not None:
                self.require_decided(demand.outcome, holds=demand.holds, demand=demand.text)

    @property
    def admissible(self) -> int:
        """Number of observed figures that the check takes as thresholds."""
        return len(self._demands)

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcome without a threshold, then those of demands."""
        return [self.measured, *(one.outcome for one in self._demands if one.outcome is not None)]

    @cached_property
    def _demands(self) -> list[_Demand]:
        return [demand for figure in self.setting.check.measures if (demand := self._at_threshold(figure)) is not None]

    def _outcome(self, parameters: Parameters, *, shards: int = 1, shuffle: int | None = None) -> Outcome:
        policy = self._policy(parameters)
        table = table_of(self.setting.case, self.setting.scale, shuffle).select(list(policy.document.attributes))
        outcomes = audit(table, policy, plugins=self.plugins, shards=shards).expectations
        self.at.require(len(outcomes) == 1, "end to end", f"expected one outcome, got {len(outcomes)}")
        return outcomes[0]

    def _policy(self, parameters: Parameters) -> Policy:
        document = _document(self.setting, parameters)
        faults = "; ".join(sentence for _, sentence in self.setting.check.faults(parameters, document))
        cause = "`scales` names what `validate` refuses; let both say the same"
        self.at.require(not faults, "scales", f"the check refuses a scale that it declares: {faults}", cause)
        return Policy(document, (Expectation(self.setting.check, parameters),), text="")

    def _at_threshold(self, figure: Threshold[Any]) -> _Demand | None:
        """The exact observed figure demanded; None where the parameter does not take it."""
        check = self.setting.check
        measured = Trial(self.setting, figure).all_measured
        exact = self._observed(figure, measured)
        demanding = None if exact is None else with_threshold(self.setting.parameters, figure.parameter, exact)
        if exact is None or demanding is None or Fraction(getattr(demanding, figure.parameter)) != exact:
            return None
        text = f"{figure.comparison.value} {exact}, the observed figure itself,"
        if any(name == figure.parameter for name, _ in check.faults(demanding, _document(self.setting, demanding))):
            return _Demand(text)  # it says that it is measured only
        holds = not check.judges_each_class  # a share is at most itself
        holds = holds or bool(np.all(figure.comparison.holds(np.asarray(measured.compare(exact)))))
        return _Demand(text, self._outcome(demanding), holds=holds)

    def _observed(self, figure: Threshold[Any], measured: Measured) -> Fraction | None:
        """Exact figure that the outcome reports: the worst class, or the share of records in victims' classes."""
        if not self.setting.check.judges_each_class:
            size = self.setting.case.counts.sum(axis=1)
            return Fraction(int(size[measured.values > 0].sum()), int(size.sum()))
        best = np.argmin if figure.comparison.higher_is_safer else np.argmax
        return list(exact_figures(measured))[int(best(measured.values))]


def _document(setting: Setting, parameters: Parameters) -> PolicyDocument:
    """A policy of one expectation on the records of a case."""
    hierarchy = setting.check.needs_hierarchy(parameters)
    attributes = declarations(setting.case, setting.scale, hierarchy=hierarchy)
    if Need.WHOLE_RECORDS in setting.check.needs:
        attributes = {name: one for name, one in attributes.items() if name == QUASI_IDENTIFIER}
    content = {"version": 1, "attributes": attributes, "expect": [{setting.check.name: None}]}
    return PolicyDocument.model_validate(content)
