"""Partitions hold whole classes, each record once, whatever dies on the way; errors are sentences of ours."""

from __future__ import annotations

import os
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit import audit
from tcdp_audit.core.base.errors import DataError, PluginError
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role, Scale
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.engine import CountedCodes, Domain
from tcdp_audit.plugin.remedy import domain_of

MARKER = "Ümit-4711"
RECORDS = 3000
NUMBERS = np.random.default_rng(5)
TABLE = pa.table(
    {
        "a.b`c": NUMBERS.integers(0, 50, RECORDS),
        "float": NUMBERS.choice([-0.0, 0.0, 1.5, np.nan], RECORDS),
        "text": pa.array(NUMBERS.choice(["1", "1.0", "2", "", MARKER, None], RECORDS).tolist(), pa.string()),
    }
)


@pytest.fixture(scope="session")
def engine(spark: Any) -> Any:
    from tcdp_audit_plugins.engines.spark.engine import SparkEngine

    return SparkEngine(spark.createDataFrame(TABLE), "release", "memory:release")


def domains_of(engine: Any) -> list[Domain]:
    """Numbers, so that "1" and "1.0" are one value, and an empty cell, a marker and null are missing."""
    numeric = AttributeDeclaration(role=Role.INSENSITIVE, scale=Scale.NUMERIC)
    return [domain_of(name, engine.domain(name), numeric, Conventions())[0] for name in TABLE.column_names]


def tallied(tables: Any, domains: list[Domain]) -> Counter[tuple[int, ...]]:
    counter: Counter[tuple[int, ...]] = Counter()
    for rows in tables:
        columns = [rows[domain.attribute].tolist() for domain in domains]
        for row, times in zip(zip(*columns, strict=True), rows.each.tolist(), strict=True):
            counter[row] += times
    return counter


def expected(domains: list[Domain]) -> Counter[tuple[int, ...]]:
    """The codes of every record, looked up one by one."""
    counter: Counter[tuple[int, ...]] = Counter()
    for record in zip(*(column.to_pylist() for column in TABLE.columns), strict=True):
        counter[tuple(_code(domain, cell) for domain, cell in zip(domains, record, strict=True))] += 1
    return counter


def _code(domain: Domain, cell: Any) -> int:
    try:
        return domain.values.tolist().index(float(cell))
    except (TypeError, ValueError):
        return domain.size


def test_every_record_is_counted_under_its_codes(engine: Any) -> None:
    domains = domains_of(engine)
    assert [domain.size for domain in domains] == [50, 2, 2]
    assert tallied(engine.counted(domains), domains) == expected(domains)
    assert tallied(map(CountedCodes, engine.batches(domains)), domains) == expected(domains)


