"""The plan on the cluster: one exchange by what decides on the class, equal rows counted, partitions worked on."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from tcdp_audit.plugin.engine import CountedCodes, Domain, MappedShards, Measure, PluginError
from tcdp_audit_plugins.engines.spark.faults import fault, on_cluster, without_warning_of_pandas
from tcdp_audit_plugins.engines.spark.lookup import Distinct
from tcdp_audit_plugins.engines.spark.worker import COLUMNS, Work

BUCKETS = 64  # for each partition: enough that partitions are of like size
RECORDS = 2**19  # for each partition: what a Python worker holds if no two are alike
BUCKET = "bucket"
R = TypeVar("R")
Prepare = Callable[[CountedCodes], Measure[R]]


@dataclass(frozen=True)
class CodedColumn:
    """A column of the plan, with what its cells mean."""

    alias: str  # what it is called in the plan
    cell: Any  # its cells there, an expression
    distinct: Distinct  # its distinct cells
    domain: Domain  # its domain

    def keyed(self, frame: Any) -> tuple[Any, Any]:
        """A frame with an expression that is the same for all cells of one code: the cell, as a rule.

        Where several cells share a code, as 1 and 1.0 do in a text of numbers, a small table gives it.
        """
        shared = self.distinct.ambiguous(self.domain)
        if not len(shared):
            return frame, self.cell
        lookup, null = self.distinct.lookup(self.domain), len(self.distinct.cells)
        known = shared[shared < null]
        codes = pa.table({"cell": self.distinct.cells.take(known), "code": lookup.codes[known].astype(np.int64)})
        cell, code = f"{self.alias}_cell", f"{self.alias}_code"
        table = frame.sparkSession.createDataFrame(codes).toDF(cell, code)
        joined = frame.join(F.broadcast(table), self.cell == F.col(cell), "left")
        keys = [F.col(code), F.xxhash64(self.cell)]
        if null in shared:
            keys.insert(1, F.when(self.cell.isNull(), F.lit(int(lookup.codes[-1])).cast("bigint")))
        return joined, F.coalesce(*keys)


@dataclass(frozen=True)
class Partitions(MappedShards):
    """A table as partitions, each with all records of its equivalence classes, worked on where they are."""

    frame: Any  # the table, its columns by position
    columns: Sequence[CodedColumn]  # those that are encoded
    by: Sequence[CodedColumn]  # those that decide on the partition; none of them: there is one
    count: int  # how many partitions
    name: str  # what messages call the table
    records: int  # how many records it has

    def map(self, prepare: Prepare[R], parts: int = 1) -> Iterator[R]:  # noqa: ARG002 - a partition is never parted
        """What `prepare` makes of each partition that has records, asked for as part (0, 1)."""
        with on_cluster(self.name):
            answers = self._worked(prepare).toArrow().sort_by("partition").to_pylist()
        for result in list(self._results(answers)):  # all are judged before one is given
            yield pickle.loads(result)  # noqa: S301 - of our own function

    def stream(self, prepare: Prepare[R]) -> Iterator[R]:
        """The same partition after partition, for what is large: no more than two answers are on the driver."""
        with on_cluster(self.name):
            rows = self._worked(prepare).toLocalIterator(prefetchPartitions=True)
        for result in self._results(row.asDict() for row in self._each(rows)):
            yield pickle.loads(result)  # noqa: S301 - of our own function

    def _each(self, rows: Iterator[Any]) -> Iterator[Any]:
        while True:
            with on_cluster(self.name):
                row = next(rows, None)
            if row is None:
                return
            yield row

    def _results(self, answers: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
        """The result of each partition. Every record was in one of them, and no class in two.

        Raises:
            DataError: the work failed on a partition, or the partitions are not the table.
        """
        partitions, buckets, records = set[int](), set[int](), 0
        for answer in answers:
            if answer["fault"] is not None:
                raise fault(self.name, answer["fault"])
            if answer["partition"] in partitions:
                raise fault(self.name, "twice")
            if not buckets.isdisjoint(answer["buckets"]):
                raise fault(self.name, "split")
            partitions.add(answer["partition"])
            buckets.update(answer["buckets"])
            records += answer["records"]
            yield answer["result"]
        if records != self.records:
            raise fault(self.name, "changed")

    def _worked(self, prepare: Prepare[R]) -> Any:
        work = Work(
            [column.domain.attribute for column in self.columns],
            [column.distinct.lookup(column.domain) for column in self.columns],
            _pickled(prepare),
        )
        with without_warning_of_pandas():
            return self._counted().mapInArrow(work.__call__, COLUMNS)

    def _counted(self) -> Any:
        """Each different row once, after its bucket and before its count, in the partition of its bucket.

        The bucket is a number, and a column of the grouping: so Spark keeps the exchange by it and adds none of its
        own, which it would for floats and collated text.
        """
        cells = [column.cell for column in self.columns]
        names = [column.alias for column in self.columns]
        if not self.by:
            whole = self.frame.select(*cells).groupBy(*names).count()
            return whole.select(F.lit(0).cast("bigint").alias(BUCKET), *names, "count").repartition(1)
        keyed, keys = self.frame, []
        for column in self.by:
            keyed, key = column.keyed(keyed)
            keys.append(key)
        bucket = F.pmod(F.xxhash64(*keys), F.lit(self.count * BUCKETS).cast("bigint")).alias(BUCKET)
        return keyed.select(bucket, *cells).repartition(self.count, BUCKET).groupBy(BUCKET, *names).count()


def _pickled(prepare: Any) -> bytes:
    """A function with all that it needs, as executors get it; a PluginError where a part of it cannot be pickled."""
    data = b""
    with suppress(Exception):  # whatever cannot be pickled says so in its own words
        data = cloudpickle.dumps(prepare)
    if not data:
        raise PluginError("a check of the policy cannot be sent to a cluster; its parameters and functions must pickle")
    return data
