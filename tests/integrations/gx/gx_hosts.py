"""Runs of Great Expectations on each of its engines, in contexts that live as long as a test."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Sequence
from typing import Any

import same_everywhere
import sqlalchemy as sa

from tcdp_audit.core.base.outcome import Outcome, Status, Tally, number

with warnings.catch_warnings(action="ignore"):  # of itself, while it is imported
    import great_expectations as gx

from tcdp_audit.integrations import great_expectations as ours


def pandas_batches(frame: Any = None) -> tuple[Any, dict[str, Any]]:
    """A batch definition for frames, and the parameters that a run on one takes."""
    asset = gx.get_context(mode="ephemeral").data_sources.add_pandas("pandas").add_dataframe_asset("release")
    return asset.add_batch_definition_whole_dataframe("whole"), {"batch_parameters": {"dataframe": frame}}


def spark_batches(frame: Any) -> tuple[Any, dict[str, Any]]:
    """The same for Spark's frames."""
    asset = gx.get_context(mode="ephemeral").data_sources.add_spark("spark").add_dataframe_asset("release")
    return asset.add_batch_definition_whole_dataframe("whole"), {"batch_parameters": {"dataframe": frame}}


def sqlite_batches(url: str, table: str = "release") -> tuple[Any, dict[str, Any]]:
    """A table of a SQLite database."""
    source = gx.get_context(mode="ephemeral").data_sources.add_sqlite("sqlite", connection_string=url)
    return source.add_table_asset("release", table_name=table).add_batch_definition_whole_table("whole"), {}


def sql_batches(url: str, table: str = "release") -> tuple[Any, dict[str, Any]]:
    """A table of PostgreSQL, MariaDB or DuckDB."""
    source = gx.get_context(mode="ephemeral").data_sources.add_sql("server", connection_string=url)
    return source.add_table_asset("release", table_name=table).add_batch_definition_whole_table("whole"), {}


def put(frame: Any, url: str, table: str = "release") -> None:
    """A frame as a table of a database."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    frame.to_sql(table, engine, index=False, if_exists="replace")
    engine.dispose()


def definition(batches: Any, expectations: Sequence[Any], name: str = "suite") -> Any:
    """A validation definition of some expectations, or of a suite."""
    context = gx.get_context() if batches is None else batches.data_asset.datasource.data_context
    suite = expectations if isinstance(expectations, gx.ExpectationSuite) else None
    suite = suite or gx.ExpectationSuite(name=name, expectations=[copy.copy(one) for one in expectations])
    context.suites.add(suite)
    return context.validation_definitions.add(gx.ValidationDefinition(name=suite.name, data=batches, suite=suite))


def run(batches: tuple[Any, dict[str, Any]], expectations: Any, **parameters: Any) -> Any:
    """The result of some expectations on a batch, through the guarded run."""
    whole, given = batches
    return ours.guarded_run(definition(whole, expectations), **{"result_format": "COMPLETE", **given, **parameters})


def run_unguarded(batches: tuple[Any, dict[str, Any]], expectations: Any) -> Any:
    """The same through Great Expectations' own run, which takes row conditions."""
    whole, given = batches
    return definition(whole, expectations).run(result_format="COMPLETE", **given)


COLUMNS = "expect_table_columns_to_be_declared"


def judged(result: Any) -> tuple[Any, ...]:
    """What `from_native` takes of an outcome, out of the JSON of a result."""
    stored = json.loads(json.dumps(result.to_json_dict()))["result"]
    details = stored["details"]
    tallies = [None if details[name] is None else Tally(**details[name]) for name in ("classes", "records")]
    named = details["check"], details["attribute"]
    return (*named, stored["observed_value"], details["threshold"], Status(details["status"]), *tallies)


def from_native(outcome: Outcome) -> tuple[Any, ...]:
    """What is the same everywhere, with numbers as JSON has them."""
    return tuple(number(one) for one in same_everywhere.judged(outcome))


def column(name: str) -> Any:
    """A column in a row condition."""
    from great_expectations.expectations.row_conditions import Column

    return Column(name)


def with_condition(suite: Any, condition: Any) -> Any:
    """The suite with a condition on each of its expectations."""
    expectations = [one.copy(update={"id": None, "row_condition": condition}) for one in suite.expectations]
    return gx.ExpectationSuite(name="part", expectations=expectations)
