"""Conformance of a remedy: a complete specification, and treatments that the core can rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcdp_audit.policy import Policy, read_policy
from tcdp_audit.registry import Plugins
from tcdp_audit.remedy.remedy import Remedy, RemedyParameters
from tcdp_audit.testing.conformance import Subject
from tcdp_audit.testing.remedy_cases import ROLES, remedy_cases
from tcdp_audit.testing.specification import example_of, parameters_conform, parameters_of
from tcdp_audit.testing.treatments import TreatmentTrial

GUIDE = ("method", "choosing", "guarantees", "source", "example")


def remedy_conforms(remedy: Remedy[Any], given: Mapping[str, Any]) -> None:
    """Hold a remedy against everything that the core relies on.

    Raises:
        ConformanceError: it does not conform.
    """
    subject = Subject("remedy", remedy.name)
    _specification_conforms(subject, remedy)
    example = {**example_of(subject, remedy), **given}
    parameters = parameters_of(subject, remedy, example, "example")
    plugins = Plugins.load(external=False)
    applied = False
    for case in remedy_cases():
        policy = read_policy(case.policy, plugins)
        _require_sound(subject, remedy, parameters, policy, "example")
        trial = TreatmentTrial(subject, remedy, parameters, case, policy)
        applied |= trial.run()
        for proposal in trial.plans():
            planned = parameters_of(subject, remedy, proposal, "plan")
            _require_sound(subject, remedy, planned, policy, "plan")
    subject.require(applied, "treatment", "it refused every release of the suite; give parameters that it can do")


def _specification_conforms(subject: Subject, remedy: Remedy[Any]) -> None:
    subject.require_name(remedy.name)
    subject.require_texts({"title": remedy.title, "summary": remedy.summary}, "specification")
    sentence = remedy.summary.rstrip().endswith(".")
    subject.require(sentence, "specification", "`summary` must be a sentence with a full stop")
    subject.require_texts({name: getattr(remedy.guide, name) for name in GUIDE}, "guide")
    subject.require_texts(remedy.guide.notes, "guide's notes")
    for name in ("apply", "validate", "plan"):
        subject.require(callable(getattr(remedy, name)), "specification", f"`{name}` must be a function")
    parameters_conform(subject, remedy.parameters, RemedyParameters)


def _require_sound(
    subject: Subject, remedy: Remedy[Any], parameters: RemedyParameters, policy: Policy, of: str
) -> None:
    faults = "; ".join(f"{name}: {sentence}" for name, sentence in remedy.validate(parameters, policy.document))
    attributes = f"the suite's releases have {', '.join(ROLES)}"
    subject.require(not faults, of, f"`validate` refuses it: {faults} ({attributes})")
