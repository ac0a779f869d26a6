"""Conformance of a check inside an audit: the same figures, the same verdict, for any shards and order."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tcdp_audit.api import CheckOnClasses, Expectation, Plugins, Policy, audit
from tcdp_audit.plugin.check import Measured, Parameters, Threshold
from tcdp_audit.plugin.detector import PolicyDocument, Scale
from tcdp_audit.plugin.sentences import Outcome, Status
from tcdp_audit.testing.cases import Case
from tcdp_audit.testing.conformance import ConformanceError, Subject
from tcdp_audit.testing.figures import Trial, exact_figures
from tcdp_audit.testing.tables import declarations, leaked, table_of
from tcdp_audit.testing.variants import with_threshold

SHARDS = 5


@dataclass(frozen=True)
class _Demand:
    """An observed figure as the threshold, what came of it, and whether it keeps itself."""

    exact: Fraction
    comparison: str
    outcome: Outcome | None = None
    holds: bool = False


@dataclass(frozen=True)
class AuditTrial:
    """A check under some parameters, audited on the records of one case."""

    subject: Subject
    check: CheckOnClasses[Any]
    parameters: Parameters
    case: Case
    scale: Scale
    plugins: Plugins

    @cached_property
    def measured(self) -> Outcome:
        """What an audit says without a threshold."""
        return self._outcome(self.parameters)

    def is_measured(self) -> None:
        """Hold the outcome without a threshold against what was asked for."""
        status = self.measured.status
        sentence = f"without a threshold the status is {status}: {self.measured.message}"
        self._require(status is Status.MEASURED, "end to end", sentence)

    def merges_shards(self) -> None:
        """Hold the outcome against that of several shards."""
        sharded = self._outcome(self.parameters, shards=SHARDS)
        self._same(self.measured, sharded, "shards", f"{SHARDS} shards gave another outcome than one")

    def ignores_order(self) -> None:
        """Hold the outcome against that of the records in another order."""
        shuffled = self._outcome(self.parameters, shuffle=1)
        self._same(self.measured, shuffled, "order of records", "shuffled records gave another outcome")

    def has_a_message(self) -> None:
        """Insist that every outcome is told in a sentence."""
        for outcome in self._every_outcome:
            self._require(outcome.message.strip(), "message", "an outcome must be told in a sentence")

    def tells_no_cell(self) -> None:
        """Insist that no outcome shows a cell."""
        for outcome in self._every_outcome:
            text = json.dumps(outcome.as_json(), ensure_ascii=False)
            self._require(not leaked(text, self.case, self.scale), "no cell in evidence", "an outcome shows a cell")

    def decides_at_the_threshold(self) -> None:
        """Demand each exact observed figure: the declared comparison alone decides."""
        for demand in self._demands:
            if demand.outcome is not None:
                self._decided(demand.outcome, demand.exact, demand.comparison, holds=demand.holds)

    @property
    def admissible(self) -> int:
        """How many observed figures are thresholds that the check takes."""
        return len(self._demands)

    @property
    def _every_outcome(self) -> list[Outcome]:
        return [self.measured, *(one.outcome for one in self._demands if one.outcome is not None)]

    @cached_property
    def _demands(self) -> list[_Demand]:
        return [demand for figure in self.check.measures if (demand := self._at_threshold(figure)) is not None]

    def _outcome(self, parameters: Parameters, *, shards: int = 1, shuffle: int | None = None) -> Outcome:
        policy = self._policy(parameters)
        table = table_of(self.case, self.scale, shuffle)
        outcomes = audit(table, policy, plugins=self.plugins, shards=shards).expectations
        self._require(len(outcomes) == 1, "end to end", f"{len(outcomes)} outcomes came for one expectation")
        return outcomes[0]

    def _policy(self, parameters: Parameters) -> Policy:
        document = self._document(parameters)
        faults = "; ".join(sentence for _, sentence in self.check.faults(parameters, document))
        self._require(not faults, "scales", f"the check refuses a scale that it declares: {faults}")
        return Policy(document, (Expectation(self.check, parameters),), text="")

    def _document(self, parameters: Parameters) -> PolicyDocument:
        hierarchy = self.check.needs_hierarchy(parameters)
        attributes, expect = declarations(self.case, self.scale, hierarchy=hierarchy), [{self.check.name: None}]
        return PolicyDocument.model_validate({"version": 1, "attributes": attributes, "expect": expect})

    def _at_threshold(self, figure: Threshold[Any]) -> _Demand | None:
        """The exact observed figure demanded; None where the parameter does not take it."""
        trial = Trial(self.subject, self.check, figure, self.parameters, self.case, self.scale)
        measured = trial.all_measured
        exact = self._observed(figure, measured)
        demanding = None if exact is None else with_threshold(self.parameters, figure.parameter, exact)
        if exact is None or demanding is None or Fraction(getattr(demanding, figure.parameter)) != exact:
            return None
        comparison = figure.comparison.value
        if any(name == figure.parameter for name, _ in self.check.faults(demanding, self._document(demanding))):
            return _Demand(exact, comparison)  # it says that it is measured only
        holds = not self.check.judges_each_class  # a share is at most itself
        holds = holds or bool(np.all(figure.comparison.holds(np.asarray(measured.compare(exact)))))
        return _Demand(exact, comparison, self._outcome(demanding), holds=holds)

    def _observed(self, figure: Threshold[Any], measured: Measured) -> Fraction | None:
        """What the outcome reports, exactly: the worst class, or the share of records in victims' classes."""
        if not self.check.judges_each_class:
            size = self.case.counts.sum(axis=1)
            return Fraction(int(size[measured.values > 0].sum()), int(size.sum()))
        best = np.argmin if figure.comparison.higher_is_safer else np.argmax
        return list(exact_figures(measured))[int(best(measured.values))]

    def _decided(self, outcome: Outcome, exact: Fraction, comparison: str, *, holds: bool) -> None:
        expected = Status.PASSED if holds else Status.FAILED
        decided = outcome.status is expected or (holds and bool(outcome.unfailable))
        message = f"at the observed figure {exact} itself, {comparison} must give {expected}, not {outcome.status}"
        self._require(decided, "at the threshold", message)

    def _same(self, one: Outcome, other: Outcome, property_: str, sentence: str) -> None:
        self._require(json.dumps(one.as_json()) == json.dumps(other.as_json()), property_, sentence)

    def _require(self, holds: object, property_: str, sentence: str) -> None:
        if not holds:
            raise self._lacks(property_, sentence)

    def _lacks(self, property_: str, sentence: str) -> ConformanceError:
        return self.subject.lacks(property_, f"{sentence} (case: {self.case.name}; scale: {self.scale.value})")
