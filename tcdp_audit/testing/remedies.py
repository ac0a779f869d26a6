"""Conformance of a remedy: a complete specification, and treatments that the core can rely on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

from tcdp_audit.api import Plugins, Policy, read_policy
from tcdp_audit.plugin.remedy import Remedy, RemedyParameters
from tcdp_audit.testing.conformance import Subject, Suite
from tcdp_audit.testing.remedy_cases import ROLES, remedy_cases
from tcdp_audit.testing.specification import example_of, parameters_conform, parameters_of
from tcdp_audit.testing.treatments import TREATMENT, TreatmentTrial

GUIDE = ("method", "choosing", "guarantees", "source", "example")


class RemedySuite(Suite):
    """A remedy on generated releases that fail their policies."""

    def __init__(self, remedy: Remedy[Any], given: Mapping[str, Any]) -> None:
        self.subject, self.remedy, self.given = Subject("remedy", remedy.name), remedy, given

    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """What holds the remedy against each property."""
        subject, remedy = self.subject, self.remedy
        return {
            "name": lambda: subject.require_name(remedy.name),
            "specification": lambda: _specification_conforms(subject, remedy),
            "guide": lambda: _guide_conforms(subject, remedy),
            "parameters": lambda: parameters_conform(subject, remedy.parameters, RemedyParameters),
            "example": self._example_conforms,
            "plan": self._plans_conform,
            **{name: partial(self._treatments_conform, name) for name in TREATMENT},
        }

    def _example_conforms(self) -> None:
        for trial in self._trials:
            _require_sound(self.subject, self.remedy, self._parameters, trial.policy, "example")

    def _plans_conform(self) -> None:
        for trial in self._trials:
            for proposal in trial.plans():
                planned = parameters_of(self.subject, self.remedy, proposal, "plan")
                _require_sound(self.subject, self.remedy, planned, trial.policy, "plan")

    def _treatments_conform(self, property_: str) -> None:
        """Hold the treatments of all releases against one property; there must be a treatment of some release."""
        self._example_conforms()
        applied = [trial.examine(property_) for trial in self._trials]
        sentence = "it refused every release of the suite; give parameters that it can do"
        self.subject.require(any(applied), "treatment", sentence)

    @cached_property
    def _parameters(self) -> RemedyParameters:
        example = {**example_of(self.subject, self.remedy), **self.given}
        parameters: RemedyParameters = parameters_of(self.subject, self.remedy, example, "example")
        return parameters

    @cached_property
    def _trials(self) -> list[TreatmentTrial]:
        plugins = Plugins.load(external=False)
        checks = plugins.checks
        return [
            TreatmentTrial(self.subject, self.remedy, self._parameters, case, read_policy(case.policy, plugins), checks)
            for case in remedy_cases()
        ]


def _specification_conforms(subject: Subject, remedy: Remedy[Any]) -> None:
    subject.require_texts({"title": remedy.title, "summary": remedy.summary}, "specification")
    sentence = remedy.summary.rstrip().endswith(".")
    subject.require(sentence, "specification", "`summary` must be a sentence with a full stop")
    for name in ("apply", "validate", "plan"):
        subject.require(callable(getattr(remedy, name)), "specification", f"`{name}` must be a function")


def _guide_conforms(subject: Subject, remedy: Remedy[Any]) -> None:
    subject.require_texts({name: getattr(remedy.guide, name) for name in GUIDE}, "guide")
    subject.require_texts(remedy.guide.notes, "guide's notes")


def _require_sound(
    subject: Subject, remedy: Remedy[Any], parameters: RemedyParameters, policy: Policy, of: str
) -> None:
    faults = "; ".join(f"{name}: {sentence}" for name, sentence in remedy.validate(parameters, policy.document))
    attributes = f"the suite's releases have {', '.join(ROLES)}"
    subject.require(not faults, of, f"`validate` refuses it: {faults} ({attributes})")
