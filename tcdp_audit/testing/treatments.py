"""Conformance of what a remedy does: on generated releases, with the properties that the core relies on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from tcdp_audit.api import Check, Options, Policy, Release, evaluate, is_attempt_to_write, open_engine, treated
from tcdp_audit.plugin.remedy import NewColumn, Remedy, RemedyError, RemedyParameters, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome, Status
from tcdp_audit.testing.conformance import ConformanceError, Subject
from tcdp_audit.testing.named_attacks import faults_of_attacks
from tcdp_audit.testing.remedy_cases import RemedyCase

MEMORY = 2**28
TREATMENT = ("treatment", "inputs are left alone", "determinism", "no cell in evidence", "audit")
T = TypeVar("T")


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
        failure = self._failures.get(property_) or self._failures.get("treatment")
        if failure is not None:
            raise failure
        return self._applied_at_all

    @property
    def _applied_at_all(self) -> bool:
        return self._examined[1]

    @property
    def _failures(self) -> Mapping[str, ConformanceError]:
        return self._examined[0]

    @cached_property
    def _examined(self) -> tuple[Mapping[str, ConformanceError], bool]:
        """What does not hold, by property, and whether there is a treatment."""
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
            hold(
                "inputs are left alone",
                lambda: self._require(same, "inputs are left alone", "it changed what it was given"),
            )
            if answer is None:
                return failures, False
            hold("treatment", lambda: self._fits(view, answer))
            if "treatment" not in failures:
                hold("determinism", lambda: self._repeats(answer))
                hold("no cell in evidence", lambda: self._tells_no_cell(answer))
                hold("audit", lambda: self._can_be_audited(view, answer))
        return failures, True

    def suggestions(self) -> Iterator[Mapping[str, Any]]:
        """What the remedy proposes for the release where the policy names no remedy."""
        with self._view() as view:
            failing = tuple(one for one in view.outcomes if one.status in (Status.FAILED, Status.ERROR))
            yield from list(self.remedy.suggest_parameters(view, failing))

    @contextmanager
    def _view(self) -> Iterator[RemedyView]:
        with open_engine(self.case.table, MEMORY) as engine:

            def audited(treatment: Treatment) -> tuple[Outcome, ...]:
                return self._audited(treated(self.case.table, view, treatment))

            outcomes = evaluate(self.policy, engine, Options(MEMORY))
            view = RemedyView(Release(engine, self.policy), outcomes, self.policy.document.seed, audited)
            yield view

    def _audited(self, table: pa.Table) -> tuple[Outcome, ...]:
        with open_engine(table, MEMORY) as engine:
            return evaluate(self.policy, engine, Options(MEMORY))

    def _applied(self, view: RemedyView) -> Treatment | None:
        try:
            treatment = self.remedy.apply(view, self.parameters)
        except RemedyError as error:
            said = str(error).strip()
            self._require(said, "refusal", "a RemedyError must say which condition fails")
            self._require(not self.case.tells_a_cell(said), "no cell in evidence", "a RemedyError shows a cell")
            return None
        except Exception as error:
            if is_attempt_to_write(error):
                raise self._lacks("inputs are left alone", f"it tried to change what it was given: {error}") from error
            raise self._lacks("treatment", f"it raised {type(error).__name__}: {error}") from error
        sentence = f"`apply` gave a {type(treatment).__name__}, not a Treatment"
        self._require(isinstance(treatment, Treatment), "treatment", sentence)
        return treatment

    def _fits(self, view: RemedyView, treatment: Treatment) -> None:
        """Existing columns, a code for every record, and at least one record that stays."""
        for name, column in treatment.columns.items():
            known = name in view.release.columns
            self._require(known, "columns", f"it changed a column {name!r}, which the release does not have")
            self._column_fits(name, column, view.records)
        if treatment.retained is not None:
            shape = treatment.retained.dtype == bool and treatment.retained.shape == (view.records,)
            self._require(shape, "retained", "it must be one bool for each record, or None")
            self._require(
                treatment.retained.any(), "retained", "a remedy that would drop every record raises RemedyError"
            )
        faults = "; ".join(faults_of_attacks(treatment, self.policy, self.checks))
        self._require(not faults, "attacks", faults)

    def _column_fits(self, name: str, column: NewColumn, records: int) -> None:
        codes, cells = column.codes, column.cells
        self._require(cells.dtype.kind in "ifO", "cells", f"those of {name!r} must be int64, float64 or text as object")
        sound = all(isinstance(one, str) for one in cells) if cells.dtype == object else bool(np.isfinite(cells).all())
        self._require(
            sound, "cells", f"one of {name!r} is no text and no finite number; no value is the code len(cells)"
        )
        shape = codes.dtype.kind in "iu" and codes.shape == (records,)
        self._require(shape, "codes", f"{name!r} must have one whole number for each of the {records:,} records")
        inside = bool(((codes >= 0) & (codes <= len(cells))).all())
        self._require(inside, "codes", f"those of {name!r} must be positions in its cells, or len(cells) for no value")

    def _repeats(self, treatment: Treatment) -> None:
        if self.remedy.random:
            return
        with self._view() as view:
            again = self._applied(view)
            same = again is not None and _comparable(again) == _comparable(treatment)
            self._require(same, "determinism", "the same seed gave another treatment; draw from `view.generator()`")

    def _tells_no_cell(self, treatment: Treatment) -> None:
        undocumented = sorted(set(treatment.notes) - set(self.remedy.guide.notes))
        self._require(not undocumented, "notes", f"{undocumented} are not explained in the guide's `notes`")
        text = json.dumps([dict(treatment.notes), treatment.lines], ensure_ascii=False, default=str)
        self._require(not self.case.tells_a_cell(text), "no cell in evidence", "its notes or lines show a cell")

    def _can_be_audited(self, view: RemedyView, treatment: Treatment) -> None:
        """The core's own table of it: the input's columns in order, all records accounted for, every cell readable."""
        table = treated(self.case.table, view, treatment)
        kept = view.records if treatment.retained is None else int(treatment.retained.sum())
        self._require(table.num_rows == kept, "records", f"{table.num_rows:,} came out where {kept:,} were kept")
        same = table.column_names == self.case.table.column_names
        self._require(same, "columns", "the treated release has not the columns of the release, in their order")
        errors = [one for one in self._audited(table) if one.status is Status.ERROR]
        sentences = "; ".join(f"{one.check}: {one.message}" for one in errors)
        self._require(not errors, "audit", f"the treated release cannot be audited: {sentences}")

    def _require(self, holds: object, property_: str, sentence: str) -> None:
        if not holds:
            raise self._lacks(property_, sentence)

    def _lacks(self, property_: str, sentence: str) -> ConformanceError:
        return self.subject.lacks(property_, f"{sentence} (case: {self.case.name})")


def _snapshot(view: RemedyView) -> dict[str, tuple[Any, ...]]:
    """Everything that a remedy is given of the records."""
    attributes = view.attributes(sorted(view.release.columns))
    return {one.name: (one.codes.tobytes(), one.domain.values.tolist(), *map(bytes, one.bounds)) for one in attributes}


def _comparable(treatment: Treatment) -> Any:
    """All of a treatment in a form that can be compared."""
    columns = {name: (one.cells.tolist(), one.codes.tolist()) for name, one in treatment.columns.items()}
    kept = None if treatment.retained is None else treatment.retained.tolist()
    return columns, kept, json.dumps(dict(treatment.notes), default=str), treatment.lines
