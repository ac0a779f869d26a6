"""Every registered check that declares itself monotone is: merging classes never makes its worst figure worse."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit.core.check.class_check import CheckOnClasses
from tcdp_audit.core.check.threshold import Parameters, Ratios, Threshold, as_measured
from tcdp_audit.core.policy.model import Scale
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing.cases import Case
from tcdp_audit.testing.class_figures import exact_figures
from tcdp_audit.testing.conformance import Subject
from tcdp_audit.testing.specification import scales_of, variants

CHECKS = Plugins.load(external=False).checks
VALUES = [f"zqvalue{number:04}" for number in range(6)]
FURTHER: dict[str, list[dict[str, Any]]] = {  # beside the example's parameters and every choice in turn
    "recursive_cl_diversity": [
        {"l": 3},
        {"l": 4},
        {"l": 3, "variant": "positive_disclosure", "dont_care": VALUES[:2]},
        {"l": 2, "variant": "negative_disclosure", "dont_care": VALUES[1:2], "protected": VALUES[2:3], "c2": "0.1"},
    ],
    "similarity": [{"width": 0}, {"width": 10**7}, {"level": 1}],
    "stochastic_t_closeness": [
        {"mechanism": "laplace", "noise_scale": 10**7},
        {"mechanism": "geometric", "noise_scale": 10**7},
        {"mechanism": "randomised_response", "retention": "0.3"},
    ],
    "delta_disclosure": [{"absent_values": "published", "log_base": 2}],
    "skewness": [{"sensitive_values": VALUES[:1]}],
}
TOLERANCE = Fraction(1, 10**9)  # of figures in floating point


def _declared() -> Iterator[Any]:
    for name, check in sorted(CHECKS.items()):
        if not check.on_classes:
            continue
        tried = [check.parameters.model_validate(one) for one in FURTHER.get(name, ())]
        for parameters in [*variants(Subject("check", name), check, {}), *tried]:
            for scale in scales_of(check, parameters):
                if check.monotone(parameters) and (scale is Scale.NOMINAL or not _names_values(parameters)):
                    yield pytest.param(check, parameters, scale, id=f"{name}-{parameters.figures()}-{scale.value}")


def _names_values(parameters: Parameters) -> bool:
    """Whether the parameters name values, which are texts here."""
    return any(isinstance(getattr(parameters, name), list) for name in parameters.model_fields_set)


def _worst(
    check: CheckOnClasses[Any], figure: Threshold[Any], parameters: Parameters, scale: Scale, counts: Any
) -> tuple[Fraction | float, Fraction | int]:
    """The worst figure of some classes, larger being worse, and how much of it may be rounding."""
    evidence = Case("drawn", np.array(counts, dtype=np.int64)).of(range(len(counts)), check, parameters, scale)
    measured = as_measured(figure.measure(evidence, parameters))
    figures = [inf if one is None else one for one in exact_figures(measured)]
    worst = max(-one if figure.comparison.higher_is_safer else one for one in figures)
    return worst, 0 if isinstance(measured, Ratios) or worst == inf else TOLERANCE * max(abs(Fraction(worst)), 1)


tables = st.integers(2, 6).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, 5), min_size=len(VALUES), max_size=len(VALUES)).filter(any),
        min_size=size,
        max_size=size,
    ).filter(lambda rows: all(map(any, zip(*rows, strict=True))))
)


DECLARED = list(_declared())


@pytest.mark.parametrize(("check", "parameters", "scale"), DECLARED)
@settings(max_examples=4)
@given(rows=tables, data=st.data())
def test_merging_classes_never_makes_the_worst_figure_worse(
    check: CheckOnClasses[Any], parameters: Parameters, scale: Scale, rows: list[list[int]], data: st.DataObject
) -> None:
    _merge_and_compare(check, parameters, scale, rows, data)


@pytest.mark.long
@pytest.mark.parametrize(("check", "parameters", "scale"), DECLARED)
@settings(max_examples=40)
@given(rows=tables, data=st.data())
def test_merging_classes_never_makes_the_worst_figure_worse_in_many_tables(
    check: CheckOnClasses[Any], parameters: Parameters, scale: Scale, rows: list[list[int]], data: st.DataObject
) -> None:
    _merge_and_compare(check, parameters, scale, rows, data)


def _merge_and_compare(
    check: CheckOnClasses[Any], parameters: Parameters, scale: Scale, rows: list[list[int]], data: st.DataObject
) -> None:
    target = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    merged = [
        np.array([row for row, place in zip(rows, target, strict=True) if place == one]).sum(axis=0).tolist()
        for one in sorted(set(target))
    ]
    for figure in check.measures:
        before, rounding = _worst(check, figure, parameters, scale, rows)
        after, _ = _worst(check, figure, parameters, scale, merged)
        assert after <= before + rounding


PROVED = {
    "alpha_k_anonymity",
    "background_knowledge",
    "basic_beta_likeness",
    "delta_disclosure",
    "distinct_l_diversity",
    "enhanced_beta_likeness",
    "entropy_l_diversity",
    "expected_t_closeness",
    "homogeneity",
    "implied_epsilon",
    "k_anonymity",
    "p_sensitive_k_anonymity",
    "recursive_cl_diversity",
    "sample_uniqueness",
    "similarity",
    "skewness",
    "stochastic_t_closeness",
    "t_closeness",
    "t_from_epsilon",
}


def test_the_checks_of_the_literature_are_declared() -> None:
    """A search for a remedy prunes by these; a check that is not declared monotone only costs it time."""
    assert {one.values[0].name for one in DECLARED} >= PROVED


def test_ignoring_absent_values_is_not_monotone_and_not_declared() -> None:
    """A class that lacks the rare value is close to the table; together with one that has it, it has too little."""
    check: Any = CHECKS["delta_disclosure"]
    ignored = check.parameters.model_validate({"absent_values": "ignored"})

    def log_ratios(*rows: list[int]) -> list[float]:
        case = Case("of shares 0.9 and 0.1", np.array([*rows, [61, 9]], dtype=np.int64))
        evidence = case.of(range(len(rows)), check, ignored, Scale.NOMINAL)
        return as_measured(check.measures[0].measure(evidence, ignored)).values.round(4).tolist()

    assert log_ratios([20, 0], [9, 1]) == [0.1054, 0.0]
    assert log_ratios([29, 1]) == [1.0986]
    assert not check.monotone(ignored)
