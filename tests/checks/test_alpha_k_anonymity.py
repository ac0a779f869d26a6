"""(alpha,k)-anonymity: a class must keep the largest share of one value and the least size."""

from __future__ import annotations

from fractions import Fraction

import pytest
from class_rows import Rows, evidence, exact, outcome, tables, totals
from hypothesis import given

from tcdp_audit_plugins.checks.k_anonymity import AlphaKParameters, largest_share

ROWS = [[3, 1, 0], [1, 1, 1]]


@given(tables)
def test_the_largest_share_by_definition(rows: Rows):
    assert exact(largest_share(evidence(rows), AlphaKParameters())) == [Fraction(max(row), sum(row)) for row in rows]


@given(tables)
def test_one_class_of_all_is_never_worse(rows: Rows):
    def worst(some: Rows) -> Fraction:
        return max(exact(largest_share(evidence(some), AlphaKParameters())))

    assert worst([totals(rows)]) <= worst(rows)


@pytest.mark.parametrize(
    ("alpha", "k", "status"),
    [
        (0.75, 3, "passed"),
        ("3/4", 3, "passed"),
        (0.74, 3, "failed"),
        (0.75, 4, "failed"),
        (None, 3, "passed"),
        (None, 4, "failed"),
        (0.74, None, "failed"),
        (None, None, "measured"),
    ],
)
def test_alpha_and_k_must_both_hold(alpha: object, k: int | None, status: str):
    result = outcome("alpha_k_anonymity", ROWS, alpha=alpha, k=k)

    assert (result.status.value, result.observed, result.details["k"]) == (status, 0.75, 3)


def test_a_failure_counts_classes_that_miss_either_threshold():
    result = outcome("alpha_k_anonymity", ROWS, alpha=0.7, k=4)

    assert (result.classes.failing, result.records.failing) == (2, 7)
