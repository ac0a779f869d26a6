"""The properties of a check on tables: its specification, its figures, and its audits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite
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
    require_type,
)
from tcdp_audit.plugin.check import Limit, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Detector, PolicyDocument
from tcdp_audit.plugin.engine import CheckError, Engine
from tcdp_audit.plugin.sentences import Outcome, Status
from tcdp_audit.testing.class_figures import PROPERTY, SHARED, STATE
from tcdp_audit.testing.conformance import AuditedTrial, Subject, Suite, every
from tcdp_audit.testing.releases import TableCase, table_cases
from tcdp_audit.testing.specification import (
    NOT_ADMISSIBLE,
    examinations_of,
    example_of,
    parameters_of,
    shown_parameters,
    variants,
    with_threshold,
)

MEMORY = 2**28
NEAR = Fraction(1, 1000)  # relative distance from a figure to the thresholds near it
RANKS = "codes or positions of values taken for figures: they follow the names of values and the order of records"
ZERO = "0 / 0 on a table without such records; raise CheckError where nothing can be measured"
GRID = tuple(map(Fraction, ("0", "1/4", "1/2", "3/4", "1", "2", "5")))


class TableCheckSuite(Suite):
    """A check on tables, under every parameter to try, on generated releases with all that they compare with."""

    kind = "check"

    @property
    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """By property."""
        return {
            **examinations_of(self.subject, self.specification),
            "tables": self._tables_conform,
            "figure": lambda: every(self._trials, TableTrial.is_sound),
            "refusal": self._refusals_conform,
            "determinism": lambda: every(self._trials, TableTrial.repeats),
            "inputs are left alone": lambda: every(self._trials, TableTrial.leaves_inputs_alone),
            PROPERTY: self._unfailable_conforms,
            "end to end": lambda: every(self._trials, TableTrial.is_measured),
            "order of records": lambda: every(self._trials, TableTrial.ignores_order),
            "names of values": lambda: every(self._trials, TableTrial.ignores_names_of_values),
            "message": lambda: every(self._trials, TableTrial.has_a_message),
            "no cell in evidence": lambda: every(self._trials, TableTrial.shows_no_cell),
            "at the threshold": self._decides_at_the_threshold,
            "stricter demands": lambda: every(self._trials, TableTrial.keeps_order_of_demands),
        }

    def _tables_conform(self) -> None:
        sentence = "a check on tables gets no attribute: leave `on_attribute` as it is, and take `attributes`"
        self.subject.require(not self.specification.on_attribute, "tables", sentence)

    def _refusals_conform(self) -> None:
        every(self._trials, TableTrial.says_why_not)
        for parameters, trials in self._by_parameters:
            answered = any(trial.figure is not None for trial in trials)
            at, cause = self.subject.at(shown_parameters(parameters)), "the example needs what the suite's tables lack"
            at.require(answered, "refusal", "it refused all tables of the suite", cause)

    def _decides_at_the_threshold(self) -> None:
        every(self._trials, TableTrial.decides_at_the_threshold)
        admissible = sum(trial.admissible for trial in self._trials)
        self.subject.require(admissible, "at the threshold", NOT_ADMISSIBLE)

    def _unfailable_conforms(self) -> None:
        """Insist that no other release of as many records fails what nothing is said to fail."""
        for parameters, trials in self._by_parameters:
            figures = [trial.figure for trial in trials if trial.figure is not None]
            for demanding, name in self._demands(parameters, [one.value for one in figures]):
                for figure in figures:
                    if name in self.specification.unfailable(figure, demanding):
                        others = (one for one in figures if one.records == figure.records)
                        failed = any(self.specification.verdict(one, demanding).failed for one in others)
                        sentence = f"no release was said to fail {name}: {getattr(demanding, name)}, and one does"
                        cause = "`worst` gives a figure that another release of as many records exceeds"
                        self.subject.require(not failed, PROPERTY, sentence, cause)

    def _demands(self, parameters: Parameters, values: list[Any]) -> Iterator[tuple[Any, str]]:
        """Each threshold by itself, at the ends of a share and at or near the figures of all releases."""
        exact = {Fraction(one) for one in values if isfinite(one)}
        near = {one * factor for one in exact for factor in (1, 1 + NEAR, 1 - NEAR)}
        for limit in self.specification.limits:
            for value in sorted({Fraction(0), Fraction(1), *near}):
                demanding = with_threshold(parameters, limit.parameter, value)
                if demanding is not None:
                    yield demanding, limit.parameter

    @property
    def _trials(self) -> list[TableTrial]:
        return [trial for _, trials in self._by_parameters for trial in trials]

    @cached_property
    def _by_parameters(self) -> list[tuple[Parameters, list[TableTrial]]]:
        """The trials under each set of parameters that the policies of the suite take."""
        example = parameters_of(
            self.subject, self.specification, {**example_of(self.subject, self.specification), **self.given}, "example"
        )
        cases = list(table_cases())
        document = cases[0].document(self.specification.name, unit=Need.UNIT in self.specification.needs)
        self._require_sound(example, document)
        chosen = [
            one
            for one in variants(self.subject, self.specification, self.given)
            if not any(self.specification.faults(one, document))
        ]
        self.subject.require(chosen, "example", "without a threshold, the policies of the suite take no parameters")
        return [
            (one, [TableTrial(self.subject, self.specification, one, example, case) for case in cases])
            for one in chosen
        ]

    def _require_sound(self, example: Parameters, document: Any) -> None:
        faults = "; ".join(f"{name}: {sentence}" for name, sentence in self.specification.faults(example, document))
        attributes = f"the suite's releases have {', '.join(document.attributes)}"
        self.subject.require(not faults, "example", f"a policy refuses it: {faults} ({attributes})")


@dataclass(frozen=True)
class _Answers:
    """Two answers to the same question, whether what was given is as it was, and what audits say."""

    answers: tuple[TableFigure | CheckError, TableFigure | CheckError]
    unchanged: bool
    measured: Outcome
    demands: list[tuple[Fraction, Outcome]]


@dataclass(frozen=True)
class TableTrial(AuditedTrial):
    """One check, parameters without a threshold, one case."""

    subject: Subject
    check: TableCheck[Any]
    parameters: Parameters
    example: Parameters
    case: TableCase

    @property
    def at(self) -> Subject:
        """The check on its case."""
        return self.subject.at(f"{shown_parameters(self.parameters)}case: {self.case.name}")

    @property
    def figure(self) -> TableFigure | None:
        """Figure of the check; None where it says why there is none."""
        return None if isinstance(self._answer, CheckError) else self._answer

    @property
    def _answer(self) -> TableFigure | CheckError:
        return self._asked_once.answers[0]

    @cached_property
    def _asked_once(self) -> _Answers:
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
        return _Answers(answers, unchanged, measured, demands)

    def is_sound(self) -> None:
        """Hold the figure against what every figure is."""
        figure = self.figure
        if figure is None:
            return
        self.at.require(figure.value == figure.value, "figure", "its value must be a number, not NaN", ZERO)
        for of, total, failing in (
            ("records", figure.records, figure.failing),
            ("classes", *(figure.classes or (0, None))),
        ):
            sentence = (
                f"its {of} must be whole numbers, at least 0, and the failing no more: got {failing!r} of {total!r}"
            )
            self.at.require(_are_counts(total, failing), "figure", sentence, "a number of numpy; use `int(...)`")
        ends = [one[0] for one in figure.distribution]
        self.at.require(ends == sorted(ends), "figure", "its distribution must ascend by its figures")
        triples = all(len(one) == 3 and min(one[1:]) >= 0 for one in figure.distribution)
        self.at.require(triples, "figure", "its distribution must be [figure, classes, records] triples")
        try:
            plain_figures(figure.details)
        except CheckError as error:
            raise self.at.lacks("figure", str(error)) from error

    def says_why_not(self) -> None:
        """Insist that a refusal has a reason, and shows no cell."""
        if isinstance(self._answer, CheckError):
            reason = str(self._answer).strip()
            self.at.require(reason, "refusal", "a CheckError must say why it cannot be measured")
            self.at.require(not self.case.shows_a_cell(reason), "refusal", "a CheckError shows a cell")

    def repeats(self) -> None:
        """Hold the figure against the same question, asked again."""
        first, second = map(_comparable, self._asked_once.answers)
        self.at.require(first == second, "determinism", "the second call on the same tables gave another figure", STATE)

    def leaves_inputs_alone(self) -> None:
        """Hold the view's classes against what they were before the check saw them."""
        unchanged = self._asked_once.unchanged
        self.at.require(unchanged, "inputs are left alone", "the measure changed what it was given", SHARED)

    @property
    def measured(self) -> Outcome:
        """Outcome of an audit without a threshold."""
        return self._asked_once.measured

    def is_measured(self) -> None:
        """Hold the outcome without a threshold against the figure."""
        outcome, figure = self.measured, self.figure
        expected = Status.ERROR if figure is None else Status.MEASURED
        sentence = f"without a threshold, expected the status {expected}, got {outcome.status}: {outcome.message}"
        self.at.require(outcome.status is expected, "end to end", sentence)
        if figure is not None:
            sentence = "the outcome reports another figure than was measured"
            self.at.require_equal(outcome.observed, float(figure.value), "end to end", sentence, STATE)

    def ignores_order(self) -> None:
        """Hold the outcome against that of every table in another order."""
        shuffled = self._outcome(self.case.tables(shuffle=1), self.case)
        self.require_same(shuffled, "order of records", "shuffled records gave another outcome", RANKS)

    def ignores_names_of_values(self) -> None:
        """Hold the outcome against that of other names for the values of text."""
        relabelled = self.case.relabelled()
        renamed = self._outcome(relabelled.tables(), relabelled)
        self.require_same(renamed, "names of values", "other names for the values of text gave another outcome", RANKS)

    def shows_a_cell(self, text: str) -> bool:
        """True if a text shows a cell of the case."""
        return self.case.shows_a_cell(text)

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcome without a threshold, then those of demands."""
        return [self.measured, *(outcome for _, outcome in self._asked_once.demands)]

    def decides_at_the_threshold(self) -> None:
        """Hold outcomes at the figure, and a little apart from it, against the declared comparison."""
        for limit, outcome in self._asked_once.demands:
            assert self.figure is not None  # noqa: S101 - demands are made of it
            value, comparison = self.figure.value, self.check.headline.comparison
            holds = bool(comparison.holds((value > limit) - (value < limit)))
            self.require_decided(outcome, holds=holds, demand=f"{comparison} {limit}")
            sentence, cause = "the figure must not depend on the threshold", "`measure` reads the threshold; leave it"
            self.at.require_equal(outcome.observed, self.measured.observed, "at the threshold", sentence, cause)

    @property
    def admissible(self) -> int:
        """Number of thresholds at and near the figure that the check takes."""
        return len(self._asked_once.demands)

    def _demanding_figures(self, answer: TableFigure | CheckError) -> list[tuple[Fraction, Parameters]]:
        """The figure, and a little more and less, as thresholds that the check takes."""
        if not isinstance(answer, TableFigure) or not isfinite(answer.value):
            return []
        exact = Fraction(answer.value)
        limits = (exact, exact * (1 + NEAR), exact * (1 - NEAR))
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
            cause = "`verdict` or a violation that does not follow the declared comparison"
            self.at.require(ordered, "stricter demands", sentence, cause)

    def _failed(self, limit: Limit, value: Fraction) -> bool | None:
        """True if the figure fails a demand next to the example's others; None where the check does not take it."""
        demanding = self._demanding(self.example, limit, value)
        return None if demanding is None else self.check.verdict(self.figure, demanding).failed  # type: ignore[arg-type]

    def _demanding(self, parameters: Parameters, limit: Limit, value: Fraction) -> Parameters | None:
        demanding = with_threshold(parameters, limit.parameter, value)
        if demanding is None or Fraction(getattr(demanding, limit.parameter)) != value:
            return None
        return None if any(self.check.faults(demanding, self._document)) else demanding

    @cached_property
    def _document(self) -> Any:
        return self._document_of(self.case)

    def _policy(self, parameters: Parameters, case: TableCase) -> Policy:
        return Policy(self._document_of(case), (Expectation(self.check, parameters),), text="")

    def _document_of(self, case: TableCase) -> PolicyDocument:
        return case.document(self.check.name, unit=Need.UNIT in self.check.needs)

    def _outcome(self, tables: Mapping[str, pa.Table], case: TableCase) -> Outcome:
        with self._engines(tables) as engines:
            return self._audited(self._policy(self.parameters, case), engines)

    def _audited(self, policy: Policy, engines: Mapping[str, Engine]) -> Outcome:
        companions = {name: engine for name, engine in engines.items() if name != "release"}
        outcomes = evaluate(policy, engines["release"], Options(MEMORY, detectors=_detectors), companions)
        asked = [one for one in outcomes if not one.is_structural]
        self.at.require(len(asked) == 1, "end to end", f"expected one outcome, got {len(asked)}")
        return asked[0]

    @contextmanager
    def _engines(self, tables: Mapping[str, pa.Table]) -> Iterator[dict[str, Engine]]:
        needed = {"release", "original", *self.check.requires}
        with ExitStack() as stack:
            given = {name: table for name, table in tables.items() if name in needed}
            yield {name: stack.enter_context(open_engine(table, MEMORY)) for name, table in given.items()}

    def _asked(self, view: TableView) -> TableFigure | CheckError:
        try:
            figure = self.check.measure(view, self.parameters)
        except CheckError as error:
            return error
        except Exception as error:
            if is_attempt_to_write(error):
                raise self.at.lacks(
                    "inputs are left alone", f"the measure tried to write to them: {error}", SHARED
                ) from error
            raise self.at.lacks("figure", f"the measure raised {type(error).__name__}: {error}") from error
        try:
            require_type(figure, TableFigure, "the check gave", CheckError)
        except CheckError as error:
            raise self.at.lacks("figure", str(error)) from error
        return figure


def _comparable(answer: TableFigure | CheckError) -> object:
    return str(answer) if isinstance(answer, CheckError) else (answer, str(answer))


def _arrays(view: TableView) -> list[Any]:
    classes = view.classes
    return [one.copy() for one in (classes.size, classes.records, classes.matched, classes.expected)]


def _detectors() -> Mapping[str, Detector]:
    """Detectors that come with tcdp-audit."""
    return Plugins.load(external=False).detectors


def _are_counts(total: Any, failing: Any) -> bool:
    """Whether they are whole numbers, and the failing at most all; None is no count of those that fail."""
    failing = 0 if failing is None else failing
    return isinstance(total, int) and isinstance(failing, int) and 0 <= failing <= total
