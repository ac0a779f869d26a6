"""The properties of a check on tables of figures: its specification, its figures, and the cells that it names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.api import (
    BorrowedEngine,
    Expectation,
    Policy,
    is_attempt_to_write,
    open_engine,
    outcomes_of_figures,
    plain_figures,
    require_type,
)
from tcdp_audit.plugin.aggregate import AggregateCheck, CellFigure, CellsView, FailingCell
from tcdp_audit.plugin.check import Limit, Parameters
from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, Status
from tcdp_audit.testing.cases import SEED
from tcdp_audit.testing.class_figures import SHARED, STATE
from tcdp_audit.testing.conformance import Subject, Suite, every
from tcdp_audit.testing.specification import (
    examinations_of,
    example_of,
    parameters_of,
    shown_parameters,
    variants,
    with_threshold,
)

MEMORY = 2**28
WARDS, AGES, TOTAL = ("A", "B", "C"), ("0-17", "18-64", "65+"), "All"
PEOPLE = 60
FEW = 5  # counts below it are hidden or rounded
GRID = tuple(map(Fraction, ("0", "1/100", "1/2", "1", "2", "5", "10", "100", "10000")))
DEMAND = "a stricter demand passes where a looser one fails"
Person = Mapping[str, Any]


class AggregateCheckSuite(Suite):
    """A check on tables of figures, under every parameter to try, on generated tables and the records behind them."""

    kind = "check"

    @property
    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """By property."""
        return {
            **examinations_of(self.subject, self.specification),
            "bounds": self._bounds_conform,
            "figure": lambda: every(self._trials, FigureTrial.is_sound),
            "refusal": self._refusals_conform,
            "determinism": lambda: every(self._trials, FigureTrial.repeats),
            "inputs are left alone": lambda: every(self._trials, FigureTrial.leaves_inputs_alone),
            "cells": lambda: every(self._trials, FigureTrial.names_its_cells),
            "no figure unless asked": lambda: every(self._trials, FigureTrial.shows_no_figure),
            "order of rows": lambda: every(self._trials, FigureTrial.ignores_order),
            "end to end": lambda: every(self._trials, FigureTrial.is_measured),
            "stricter demands": lambda: every(self._trials, FigureTrial.keeps_order_of_demands),
        }

    def _bounds_conform(self) -> None:
        for limit in self.specification.limits:
            declared = self.specification.parameters.model_fields[limit.parameter].metadata
            bounded = any(hasattr(one, name) for one in declared for name in ("ge", "gt"))
            sentence = f"{limit.parameter!r} needs a least value, as `Field(ge=0)`, so that a policy cannot demand less"
            self.subject.require(bounded, "bounds", sentence)

    def _refusals_conform(self) -> None:
        every(self._trials, FigureTrial.says_why_not)
        for parameters, trials in self._by_parameters:
            answered = any(trial.figure is not None for trial in trials)
            at, cause = self.subject.at(shown_parameters(parameters)), "the example needs what the suite's tables lack"
            at.require(answered, "refusal", "it refused all tables of the suite", cause)

    @property
    def _trials(self) -> list[FigureTrial]:
        return [trial for _, trials in self._by_parameters for trial in trials]

    @cached_property
    def _by_parameters(self) -> list[tuple[Parameters, list[FigureTrial]]]:
        """The trials under each set of parameters that the policies of the suite take."""
        subject, check = self.subject, self.specification
        example = parameters_of(subject, check, {**example_of(subject, check), **self.given}, "example")
        cases = list(figure_cases())
        faults = [sentence for case in cases for _, sentence in check.faults(example, case.document)]
        subject.require(not faults, "example", f"the suite's policies refuse it: {'; '.join(faults[:1])}")
        chosen = [
            one
            for one in variants(subject, check, self.given)
            if not any(fault for case in cases for fault in check.faults(one, case.document))
        ]
        subject.require(chosen, "example", "without a threshold, the policies of the suite take no parameters")
        return [(one, [FigureTrial(subject, check, one, example, case) for case in cases]) for one in chosen]


@dataclass(frozen=True)
class FigureTrial:
    """One check, parameters without a threshold, one case."""

    subject: Subject
    check: AggregateCheck[Any]
    parameters: Parameters
    example: Parameters
    case: FigureCase

    @property
    def at(self) -> Subject:
        """The check on its case."""
        return self.subject.at(f"{shown_parameters(self.parameters)}case: {self.case.name}")

    @property
    def figure(self) -> CellFigure | None:
        """Figure of the check; None where it says why there is none."""
        answer = self._answers[0]
        return None if isinstance(answer, CheckError) else answer

    @cached_property
    def _answers(self) -> tuple[CellFigure | CheckError, CellFigure | CheckError, bool]:
        """The figure, the same asked again, and whether the tables are what they were."""
        with self._view(self.parameters) as view:
            before = _arrays(view)
            answers = self._asked(view, self.parameters), self._asked(view, self.parameters)
            unchanged = all(np.array_equal(one, other) for one, other in zip(before, _arrays(view), strict=True))
        return *answers, unchanged

    def is_sound(self) -> None:
        """Hold the figure against what every figure is."""
        figure = self.figure
        if figure is None:
            return
        value: Any = figure.value
        cells: Any = figure.cells
        number = isinstance(value, Fraction | float) and value == value  # noqa: PLR0124 - NaN
        self.at.require(number, "figure", "its value must be a fraction or a float, not NaN", "use `Fraction(...)`")
        sentence = f"its cells must be a whole number, at least those that fail: {cells!r}"
        counted = isinstance(cells, int) and len(figure.failing) <= cells
        self.at.require(counted, "figure", sentence, "a number of numpy; use `int(...)`")
        further = {one.parameter for one in self.check.further}
        sentence = f"`further` must have the figure of each further limit: {sorted(further)}"
        self.at.require({*figure.further} == further, "figure", sentence)
        try:
            plain_figures(figure.details)
        except CheckError as error:
            raise self.at.lacks("figure", str(error)) from error

    def says_why_not(self) -> None:
        """Insist that a refusal has a reason."""
        answer = self._answers[0]
        if isinstance(answer, CheckError):
            self.at.require(str(answer).strip(), "refusal", "a CheckError must say why it cannot be measured")

    def repeats(self) -> None:
        """Hold the figure against the same question, asked again."""
        first, second, _ = self._answers
        self.at.require(
            _comparable(first) == _comparable(second),
            "determinism",
            "the second call on the same tables gave another figure",
            STATE,
        )

    def leaves_inputs_alone(self) -> None:
        """Hold the tables against what they were before the check saw them."""
        sentence = "the measure changed what it was given"
        self.at.require(self._answers[2], "inputs are left alone", sentence, SHARED)

    def names_its_cells(self) -> None:
        """Insist that failing cells are of the tables or models, each once, and that a failed demand names one."""
        with self._view(self.example) as view:
            figure = self._asked(view, self.example)
            if isinstance(figure, CheckError):
                return
            for cell in figure.failing:
                sentence = f"no table or model has the failing cell {dict(cell.labels)} of {cell.table!r}"
                cause = "labels that are no categories; use `view.failing_cell`"
                self.at.require(_exists(cell, view, self.case), "cells", sentence, cause)
            names = [(one.table, one.measure, *one.labels.items(), one.says) for one in figure.failing]
            self.at.require(len({*names}) == len(names), "cells", "a failing cell is named twice")
            failed = self.check.verdict(figure, self.example).failed
            sentence = "the example's demand fails, and neither a cell nor a violation says where"
            self.at.require(not failed or names or figure.violation, "cells", sentence)

    def shows_no_figure(self) -> None:
        """Insist that no failing cell has figures unless they were asked for."""
        with self._view(self.example) as view:
            figure = self._asked(view, self.example)
        failing = [] if isinstance(figure, CheckError) else figure.failing
        sentence = "a failing cell has figures, and they were not asked for"
        cause = "`FailingCell(..., figures=...)` without `view.show_values`; use `view.failing_cell`"
        self.at.require(all(one.figures is None for one in failing), "no figure unless asked", sentence, cause)

    def ignores_order(self) -> None:
        """Hold the figure against that of tables whose rows are in another order."""
        with self._view(self.parameters, shuffle=1) as view:
            shuffled = self._asked(view, self.parameters)
        sentence = "tables with their rows in another order gave another figure"
        same = _comparable(shuffled) == _comparable(self._answers[0])
        self.at.require(same, "order of rows", sentence, "numbers of rows taken for cells")

    def is_measured(self) -> None:
        """Hold the outcome without a threshold against the figure."""
        with self._view(self.parameters) as view:
            outcome = self._outcome(view)
        figure = self.figure
        demanded = bool(self.check.demands(self.parameters))
        judged = {Status.PASSED, Status.FAILED, Status.MEASURED} if demanded else {Status.MEASURED}
        if figure is None or (demanded and figure.undecided):
            judged = {Status.ERROR, Status.FAILED} if figure is not None else {Status.ERROR}
        elif figure.violation:
            judged = {Status.FAILED}
        listed = " or ".join(sorted(judged))
        sentence = f"without a threshold of the policy, expected {listed}, got {outcome.status}: {outcome.message}"
        self.at.require(outcome.status in judged, "end to end", sentence)
        self.at.require(outcome.message.strip(), "end to end", "the outcome needs a sentence")
        if figure is not None:
            sentence = "the outcome reports another figure than was measured"
            self.at.require_equal(outcome.observed, float(figure.value), "end to end", sentence, STATE)

    def keeps_order_of_demands(self) -> None:
        """Insist that what passes a demand passes every looser one, next to the example's others."""
        if self.figure is None:
            return
        with self._view(self.example) as view:
            for limit in self.check.limits:
                own = {Fraction(self.figure.value)} if isinstance(self.figure.value, Fraction) else set()
                grid = sorted({*GRID, *own}, reverse=limit.comparison.higher_is_safer)
                failed = [one for value in grid if (one := self._failed(view, limit, value)) is not None]
                ordered = failed == sorted(failed, reverse=True)
                self.at.require(ordered, "stricter demands", f"{limit.parameter}: {DEMAND}")

    def _failed(self, view: CellsView, limit: Limit, value: Fraction) -> bool | None:
        """Whether a demand fails; None where the check does not take it, or cannot decide it."""
        demanding = with_threshold(self.example, limit.parameter, value)
        if demanding is None or Fraction(getattr(demanding, limit.parameter)) != value:
            return None
        figure = self._asked(view, demanding)
        return None if isinstance(figure, CheckError) else self.check.verdict(figure, demanding).failed

    def _outcome(self, view: CellsView) -> Outcome:
        asked = [one for one in outcomes_of_figures(view) if not one.is_structural]
        self.at.require(len(asked) == 1, "end to end", f"expected one outcome, got {len(asked)}")
        return asked[0]

    @contextmanager
    def _view(self, parameters: Parameters, shuffle: int | None = None) -> Iterator[CellsView]:
        """The case as checks see it, with the records behind it only for a check that needs them."""
        policy = Policy(self.case.document, (Expectation(self.check, parameters),), text="")
        with ExitStack() as stack:

            def opened(table: pa.Table) -> BorrowedEngine:
                return BorrowedEngine(stack.enter_context(open_engine(_shuffled(table, shuffle), MEMORY)))

            engines = {name: opened(one) for name, one in self.case.tables.items()}
            needed = self.check.needs_microdata(parameters, policy.document)
            microdata = opened(self.case.microdata) if needed else None
            earlier = [{name: opened(one) for name, one in tables.items()} for tables in self.case.earlier]
            previous = [CellsView.of(policy, one) for one in earlier]
            yield CellsView.of(policy, engines, microdata, previous)

    def _asked(self, view: CellsView, parameters: Parameters) -> CellFigure | CheckError:
        try:
            figure = self.check.measure(view, parameters)
        except CheckError as error:
            return error
        except Exception as error:
            if is_attempt_to_write(error):
                sentence = f"the measure tried to write to them: {error}"
                raise self.at.lacks("inputs are left alone", sentence, SHARED) from error
            raise self.at.lacks("figure", f"the measure raised {type(error).__name__}: {error}") from error
        try:
            require_type(figure, CellFigure, "the check gave", CheckError)
        except CheckError as error:
            raise self.at.lacks("figure", str(error)) from error
        return figure


