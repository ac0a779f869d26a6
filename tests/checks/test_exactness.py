"""Every rational figure of every registered check, compared at its exact value and a hair to both sides of it.

New checks are found through `Plugins.load().checks`. The exact values of the checks named in `REFERENCES` are computed
anew, in fractions from the definition; those of other checks are taken from their own integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import inf
from typing import Any

import numpy as np
import pytest
from distance_tables import Table, equal, hierarchical, multiplicative, on_a_line, random_table

from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.class_check import ClassCheck
from tcdp_audit.core.check.evidence import ClassEvidence
from tcdp_audit.core.check.kinds import Check
from tcdp_audit.core.check.summary import summarise
from tcdp_audit.core.check.table_check import TableCheck
from tcdp_audit.core.check.threshold import Parameters, Ratios, Threshold, as_measured
from tcdp_audit.core.classes.histogram import AlikeClasses
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing.class_figures import exact_figures
from tcdp_audit.testing.conformance import Subject
from tcdp_audit.testing.specification import variants, with_threshold

TABLES = 1_000
HAIR = Fraction(1, 10**12)
Figures = list[Fraction | float]


def figures_of(check: Check) -> tuple[Threshold[Any], ...]:
    """What a check measures in each class; for an attack whether it succeeds there, as 1 or 0."""
    if isinstance(check, ClassCheck):
        return check.thresholds
    if isinstance(check, TableCheck):
        return ()  # it has no figure per class
    return (Threshold("at_most", Comparison.AT_MOST, check.victims, check.label),)


@dataclass(frozen=True)
class Generated:
    """A table, the numbers that its values are, and what checks see of it."""

    table: Table
    values: list[int]
    evidence: ClassEvidence


@cache
def generated() -> list[Generated]:
    """A thousand tables; in every other one each class has each value."""
    random = np.random.default_rng(2007)
    return [_generated(random, filled=number % 2 == 0) for number in range(TABLES)]


def _generated(random: np.random.Generator, *, filled: bool) -> Generated:
    table = random_table(random)
    counts = np.array(table.counts) + int(filled)
    table = Table(counts.tolist(), counts.sum(axis=0).tolist(), table.paths)
    values = np.sort(random.choice(np.arange(-300, 300), counts.shape[1], replace=False))
    evidence = ClassEvidence(
        size=counts.sum(axis=1),
        histogram=table.histogram,
        marginal=table.marginal,
        values=values,
        labels=[str(value) for value in values],
        tree=table.tree,
        records=int(counts.sum()),
    )
    return Generated(table, values.tolist(), evidence)


# What is tried


@dataclass(frozen=True)
class Trial:
    """One figure of a check under some parameters."""

    check: Check
    parameters: Parameters
    position: int

    @property
    def figure(self) -> Threshold[Any]:
        """Its threshold and measure."""
        return figures_of(self.check)[self.position]

    @property
    def name(self) -> str:
        """As a test's name."""
        chosen = "-".join(str(value) for value in self.parameters.figures().values())
        return "-".join(part for part in (self.check.name, self.figure.parameter, chosen) if part)

    def figures(self, evidence: ClassEvidence) -> Figures | None:
        """The exact figure of each class (for an attack: of the release), or None if it is irrational."""
        measured = as_measured(self.figure.measure(evidence, self.parameters))
        if not isinstance(self.check, ClassCheck):
            exposed = int(evidence.size[measured.values > 0].sum())
            return [Fraction(exposed, int(evidence.size.sum()))]
        if not isinstance(measured, Ratios):
            return None
        return [inf if one is None else one for one in exact_figures(measured)]

    def takes(self, one: Generated) -> bool:
        """Whether a table's figures are rational, and thresholds under these parameters."""
        finite = [figure for figure in self.figures(one.evidence) or () if isinstance(figure, Fraction)]
        return any(self.demanding(figure) is not None for figure in finite)

    def demanding(self, exact: Fraction) -> Parameters | None:
        """Parameters with that very threshold, or None where they do not take it."""
        demanding = with_threshold(self.parameters, self.figure.parameter, exact)
        result = None if demanding is None else getattr(demanding, self.figure.parameter)
        return demanding if result is not None and Fraction(result) == exact else None

    def fails(self, evidence: ClassEvidence, demanding: Parameters) -> bool:
        """Whether the release fails that demand."""
        figure = self.check.figures(evidence, demanding)[self.position]
        if isinstance(self.check, ClassCheck):
            return bool(figure.fails.any())
        summary = summarise(figure.values, AlikeClasses(evidence.size, evidence.size), figure.fails, figure.comparison)
        return bool(self.check.verdict((summary,), demanding).failed)


