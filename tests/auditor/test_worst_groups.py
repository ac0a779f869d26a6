"""The worst group of a whole audit, beside the table: by its definition, whatever the shards and the conventions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
import reference
from hypothesis import assume, given, settings, strategies as st
from reference import Record, Rules
from test_reference import CELLS, audited, expected_error, rules, tables

from tcdp_audit import audit
from tcdp_audit.core.base.outcome import WORST_GROUP

DOMAIN = sorted(cell for cell in CELLS["disease"] if cell is not None)
DEMAND: list[dict[str, Any]] = [{"distinct_l_diversity": {"l": 2, "attribute": "disease"}}]


def worst_group(records: list[Record], given: Rules) -> Counter[str | None]:
    """Of the groups with the fewest values, but some, the largest; of those, that of the least values and counts."""
    measured = reference.distinct_l_diversity(records, given, "disease")
    order = [*(value for value in DOMAIN if any(one["disease"] == value for one in records)), None]
    figures = [one or 0 for one in measured.figures]
    groups = [
        (figure, -one.records, pairs(row, order), row)
        for figure, (one, row) in zip(figures, rows(measured.classes, given), strict=True)
        if row
    ]
    return min(groups, key=lambda one: one[:3])[3] if groups else Counter()


def rows(classes: Any, given: Rules) -> list[Any]:
    return [(one, reference.histogram(one.matched, "disease", given)) for one in classes]


def pairs(row: Counter[str | None], order: list[str | None]) -> list[tuple[int, int]]:
    return sorted((order.index(value), count) for value, count in row.items())


def shares(row: Counter[str | None], table: Counter[str | None]) -> list[tuple[Fraction, Fraction]]:
    total, every = sum(row.values()), sum(table.values())
    return [(Fraction(row[value], total), Fraction(table[value], every)) for value in {*row, *table}]


@pytest.mark.long
@settings(max_examples=80, deadline=None)
@given(tables(), rules(), st.sampled_from([1, 2, 3, 7]))
def test_it_is_that_of_the_definition(records: list[Record], given: Rules, shards: int) -> None:
    records = records * 6
    assume(not expected_error(records, given, "disease"))
    (outcome,) = audited(records, given, DEMAND, shards)
    retained = reference.counted(records, given)
    row = worst_group(retained, given)
    actual = [(one["in_group"], one["in_reference"]) for one in outcome.details.get(WORST_GROUP, ())]
    expected = shares(row, reference.marginal(retained, "disease", given)) if row.total() >= 10 else []
    assert sorted(actual) == sorted((round(float(one), 2), round(float(other), 2)) for one, other in expected)


def joint(**options: Any) -> list[dict[str, Any]]:
    release = pa.table({"zip": ["1", "1", "2", "2"] * 5, "job": ["a", "a", "a", "b"] * 5, "wage": [3, 3, 4, 5] * 5})
    policy = {
        "version": 1,
        "attributes": {
            "zip": {"role": "quasi_identifier"},
            "job": {"role": "sensitive"},
            "wage": {"role": "sensitive", "scale": "numeric"},
        },
        "conventions": {"multiple_sensitive": "joint"},
        "expect": [{"distinct_l_diversity": {"l": 2}}],
    }
    actual: list[dict[str, Any]] = audit(release, policy, **options).expectations[0].details[WORST_GROUP]
    return actual


@pytest.mark.parametrize("shards", [1, 3])
def test_values_of_several_columns_are_combined(shards: int) -> None:
    shown = joint(shards=shards, show_values=True)
    assert [(one["value"], one["in_group"]) for one in shown] == [("a × 3", 1.0), ("a × 4", 0.0), ("b × 5", 0.0)]
    assert [one["value"] for one in joint(shards=shards)] == ["value 1", "value 2", "value 3"]


def test_a_value_has_the_same_number_in_every_outcome() -> None:
    release = pa.table({"zip": ["1"] * 12 + ["2"] * 12, "job": ["a"] * 9 + ["b"] * 3 + ["c"] * 12})
    roles = {"zip": {"role": "quasi_identifier"}, "job": {"role": "sensitive"}}
    expect = [{"distinct_l_diversity": {"l": 2}}, {"entropy_l_diversity": {}}, {"t_closeness": {"t": 0.1}}]
    policy = {"version": 1, "attributes": roles, "expect": expect}
    hidden, named = (
        [one.details[WORST_GROUP] for one in audit(release, policy, show_values=shown).expectations]
        for shown in (False, True)
    )
    numbers: dict[str, set[str]] = {}
    for masked, shown in zip(hidden, named, strict=True):
        for one, other in zip(masked, shown, strict=True):
            numbers.setdefault(other["value"], set()).add(one["value"])
    assert [one["value"] for one in hidden[0]] == ["value 1", "value 2", "value 3"]
    assert all(len(one) == 1 for one in numbers.values())
    assert len(set.union(*numbers.values())) == len(numbers) == 3
    assert all(type(one["value"]) is str for entries in hidden for one in entries)
