"""The single metric of all expectations: the answer to a demand on a batch, from an audit that all of them share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Self

from great_expectations.core.id_dict import IDDict
from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.execution_engine.sparkdf_execution_engine import SparkDFExecutionEngine
from great_expectations.execution_engine.sqlalchemy_execution_engine import SqlAlchemyExecutionEngine
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider
from great_expectations.validator.metric_configuration import MetricConfiguration

from tcdp_audit.integrations.host import Answer, Demand, Fault, Pending, answers_to
from tcdp_audit.plugin.engine import DatabaseTable, UsageError

METRIC = "tcdp_audit.outcome"
KEY = "tcdp_audit"
Domain = Any  # Great Expectations' value for a batch's id and a row condition; hashable
Open = Callable[[], AbstractContextManager[Any]]
TEMPORARY = "gx_temp_"  # the beginning of the names of Great Expectations' temporary tables
TYPED = ("postgresql", "sqlite", "duckdb")  # which say the types of a statement's columns; others those of a table


def metric_of(demand: Demand, domain: Mapping[str, Any], runtime: MutableMapping[str, Any] | None) -> Any:
    """The metric of a demand on a domain; the run records that it is asked for."""
    value = IDDict({"policy": demand.policy, "entry": demand.entry})
    configuration = MetricConfiguration(METRIC, IDDict(domain), value)
    Run.within(runtime).ask(configuration.metric_domain_kwargs.to_id(), demand)
    return configuration


class DisclosureOutcome(TableMetricProvider):  # type: ignore[misc]
    """Answer to a demand, or the fault that prevented one. It never raises."""

    metric_name = METRIC
    domain_keys = ("batch_id", "row_condition", "condition_parser")
    value_keys = ("policy", "entry")

    @metric_value(engine=PandasExecutionEngine)  # type: ignore[untyped-decorator]
    def _pandas(cls, *_: Any, **asked: Any) -> Answer:  # noqa: N805 - Great Expectations gives the class
        return _answer(frame_of_batch, **asked)

    @metric_value(engine=SqlAlchemyExecutionEngine)  # type: ignore[untyped-decorator]
    def _sqlalchemy(cls, *_: Any, **asked: Any) -> Answer:  # noqa: N805
        return _answer(statement_of_batch, **asked)

    @metric_value(engine=SparkDFExecutionEngine)  # type: ignore[untyped-decorator]
    def _spark(cls, *_: Any, **asked: Any) -> Answer:  # noqa: N805
        return _answer(frame_of_batch, **asked)


def _answer(
    opened: Any,
    execution_engine: Any,
    metric_domain_kwargs: Any,
    metric_value_kwargs: Mapping[str, Any],
    runtime_configuration: MutableMapping[str, Any] | None = None,
    **_: Any,
) -> Answer:
    run, demand = Run.within(runtime_configuration), Demand(**metric_value_kwargs)
    table = partial(opened, execution_engine, metric_domain_kwargs)
    return run.answer(metric_domain_kwargs.to_id(), demand, table)


class Run:
    """The demands of one run on each batch and part of a batch, and their answers."""

    def __init__(self) -> None:
        self._pending: defaultdict[Domain, Pending[Answer]] = defaultdict(Pending[Answer])

    @classmethod
    def within(cls, runtime_configuration: MutableMapping[str, Any] | None) -> Run:
        """The run that a runtime configuration belongs to; a new one where there is none."""
        if runtime_configuration is None:
            return cls()
        run = runtime_configuration.setdefault(KEY, cls())
        assert isinstance(run, Run)  # noqa: S101 - no other library writes under this key
        return run

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        """Return the same run: Great Expectations copies its configuration for every expectation."""
        return self

    def ask(self, domain: Domain, demand: Demand) -> None:
        """Record a demand on a domain."""
        self._pending[domain].ask(demand)

    def answer(self, domain: Domain, demand: Demand, opened: Open) -> Answer:
        """Answer a demand, by an audit of all demands on the domain that are not answered yet.

        It does not raise, since Great Expectations would try the same twice more. An answer is given once: a metric is
        resolved once a run, and a caller who gives the same configuration to another run has the table read again.
        """
        return self._pending[domain].answer(demand, partial(_answers, opened=opened))


def _answers(demands: list[Demand], opened: Open) -> dict[Demand, Answer]:
    try:
        with opened() as table:
            return answers_to(demands, table)
    except Exception as error:  # noqa: BLE001 - of Great Expectations or a driver; its text may hold cells
        return dict.fromkeys(demands, Fault.about(error, "the batch cannot be read: it"))


def records_of(execution_engine: Any, domain: Mapping[str, Any]) -> Any:
    """The batch, or the part of it that a row condition leaves."""
    records, _, _ = execution_engine.get_compute_domain(dict(domain), domain_type=MetricDomainTypes.TABLE)
    return records


@contextmanager
def frame_of_batch(execution_engine: Any, domain: Mapping[str, Any]) -> Iterator[Any]:
    """The frame of an engine for pandas or Spark."""
    yield records_of(execution_engine, domain)


@contextmanager
def statement_of_batch(execution_engine: Any, domain: Mapping[str, Any]) -> Iterator[DatabaseTable]:
    """The statement of an engine for databases.

    Raises:
        UsageError: only Great Expectations' own connection sees the batch, or it is of another database.
    """
    records = records_of(execution_engine, domain)
    statement = _selectable(records)
    if TEMPORARY in str(statement):
        raise UsageError(
            "the batch is a temporary table, which no second connection sees; set `create_temp_table=False` on the "
            "data source"
        )
    dialect = execution_engine.engine.dialect.name
    if dialect not in TYPED:
        statement = _whole_table(statement, dialect)
    engine, close = _own_engine(execution_engine.engine)
    try:
        yield DatabaseTable(engine, statement)
    finally:
        close()


def _selectable(records: Any) -> Any:
    """Source of a selection: a statement with a row condition is a Select, and all others are tables or subqueries."""
    import sqlalchemy as sa  # noqa: PLC0415 - an extra, which a batch of a database has imported

    return records if isinstance(records, sa.Select | sa.FromClause) else records.subquery("release")


def _whole_table(statement: Any, dialect: str) -> str:
    """The name of the table of a batch that is a whole one, as `DatabaseTable` takes it.

    Raises:
        UsageError: the batch is a query or a part of a table, whose types this kind of database does not say.
    """
    import sqlalchemy as sa  # noqa: PLC0415 - as above

    selection = getattr(statement, "element", statement)
    where = getattr(selection, "whereclause", None)
    is_whole = isinstance(selection, sa.Select) and (where is None or str(where) == "true")  # the text of a whole table
    tables = selection.get_final_froms() if is_whole else [selection]
    table = tables[0] if len(tables) == 1 else None
    if not isinstance(table, sa.TableClause):
        raise UsageError(
            f"the types of a query's columns, and of a part of a table, are not known to {dialect}; make a view of it, "
            "and audit the whole view"
        )
    names = [name for name in (table.schema, table.name) if name is not None]
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def _own_engine(engine: Any) -> tuple[Any, Any]:
    """An engine whose connections are not Great Expectations' own, and the function that closes it.

    Great Expectations' engines for SQLite have one connection for all; a database in memory has no second one.
    """
    import sqlalchemy as sa  # noqa: PLC0415
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    if engine.dialect.name != "sqlite" or engine.url.database in (None, "", ":memory:"):
        return engine, lambda: None  # stays open: it is Great Expectations' own
    own = sa.create_engine(engine.url, poolclass=NullPool)
    return own, own.dispose
