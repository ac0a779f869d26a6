"""Tables larger than the memory as what is enough for comparing records: their distinct rows, whole or part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import numpy as np

from tcdp_audit.core.base.arrays import frozen_array
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.base.words import gibibytes
from tcdp_audit.core.classes.shards import MOST_SHARDS, LocalShards, Plan, assign_to_shards, merged_rows
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.release.coded import CodedTable, bytes_of_record

PARTS = 4  # of the memory: what the rows of one part may take, so that some parts may be larger than others


def in_parts(
    engines: Sequence[Engine], domains: Sequence[tuple[Domain, ...]], memory: int
) -> Iterator[list[CodedTable]]:
    """Tables part by part: equal records of all tables are in the same part, in rows with how many they stand for.

    Args:
        engines: the tables.
        domains: the columns of each, over common domains.
        memory: budget in bytes. The parts wait on disk.

    Cost: one scan of each table, which is written once and read once.
    """
    needed = bytes_of_record(domains[0]) * sum(engine.records for engine in engines)
    plan = Plan(min(max(1, -(-PARTS * needed // memory)), MOST_SHARDS), spill=True)
    with ExitStack() as stack:
        shards = []
        for engine, own in zip(engines, domains, strict=True):
            shards.append(assign_to_shards(engine, own, own, plan, merged=True))
            stack.callback(shards[-1].close)
        for number in range(plan.shards):
            yield [
                _table(engine.name, own, _part(one, own, number))
                for engine, own, one in zip(engines, domains, shards, strict=True)
            ]


def _part(shards: LocalShards, domains: Sequence[Domain], number: int) -> CountedCodes:
    rows = shards.read(number)
    return rows if len(rows) else CountedCodes({one.attribute: np.zeros(0, one.dtype) for one in domains})


def distinct_rows(engine: Engine, domains: Sequence[Domain], memory: int | None) -> CodedTable:
    """The distinct rows of a table, each with how many records it stands for.

    Args:
        engine: the table.
        domains: its columns.
        memory: budget in bytes; None for no limit.

    Raises:
        CheckError: they outgrow the memory.

    Cost: one scan of the table, and a sort of the distinct rows whenever as many have been read again.
    """
    each = bytes_of_record(domains)
    distinct = CountedCodes({one.attribute: np.zeros(0, one.dtype) for one in domains}, np.zeros(0, np.int64))
    waiting: list[CountedCodes] = []
    for rows in engine.counted(domains):
        waiting.append(rows)
        if sum(one.rows for one in waiting) > distinct.rows:
            distinct = merged_rows(CountedCodes.joined([distinct, *waiting]), domains)
            waiting.clear()
        if memory is not None and distinct.rows * each > memory:
            raise CheckError(
                f"it needs the distinct rows of {engine.name} at once, which take more than the {gibibytes(memory)} "
                "that may be used; compare fewer `attributes`, or give more with --memory"
            )
    return _table(engine.name, domains, merged_rows(CountedCodes.joined([distinct, *waiting]), domains))


def _table(name: str, domains: Sequence[Domain], rows: CountedCodes) -> CodedTable:
    codes = {attribute: frozen_array(codes) for attribute, codes in rows.items()}
    times = None if rows.times is None else frozen_array(rows.times)
    return CodedTable(name, FrozenDict({one.attribute: one for one in domains}), FrozenDict(codes), times)