def test_a_large_table_arrives_partition_after_partition(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import tcdp_audit_plugins.engines.spark.engine as module

    monkeypatch.setattr(module, "FEW_RECORDS", 100)
    domains = domains_of(engine)
    assert tallied(engine.counted(domains), domains) == expected(domains)


def test_no_class_is_in_two_partitions(engine: Any) -> None:
    domains = domains_of(engine)
    by = domains[1:]
    with engine.shards(domains, by, 4) as shards:
        assert shards.count == 8
        parts = list(shards.each(lambda rows: rows))
    keys = [set(zip(*(part[one.attribute].tolist() for one in by), strict=True)) for part in parts]
    assert len(keys) > 2
    assert sum(map(len, keys)) == len(set().union(*keys)) == 9
    assert sum(part.records for part in parts) == RECORDS


def test_without_what_decides_there_is_one_partition(engine: Any) -> None:
    with engine.shards(domains_of(engine), [], 4) as shards:
        assert [part.records for part in shards.each(lambda rows: rows)] == [RECORDS]


def test_many_records_get_many_partitions(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import tcdp_audit_plugins.engines.spark.engine as module

    monkeypatch.setattr(module, "RECORDS", 100)
    assert engine.shards(domains_of(engine), domains_of(engine), 4).count == 30
    assert engine.shards(domains_of(engine), domains_of(engine), 77).count == 77


def test_a_task_that_dies_is_tried_again_and_counted_once(engine: Any) -> None:
    def dying(rows: CountedCodes) -> tuple[int, int]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        if context.attemptNumber() < 2 and context.partitionId() % 2:
            os._exit(9)
        return context.attemptNumber(), rows.records

    domains = domains_of(engine)
    with engine.shards(domains, domains, 8) as shards:
        attempts, records = zip(*shards.each(dying), strict=True)
    assert set(attempts) == {0, 2}
    assert sum(records) == RECORDS


def test_a_task_that_always_dies_is_an_error(engine: Any) -> None:
    def dead(_: CountedCodes) -> None:
        os._exit(9)

    domains = domains_of(engine)
    with engine.shards(domains, domains, 8) as shards:
        assert (
            _refusal(lambda: list(shards.each(dead)))
            == "release: the cluster did not finish the work on the table; see Spark's own log, and audit it again"
        )


def _refusal(work: Callable[[], Any], kind: type[Exception] = DataError) -> str:
    """The text of an error that nothing stands behind."""
    with pytest.raises(kind) as caught:
        work()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert MARKER not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_an_executors_exception_quotes_no_cell(engine: Any) -> None:
    def telling(rows: CountedCodes) -> None:
        raise ValueError(f"{MARKER} {rows.records}")

    domains = domains_of(engine)
    with engine.shards(domains, domains, 8) as shards:
        assert _refusal(lambda: list(shards.each(telling))).startswith(
            "release: the work on a partition failed on the cluster; is the same version of tcdp-audit"
        )


def test_our_own_errors_keep_their_sentence(engine: Any) -> None:
    def refusing(_: CountedCodes) -> None:
        raise DataError("too much: ask for less")

    domains = domains_of(engine)
    with engine.shards(domains, domains, 8) as shards:
        assert _refusal(lambda: list(shards.each(refusing))) == "release: too much: ask for less"


def test_what_cannot_travel_is_said(engine: Any) -> None:
    domains = domains_of(engine)
    with engine.shards(domains, domains, 8) as shards:
        assert _refusal(lambda: list(shards.each(lambda _: (x for x in (1,))))) == (
            "release: what a check made of a partition cannot be sent back from the cluster"
        )
        generator = (x for x in (1,))
        assert _refusal(lambda: list(shards.each(lambda _: next(generator))), PluginError).startswith(
            "a check of the policy cannot be sent to a cluster"
        )


def test_a_failure_inside_spark_quotes_no_cell(spark: Any) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "true")
    rows = spark.createDataFrame(TABLE).repartition(2)  # else the text is cast while the query is planned
    broken = rows.selectExpr("cast(text as int) AS zip")
    assert broken.count() == RECORDS  # which needs no cell
    asked = {
        "version": 1,
        "attributes": {"zip": {"role": "quasi_identifier"}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    plugins = Plugins.load(external=False)
    assert "did not finish the work" in _refusal(lambda: audit(broken, asked, plugins=plugins))


def test_a_table_that_changes_is_refused(spark: Any) -> None:
    from tcdp_audit_plugins.engines.spark.engine import SparkEngine

    table = SparkEngine(spark.createDataFrame(TABLE), "release", "memory:release")
    domains = domains_of(table)
    table._frame = spark.createDataFrame(TABLE.slice(1)).toDF("c0", "c1", "c2")
    assert "the table was changed while it was read" in _refusal(lambda: list(table.counted(domains)))
    other = TABLE.set_column(2, "text", pa.array(["never seen"] * RECORDS))
    table._frame = spark.createDataFrame(other).toDF("c0", "c1", "c2")
    assert "the table was changed while it was read" in _refusal(lambda: list(table.counted(domains)))


@pytest.mark.parametrize("answers", ["twice", "split", "changed"])
def test_answers_that_are_not_the_table_are_refused(engine: Any, answers: str) -> None:
    one = {"partition": 1, "records": RECORDS, "buckets": [1], "fault": None, "result": b""}
    another = {**one, "partition": 2, "buckets": [2]}
    given = {
        "twice": [one, {**another, "partition": 1}],
        "split": [one, {**another, "buckets": [2, 1]}],
        "changed": [one, another],
    }
    domains = domains_of(engine)
    shards = engine.shards(domains, domains, 8)
    from tcdp_audit_plugins.engines.spark.faults import SENTENCES

    assert list(shards._results([one])) == [b""]
    assert _refusal(lambda: list(shards._results(given[answers]))) == f"release: {SENTENCES[answers]}"


def test_too_many_records_stay_on_the_cluster(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import tcdp_audit_plugins.engines.spark.engine as module

    monkeypatch.setattr(module, "MOST_RECORDS", 100)
    sentence = "release: 3,000 records are too many to be {} outside the cluster, 100 are the most; "
    assert _refusal(engine.table).startswith(sentence.format("read as a whole"))
    domains = domains_of(engine)
    assert _refusal(lambda: list(engine.batches(domains))).startswith(sentence.format("compared one by one"))
    assert sum(rows.records for rows in engine.counted(domains)) == RECORDS


def test_a_table_as_a_whole(engine: Any) -> None:
    assert engine.table().column_names == TABLE.column_names
    assert engine.table().num_rows == engine.records == RECORDS
    assert engine.locate("text", np.array(["1"], dtype=object)) is None
    assert engine.sha256() is None
    assert not engine.ordered
