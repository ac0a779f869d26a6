"""The one metric of all expectations: what came of a demand on a batch, by an audit that all of them share."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from functools import partial
from typing import Any

from great_expectations.core.id_dict import IDDict
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.execution_engine.sparkdf_execution_engine import SparkDFExecutionEngine
from great_expectations.execution_engine.sqlalchemy_execution_engine import SqlAlchemyExecutionEngine
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider
from great_expectations.validator.metric_configuration import MetricConfiguration

from tcdp_audit.integrations.great_expectations.demands import Answer, Demand
from tcdp_audit.integrations.great_expectations.run import Run
from tcdp_audit.integrations.great_expectations.tables import frame_of_batch, statement_of_batch

METRIC = "tcdp_audit.outcome"


def metric_of(demand: Demand, domain: Mapping[str, Any], runtime: MutableMapping[str, Any] | None) -> Any:
    """The metric that a demand on a domain is; the run remembers that it is asked for."""
    configuration = MetricConfiguration(METRIC, IDDict(domain), IDDict({"demand": demand.text}))
    Run.within(runtime).ask(configuration.metric_domain_kwargs.to_id(), demand)
    return configuration


class DisclosureOutcome(TableMetricProvider):  # type: ignore[misc]
    """What came of a demand, or the fault that kept it from being judged. It never raises."""

    metric_name = METRIC
    domain_keys = ("batch_id", "row_condition", "condition_parser")
    value_keys = ("demand",)

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
    run, demand = Run.within(runtime_configuration), Demand(str(metric_value_kwargs["demand"]))
    table = partial(opened, execution_engine, metric_domain_kwargs)
    return run.answer(metric_domain_kwargs.to_id(), demand, table)
