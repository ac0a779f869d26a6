"""Work on the executors: a partition's counted rows become codes, and what a piece of work made of them travels.

Nothing is raised there, because Spark sends an exception's text, and with it a cell, to the driver and into its logs.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark import TaskContext, cloudpickle

from tcdp_audit.plugin.engine import CountedCodes, TcdpAuditError
from tcdp_audit_plugins.engines.spark.lookup import Lookup, UnknownCellError

SCHEMA = pa.schema(
    [
        ("partition", pa.int32()),
        ("records", pa.int64()),
        ("buckets", pa.list_(pa.int64())),
        ("fault", pa.string()),
        ("result", pa.binary()),
    ]
)
COLUMNS = "partition int, records bigint, buckets array<bigint>, fault string, result binary"
ROWS, BYTES = 2**18, 2**26  # what is encoded at a time
CHANGED, MEMORY, FAILED, UNSENT = "changed", "memory", "failed", "unsent"


@dataclass(frozen=True)
class Work:
    """One piece of work on every partition."""

    # the names of the columns, in the order in which they come after the bucket; then comes the count
    attributes: Sequence[str]
    lookups: Sequence[Lookup]  # what encodes each
    prepare: bytes  # what is done with a partition's rows, pickled

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row for the partition, after all of it was read; none where it is empty."""
        part = _Partition(self)
        fault, result = part.done(batches)
        if part.records or fault:
            context = TaskContext.get()
            number = -1 if context is None else context.partitionId()
            row = [[number], [part.records], [sorted(part.buckets)], [fault], [result]]
            yield pa.RecordBatch.from_arrays(
                [pa.array(one, kind) for one, kind in zip(row, SCHEMA.types, strict=True)], schema=SCHEMA
            )


class _Partition:
    """A partition while it is read."""

    def __init__(self, work: Work) -> None:
        self.work, self.records, self.parts = work, 0, list[CountedCodes]()
        self.buckets: set[int] = set()

    def done(self, batches: Iterable[pa.RecordBatch]) -> tuple[str | None, bytes | None]:
        """The fault, or the pickled result."""
        try:
            for piece in _pieces(batches):
                self._read(piece)
            if not self.parts:
                return None, None
            return self._result(CountedCodes.joined(self.parts))
        except UnknownCellError:
            return CHANGED, None
        except MemoryError:
            return MEMORY, None
        except Exception:  # noqa: BLE001 - whatever it says may quote a cell
            return FAILED, None

    def _read(self, piece: pa.Table) -> None:
        bucket, *cells, times = piece.columns
        self.buckets.update(np.unique(np.asarray(bucket)).tolist())
        named = zip(self.work.attributes, self.work.lookups, cells, strict=True)
        codes = {attribute: lookup.encode(column) for attribute, lookup, column in named}
        counted = CountedCodes(codes, np.asarray(times, dtype=np.int64))
        self.records += counted.records
        self.parts.append(counted)

    def _result(self, shard: CountedCodes) -> tuple[str | None, bytes | None]:
        self.parts.clear()
        try:
            measured = pickle.loads(self.work.prepare)(shard)((0, 1))  # noqa: S301 - the driver's own bytes
        except TcdpAuditError as error:  # its text holds no cell
            return f"{FAILED}: {error}", None
        try:
            answer = cloudpickle.dumps(measured)
            pickle.loads(answer)  # noqa: S301 - some errors can be written only
        except Exception:  # noqa: BLE001 - whatever cannot be pickled says so in its own words
            return UNSENT, None
        return None, answer


def _pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches joined to tables that are worth encoding: each pays for its lookups once."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= ROWS or sum(one.nbytes for one in waiting) >= BYTES:
            yield pa.Table.from_batches(waiting)
            waiting.clear()
    if waiting:
        yield pa.Table.from_batches(waiting)
