"""The similarity attack: the largest part of a class that lies close together, exact at the ends of intervals."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from class_rows import Rows, evidence, exact, frame, tables, with_gaps
from hypothesis import given, strategies as st

from tcdp_audit import CheckError, Outcome, PolicyError, audit, measure
from tcdp_audit_plugins.checks.similarity import SimilarityParameters, largest_similar_share, reach_of_numbers

NUMBERS = [-7, -3, 0, 1, 2, 50]
TREE = [[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1], [0] * 6]


def outcome(rows: Rows, **given: Any) -> Outcome:
    declared = {"scale": "numeric", **given}
    labels = declared.pop("labels", None)
    return measure("similarity", frame(rows, labels), quasi_identifiers=["place"], attribute="answer", **declared)


@given(tables, st.integers(0, 60))
def test_intervals_of_numbers_by_definition(rows: Rows, width: int):
    numbers = NUMBERS[: len(rows[0])]
    expected = [
        max(
            Fraction(sum(c for c, v in zip(row, numbers, strict=True) if a <= v <= a + width), sum(row))
            for a in numbers
        )
        for row in rows
    ]

    result = largest_similar_share(evidence(rows, values=numbers), SimilarityParameters(width=width))

    assert exact(result) == expected


@given(tables, st.integers(0, 6))
def test_intervals_of_ranks_by_definition(rows: Rows, width: int):
    expected = [max(Fraction(sum(row[a : a + width + 1]), sum(row)) for a in range(len(row))) for row in rows]

    assert exact(largest_similar_share(evidence(rows), SimilarityParameters(width=width))) == expected


@given(tables, st.integers(1, 2))
def test_subtrees_by_definition(rows: Rows, level: int):
    values = len(rows[0])
    tree = [one[:values] for one in TREE]
    expected = [
        max(
            Fraction(sum(c for c, node in zip(row, tree[level], strict=True) if node == chosen), sum(row))
            for chosen in set(tree[level])
        )
        for row in rows
    ]

    assert exact(largest_similar_share(evidence(rows, tree=tree), SimilarityParameters(level=level))) == expected


@given(tables, st.integers(0, 60))
def test_one_class_of_all_is_never_worse(rows: Rows, width: int):
    numbers, parameters = NUMBERS[: len(rows[0])], SimilarityParameters(width=width)
    together = [[sum(column) for column in zip(*rows, strict=True)]]

    def worst(some: Rows) -> Fraction | float:
        return max(exact(largest_similar_share(evidence(some, values=numbers), parameters)))

    assert worst(together) <= worst(rows)


@given(st.sets(st.integers(-30, 30), min_size=1), st.integers(0, 40), st.sampled_from([1, 10, 1000]))
def test_decimals_reach_as_far_as_they_are_written(tenths: set[int], width: int, unit: int):
    whole = sorted(tenths)
    expected = [max(code for code, v in enumerate(whole) if v - start <= width) for start in whole]
    floats = np.array([float(Fraction(v, unit)) for v in whole])

    assert reach_of_numbers(floats, Fraction(width, unit)).tolist() == expected


@pytest.mark.parametrize("width", [0, 1, 2**62, 2**70])
def test_the_ends_of_64_bits_are_in_reach_only_of_each_other(width: int):
    values = np.array([-(2**63), 0, 1, 2**63 - 2, 2**63 - 1])
    expected = [max(i for i, v in enumerate(values.tolist()) if v - start <= width) for start in values.tolist()]

    assert reach_of_numbers(values, Fraction(width)).tolist() == expected


def test_three_tenths_is_within_two_tenths_of_one_tenth():
    assert 0.3 - 0.1 < 0.2 < 0.8 - 0.6 + 1e-16  # and floating point would have it either way
    assert outcome([[1, 1]], labels=[0.1, 0.3], width="0.2").observed == 1
    assert outcome([[1, 1]], labels=[0.6, 0.8], width="0.2").observed == 1
    assert outcome([[1, 1]], labels=[0.1, 0.3], width="0.1999999999999999999999").observed == 0.5


@pytest.mark.parametrize(
    ("at_most", "status"), [("2/3", "passed"), ("0.66666666666666666666", "failed"), (None, "measured")]
)
def test_the_comparison_at_the_threshold(at_most: object, status: str):
    assert outcome([[1, 1, 1]], labels=[3000, 4000, 9000], width=1000, at_most=at_most).status.value == status


def test_bob_of_li_2007(data: Path):
    """Table 4: his class earns 3,000 to 5,000, and all of it has a disease of the stomach."""
    policy = {
        "version": 1,
        "attributes": {
            "zip": {"role": "quasi_identifier"},
            "age": {"role": "quasi_identifier"},
            "salary": {"role": "sensitive", "scale": "numeric"},
            "disease": {"role": "sensitive", "hierarchy": str(data / "papers" / "li07_disease_hierarchy.csv")},
        },
        "expect": [
            {"similarity": {"attribute": "salary", "width": 2000, "at_most": "0.9"}},
            {"similarity": {"attribute": "salary", "width": 1999}},
            {"similarity": {"attribute": "disease", "level": 1, "at_most": "0.9"}},
            {"similarity": {"attribute": "disease", "level": 3, "at_most": "0.9"}},
        ],
    }

    salary, narrow, disease, root = audit(data / "papers" / "li07_table4.csv", policy).expectations

    assert (salary.status.value, salary.observed, salary.classes.failing) == ("failed", 1, 1)
    assert narrow.observed == pytest.approx(2 / 3)
    assert (disease.status.value, disease.observed, disease.records.failing) == ("failed", 1, 3)
    assert (root.status.value, root.message) == (
        "error",
        "level 3 is not below the root of the hierarchy, which is at level 3",
    )


@pytest.mark.parametrize("given", [{}, {"level": 1, "width": 2}])
def test_one_way_to_be_close_must_be_chosen(given: dict[str, Any]):
    with pytest.raises(PolicyError, match="give either `level`"):
        outcome([[1, 1]], labels=[1, 2], **given)


def test_an_interval_needs_an_order_and_a_level_a_hierarchy():
    with pytest.raises(PolicyError, match="to be numeric or ordinal"):
        outcome([[1, 1]], width=1, scale="nominal")
    with pytest.raises(PolicyError, match="needs a hierarchy of 'answer'"):
        outcome([[1, 1]], labels=[1, 2], level=1)
    with pytest.raises(CheckError, match="needs a hierarchy"):
        largest_similar_share(evidence([[1]]), SimilarityParameters(level=1))


def test_ranks_are_those_of_the_declared_order():
    given = {"scale": "ordinal", "order": ["low", "middle", "high", "top"], "labels": ["low", "high", "top"]}

    assert outcome([[2, 1, 1]], width=1, **given).observed == 0.5
    assert outcome([[2, 1, 1]], width=2, **given).observed == 0.75


def test_a_class_without_a_value_keeps_no_demand():
    result = with_gaps("similarity", level=None, width=0, scale="ordinal", order=["x", "y"], at_most=1)

    assert result.status.value == "failed"
