"""A large table of few different rows: equal ones are counted while they are read, so that a class fits the memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tcdp_audit.core.classes.shards import Plan, partition
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role

RECORDS = 600_000


def shards_of(values: int, *, spill: bool) -> list[CountedCodes]:
    """The shards of a table with one large class."""
    random = np.random.default_rng(values)
    rare = random.integers(0, values, RECORDS)
    codes = np.where(random.random(RECORDS) < 0.9, 0, rare)
    table = pa.table({"a": codes, "s": codes % 3})
    with open_engine(table, 2**28) as engine:
        declared = AttributeDeclaration(role=Role.QUASI_IDENTIFIER)
        domains = [domain_of(name, engine.domain(name), declared, Conventions())[0] for name in ("a", "s")]
        shards = partition(engine, domains, domains[:1], Plan(4, spill=spill))
        rows = [shard for shard in shards if shard.rows]
        records = np.zeros(domains[0].size + 1, np.int64)
        for shard in rows:
            np.add.at(records, shard["a"], shard.each)
        shards.close()
        values_there, counts = np.unique(codes, return_counts=True)
        known = dict(zip(domains[0].labels, records.tolist(), strict=False))
        assert [known[str(value)] for value in values_there.tolist()] == counts.tolist()
    return rows


def test_equal_records_are_counted_where_few_rows_are_possible() -> None:
    rows = shards_of(50, spill=True)
    assert sum(shard.records for shard in rows) == RECORDS
    assert sum(shard.rows for shard in rows) <= 3 * 52 * 4


def test_otherwise_every_record_is_a_row() -> None:
    assert sum(shard.rows for shard in shards_of(50, spill=False)) == RECORDS
    assert sum(shard.rows for shard in shards_of(40_000, spill=True)) == RECORDS
