"""Classes of one record each are measured by value: every check then says what it says of each class by itself."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from every_class_check import every_class_check
from hypothesis import given, settings, strategies as st

from tcdp_audit import failing_records
from tcdp_audit.core.auditor import tasks as singles
from tcdp_audit.core.auditor.tasks import Singles

TREE = {"*": {"warm": ["a", "b"], "cold": ["c"]}}
record = st.tuples(st.sampled_from([1, 2, 9, None]), st.sampled_from(["a", "b", "c", None]), st.sampled_from("xyz"))
CONVENTIONS = {"missing_sensitive": ["excluded", "own_category"], "missing_quasi_identifier": ["own_category"]}
conventions = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in CONVENTIONS.items()})


def policy(*, unit: bool, conventions: dict[str, str]) -> dict[str, Any]:
    attributes = {
        "house": {"role": "quasi_identifier"},
        "wage": {"role": "sensitive", "scale": "numeric"},
        "job": {"role": "sensitive", "hierarchy": TREE},
    }
    named = {"unit": "person"} if unit else {}
    conventions = {**conventions, "known_rows": "one"}  # whole histories are classes of their units, not of records
    attributes |= {} if unit else {"person": {"role": "insensitive"}}
    expect = every_class_check("wage", 1, "job", ["wage"])
    return {"version": 1, **named, "attributes": attributes, "conventions": conventions, "expect": expect}


def answers(release: pa.Table, asked: dict[str, Any]) -> list[Any]:
    failing = failing_records(release, asked)
    return [
        [one.as_json() for one in failing.audit.expectations],
        failing.audit.exposed,
        [str(one) for one in failing.masks],
    ]


@settings(max_examples=6)
@given(st.lists(record, min_size=1, max_size=9), st.booleans(), conventions)
def test_each_check_says_the_same(rows: list[Any], unit: bool, conventions: dict[str, str]) -> None:
    wages, jobs, people = zip(*rows, strict=True)
    release = pa.table(
        {
            "house": list(range(len(rows))),
            "wage": pa.array(wages, pa.int64()),
            "job": pa.array(jobs, pa.string()),
            "person": people,
        }
    )
    asked = policy(unit=unit, conventions=conventions)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(singles, "ALIKE", 0)
        used = watched(patch)
        by_value = answers(release, asked)
        assert used
        assert all(used)
        patch.setattr(Singles, "of", staticmethod(lambda *_: None))
        assert by_value == answers(release, asked)


def watched(patch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each question found classes of one record, once they are asked."""
    used: list[bool] = []
    of = Singles.of

    def recorded(*arguments: Any) -> Singles | None:
        answer = of(*arguments)
        used.append(answer is not None)
        return answer

    patch.setattr(Singles, "of", staticmethod(recorded))
    return used
