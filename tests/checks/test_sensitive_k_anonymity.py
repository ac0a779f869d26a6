"""(alpha,k)-anonymity and p-sensitive k-anonymity: a class must keep both of their thresholds."""

from __future__ import annotations

from fractions import Fraction

import pytest
from class_rows import Rows, evidence, exact, frame, tables
from hypothesis import given

from tcdp_audit import Outcome, PolicyError, measure
from tcdp_audit_plugins.checks.alpha_k_anonymity import AlphaKParameters, largest_share
from tcdp_audit_plugins.checks.p_sensitive_k_anonymity import PSensitiveParameters, distinct_values

ROWS = [[3, 1, 0], [1, 1, 1]]


def outcome(check: str, rows: Rows, **parameters: object) -> Outcome:
    return measure(check, frame(rows), quasi_identifiers=["place"], attribute="answer", scale="nominal", **parameters)


@given(tables)
def test_the_largest_share_and_the_distinct_values_by_definition(rows: Rows):
    assert exact(largest_share(evidence(rows), AlphaKParameters())) == [Fraction(max(row), sum(row)) for row in rows]
    assert distinct_values(evidence(rows), PSensitiveParameters()).tolist() == [sum(map(bool, row)) for row in rows]


@given(tables)
def test_one_class_of_all_is_never_worse(rows: Rows):
    together = [[sum(column) for column in zip(*rows, strict=True)]]

    def worst(some: Rows) -> Fraction:
        return max(exact(largest_share(evidence(some), AlphaKParameters())))

    assert worst(together) <= worst(rows)


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
    found = outcome("alpha_k_anonymity", ROWS, alpha=alpha, k=k)

    assert (found.status.value, found.observed, found.details["k"]) == (status, 0.75, 3)


def test_a_failure_counts_classes_that_miss_either_threshold():
    found = outcome("alpha_k_anonymity", ROWS, alpha=0.7, k=4)

    assert (found.classes.failing, found.records.failing) == (2, 7)
    assert found.message == (
        "All 7 records are in 2 groups of fewer than 4 records or in which one value of 'answer' makes up more than "
        "70%; the smallest group has 3 records, and one value makes up 75% of a group at most."
    )


@pytest.mark.parametrize(
    ("p", "k", "status"),
    [(2, 3, "passed"), (2, 4, "failed"), (3, 3, "failed"), (2, None, "passed"), (3, None, "failed")],
)
def test_a_class_of_3_with_2_distinct_values(p: int, k: int | None, status: str):
    found = outcome("p_sensitive_k_anonymity", [[2, 1]], p=p, k=k)

    assert (found.status.value, found.observed, found.details["k"]) == (status, 2, 3)


def test_p_above_k_is_a_fault_of_the_policy():
    with pytest.raises(PolicyError, match="p: must be at most k = 3: a class of 3 records has no more than 3"):
        outcome("p_sensitive_k_anonymity", ROWS, p=4, k=3)


def test_the_story_of_a_homogeneous_class():
    found = outcome("p_sensitive_k_anonymity", [[2, 0], [3, 3]], p=2, k=2)

    assert found.message == (
        "2 of 8 records are in a group of fewer than 2 records or with fewer than 2 different values of 'answer'; the "
        "smallest has 2 records, the least varied 1 value."
    )