def _comparable(answer: CellFigure | CheckError) -> object:
    """An answer without the lines of its cells, which follow the order of rows."""
    if isinstance(answer, CheckError):
        return str(answer)
    cells = sorted(str(replace(one, line=0)) for one in answer.failing)
    return answer.value, answer.cells, cells, str(answer.details), answer.undecided, answer.further, answer.violation


def _exists(cell: FailingCell, view: CellsView, case: FigureCase) -> bool:
    """Whether a failing cell is one of its table, or of a model. Ranges that tables have in common are in none."""
    if cell.table in (case.document.models or {}):
        return True
    table = view.tables.get(cell.table)
    if table is None:
        return False
    known = {nodes.name: {*nodes.labels} for nodes in table.dimensions}
    if cell.measure in table.figures and {*cell.labels} == {*known}:
        return all(label in known[name] for name, label in cell.labels.items())
    others = {nodes.name for one in view.tables.values() for nodes in one.dimensions}
    return {*cell.labels} <= {*others, *(name for one in view.tables.values() for name in one.declaration.about)}


def _arrays(view: CellsView) -> list[Any]:
    figures = [one for table in view.tables.values() for one in table.figures.values()]
    return [array.copy() for one in figures for array in (one.low, one.high, one.state)]


def _shuffled(table: pa.Table, seed: int | None) -> pa.Table:
    return table if seed is None else table.take(np.random.default_rng(seed).permutation(len(table)))


