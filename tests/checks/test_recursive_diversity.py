"""Recursive (c,l)-diversity, with its variants for positive and negative disclosure."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from class_rows import Rows, evidence, exact, outcome, tables
from hypothesis import given, strategies as st

from tcdp_audit import PolicyError
from tcdp_audit.core.check.evidence import ClassEvidence
from tcdp_audit_plugins.checks.recursive_diversity import (
    RecursiveParameters,
    least_protected_share,
    ratio_to_tail,
    recursive_ratio,
)

LABELS = ["v0", "v1", "v2", "v3", "v4", "v5"]


def by_definition(row: list[int], l: int, dont_care: set[int]) -> Fraction | float:
    """M07: s_y is the most frequent value that matters; its tail depends on whether y < l."""
    ranked = sorted(
        ((count, code in dont_care) for code, count in enumerate(row) if count), key=lambda one: (-one[0], one[1])
    )
    ranks = [rank for rank, (_, harmless) in enumerate(ranked, 1) if not harmless]
    if not ranks:
        return Fraction(0)
    r, y = {rank: count for rank, (count, _) in enumerate(ranked, 1)}, ranks[0]
    if y <= l - 1:
        tail = sum(r[j] for j in range(l, len(r) + 1))
    else:
        tail = sum(r[j] for j in range(l - 1, y)) + sum(r[j] for j in range(y + 1, len(r) + 1))
    return Fraction(r[y], tail) if tail else inf


@given(tables, st.integers(2, 6), st.sets(st.integers(0, 5)))
def test_every_variant_by_definition(rows: Rows, l: int, dont_care: set[int]):
    marked = np.array([code in dont_care for code in range(len(rows[0]))])

    result = ratio_to_tail(evidence(rows).sensitive[0], l, marked)

    assert exact(result) == [by_definition(row, l, dont_care) for row in rows]


@given(tables, st.integers(2, 6), st.sets(st.integers(0, 5)))
def test_wide_counts_are_ranked_as_narrow_ones(rows: Rows, l: int, dont_care: set[int]):
    marked = np.array([code in dont_care for code in range(len(rows[0]))])
    wide = [[count << 57 for count in row] for row in rows]  # beyond what one 64-bit number can rank

    result = ratio_to_tail(evidence(wide).sensitive[0], l, marked)

    assert exact(result) == [by_definition(row, l, dont_care) for row in rows]


@given(tables, st.integers(2, 6))
def test_one_class_of_all_is_never_worse(rows: Rows, l: int):
    together = [[sum(column) for column in zip(*rows, strict=True)]]
    parameters = RecursiveParameters(l=l)

    assert max(exact(recursive_ratio(evidence(together), parameters))) <= max(
        exact(recursive_ratio(evidence(rows), parameters))
    )


@pytest.mark.parametrize(("c", "status"), [(4, "failed"), ("4.0000001", "passed"), (5, "passed"), (None, "measured")])
def test_counts_8_1_1(c: object, status: str):
    result = outcome("recursive_cl_diversity", [[8, 1, 1]], l=2, c=c)

    assert (result.status.value, result.observed) == (status, 4)
    assert result.comparison.value == "<"


def test_fewer_than_l_values_keep_no_c():
    result = outcome("recursive_cl_diversity", [[1, 1, 0], [5, 5, 5]], l=3, c=10**9)

    assert (result.status.value, result.observed, result.classes.failing) == ("failed", inf, 1)


@pytest.mark.parametrize(
    ("row", "l", "dont_care", "expected"),
    [
        ([8, 1, 1], 2, ["v0"], Fraction(1, 9)),  # y = 2 > l - 1: v1 against v0 and v2
        ([8, 1, 1], 3, ["v0"], Fraction(1)),  # y = 2 = l - 1: v1 against r_3
        ([8, 2, 1, 1], 2, ["v1"], Fraction(2)),  # y = 1: v0 against all others, don't-care or not
        ([8, 0, 0], 2, ["v0"], Fraction(0)),  # only values of no concern
    ],
)
def test_positive_disclosure_by_hand(row: list[int], l: int, dont_care: list[str], expected: Fraction):
    parameters = RecursiveParameters(l=l, variant="positive_disclosure", dont_care=dont_care)

    assert exact(recursive_ratio(evidence([row], labels=LABELS[: len(row)]), parameters)) == [expected]


def test_negative_disclosure_asks_for_a_share_of_each_protected_value():
    parameters = RecursiveParameters(l=2, variant="negative_disclosure", protected=["v1", "v2"])
    rows = [[8, 1, 1], [2, 2, 4], [5, 5, 0]]

    shares = exact(least_protected_share(evidence(rows, labels=LABELS[:3]), parameters))

    assert shares == [Fraction(1, 10), Fraction(1, 4), 0]


@pytest.mark.parametrize(("c2", "status"), [("0.1", "passed"), ("0.11", "failed")])
def test_negative_disclosure_decides_by_both_thresholds(c2: str, status: str):
    given = {"variant": "negative_disclosure", "protected": ["v1", "v2"], "l": 2, "c": 5}

    result = outcome("recursive_cl_diversity", [[8, 1, 1], [2, 2, 4]], c2=c2, **given)

    assert (result.status.value, result.observed, result.details["c2"]) == (status, 4, 0.1)
    assert result.title == "Recursive (c,l)-diversity, negative disclosure"


def test_a_protected_value_that_the_release_lacks_has_no_share():
    result = outcome(
        "recursive_cl_diversity", [[2, 2]], l=2, c=2, c2="0.1", variant="negative_disclosure", protected=["v9"]
    )

    assert (result.status.value, result.details["c2"]) == ("failed", 0)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"l": 1}, "greater than or equal to 2|at least 2"),
        ({"l": 2, "dont_care": ["v0"]}, "needs `variant: positive_disclosure`"),
        ({"l": 2, "variant": "positive_disclosure"}, "needs the values in `dont_care`"),
        ({"l": 2, "variant": "negative_disclosure"}, "belong together"),
        ({"l": 2, "c2": "0.1"}, "`c2` needs the values in `protected`"),
    ],
)
def test_parameters_that_do_not_belong_together(given: dict[str, object], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        outcome("recursive_cl_diversity", [[2, 2]], **given)


@pytest.mark.parametrize("given", [{"l": 6}, {"l": 2, "variant": "positive_disclosure", "dont_care": ["v0"]}])
def test_a_part_of_a_release_without_any_value_has_no_figure(given: dict[str, object]) -> None:
    """Shards are measured one by one, and all classes of one may lack the attribute."""
    nothing = evidence([[1, 2]], labels=LABELS).sensitive[0].take(np.zeros(0, dtype=np.intp))
    part = ClassEvidence(np.zeros(0, dtype=np.int64), nothing, evidence([[1, 2]]).marginal, labels=LABELS[:2])
    assert exact(recursive_ratio(part, RecursiveParameters.model_validate(given))) == []
