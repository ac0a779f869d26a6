"""k-anonymity: how many records, or persons, share every combination of quasi-identifiers."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from class_rows import Rows, evidence, frame, tables, totals
from hypothesis import given, settings, strategies as st

from tcdp_audit import Outcome, PolicyError, audit
from tcdp_audit_plugins.checks.k_anonymity import KAnonymityParameters, class_sizes

GAP = pa.table({"sex": ["F", "F", "F", "M", "M"], "age": [1, 1, None, 2, 2], "person": ["p", "q", "r", "s", "s"]})


def asked(release: pa.Table, k: int | None = None, **more: object) -> Outcome:
    attributes = {name: {"role": "quasi_identifier", "scale": "nominal"} for name in release.column_names}
    if "person" in attributes:
        attributes["person"] = {"role": "insensitive"}
    policy = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": k}}], **more}
    return audit(release, policy).expectations[0]


@given(tables)
def test_the_size_of_every_class_by_definition(rows: Rows):
    assert class_sizes(evidence(rows), KAnonymityParameters()).tolist() == [sum(row) for row in rows]


@given(tables)
def test_one_class_of_all_is_never_smaller(rows: Rows):
    one, parts = (class_sizes(evidence(some), KAnonymityParameters()) for some in ([totals(rows)], rows))

    assert min(one) >= min(parts)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from("FM"), st.integers(0, 3)), min_size=1, max_size=20), st.integers(2, 4))
def test_an_audit_counts_records_that_are_alike(records: list[tuple[str, int]], k: int):
    sizes = Counter(records)
    too_few = [size for size in sizes.values() if size < k]

    result = asked(pa.table({"sex": [sex for sex, _ in records], "age": [age for _, age in records]}), k)

    assert (result.observed, result.status.value) == (min(sizes.values()), "failed" if too_few else "passed")
    assert (result.classes.total, result.classes.failing) == (len(sizes), len(too_few))
    assert (result.records.total, result.records.failing) == (len(records), sum(too_few))


@pytest.mark.parametrize(("k", "status"), [(2, "passed"), (3, "passed"), (4, "failed"), (None, "measured")])
def test_a_smallest_class_of_three(k: int | None, status: str):
    result = asked(frame([[2, 1], [4, 4]]).select(["place"]), k)

    assert (result.status.value, result.observed) == (status, 3)


@pytest.mark.parametrize(("convention", "observed"), [("own_category", 1), ("wildcard", 2)])
def test_a_missing_quasi_identifier_is_a_value_or_any_value(convention: str, observed: int):
    result = asked(GAP.drop(["person"]), 2, conventions={"missing_quasi_identifier": convention})

    assert result.observed == observed


def test_five_records_of_one_person_are_one():
    release = pa.table({"sex": ["F"] * 5, "person": ["p"] * 5})

    assert (asked(release, 5).observed, asked(release, 5, unit="person").observed) == (5, 1)
    assert asked(release, 5, unit="person").status.value == "failed"


def test_k_below_one_is_a_fault_of_the_policy():
    with pytest.raises(PolicyError, match="k: "):
        asked(GAP, 0)
