"""What each column adds to the risk: against the definition written out, and on cases that are known."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from math import comb, isclose

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import tcdp_audit
from tcdp_audit.core.classes import column_risk
from tcdp_audit.core.classes.column_risk import affordable, column_risks

ROWS = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=12)


def score(rows, columns):
    """Records that stand alone, or pairs that are told apart where nobody does with all columns."""
    sizes = Counter(tuple(row[one] for one in columns) for row in rows)
    return sum(size == 1 for size in sizes.values())


def apart(rows, columns):
    return sum(any(a[one] != b[one] for one in columns) for a, b in combinations(rows, 2))


def shapley(rows, value):
    orders = [*permutations(range(3))]
    added = [0] * 3
    for order in orders:
        for place, column in enumerate(order):
            added[column] += value(rows, order[: place + 1]) - value(rows, order[:place])
    return [one / len(orders) for one in added]


@given(ROWS)
def test_shares_are_the_mean_over_all_orders(rows):
    codes = {str(place): np.array([row[place] for row in rows]) for place in range(3)}
    actual = {one.column: one for one in column_risks(codes, np.ones(len(rows), np.int64), {})}
    value = score if score(rows, range(3)) else apart
    expected = shapley(rows, value)
    total = sum(expected)
    for place in range(3):
        one = actual[str(place)]
        assert isclose(one.share, expected[place] / total if total else 1 / 3, abs_tol=1e-9)
        assert one.unique == score(rows, range(3))
        assert one.unique_without == score(rows, [other for other in range(3) if other != place])
        assert isclose(one.separation, apart(rows, [place]) / max(comb(len(rows), 2), 1))
        assert isclose(one.distinction, len({row[place] for row in rows}) / len(rows))


@given(ROWS)
def test_counted_rows_say_the_same_as_records(rows):
    counted = Counter(rows)
    whole = column_risks({str(p): np.array([row[p] for row in rows]) for p in range(3)}, np.ones(len(rows), int), {})
    some = column_risks(
        {str(p): np.array([row[p] for row in counted]) for p in range(3)}, np.array([*counted.values()]), {}
    )
    assert [(one.column, one.unique, round(one.share, 9)) for one in whole] == [
        (one.column, one.unique, round(one.share, 9)) for one in some
    ]


def test_of_many_columns_the_drop_counts(monkeypatch):
    monkeypatch.setattr(column_risk, "EXACT", 1)
    codes = {"a": np.array([0, 1, 2, 2]), "b": np.array([0, 0, 0, 1])}
    result = column_risks(codes, np.ones(4, np.int64), {"a": "first"})
    assert [(one.column, one.label, one.share, one.unique_without) for one in result] == [
        ("a", "first", 0.6, 1),
        ("b", "", 0.4, 2),
    ]


@pytest.mark.parametrize(("columns", "rows", "possible"), [(0, 9, False), (4, 10**5, True), (8, 10**6, False)])
def test_what_would_take_long_is_not_measured(columns, rows, possible):
    assert affordable(columns, rows) is possible


def test_an_audit_measures_it_where_a_caller_asks():
    table = pd.DataFrame({"zip": ["1", "2", "3"], "sex": ["f", "f", "m"]})
    policy = {"version": 1, "attributes": {name: {"role": "quasi_identifier"} for name in table}, "expect": []}
    policy["expect"] = [{"k_anonymity": {"k": 2}}]
    result = tcdp_audit.audit(table, policy, column_risks=True, shards=2)
    assert [one.column for one in result.column_risks] == ["zip", "sex"]
    assert result.as_json()["column_risks"][0]["unique_without"] == 1
    assert tcdp_audit.audit(table, policy).column_risks == ()
