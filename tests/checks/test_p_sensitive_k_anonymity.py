"""p-sensitive k-anonymity: a class must keep p distinct values and k records."""

from __future__ import annotations

import pytest
from class_rows import Rows, evidence, outcome, tables
from hypothesis import given

from tcdp_audit import PolicyError
from tcdp_audit_plugins.checks.k_anonymity import PSensitiveParameters, distinct_values


@given(tables)
def test_the_distinct_values_by_definition(rows: Rows):
    assert distinct_values(evidence(rows), PSensitiveParameters()).tolist() == [sum(map(bool, row)) for row in rows]


@pytest.mark.parametrize(
    ("p", "k", "status"),
    [(2, 3, "passed"), (2, 4, "failed"), (3, 3, "failed"), (2, None, "passed"), (3, None, "failed")],
)
def test_a_class_of_3_with_2_distinct_values(p: int, k: int | None, status: str):
    result = outcome("p_sensitive_k_anonymity", [[2, 1]], p=p, k=k)

    assert (result.status.value, result.observed, result.details["k"]) == (status, 2, 3)


def test_p_above_k_is_a_fault_of_the_policy():
    with pytest.raises(PolicyError, match="p: must be at most k = 3: a class of 3 records has no more than 3"):
        outcome("p_sensitive_k_anonymity", [[3, 1]], p=4, k=3)
