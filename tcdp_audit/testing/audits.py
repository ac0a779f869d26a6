"""Conformance of a check inside an audit: the same figures, the same verdict, for any shards and order."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tcdp_audit.api import audit
from tcdp_audit.check.exact import Measured
from tcdp_audit.check.kinds import Check, Parameters, Threshold, VictimCheck
from tcdp_audit.outcome import Outcome, Status
from tcdp_audit.policy import Expectation, Policy, Scale
from tcdp_audit.policy.model import PolicyDocument
from tcdp_audit.registry import Plugins
from tcdp_audit.testing.cases import Case
from tcdp_audit.testing.conformance import ConformanceError, Subject
from tcdp_audit.testing.figures import Trial, exact_figures, figures_of
from tcdp_audit.testing.tables import declarations, leaked, table_of
from tcdp_audit.testing.variants import with_threshold

SHARDS = 5


@dataclass(frozen=True)
class AuditTrial:
    """A check under some parameters, audited on the records of one case."""

    subject: Subject
    check: Check
    parameters: Parameters
    case: Case
    scale: Scale
    plugins: Plugins

    def run(self) -> int:
        """Hold the outcomes against every property.

        Returns:
            How many observed figures were admissible as thresholds.

        Raises:
            ConformanceError: a property does not hold.
        """
        outcome = self._outcome(self.parameters)
        measured = outcome.status is Status.MEASURED
        self._require(measured, "end to end", f"without a threshold the status is {outcome.status}: {outcome.message}")
        sharded, shuffled = (
            self._outcome(self.parameters, shards=SHARDS),
            self._outcome(self.parameters, shuffle=1),
        )
        self._same(outcome, sharded, "shards", f"{SHARDS} shards gave another outcome than one")
        self._same(outcome, shuffled, "order of records", "shuffled records gave another outcome")
        self._tells_no_cell(outcome)
        return sum(map(self._at_threshold, figures_of(self.check)))

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

    def _at_threshold(self, figure: Threshold[Any]) -> int:
        """Demand the exact observed figure: the declared comparison alone decides."""
        trial = Trial(self.subject, self.check, figure, self.parameters, self.case, self.scale)
        measured = trial.measured()
        exact = self._observed(figure, measured)
        demanding = None if exact is None else with_threshold(self.parameters, figure.parameter, exact)
        if exact is None or demanding is None or Fraction(getattr(demanding, figure.parameter)) != exact:
            return 0
        if any(name == figure.parameter for name, _ in self.check.faults(demanding, self._document(demanding))):
            return 1  # measured only under these parameters, and a sentence at the threshold says so
        holds = np.all(figure.comparison.holds(np.asarray(measured.compare(exact))))
        is_attack = isinstance(self.check, VictimCheck)  # its share is at most itself
        self._decided(self._outcome(demanding), exact, figure.comparison.value, holds=is_attack or bool(holds))
        return 1

    def _observed(self, figure: Threshold[Any], measured: Measured) -> Fraction | None:
        """What the outcome reports, exactly: the worst class, or the share of records in victims' classes."""
        if isinstance(self.check, VictimCheck):
            size = self.case.counts.sum(axis=1)
            return Fraction(int(size[measured.values > 0].sum()), int(size.sum()))
        best = np.argmin if figure.comparison.higher_is_safer else np.argmax
        return list(exact_figures(measured))[int(best(measured.values))]

    def _decided(self, outcome: Outcome, exact: Fraction, comparison: str, *, holds: bool) -> None:
        expected = Status.PASSED if holds else Status.FAILED
        decided = outcome.status is expected or (holds and bool(outcome.unfailable))
        message = f"at the observed figure {exact} itself, {comparison} must give {expected}, not {outcome.status}"
        self._require(decided, "at the threshold", message)
        self._tells_no_cell(outcome)

    def _tells_no_cell(self, outcome: Outcome) -> None:
        self._require(outcome.message.strip(), "message", "an outcome must be told in a sentence")
        told = json.dumps(outcome.as_json(), ensure_ascii=False)
        self._require(not leaked(told, self.case, self.scale), "no cell in evidence", "an outcome shows a cell")

    def _same(self, one: Outcome, other: Outcome, property_: str, sentence: str) -> None:
        self._require(json.dumps(one.as_json()) == json.dumps(other.as_json()), property_, sentence)

    def _require(self, held: object, property_: str, sentence: str) -> None:
        if not held:
            raise self._lacks(property_, sentence)

    def _lacks(self, property_: str, sentence: str) -> ConformanceError:
        return self.subject.lacks(property_, f"{sentence} (case: {self.case.name}; scale: {self.scale.value})")