def _trials() -> Iterator[Trial]:
    for name, check in sorted(Plugins.load().checks.items()):
        if not check.on_records:
            continue  # of tables of figures: tests/conformance
        for parameters in variants(Subject("check", name), check, {}):
            for position in range(len(figures_of(check))):
                trial = Trial(check, parameters, position)
                if any(map(trial.takes, generated()[:20])):
                    yield trial


TRIALS = {trial.name: trial for trial in _trials()}


# Definitions, in fractions


def _per_class(measure: Callable[[Sequence[int]], Any]) -> Callable[[Generated], Figures]:
    return lambda one: [Fraction(measure(row)) for row in one.table.counts]


def _per_pair(distance: Callable[[Any, Any, Generated], Any]) -> Callable[[Generated], Figures]:
    return lambda one: [distance(p, q, one) for p, q in one.table.pairs()]


def _first_over_rest(row: Sequence[int]) -> Fraction | float:
    """Recursive diversity for l = 2: the largest count over the sum of all others."""
    first, *rest = sorted(row, reverse=True)
    return Fraction(first, sum(rest)) if sum(rest) else inf


REFERENCES: dict[str, Callable[[Generated], Figures]] = {
    "k_anonymity-k": _per_class(sum),
    "distinct_l_diversity-l": _per_class(np.count_nonzero),
    "alpha_k_anonymity-alpha": _per_class(lambda row: Fraction(max(row), sum(row))),
    "alpha_k_anonymity-k": _per_class(sum),
    "p_sensitive_k_anonymity-p": _per_class(np.count_nonzero),
    "p_sensitive_k_anonymity-k": _per_class(sum),
    "recursive_cl_diversity-c-2-recursive": lambda one: [_first_over_rest(row) for row in one.table.counts],
    "basic_beta_likeness-beta": _per_pair(
        lambda p, q, _: max((a - b) / b for a, b in zip(p, q, strict=True) if b),
    ),
    "homogeneity-at_most": lambda one: [
        Fraction(sum(sum(row) for row in one.table.counts if np.count_nonzero(row) == 1), one.evidence.records)
    ],
    "t_closeness-t-equal": _per_pair(lambda p, q, _: equal(p, q)),
    "t_closeness-t-ordered": _per_pair(lambda p, q, one: on_a_line(p, q, range(len(one.values)))),
    "t_closeness-t-numeric": _per_pair(lambda p, q, one: on_a_line(p, q, one.values)),
    "t_closeness-t-hierarchical": _per_pair(lambda p, q, one: hierarchical(p, q, one.table.paths)),
    "t_closeness-t-multiplicative": _per_pair(lambda p, q, _: multiplicative(p, q)),
}


def test_the_checks_with_a_reference_are_among_those_tried():
    assert set(REFERENCES) <= set(TRIALS)


@pytest.mark.parametrize("name", REFERENCES)
def test_figures_are_the_definitions_on_a_thousand_tables(name: str):
    for one in generated():
        assert TRIALS[name].figures(one.evidence) == REFERENCES[name](one)


# At the threshold


@pytest.mark.parametrize("tables", [slice(200), pytest.param(slice(200, TABLES), marks=pytest.mark.long)], ids=str)
@pytest.mark.parametrize("name", TRIALS)
def test_the_comparison_alone_decides_at_the_exact_figure(name: str, tables: slice):
    trial, decided, tried = TRIALS[name], 0, generated()[tables]
    comparison = trial.figure.comparison
    strict = comparison in (Comparison.BELOW, Comparison.ABOVE)
    for one in tried:
        figures = trial.figures(one.evidence)
        assert figures is not None
        worst = min(figures) if comparison.higher_is_safer else max(figures)
        if worst == inf:
            beyond = trial.demanding(Fraction(10**30))
            assert beyond is None or trial.fails(one.evidence, beyond)
            continue
        demanding = trial.demanding(Fraction(worst))
        if demanding is not None:
            assert trial.fails(one.evidence, demanding) is strict
            decided += 1
        safer = -1 if comparison.higher_is_safer else 1  # a demand on this side of the figure is kept
        assert _keeps_beside(trial, one.evidence, Fraction(worst), safer) in (True, None)
        assert _keeps_beside(trial, one.evidence, Fraction(worst), -safer) in (False, None)
    assert decided >= len(tried) // 4, f"only {decided} tables had a figure to demand"


def _keeps_beside(trial: Trial, evidence: ClassEvidence, exact: Fraction, sign: int) -> bool | None:
    """Whether the release keeps a demand a hair beside its figure, or 1 beside it where that must be a whole number.

    None where the parameters take neither, such as a share above 1.
    """
    for step in (HAIR, Fraction(1)):
        demanding = trial.demanding(exact + sign * step)
        if demanding is not None:
            return not trial.fails(evidence, demanding)
    return None
