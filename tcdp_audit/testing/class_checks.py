"""The properties of a check on equivalence classes: its specification, its figures, and its audits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from tcdp_audit.api import CheckOnClasses, Plugins
from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.testing.audits import AuditTrial
from tcdp_audit.testing.cases import cases
from tcdp_audit.testing.conformance import Subject, Suite
from tcdp_audit.testing.figures import Trial
from tcdp_audit.testing.specification import examinations_of
from tcdp_audit.testing.unfailable import PROPERTY, UnfailableTrial, is_small
from tcdp_audit.testing.variants import scales_of, variants

T = TypeVar("T")


class ClassCheckSuite(Suite):
    """A class check or an attack on classes, under every parameter to try, on every scale that it takes."""

    def __init__(self, check: CheckOnClasses[Any], given: Mapping[str, Any]) -> None:
        self.subject, self.check, self.given = Subject("check", check.name), check, given

    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """What holds the check against each property."""
        return {
            **examinations_of(self.subject, self.check),
            "scales": self._can_be_measured,
            "figures": lambda: _every(self._trials, Trial.is_sound),
            "determinism": lambda: _every(self._trials, Trial.repeats),
            "inputs are left alone": lambda: _every(self._trials, Trial.leaves_inputs_alone),
            "order of classes": lambda: _every(self._trials, Trial.ignores_order),
            "a class alone": lambda: _every(self._trials, Trial.ignores_other_classes),
            "comparison": lambda: _every(self._trials, Trial.compares),
            PROPERTY: lambda: _every(self._groupings, UnfailableTrial.run),
            "end to end": lambda: _every(self._audits, AuditTrial.is_measured),
            "shards": lambda: _every(self._audits, AuditTrial.merges_shards),
            "order of records": lambda: _every(self._audits, AuditTrial.ignores_order),
            "message": lambda: _every(self._audits, AuditTrial.has_a_message),
            "no cell in evidence": lambda: _every(self._audits, AuditTrial.tells_no_cell),
            "at the threshold": self._decides_at_the_threshold,
        }

    def _can_be_measured(self) -> None:
        self.subject.require(self._settings, "scales", "there must be a scale that the check can measure")
        for parameters, scales in self._scales:
            where = "".join(f"; {name}={value}" for name, value in parameters.figures().items())
            self.subject.require(scales, "scales", f"there must be a scale that the check can measure{where}")

    @cached_property
    def _scales(self) -> list[tuple[Parameters, list[Scale]]]:
        every = variants(self.subject, self.check, self.given)
        return [(parameters, scales_of(self.check, parameters)) for parameters in every]

    @property
    def _settings(self) -> list[tuple[Parameters, Scale]]:
        return [(parameters, scale) for parameters, scales in self._scales for scale in scales]

    @cached_property
    def _trials(self) -> list[Trial]:
        trials = [
            Trial(self.subject, self.check, figure, parameters, case, scale)
            for parameters, scale in self._settings
            for case in cases()
            for figure in self.check.measures
        ]
        self.subject.require(trials, "thresholds", "there must be at least one figure, and a scale to measure it on")
        return trials

    @cached_property
    def _groupings(self) -> list[UnfailableTrial]:
        _ = self._trials
        return [
            UnfailableTrial(self.subject, self.check, parameters, case, scale)
            for parameters, scale in self._settings
            for case in filter(is_small, cases())
        ]

    @cached_property
    def _audits(self) -> list[AuditTrial]:
        _ = self._trials
        plugins = Plugins.load(external=False)
        return [
            AuditTrial(self.subject, self.check, parameters, case, scale, plugins)
            for parameters, scale in self._settings
            for case in cases()
            if case.audited
        ]

    def _decides_at_the_threshold(self) -> None:
        _every(self._audits, AuditTrial.decides_at_the_threshold)
        for parameters, _ in self._scales:
            admissible = sum(one.admissible for one in self._audits if one.parameters is parameters)
            sentence = "none of the observed figures is accepted as a threshold; let the parameter take exact numbers"
            self.subject.require(admissible, "at the threshold", sentence)


def _every(trials: Sequence[T], examine: Callable[[T], None]) -> None:
    for trial in trials:
        examine(trial)