# Tables to try


@dataclass(frozen=True)
class FigureCase:
    """Tables of figures, the records that they were made from, a fitted model, and earlier tables.

    Args:
        name: what a message calls it.
        declared: the declaration of each table, as a policy has it.
        tables: the tables by name.
        microdata: the records.
        earlier: the same tables of earlier releases.
    """

    name: str
    declared: Mapping[str, Any]
    tables: Mapping[str, pa.Table]
    microdata: pa.Table
    earlier: Sequence[Mapping[str, pa.Table]] = ()

    @cached_property
    def document(self) -> PolicyDocument:
        """A policy for the tables."""
        model = {"n": PEOPLE, "parameters": 5, "dummies": {"ward B": 20, "ward C": 4}}
        return PolicyDocument.model_validate(
            {
                "version": 1,
                "attributes": {},
                "aggregates": self.declared,
                "models": {"income": model},
                "microdata": {"file": "people.csv", "unit": "person"},
                "expect": [{"cell_frequency": None}],
            }
        )


WHO = {"who": "patients of the suite"}
OVER_PATIENTS = {"over": "patients"}
PATIENTS = {"patients": {"counts": "people", "per_person": 1}}
STATISTICS = {
    **PATIENTS,
    "income": {"mean": "income", **OVER_PATIENTS, "decimals": 2, "integers": True},
    "spread": {"deviation": "income", **OVER_PATIENTS, "decimals": 4},
    "least": {"minimum": "income", **OVER_PATIENTS},
    "largest": {"maximum": "income", **OVER_PATIENTS},
    "middle": {"quantile": "income", "at": "1/2", **OVER_PATIENTS},
    "smokers": {"share": "smoker", **OVER_PATIENTS, "decimals": 1},
    "all_income": {"sum": "income", **OVER_PATIENTS, "decimals": "exact"},
}
BOTH = {"ward": {"total": TOTAL}, "age": {"total": TOTAL}}


