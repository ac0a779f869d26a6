"""Which records fail each expectation: hand-made tables; tests/brute_force does the same for every convention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit import DataError, failing_records
from tcdp_audit.core.auditor.exposure import FailingRecordMasks, NumberedEngine
from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.engines.base import BorrowedEngine
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.session.tables import open_inputs

WARDS = pa.table(
    {
        "ward": ["2", "1", "2", "3", "1", None, "2"],
        "illness": ["flu", "flu", "flu", "gout", "gout", "flu", None],
    }
)


def policy(*expect: dict[str, Any], **conventions: str) -> dict[str, Any]:
    attributes = {"ward": {"role": "quasi_identifier"}, "illness": {"role": "sensitive", "scale": "nominal"}}
    return {"version": 1, "attributes": attributes, "conventions": conventions, "expect": list(expect)}


def failing(*expect: dict[str, Any], table: pa.Table = WARDS, **conventions: str) -> list[Any]:
    result = failing_records(table, policy(*expect, **conventions))
    return [None if mask is None else np.flatnonzero(mask).tolist() for _, mask in result]


def test_the_records_of_failing_classes_fail_in_the_tables_order():
    assert failing({"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 3}}) == [[3, 5], [1, 3, 4, 5]]
    assert failing({"distinct_l_diversity": {"l": 2}}) == [[0, 2, 3, 5, 6]]


def test_a_class_without_a_value_fails_whatever_is_demanded_and_only_then():
    bare = pa.table({"ward": ["1", "1", "2"], "illness": ["flu", "gout", None]})
    assert failing({"distinct_l_diversity": {"l": 1}}, {"distinct_l_diversity": {}}, table=bare) == [[2], []]


def test_those_who_are_compatible_decide_under_wildcard():
    assert failing({"k_anonymity": {"k": 3}}, missing_quasi_identifier="wildcard") == [[3]]
    assert failing({"k_anonymity": {"k": 4}}, missing_quasi_identifier="wildcard") == [[1, 3, 4]]


def test_a_record_without_a_value_fails_where_a_convention_says_so():
    assert failing({"k_anonymity": {"k": 1}}, missing_quasi_identifier="fail") == [[5]]
    assert failing({"distinct_l_diversity": {"l": 1}}, missing_sensitive="fail") == [[6]]


def test_an_exempt_record_never_fails():
    suppressed = pa.table({"ward": ["1", "*", "1"], "illness": ["flu", "*", "gout"]})
    assert failing({"k_anonymity": {"k": 3}}, table=suppressed, suppressed="exempt") == [[0, 2]]
    assert failing({"k_anonymity": {"k": 3}}, table=suppressed) == [[0, 1, 2]]


def test_the_victims_of_an_attack_are_named_also_where_so_many_are_allowed():
    assert failing({"homogeneity": {"at_most": 0}}, {"homogeneity": {"at_most": 0.9}}) == [[0, 2, 3, 5, 6]] * 2


def test_what_is_no_matter_of_records_has_none():
    table_check, unknown = {"reidentification_risk": {"at_most": 0.1}}, {"t_closeness": {"t": 0.5}}
    assert failing(table_check, unknown, reference="original") == [None, None]


def test_classes_are_detected_among_keys_that_are_far_apart():
    numbers = [str(i % 20) for i in range(50)]
    table = pa.table({"ward": numbers, "street": numbers[::-1], "age": numbers})
    attributes = {name: {"role": "quasi_identifier"} for name in table.column_names}
    document = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 3}}]}
    ((outcome, mask),) = failing_records(table, document)
    keys = list(zip(*table.to_pydict().values(), strict=True))
    assert mask is not None
    assert mask.tolist() == [keys.count(key) < 3 for key in keys]
    assert 0 < outcome.records.failing < 50  # type: ignore[union-attr,operator]


@pytest.mark.parametrize(("shards", "memory"), [(1, 2**28), (64, 2**28), (3, 1)])  # one byte: all waits on disk
def test_shards_make_no_difference(shards: int, memory: int):
    wards = [str(i * 7 % 40) for i in range(300)]
    table = pa.table({"ward": wards, "illness": [str(i % 3) for i in range(300)]})
    asked = policy({"k_anonymity": {"k": 8}}, {"distinct_l_diversity": {"l": 3}})
    with open_inputs(table, asked, None, None, None, Options(memory=memory, shards=shards)) as inputs:
        recorded = FailingRecordMasks(300)
        inputs.audited(recorded)
    sizes = {ward: wards.count(ward) for ward in wards}
    assert recorded.masks[0] is not None
    assert recorded.masks[0].tolist() == [sizes[ward] < 8 for ward in wards]
    assert 0 < recorded.masks[0].sum() < 300


def test_the_audit_is_that_of_audit_and_no_one_can_change_what_was_recorded():
    failing = failing_records(WARDS, policy({"k_anonymity": {"k": 2}}))
    ((outcome, mask),) = failing
    assert outcome is failing.audit.expectations[0]
    assert mask is not None
    assert mask.sum() == outcome.records.failing == 2  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="read-only"):
        mask[0] = True


def test_records_without_an_order_cannot_be_pointed_out():
    with open_engine(WARDS, 2**28) as engine:
        unordered = BorrowedEngine(engine)
        unordered.ordered = False
        with pytest.raises(DataError, match=r"^release: its records have no order where they are, so that none"):
            NumberedEngine(unordered)
