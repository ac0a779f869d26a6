"""The rows of units, for checks that look into histories."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.rows import unit_rows

EVENTS = pa.table({"id": [*"aabbc"], "ward": [*"12131"]})


@pytest.mark.parametrize("known", [["ward"], []])
def test_histories_are_those_of_what_may_be_known_though_no_column_is_a_quasi_identifier(known: Sequence[str]) -> None:
    """Known events by columns of other roles: the smallest class is a proof, so it is never too large."""
    declared = {"ward": {"role": "insensitive"}}
    policy = load_policy({"version": 1, "unit": "id", "attributes": declared, "expect": [{"known_events": {"m": 1}}]})
    with open_engine(EVENTS, 2**28) as engine:
        rows = unit_rows(Release(engine, policy), known, None, None, 2**28)
    assert (rows.units, rows.least_class) == (3, 1)  # only c has one event