def figure_cases() -> Iterator[FigureCase]:
    """Tables of every kind that a check on figures may meet."""
    people = _people(PEOPLE)
    yield _case("counts with totals", people, {"admissions": _Made(BOTH, PATIENTS)})
    token = {"suppressed": {f"<{FEW}": [1, FEW - 1]}}
    hidden = _Made(BOTH, PATIENTS, token, lambda count: f"<{FEW}" if 0 < count < FEW else str(count))
    yield _case("hidden figures", people, {"admissions": hidden})
    rounded = {"rounding": {"base": FEW, "kind": "down"}}
    yield _case("rounded counts", people, {"admissions": _Made(BOTH, PATIENTS, rounded, lambda n: str(n // FEW * FEW))})
    noise = {"noise": {"kind": "laplace", "scale": 2}}
    yield _case("noise", people, {"admissions": _Made(BOTH, PATIENTS, noise, lambda n: str(n + n % 3 - 1))})
    yield _case("statistics", people, {"incomes": _Made({"ward": {"total": TOTAL}}, STATISTICS)})
    men = _Made({"age": {"total": TOTAL}}, PATIENTS, {"about": {**WHO, "ward": "A"}})
    yield _case("a table and one of a subgroup", people, {"admissions": _Made(BOTH, PATIENTS), "ward_a": men})
    yield _case("a table of one cell", people, {"admissions": _Made({}, PATIENTS)})
    later = {"admissions": _Made(BOTH, PATIENTS)}
    yield replace(_case("an earlier release", people, later), earlier=[_case("", people[:-2], later).tables])


@dataclass(frozen=True)
class _Made:
    """A table to make: its dimensions and measures, what else is declared, and how counts are printed."""

    dimensions: Mapping[str, Any]
    measures: Mapping[str, Any]
    more: Mapping[str, Any] = field(default_factory=dict)
    printed: Callable[[int], str] = str


def _people(number: int) -> list[Person]:
    random = np.random.default_rng(SEED)
    wards = random.choice(WARDS, number, p=[0.6, 0.3, 0.1])
    ages = random.choice(AGES, number, p=[0.1, 0.6, 0.3])
    income = random.integers(1_000, 10_000, number)
    income[0] = 100_000
    return [
        {"person": f"p{place}", "ward": str(ward), "age": str(age), "income": int(own), "smoker": int(own) % 4 == 0}
        for place, (ward, age, own) in enumerate(zip(wards, ages, income, strict=True))
    ]


def _case(name: str, people: Sequence[Person], made: Mapping[str, _Made]) -> FigureCase:
    declared = {
        key: {"about": WHO, "dimensions": one.dimensions, "measures": one.measures, **one.more}
        for key, one in made.items()
    }
    tables = {key: _table(people, one) for key, one in made.items()}
    return FigureCase(name, declared, tables, pa.Table.from_pylist([dict(one) for one in people]))


def _table(people: Sequence[Person], made: _Made) -> pa.Table:
    """A table of everyone whom it is about, with a row for each cell that has people."""
    about = {name: label for name, label in made.more.get("about", {}).items() if name != "who"}
    domains = {"ward": WARDS, "age": AGES}
    rows = []
    for labels in product(*[(*domains[name], TOTAL) for name in made.dimensions]):
        cell = dict(zip(made.dimensions, labels, strict=True))
        asked = {**about, **{name: label for name, label in cell.items() if label != TOTAL}}
        inside = [one for one in people if all(one[name] == label for name, label in asked.items())]
        if inside:
            rows.append({**cell, **{name: _printed(name, inside, made) for name in made.measures}})
    return pa.Table.from_pylist(rows)


def _printed(measure: str, people: Sequence[Person], made: _Made) -> str:
    """The figure of some people as text."""
    incomes = sorted(one["income"] for one in people)
    number, total = len(people), sum(incomes)
    mean = Fraction(total, number)
    squares = sum((float(one - mean) ** 2 for one in incomes), 0.0)
    return {
        "patients": lambda: made.printed(number),
        "income": lambda: f"{float(mean):.2f}",
        "spread": lambda: f"{sqrt(squares / max(number - 1, 1)):.4f}",
        "least": lambda: str(incomes[0]),
        "largest": lambda: str(incomes[-1]),
        "middle": lambda: str(incomes[(number - 1) // 2]),
        "smokers": lambda: f"{100 * sum(one['smoker'] for one in people) / number:.1f}",
        "all_income": lambda: str(total),
    }[measure]()
