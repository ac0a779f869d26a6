"""What holds of every release repaired by a remedy that perturbs cells, whatever the table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings, strategies as st

from tcdp_audit import Remediation, fix
from tcdp_audit.core.session.registry import Plugins

pytestmark = pytest.mark.long
PLUGINS = Plugins.load(external=False)
GRADES = ["low", "middle", "high"]
ATTRIBUTES = {
    "note": {"role": "insensitive"},
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "grade": {"role": "quasi_identifier", "scale": "ordinal", "order": GRADES},
    "cost": {"role": "sensitive", "scale": "numeric"},
}
DEMANDS: list[list[dict[str, Any]]] = [
    [{"distance_record_linkage": {"at_most": 0.6}}],
    [{"distance_record_linkage": {"at_most": 0.7}}, {"exact_match_rate": {"at_most": 0.9}}],
]
MASKING: list[dict[str, Any]] = [
    {"rank_swapping": {"percent": 40}},
    {"rank_swapping": {"percent": 40, "variant": "p_distribution"}},
    {"rank_swapping": {}},
    {"data_shuffling": {"proximity": 0.2}},
    {"correlated_noise": {"percent": 150}},
    {"rounding": {"base": {"age": 25}}},
    {"rounding": {}},
    {"pram": {"retention": 0.4}},
    {"pram": {"retention": 0.4, "invariant": True}},
]
RANGES: list[dict[str, Any]] = [  # cells that linkage by distance cannot compare with numbers
    {"global_recoding": {"breaks": {"age": [30, 45], "grade": ["high"]}}},
    {"top_bottom_coding": {"attribute": "age", "share": 0.4}},
]


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    n = draw(st.integers(10, 30))

    def column(values: list[Any]) -> list[Any]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    return pa.table(
        {
            "note": pa.array([f"{i:04}" for i in range(n)]),
            "age": pa.array(column([*range(20, 60, 3), None]), pa.int64()),
            "grade": pa.array(column([*GRADES, "*"]), pa.string()),
            "cost": pa.array(column([1, 2, 3, 5, 8]), pa.int64()),
        }
    )


def repaired(table: pa.Table, expect: list[dict[str, Any]], remedy: dict[str, Any]) -> Remediation:
    policy = {"version": 1, "rows_aligned": True, "attributes": ATTRIBUTES, "expect": expect, "remedy": [remedy]}
    return fix(table, policy, table, plugins=PLUGINS, keep_order=True)  # to compare cells record by record


@pytest.mark.parametrize("remedy", [*MASKING, *RANGES], ids=str)
@settings(max_examples=2)
@given(table=tables(), expect=st.sampled_from(DEMANDS))
def test_what_is_promised_of_every_output(
    remedy: dict[str, Any], table: pa.Table, expect: list[dict[str, Any]]
) -> None:
    done = repaired(table, expect, remedy)
    released = done.released
    assert released.column_names == table.column_names
    assert released.num_rows == table.num_rows - done.log.suppressed == table.num_rows
    assert released["note"].equals(table["note"])
    assert released["cost"].equals(table["cost"])
    passed = {(one.check, one.attribute) for one in done.before.expectations if one.status.value == "passed"}
    if done.passed:
        still = {(one.check, one.attribute) for one in done.after.expectations if one.status.value == "passed"}
        assert passed <= still
    again = repaired(table, expect, remedy)
    assert again.released.equals(released)


@pytest.mark.parametrize("remedy", MASKING, ids=str)
@settings(max_examples=2)
@given(table=tables(), expect=st.sampled_from(DEMANDS))
def test_repairing_what_was_repaired_changes_nothing(
    remedy: dict[str, Any], table: pa.Table, expect: list[dict[str, Any]]
) -> None:
    once = repaired(table, expect, remedy)
    assume(once.passed and not once.log.is_unchanged)
    policy = {"version": 1, "rows_aligned": True, "attributes": ATTRIBUTES, "expect": expect, "remedy": [remedy]}
    twice = fix(once.released, policy, table, plugins=PLUGINS, keep_order=True)
    assert twice.log.is_unchanged
    assert twice.released.equals(once.released)


@pytest.mark.parametrize("remedy", [*MASKING, *RANGES], ids=str)
@settings(max_examples=2)
@given(table=tables(), expect=st.sampled_from(DEMANDS), seed=st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing(
    remedy: dict[str, Any], table: pa.Table, expect: list[dict[str, Any]], seed: Any
) -> None:
    order = list(range(table.num_rows))
    seed.shuffle(order)
    one, two = repaired(table, expect, remedy), repaired(table.take(order), expect, remedy)
    assert one.passed == two.passed
    columns = [name for name in table.column_names if name != "note"]
    keys = [(name, "ascending") for name in columns]
    first, second = (done.released.select(columns).sort_by(keys) for done in (one, two))
    assert first.equals(second)
