"""Streams of records and of counted rows: held whole, or refused."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit import DataError
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.engines.streams import grouped_engine, streamed_engine
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role

GROUPS = pa.table({"zip": ["a", "b", None, "a"], "age": [1, 2, 3, 2], "times": pa.array([5, 2, 1, 3], pa.int64())})


def test_a_row_represents_its_records() -> None:
    with grouped_engine(GROUPS.to_reader(2), "register", "register://a", 2**28) as engine:
        assert (engine.records, engine.rows, engine.ordered, engine.sha256()) == (11, 4, False, None)
        assert [column.name for column in engine.columns] == ["zip", "age"]
        raw = engine.domain("zip")
        assert (raw.values.tolist(), raw.counts.tolist(), raw.nulls) == (["a", "b"], [8, 2], 1)
        domain, _ = domain_of("zip", raw, AttributeDeclaration(role=Role.INSENSITIVE), Conventions())
        assert sum(rows.records for rows in engine.counted([domain])) == 11
        codes = np.concatenate([batch["zip"] for batch in engine.batches([domain])])
        assert np.bincount(codes).tolist() == [8, 2, 1]
        assert sorted(engine.table()["age"].to_pylist()) == [1] * 5 + [2] * 5 + [3]
        assert engine.locate("zip", raw.values) is None


@pytest.mark.parametrize("times", [[5, 2, 0, 3], [5, 2, -1, 3], [5, None, 1, 3]])
def test_a_row_that_represents_no_record_is_refused(times: list[int | None]) -> None:
    groups = GROUPS.set_column(2, "times", pa.array(times, pa.int64()))
    with pytest.raises(DataError, match="register: not all rows of the table arrived as they are; audit it again"):
        grouped_engine(groups.to_reader(), "register", "register://a", 2**28)


class LostError(Exception):
    """What a driver raises."""


def broken() -> Iterator[pa.RecordBatch]:
    yield from GROUPS.to_batches()
    raise LostError("zqcell")


@pytest.mark.parametrize("opened", [grouped_engine, streamed_engine])
def test_what_a_stream_raises_is_raised_and_no_part_of_it_is_audited(opened: object) -> None:
    with pytest.raises(LostError):
        opened(pa.RecordBatchReader.from_batches(GROUPS.schema, broken()), "register", "register://a", 2**28)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [(["zip", "zip", "times"], "'zip' appears more than once"), (["", "age", "times"], "column 1 has no name")],
)
def test_columns_need_names(names: list[str], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        grouped_engine(GROUPS.rename_columns(names).to_reader(), "register", "register://a", 2**28)


def test_a_stream_without_columns_is_refused() -> None:
    with pytest.raises(DataError, match="the table has no columns"):
        grouped_engine(GROUPS.select(["times"]).to_reader(), "register", "register://a", 2**28)


def test_records_without_an_order_are_not_aligned() -> None:
    from tcdp_audit.core.auditor.evaluation import evaluate
    from tcdp_audit.core.auditor.view_evaluation import Options
    from tcdp_audit.core.policy.loading import read_policy
    from tcdp_audit.core.session.registry import Plugins

    policy = {
        "version": 1,
        "rows_aligned": True,
        "original": "original.csv",
        "attributes": {
            "zip": {"role": "quasi_identifier", "scale": "nominal"},
            "age": {"role": "quasi_identifier", "scale": "numeric"},
        },
        "expect": [{"distance_record_linkage": {"at_most": 0.5}}],
    }
    table = GROUPS.select(["zip", "age"])
    with (
        streamed_engine(table.to_reader(), "register", "register://a", 2**28) as release,
        streamed_engine(table.to_reader(), "original", "register://b", 2**28) as original,
    ):
        read = read_policy(policy, Plugins.load(external=False))
        outcome = evaluate(read, release, Options(memory=2**28), {"original": original})[-1]
    assert outcome.message.startswith(
        "the policy says `rows_aligned`, but the records of register have no order where they are; declare a `key`"
    ), outcome.message
