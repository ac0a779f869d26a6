"""Demands that nothing can fail, against all groupings of a few records: said of a demand if and only if it is so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit.core.check.class_check import AttackCheck, ClassCheck
from tcdp_audit.core.check.evidence import SingletonClasses
from tcdp_audit.core.check.kinds import Check
from tcdp_audit.core.check.threshold import Parameters, as_measured
from tcdp_audit.core.policy.model import Scale
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing.cases import Case
from tcdp_audit.testing.class_figures import exact_figures
from tcdp_audit.testing.conformance import Subject
from tcdp_audit.testing.specification import scales_of, variants, with_threshold

CHECKS = Plugins.load(external=False).checks
VALUES = [f"zqvalue{number:04}" for number in range(3)]
FURTHER: dict[str, list[dict[str, Any]]] = {
    "recursive_cl_diversity": [
        {"l": 2, "variant": "positive_disclosure", "dont_care": VALUES[:2]},
        {"l": 2, "variant": "negative_disclosure", "protected": VALUES[:1]},
    ],
    "similarity": [{"width": 0}, {"width": 10**9}],
    "skewness": [{"sensitive_values": VALUES[:1]}],
    "delta_disclosure": [{"absent_values": "ignored", "log_base": 2}],
}
BESIDE = Fraction(1, 10**6)
tables = st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(lambda one: 0 < sum(one) <= 6 and all(one[:1]))


def _tried() -> Iterator[Any]:
    for name, check in sorted(CHECKS.items()):
        if not check.on_classes:
            continue
        further = [check.parameters.model_validate(one) for one in FURTHER.get(name, ())]
        for parameters in [*variants(Subject("check", name), check, {}), *further]:
            scale = scales_of(check, parameters)[0]
            if not (scale is Scale.NUMERIC and name in ("skewness", "recursive_cl_diversity")):
                yield pytest.param(check, parameters, scale, id=f"{name}-{parameters.figures()}-{scale.value}")


def _partitions(records: Sequence[int]) -> Iterator[list[list[int]]]:
    """Every way to group records, each given as its value."""
    if not records:
        yield []
        return
    first, *rest = records
    for groups in _partitions(rest):
        yield [[first], *groups]
        for position, group in enumerate(groups):
            yield [*groups[:position], [first, *group], *groups[position + 1 :]]


def _groupings(counts: list[int]) -> list[Any]:
    records = [value for value, count in enumerate(counts) for _ in range(count)]
    actual = {tuple(sorted(tuple(sorted(one)) for one in groups)) for groups in _partitions(records)}
    return [np.array([np.bincount(one, minlength=len(counts)) for one in groups]) for groups in sorted(actual)]


def _fails(check: Check, parameters: Parameters, case: Case, scale: Scale, table: Any, limit: Fraction) -> bool:
    (figure,) = check.figures(case.grouped(table, check, parameters, scale), parameters)[:1]
    if not check.judges_each_class:
        size = table.sum(axis=1)
        return Fraction(int(size[figure.fails].sum()), int(size.sum())) > limit
    return bool(figure.fails.any())


@pytest.mark.long
@pytest.mark.parametrize(("check", "parameters", "scale"), list(_tried()))
@settings(max_examples=12)
@given(counts=tables)
def test_it_is_said_if_and_only_if_no_grouping_fails(
    check: Check, parameters: Parameters, scale: Scale, counts: list[int]
) -> None:
    case = Case("drawn", np.array([counts], dtype=np.int64))
    tried = _groupings(counts)
    figure = check.measures[0]
    observed = {Fraction(1)}
    for table in tried:
        measured = as_measured(figure.measure(case.grouped(table, check, parameters, scale), parameters))
        if not check.judges_each_class:
            size = table.sum(axis=1)
            observed.add(Fraction(int(size[measured.values > 0].sum()), int(size.sum())))
        else:
            observed |= {one for one in exact_figures(measured) if one is not None}
    judged = 0
    for limit in sorted({near for one in observed for near in (one, one * (1 - BESIDE), one * (1 + BESIDE))}):
        demanding = with_threshold(parameters, figure.parameter, limit)
        if demanding is not None:
            judged += 1
            said = figure.parameter in check.unfailable(case.finest(check, parameters, scale), demanding)
            assert said is not any(_fails(check, demanding, case, scale, table, limit) for table in tried)
    assert judged


def test_the_partitions_are_all() -> None:
    assert sum(1 for _ in _partitions(range(5))) == 52  # the fifth Bell number
    assert len(_groupings([2, 1, 0])) == 4


@pytest.mark.parametrize("seed", range(20))
def test_a_look_at_the_likely_classes_first_changes_no_answer(seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(1, 9, (1, 40))
    check = CHECKS["skewness"]
    case = Case("many values", counts)
    for limit in (Fraction(int(counts.sum()), int(counts.min())), Fraction(int(counts.sum()), int(counts.max()))):
        demanding = check.parameters.model_validate({"at_most": limit})
        finest = case.finest(check, demanding, Scale.NOMINAL)
        figures = check.figures(finest.classes, demanding)[0]
        assert (check.unfailable(finest, demanding) == ("at_most",)) is not bool(figures.fails.any())


def test_records_without_a_value_are_exposed_by_an_attack() -> None:
    check = CHECKS["homogeneity"]
    assert isinstance(check, AttackCheck)
    finest = Case("of two values", np.array([[2, 2]])).finest(check, check.parameters(), Scale.NOMINAL)
    half = SingletonClasses(finest.classes, finest.records, valueless=4)
    assert half.share(np.array([False, False])) == Fraction(1, 2)


def test_a_demand_of_a_check_that_is_not_monotone_is_taken_for_one_that_can_fail() -> None:
    from dataclasses import replace

    check = CHECKS["k_anonymity"]
    assert isinstance(check, ClassCheck)
    cautious = replace(check, monotone=lambda _: False)
    demanding = check.parameters.model_validate({"k": 1})
    finest = Case("one", np.array([[3]])).finest(check, demanding, Scale.NOMINAL)
    assert (check.unfailable(finest, demanding), cautious.unfailable(finest, demanding)) == (("k",), ())
