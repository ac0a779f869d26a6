"""Tables of texts and numbers in memory: read as the embedded engine reads them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.plain import PLAIN, PlainEngine
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role, Scale

COLUMNS: dict[str, pa.Array] = {
    "text": pa.array(["b", None, "", "a", "b", "*"]),
    "whole": pa.array([5, -3, None, 5, 0, 2**40]),
    "small": pa.array([5, 3, None, 5, 0, 200], pa.uint8()),
    "real": pa.array([0.1, -0.0, 0.0, None, 1e300, 0.1]),
    "odd": pa.array([float("nan"), 1.0, float("inf"), None, 1.0, -1.5]),
    "none": pa.array([None] * 6, pa.int32()),
}


def declaration(kind: pa.DataType) -> AttributeDeclaration:
    scale = Scale.NOMINAL if kind == pa.string() else Scale.NUMERIC
    return AttributeDeclaration(role=Role.QUASI_IDENTIFIER, scale=scale)


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_read_as_by_the_embedded_engine(name: str) -> None:
    table = pa.table({name: pa.chunked_array([COLUMNS[name].slice(0, 2), COLUMNS[name].slice(2)])})
    plain = PlainEngine(table, "release")
    with open_engine(table, 2**28) as embedded:
        ours, theirs = plain.domain(name), embedded.domain(name)
        assert (ours.values.dtype, ours.nulls) == (theirs.values.dtype, theirs.nulls)
        np.testing.assert_array_equal(ours.values, theirs.values)
        np.testing.assert_array_equal(ours.counts, theirs.counts)
        assert plain.columns == embedded.columns
        np.testing.assert_equal(plain.table().to_pydict(), embedded.table().to_pydict())
        domain, _ = domain_of(name, ours, declaration(table.schema.field(0).type), Conventions())
        codes = [np.concatenate([one[name] for one in engine.batches([domain])]) for engine in (plain, embedded)]
        np.testing.assert_array_equal(codes[0], codes[1])
        if len(ours.values):
            assert plain.locate(name, ours.values[:1]) == embedded.locate(name, ours.values[:1])


def test_a_plain_table_has_no_digest_and_no_other_types() -> None:
    plain = PlainEngine(pa.table(COLUMNS), "release")
    assert (plain.records, plain.sha256(), plain.name) == (6, None, "release")
    assert PlainEngine.reads(pa.table(COLUMNS))
    assert pa.uint64() not in PLAIN
    assert not PlainEngine.reads(pa.table({"when": pa.array([0], pa.date32())}))
