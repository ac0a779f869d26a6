"""Conformance of a check on equivalence classes: its specification, its figures, and its audits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcdp_audit.check.kinds import Check, Parameters, TableCheck
from tcdp_audit.policy import Scale
from tcdp_audit.registry import Plugins
from tcdp_audit.testing.audits import AuditTrial
from tcdp_audit.testing.cases import cases
from tcdp_audit.testing.conformance import Subject
from tcdp_audit.testing.figures import Trial, figures_of
from tcdp_audit.testing.specification import specification_conforms
from tcdp_audit.testing.unfailable import UnfailableTrial, is_small
from tcdp_audit.testing.variants import scales_of, variants


def class_check_conforms(check: Check, given: Mapping[str, Any]) -> None:
    """Hold a class check or an attack on classes against everything that the core relies on.

    Raises:
        ConformanceError: it does not conform.
    """
    subject = Subject("check", check.name)
    specification_conforms(subject, check)
    for parameters in variants(subject, check, given):
        scales = scales_of(check, parameters)
        subject.require(scales, "scales", "there must be a scale that the check can measure")
        for scale in scales:
            _figures_conform(subject, check, parameters, scale)
            _unfailable_conform(subject, check, parameters, scale)
        _audits_conform(subject, check, parameters, scales)


def _figures_conform(subject: Subject, check: Check, parameters: Parameters, scale: Scale) -> None:
    for case in cases():
        for figure in figures_of(check):
            Trial(subject, check, figure, parameters, case, scale).run()


def _unfailable_conform(subject: Subject, check: Check, parameters: Parameters, scale: Scale) -> None:
    if isinstance(check, TableCheck):
        return  # what a release could be at its worst is not known without the tables
    for case in filter(is_small, cases()):
        UnfailableTrial(subject, check, parameters, case, scale).run()


def _audits_conform(subject: Subject, check: Check, parameters: Parameters, scales: list[Scale]) -> None:
    plugins = Plugins.load(external=False)
    admissible = 0
    for scale in scales:
        for case in (case for case in cases() if case.audited):
            admissible += AuditTrial(subject, check, parameters, case, scale, plugins).run()
    sentence = "none of the observed figures is accepted as a threshold; let the parameter take exact numbers"
    subject.require(admissible, "at the threshold", sentence)
