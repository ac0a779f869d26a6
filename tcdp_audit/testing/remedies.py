"""Conformance of a remedy: a complete specification, and treatments that the core can rely on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import ValidationError

from tcdp_audit.api import (
    Check,
    Options,
    Plugins,
    Policy,
    Release,
    apply_treatment,
    evaluate,
    is_attempt_to_write,
    open_engine,
    read_policy,
    records_failing_on_classes,
    require_treatment,
)
from tcdp_audit.plugin.remedy import Remedy, RemedyError, RemedyParameters, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome, Status
from tcdp_audit.testing.class_figures import SHARED, STATE
from tcdp_audit.testing.conformance import ConformanceError, Subject, Suite
from tcdp_audit.testing.releases import ROLES, RemedyCase, remedy_cases
from tcdp_audit.testing.specification import example_of, parameters_conform, parameters_of

GUIDE = ("method", "choosing", "guarantees", "source", "example")
MEMORY = 2**28
TREATMENT = ("treatment", "inputs are left alone", "determinism", "no cell in evidence", "audit")
T = TypeVar("T")
RECORD = "\0record"  # the key that pairs records while a release is attacked; no column has this name


class RemedySuite(Suite):
    """A remedy on generated releases that fail their policies."""

    kind = "remedy"

    @property
    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """By property."""
        subject, remedy = self.subject, self.specification
        return {
            "specification": lambda: _specification_conforms(subject, remedy),
            "guide": lambda: _guide_conforms(subject, remedy),
            "parameters": lambda: parameters_conform(subject, remedy.parameters, RemedyParameters),
            "example": self._example_conforms,
            "suggest_parameters": self._suggestions_conform,
            **{name: partial(self._treatments_conform, name) for name in TREATMENT},
        }

    def _example_conforms(self) -> None:
        for trial in self._trials:
            _require_sound(self.subject, self.specification, self._parameters, trial.policy, "example")

    def _suggestions_conform(self) -> None:
        for trial in self._trials:
            for proposal in trial.suggestions():
                planned = parameters_of(self.subject, self.specification, proposal, "suggest_parameters")
                _require_sound(self.subject, self.specification, planned, trial.policy, "suggest_parameters")

    def _treatments_conform(self, property_: str) -> None:
        """Hold the treatments of all releases against one property; there must be a treatment of some release."""
        self._example_conforms()
        applied = [trial.examine(property_) for trial in self._trials]
        sentence = "it refused every release of the suite; give parameters that it can do"
        self.subject.require(any(applied), "treatment", sentence)

    @cached_property
    def _parameters(self) -> RemedyParameters:
        example = {**example_of(self.subject, self.specification), **self.given}
        parameters: RemedyParameters = parameters_of(self.subject, self.specification, example, "example")
        return parameters

    @cached_property
    def _trials(self) -> list[TreatmentTrial]:
        plugins = Plugins.load(external=False)
        checks = plugins.checks
        return [
            TreatmentTrial(
                self.subject, self.specification, self._parameters, case, read_policy(case.policy, plugins), checks
            )
            for case in remedy_cases()
        ]


def _specification_conforms(subject: Subject, remedy: Remedy[Any]) -> None:
    subject.require_texts({"title": remedy.title, "summary": remedy.summary}, "specification")
    is_sentence = remedy.summary.rstrip().endswith(".")
    subject.require(is_sentence, "specification", "`summary` must be a sentence with a full stop")


def _guide_conforms(subject: Subject, remedy: Remedy[Any]) -> None:
    subject.require_texts({name: getattr(remedy.guide, name) for name in GUIDE}, "guide")
    subject.require_texts(remedy.guide.notes, "guide's notes")


def _require_sound(
    subject: Subject, remedy: Remedy[Any], parameters: RemedyParameters, policy: Policy, of: str
) -> None:
    faults = "; ".join(f"{name}: {sentence}" for name, sentence in remedy.faults(parameters, policy.document))
    attributes = f"the suite's releases have {', '.join(ROLES)}"
    subject.require(not faults, of, f"`validate` refuses it: {faults} ({attributes})")


@dataclass(frozen=True)
class TreatmentTrial:
    """A remedy under some parameters on one release; of the attacks that it names, those among `checks` are known."""

    subject: Subject
    remedy: Remedy[Any]
    parameters: RemedyParameters
    case: RemedyCase
    policy: Policy
    checks: Mapping[str, Check]

    def examine(self, property_: str) -> bool:
        """Hold the treatment against one property of `TREATMENT`.

        Returns:
            Whether there was a treatment: a remedy may refuse a release by `RemedyError`.

        Raises:
            ConformanceError: the property does not hold, or there is nothing that could be held against it.
        """
        failures, is_treated = self._examined
        failure = failures.get(property_) or failures.get("treatment")
        if failure is not None:
            raise failure
        return is_treated

    @property
    def at(self) -> Subject:
        """The remedy on its case."""
        return self.subject.at(f"case: {self.case.name}")

    @cached_property
    def _examined(self) -> tuple[Mapping[str, ConformanceError], bool]:
        """Failures by property, and whether there is a treatment."""
        failures: dict[str, ConformanceError] = {}

        def hold(property_: str, examine: Callable[[], T]) -> T | None:
            try:
                return examine()
            except ConformanceError as error:
                failures[property_] = error
                return None

        with self._view() as view:
            before = _snapshot(view)
            answer = hold("treatment", lambda: self._applied(view))
            same = _snapshot(view) == before
            hold("inputs are left alone", lambda: self._leaves_alone(same))
            if answer is None:
                return failures, False
            hold("determinism", lambda: self._repeats(answer))
            hold("no cell in evidence", lambda: self._shows_no_cell(answer))
            hold("audit", lambda: self._can_be_audited(view, answer))
        return failures, True

    def _leaves_alone(self, same: bool) -> None:  # noqa: FBT001
        self.at.require(same, "inputs are left alone", "it changed what it was given", SHARED)

    def suggestions(self) -> Iterator[Mapping[str, Any]]:
        """What the remedy proposes for the release where the policy names no remedy."""
        with self._view() as view:
            failing = tuple(one for one in view.outcomes if one.blocks)
            yield from self.remedy.proposals(view, failing)

    @contextmanager
    def _view(self) -> Iterator[RemedyView]:
        with open_engine(self.case.table, MEMORY) as engine:

            def audited(treatment: Treatment) -> tuple[Outcome, ...]:
                return self._audited(apply_treatment(self.case.table, view, treatment))

            def records_failing(treatment: Treatment) -> NDArray[np.bool_]:
                with open_engine(apply_treatment(self.case.table, view, treatment), MEMORY) as treated:
                    return records_failing_on_classes(self.policy, treated, Options(MEMORY))

            outcomes = evaluate(self.policy, engine, Options(MEMORY))
            seed = self.policy.document.seed
            release = Release(engine, self.policy)
            view = RemedyView(release, outcomes, seed, audited, records_failing=records_failing)
            yield view

    def _audited(self, table: pa.Table) -> tuple[Outcome, ...]:
        with open_engine(table, MEMORY) as engine:
            return evaluate(self.policy, engine, Options(MEMORY))

    def _applied(self, view: RemedyView) -> Treatment | None:
        try:
            treatment = self.remedy.apply(view, self.parameters)
        except RemedyError as error:
            reason = str(error).strip()
            self.at.require(reason, "refusal", "a RemedyError must say which condition fails")
            self.at.require(not self.case.shows_a_cell(reason), "no cell in evidence", "a RemedyError shows a cell")
            return None
        except Exception as error:
            if is_attempt_to_write(error):
                sentence = f"it tried to change what it was given: {error}"
                raise self.at.lacks("inputs are left alone", sentence, SHARED) from error
            raise self.at.lacks("treatment", f"it raised {type(error).__name__}: {error}") from error
        try:
            require_treatment(treatment, view)
        except RemedyError as error:
            raise self.at.lacks("treatment", str(error)) from error
        faults = "; ".join(faults_of_attacks(treatment, self.policy, self.checks))
        self.at.require(not faults, "attacks", faults)
        return treatment

    def _repeats(self, treatment: Treatment) -> None:
        if self.remedy.random:
            return
        with self._view() as view:
            again = self._applied(view)
            same = again is not None and _comparable(again) == _comparable(treatment)
            self.at.require(
                same, "determinism", "the same seed gave another treatment; draw from `view.generator()`", STATE
            )

    def _shows_no_cell(self, treatment: Treatment) -> None:
        undocumented = sorted(set(treatment.notes) - set(self.remedy.guide.notes))
        self.at.require(not undocumented, "notes", f"{undocumented} are not explained in the guide's `notes`")
        text = json.dumps([dict(treatment.notes), treatment.lines], ensure_ascii=False, default=str)
        self.at.require(not self.case.shows_a_cell(text), "no cell in evidence", "its notes or lines show a cell")

    def _can_be_audited(self, view: RemedyView, treatment: Treatment) -> None:
        """The core's own table of it: the input's columns in order, all records accounted for, every cell readable."""
        table = apply_treatment(self.case.table, view, treatment)
        retained = view.records if treatment.retained is None else int(treatment.retained.sum())
        self.at.require(
            table.num_rows == retained, "records", f"{table.num_rows:,} came out where {retained:,} were kept"
        )
        same = table.column_names == self.case.table.column_names
        self.at.require(same, "columns", "the treated release has not the columns of the release, in their order")
        errors = [one for one in self._audited(table) if one.status is Status.ERROR]
        sentences = "; ".join(f"{one.check}: {one.message}" for one in errors)
        self.at.require(not errors, "audit", f"the treated release cannot be audited: {sentences}")


def _snapshot(view: RemedyView) -> dict[str, tuple[Any, ...]]:
    """Everything that a remedy is given of the records."""
    attributes = view.attributes(sorted(view.release.columns))
    return {one.name: (one.codes.tobytes(), one.domain.values.tolist(), *map(bytes, one.bounds)) for one in attributes}


def _comparable(treatment: Treatment) -> Any:
    """All of a treatment in a form that can be compared."""
    columns = {name: (one.cells.tolist(), one.codes.tolist()) for name, one in treatment.columns.items()}
    retained = None if treatment.retained is None else treatment.retained.tolist()
    return columns, retained, json.dumps(dict(treatment.notes), default=str), treatment.lines


def faults_of_attacks(treatment: Treatment, policy: Policy, checks: Mapping[str, Check]) -> Iterator[str]:
    """Faults of the attacks of a treatment; of a check that is not among those known nothing can be said."""
    for name, given in ((name, given) for attack in treatment.attacks for name, given in attack.items()):
        if name in checks:
            yield from _faults(checks[name], given, policy)


def _faults(check: Check, given: Mapping[str, Any], policy: Policy) -> Iterator[str]:
    try:
        parameters = check.parameters.model_validate(dict(given))
    except ValidationError as error:
        yield f"{check.name} refuses {', '.join(sorted({str(one['loc'][0]) for one in error.errors() if one['loc']}))}"
        return
    if check.demands(parameters):
        yield f"{check.name} has a demand, and an attack on a remedy measures only"
    document = policy.document.model_copy(update={"key": RECORD})
    yield from (f"{check.name}: {sentence}" for _, sentence in check.faults(parameters, document))
