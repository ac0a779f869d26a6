"""Validate a frame against a pandera schema in such a way that nothing passes unevaluated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandera.config import ValidationDepth, get_config_context
from pandera.errors import SchemaError

from tcdp_audit.api import SchemaValidation
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.tally import require_passed, status_of
from tcdp_audit.integrations.pandera.check import ExpectationCheck
from tcdp_audit.integrations.pandera.shared import Results, Run, running
from tcdp_audit.plugin.engine import CheckError, DataError, UsageError, redact_errors
from tcdp_audit.plugin.sentences import Outcome


@dataclass(frozen=True, eq=False)
class Validation:
    """Result of a frame under a schema. It is as confidential as the frame: it shows which records are rare.

    Args:
        audits: one audit for all checks of one policy.
        results: for each outcome of the schema's own expectations, in the schema's order, the records that fail it,
            bool, shape (records,), in the frame's order; None where failing is not a matter of records.
        schema: the other failures of the schema: types, missing values, other checks. Outcomes of the check
            `pandera_schema`; none where everything holds.
    """

    audits: tuple[Audit, ...]
    results: Results
    schema: tuple[Outcome, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every outcome: those of the expectations, then the schema's other failures."""
        return (*(outcome for outcome, _ in self.results), *self.schema)

    @property
    def status(self) -> str:
        """Error, failed, measured or passed, by the rules of `Audit.status`."""
        return status_of(self.outcomes)

    @property
    def passed(self) -> bool:
        """True only if everything was evaluated, a demand that counts could fail, and all that count hold."""
        return self.status == "passed"

    def raise_for_failures(self) -> None:
        """Raise an ExpectationsFailedError, with a line for each failure and each error, unless the frame passed."""
        require_passed("the validation", self.outcomes)

    def __iter__(self) -> Iterator[tuple[Outcome, NDArray[np.bool_] | None]]:
        """Each outcome of an expectation with the records that fail it."""
        return iter(self.results)


@redact_errors()
def validate(frame: Any, schema: Any) -> Validation:
    """Validate a frame against the whole of a schema with expectations.

    The schema is copied first, without its ways to drop, fill in or parse values that it would fail; see the page on
    pandera.

    Args:
        frame: a frame of pandas or polars with at least one record.
        schema: a `DataFrameSchema` or `DataFrameModel` of the same library, with at least one expectation among its
            checks.

    Raises:
        UsageError: pandera is disabled or would not look at the data, the frame is lazy or of another library than the
            schema, a schema of polars coerces, or the schema has no expectation.
        DataError: the frame has no records, two columns of the same name, or cannot be read.
        PolicyError: a table or a hierarchy that an expectation needs is wrong.
        CheckError: pandera did not run an expectation.

    Cost: that of one audit for each policy among the checks, and pandera's own.
    """
    schema = schema.to_schema() if hasattr(schema, "to_schema") else schema
    _require_depth()
    _require_together(frame, schema)
    validation = SchemaValidation.of(schema, frame, _is_expectation)
    checks = [one for one in validation.demands.schema.checks if isinstance(one, ExpectationCheck)]
    if not checks:
        raise UsageError("no check of the schema is an expectation, so nothing would be said about disclosure")
    run = Run(tuple(one.demand for one in checks))
    with running(run):
        others = tuple(validation.outcomes())
    _require_all(checks, run, len(frame))
    results = tuple(one for check in checks for one in run.results[check.demand])
    return Validation(tuple(run.audits), results, others)


def _require_depth() -> None:
    """Require that pandera examines schema and data."""
    config = get_config_context()
    if not config.validation_enabled:
        raise UsageError("pandera is disabled (PANDERA_VALIDATION_ENABLED), and would pass everything; enable it")
    if config.validation_depth is not ValidationDepth.SCHEMA_AND_DATA:
        depth = getattr(config.validation_depth, "value", config.validation_depth)
        raise UsageError(f"pandera's depth of validation is {depth} (PANDERA_VALIDATION_DEPTH); set SCHEMA_AND_DATA")


def _require_together(frame: Any, schema: Any) -> None:
    """Require a frame with records, and a schema of its library that judges it unchanged."""
    library = "pandas" if isinstance(frame, pd.DataFrame) else type(frame).__module__.split(".")[0]
    kind = f"{library} {type(frame).__name__}"
    if kind == "polars LazyFrame":
        raise UsageError("the frame is lazy: what pandera would look at is not there yet; collect() it first")
    if kind not in ("pandas DataFrame", "polars DataFrame"):
        raise UsageError(f"a {kind} is no frame of pandas or polars")
    home = f"pandera.api.{library}."
    if not any(one.__module__.startswith(home) for one in type(schema).__mro__) or not hasattr(schema, "columns"):
        raise UsageError(
            f"the frame is of {library}; the schema must be a DataFrameSchema or a DataFrameModel of pandera.{library}"
        )
    if not len(frame):
        raise DataError("the frame has no records; an empty release cannot be audited")
    if library == "pandas" and not frame.columns.is_unique:
        raise DataError("two columns of the frame have the same name; rename or drop one")
    if library == "polars" and (schema.coerce or any(one.coerce for one in schema.columns.values())):
        raise UsageError(
            "the schema coerces, so that other values than the frame's would be judged; cast the columns first, and "
            "set `coerce=False`"
        )


def _is_expectation(error: SchemaError) -> bool:
    """Whether a failure is one of an expectation among the schema's checks, which has its own outcome."""
    return isinstance(error.check, ExpectationCheck) and error.column_name is None and hasattr(error.schema, "columns")


def _require_all(checks: Sequence[ExpectationCheck], run: Run, records: int) -> None:
    """Require that every expectation was measured on every record; otherwise raise the error that prevented it."""
    if run.errors:
        raise run.errors[0]
    missing = [one.name for one in checks if one.demand not in run.results]
    if missing:
        raise CheckError(f"pandera did not run {missing[0]!r}, so that nothing is known about it")
    for audit in run.audits:
        if audit.release.records != records:
            raise CheckError(f"pandera showed {audit.release.records:,} of the frame's {records:,} records")
