"""On a thousand tables, the exact worst figure as threshold: non-strict checks pass there, strict ones fail."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf, log
from typing import Any

import pytest
from class_rows import evidence, random_rows, totals

from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.summary import ClassSummary
from tcdp_audit.core.check.threshold import Parameters
from tcdp_audit.core.session.registry import Plugins

pytestmark = pytest.mark.long  # a thousand tables

CHECKS = Plugins.load(external=False).checks
TABLES = 1000
SMALLEST = Fraction(1, 10**18)  # far below what floating point tells apart
Figure = Callable[[list[int], list[int]], Fraction | float]


def alpha(row: list[int], _: list[int]) -> Fraction:
    return Fraction(max(row), sum(row))


def distinct(row: list[int], _: list[int]) -> Fraction:
    return Fraction(sum(map(bool, row)))


def to_tail(row: list[int], _: list[int]) -> Fraction | float:
    first, *others = sorted(row, reverse=True)
    return Fraction(first, sum(others)) if any(others) else inf


def factor(row: list[int], table: list[int]) -> Fraction:
    return max(Fraction(c * sum(table), sum(row) * w) for c, w in zip(row, table, strict=True) if w)


def gain(row: list[int], table: list[int]) -> Fraction:
    return factor(row, table) - 1


def bounded_gain(row: list[int], table: list[int]) -> Fraction | float:
    for c, w in zip(row, table, strict=True):
        if w and Fraction(c * sum(table), sum(row) * w) - 1 > -log(w / sum(table)):
            return inf
    return gain(row, table)


def mixed(row: list[int], _: list[int]) -> Fraction:
    return Fraction(sum(row) - max(row))


def pairs(row: list[int], _: list[int]) -> Fraction:
    return max(Fraction(sum(row[a : a + 2]), sum(row)) for a in range(len(row)))


EXACT: dict[str, tuple[dict[str, Any], str, Figure]] = {
    "alpha_k_anonymity": ({}, "alpha", alpha),
    "p_sensitive_k_anonymity": ({}, "p", distinct),
    "recursive_cl_diversity": ({"l": 2}, "c", to_tail),
    "basic_beta_likeness": ({}, "beta", gain),
    "enhanced_beta_likeness": ({}, "beta", bounded_gain),
    "background_knowledge": ({}, "at_least", mixed),
    "skewness": ({}, "at_most", factor),
    "similarity": ({"width": 1}, "at_most", pairs),
}


def failing(name: str, given: dict[str, Any], threshold: str, value: Fraction, rows: list[list[int]]) -> list[bool]:
    """Which classes fail; the threshold is set past the model's bounds, which are for people."""
    check = CHECKS[name]
    parameters: Parameters = check.parameters.model_validate(given).model_copy(update={threshold: value})
    return check.figures(evidence(rows), parameters)[0].fails.tolist()


@pytest.mark.parametrize("name", EXACT)
def test_equality_is_decided_by_the_comparison_alone(name: str):
    given, threshold, figure = EXACT[name]
    comparison, finite = CHECKS[name].comparison, 0
    for seed in range(TABLES):
        rows = random_rows(seed)
        figures = [figure(row, totals(rows)) for row in rows]
        worst = (min if comparison.higher_is_safer else max)((one for one in figures if one != inf), default=inf)
        if worst == inf:
            continue
        finite += 1
        strict = comparison is Comparison.BELOW
        assert failing(name, given, threshold, worst, rows) == [
            one == inf or (strict and one == worst) for one in figures
        ]
        easier = worst - SMALLEST if comparison.higher_is_safer else worst + SMALLEST
        harder = worst + SMALLEST if comparison.higher_is_safer else worst - SMALLEST
        assert failing(name, given, threshold, easier, rows) == [one == inf for one in figures]
        assert failing(name, given, threshold, harder, rows) == [one in (inf, worst) for one in figures]
    assert finite > TABLES / 2


def test_the_logarithm_of_a_power_of_two_is_equal_to_a_whole_delta():
    """Every table of classes (c, 3c) and (3c, c) is at exactly 1 to base 2."""
    for seed in range(1, TABLES + 1):
        rows = [[seed, 3 * seed], [3 * seed, seed]]
        given = {"log_base": 2}
        assert failing("delta_disclosure", given, "delta", Fraction(1), rows) == [True, True]
        assert failing("delta_disclosure", given, "delta", 1 + SMALLEST, rows) == [False, False]


def test_the_share_of_victims_is_compared_exactly():
    check = CHECKS["homogeneity"]
    for seed in range(TABLES):
        sizes = [sum(row) for row in random_rows(seed, least=1)]
        summary = ClassSummary(classes=len(sizes), records=sum(sizes), failing_classes=1, failing_records=sizes[0])
        share = Fraction(sizes[0], sum(sizes))
        for at_most, failed in ((share, False), (share - SMALLEST, True), (share + SMALLEST, False)):
            parameters = check.parameters.model_construct(at_most=at_most)
            assert check.verdict([summary], parameters).failed is failed
