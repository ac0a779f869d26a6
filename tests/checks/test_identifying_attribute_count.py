"""How many columns could identify somebody."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tcdp_audit import audit


@pytest.mark.parametrize(("at_most", "status"), [(2, "failed"), (3, "passed"), (4, "passed")])
def test_identifying_columns_are_counted_by_their_roles(at_most: int, status: str) -> None:
    roles = ["quasi_identifier", "quasi_identifier", "identifier", "identifier", "sensitive", "insensitive"]
    attributes = {f"c{number}": {"role": role} for number, role in enumerate(roles)}
    table = pa.table({name: ["x"] for name in attributes if name != "c3"})  # an identifier that is not in the release
    policy = {"version": 1, "attributes": attributes, "expect": [{"identifying_attribute_count": {"at_most": at_most}}]}
    actual = audit(table, policy).expectations[0]
    assert (actual.observed, actual.status.value) == (3, status)
