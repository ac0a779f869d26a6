"""A check on tables under some parameters, measured and audited on the tables of one case."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.api import (
    BorrowedEngine,
    Expectation,
    Options,
    Plugins,
    Policy,
    evaluate,
    is_attempt_to_write,
    open_engine,
    plain_figures,
)
from tcdp_audit.plugin.check import CheckError, Limit, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Detector
from tcdp_audit.plugin.engine import Engine
from tcdp_audit.plugin.sentences import Outcome, Status
from tcdp_audit.testing.conformance import ConformanceError, Subject
from tcdp_audit.testing.table_cases import TableCase
from tcdp_audit.testing.variants import with_threshold

MEMORY = 2**28
BESIDE = Fraction(1, 1000)  # relative distance from a figure to the thresholds beside it
GRID = tuple(map(Fraction, ("0", "1/4", "1/2", "3/4", "1", "2", "5")))


@dataclass(frozen=True)
class _Sitting:
    """Two answers to the same question, whether what was given is as it was, and what audits say."""

    answers: tuple[TableFigure | CheckError, TableFigure | CheckError]
    unchanged: bool
    measured: Outcome
    demands: list[tuple[Fraction, Outcome]]


@dataclass(frozen=True)
class TableTrial:
    """One check, parameters without a threshold, one case."""

    subject: Subject
    check: TableCheck[Any]
    parameters: Parameters
    example: Parameters
    case: TableCase

    @property
    def figure(self) -> TableFigure | None:
        """What the check measures; None where it says why it cannot."""
        return None if isinstance(self._answer, CheckError) else self._answer

    @property
    def _answer(self) -> TableFigure | CheckError:
        return self._sitting.answers[0]

    @cached_property
    def _sitting(self) -> _Sitting:
        """The tables opened once for all that is asked of them."""
        with self._engines(self.case.tables()) as engines:
            companions = {name: BorrowedEngine(engine) for name, engine in engines.items() if name != "release"}
            policy = self._policy(self.parameters, self.case)
            view = TableView(policy, BorrowedEngine(engines["release"]), companions, find_detectors=_detectors)
            before = _arrays(view)
            answers = (self._asked(view), self._asked(view))
            unchanged = all(np.array_equal(one, other) for one, other in zip(before, _arrays(view), strict=True))
            measured = self._audited(policy, engines)
            demands = [
                (limit, self._audited(self._policy(demanding, self.case), engines))
                for limit, demanding in self._demanding_figures(answers[0])
            ]
        return _Sitting(answers, unchanged, measured, demands)

    def is_sound(self) -> None:
        """Hold the figure against what every figure is."""
        figure = self.figure
        if figure is None:
            return
        self._require(isinstance(figure, TableFigure), "figure", f"`measure` gave a {type(figure).__name__}")
        value = figure.value
        self._require(isinstance(value, Real) and value == value, "figure", "its value must be a number, not NaN")  # noqa: PLR0124
        self._counts("records", figure.records, figure.failing)
        if figure.classes is not None:
            self._counts("classes", *figure.classes)
        ends = [one[0] for one in figure.distribution]
        self._require(ends == sorted(ends), "figure", "its distribution must ascend by its figures")
        triples = all(len(one) == 3 and min(one[1:]) >= 0 for one in figure.distribution)
        self._require(triples, "figure", "its distribution must be [figure, classes, records] triples")
        try:
            plain_figures(figure.details)
        except CheckError as error:
            raise self._lacks("figure", str(error)) from error

    def _counts(self, of: str, total: object, failing: object) -> None:
        whole = isinstance(total, int) and total >= 0
        self._require(whole, "figure", f"its {of} must be a whole number")
        within = failing is None or (isinstance(failing, int) and isinstance(total, int) and 0 <= failing <= total)
        self._require(within, "figure", f"its failing {of} must be None or a whole number from 0 to all of them")

    def says_why_not(self) -> None:
        """Insist that a refusal has a reason, and shows no cell."""
        if isinstance(self._answer, CheckError):
            reason = str(self._answer).strip()
            self._require(reason, "refusal", "a CheckError must say why it cannot be measured")
            self._require(not self.case.tells_a_cell(reason), "refusal", "a CheckError shows a cell")

    def repeats(self) -> None:
        """Hold the figure against the same question, asked again."""
        first, second = map(_comparable, self._sitting.answers)
        self._require(first == second, "determinism", "the second call on the same tables gave another figure")

    def leaves_inputs_alone(self) -> None:
        """Hold the view's classes against what they were before the check saw them."""
        unchanged = self._sitting.unchanged
        self._require(unchanged, "inputs are left alone", "the measure changed what it was given")

    # Audits

    @property
    def measured(self) -> Outcome:
        """What an audit says without a threshold."""
        return self._sitting.measured

    def is_measured(self) -> None:
        """Hold the outcome without a threshold against the figure."""
        outcome, figure = self.measured, self.figure
        expected = Status.ERROR if figure is None else Status.MEASURED
        sentence = f"without a threshold the status is {outcome.status}: {outcome.message}"
        self._require(outcome.status is expected, "end to end", sentence)
        if figure is not None:
            same = outcome.observed == float(figure.value)
            self._require(same, "end to end", "the outcome reports another figure than was measured")

    def ignores_order(self) -> None:
        """Hold the outcome against that of every table in another order."""
        shuffled = self._outcome(self.case.tables(shuffle=1), self.case)
        self._same(shuffled, "order of records", "shuffled records gave another outcome")

    def ignores_names_of_values(self) -> None:
        """Hold the outcome against that of other names for the values of text."""
        relabelled = self.case.relabelled()
        renamed = self._outcome(relabelled.tables(), relabelled)
        self._same(renamed, "names of values", "other names for the values of text gave another outcome")

    def has_a_message(self) -> None:
        """Insist that every outcome is told in a sentence."""
        for outcome in self._every_outcome:
            self._require(outcome.message.strip(), "message", "an outcome must be told in a sentence")

    def tells_no_cell(self) -> None:
        """Insist that no outcome shows a cell."""
        for outcome in self._every_outcome:
            text = json.dumps(outcome.as_json(), ensure_ascii=False)
            self._require(not self.case.tells_a_cell(text), "no cell in evidence", "an outcome shows a cell")

    @property
    def _every_outcome(self) -> list[Outcome]:
        return [self.measured, *(outcome for _, outcome in self._sitting.demands)]

    # Demands

    def decides_at_the_threshold(self) -> None:
        """Hold outcomes at the figure, and a little beside it, against the declared comparison."""
        for limit, outcome in self._sitting.demands:
            assert self.figure is not None  # noqa: S101 - demands are made of it
            value, comparison = self.figure.value, self.check.headline.comparison
            holds = bool(comparison.holds((value > limit) - (value < limit)))
            expected = Status.PASSED if holds else Status.FAILED
            decided = outcome.status is expected or (holds and bool(outcome.unfailable))
            sentence = f"where {comparison} {limit} is demanded, the figure gives {expected}, not {outcome.status}"
            self._require(decided, "at the threshold", sentence)
            same = outcome.observed == self.measured.observed
            self._require(same, "at the threshold", "the figure must not depend on the threshold")

    @property
    def admissible(self) -> int:
        """How many thresholds at and beside the figure the check takes."""
        return len(self._sitting.demands)

    def _demanding_figures(self, answer: TableFigure | CheckError) -> list[tuple[Fraction, Parameters]]:
        """The figure, and a little more and less, as thresholds that the check takes."""
        if not isinstance(answer, TableFigure) or not isinstance(answer.value, Real) or not isfinite(answer.value):
            return []
        exact = Fraction(answer.value)
        limits = (exact, exact * (1 + BESIDE), exact * (1 - BESIDE))
        demanding = ((limit, self._demanding(self.parameters, self.check.headline, limit)) for limit in limits)
        return [(limit, parameters) for limit, parameters in demanding if parameters is not None]

    def keeps_order_of_demands(self) -> None:
        """Insist that what passes a demand passes every looser one."""
        if self.figure is None:
            return
        for limit in self.check.limits:
            grid: list[Fraction] = sorted(
                {*GRID, *([Fraction(self.figure.value)] if isfinite(self.figure.value) else [])}
            )
            looser_last: Iterable[Fraction] = reversed(grid) if limit.comparison.higher_is_safer else grid
            failed = [one for value in looser_last if (one := self._failed(limit, value)) is not None]
            ordered = failed == sorted(failed, reverse=True)
            sentence = f"a stricter {limit.parameter} passes where a looser one fails"
            self._require(ordered, "stricter demands", sentence)

    def _failed(self, limit: Limit, value: Fraction) -> bool | None:
        """Whether the figure fails a demand beside the example's others; None where the check does not take it."""
        demanding = self._demanding(self.example, limit, value)
        return None if demanding is None else self.check.verdict(self.figure, demanding).failed  # type: ignore[arg-type]

    def _demanding(self, parameters: Parameters, limit: Limit, value: Fraction) -> Parameters | None:
        demanding = with_threshold(parameters, limit.parameter, value)
        if demanding is None or Fraction(getattr(demanding, limit.parameter)) != value:
            return None
        return None if any(self.check.faults(demanding, self._document)) else demanding

    # How it is asked

    @cached_property
    def _document(self) -> Any:
        return self.case.document(self.check.name)

    def _policy(self, parameters: Parameters, case: TableCase) -> Policy:
        return Policy(case.document(self.check.name), (Expectation(self.check, parameters),), text="")

    def _outcome(self, tables: Mapping[str, pa.Table], case: TableCase) -> Outcome:
        with self._engines(tables) as engines:
            return self._audited(self._policy(self.parameters, case), engines)

    def _audited(self, policy: Policy, engines: Mapping[str, Engine]) -> Outcome:
        companions = {name: engine for name, engine in engines.items() if name != "release"}
        outcomes = evaluate(policy, engines["release"], Options(MEMORY, detectors=_detectors), companions)
        asked = [one for one in outcomes if not one.is_structural]
        self._require(len(asked) == 1, "end to end", f"{len(asked)} outcomes came for one expectation")
        return asked[0]

    @contextmanager
    def _engines(self, tables: Mapping[str, pa.Table]) -> Iterator[dict[str, Engine]]:
        needed = {"release", "original", *self.check.requires}
        with ExitStack() as stack:
            given = {name: table for name, table in tables.items() if name in needed}
            yield {name: stack.enter_context(open_engine(table, MEMORY)) for name, table in given.items()}

    def _asked(self, view: TableView) -> TableFigure | CheckError:
        try:
            return self.check.measure(view, self.parameters)
        except CheckError as error:
            return error
        except Exception as error:
            if is_attempt_to_write(error):
                raise self._lacks("inputs are left alone", f"the measure tried to write to them: {error}") from error
            raise self._lacks("figure", f"the measure raised {type(error).__name__}: {error}") from error

    def _same(self, other: Outcome, property_: str, sentence: str) -> None:
        self._require(json.dumps(self.measured.as_json()) == json.dumps(other.as_json()), property_, sentence)

    def _require(self, holds: object, property_: str, sentence: str) -> None:
        if not holds:
            raise self._lacks(property_, sentence)

    def _lacks(self, property_: str, sentence: str) -> ConformanceError:
        parameters = "".join(f", {name}={value}" for name, value in self.parameters.figures().items())
        return self.subject.lacks(property_, f"{sentence} (case: {self.case.name}{parameters})")


def _comparable(answer: TableFigure | CheckError) -> object:
    return str(answer) if isinstance(answer, CheckError) else (answer, str(answer))


def _arrays(view: TableView) -> list[Any]:
    classes = view.classes
    return [one.copy() for one in (classes.size, classes.records, classes.matched, classes.expected)]


def _detectors() -> Mapping[str, Detector]:
    """Those that come with tcdp-audit."""
    return Plugins.load(external=False).detectors
