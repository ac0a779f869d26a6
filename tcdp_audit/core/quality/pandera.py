"""A policy's pandera schema: pandera validates the release, and each of its failures becomes an outcome.

pandera's own messages quote the cells that fail, so none of them is passed on: a sentence is made of the column,
the name of the check, which comes from the schema, and the number of records.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Any

import pandas as pd
from pandas.api import types
from pandera.config import ValidationDepth, config_context
from pandera.errors import SchemaError, SchemaErrorReason, SchemaErrors

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import SCHEMA, Outcome, Severity, Status, Tally
from tcdp_audit.core.base.words import count
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.quality.frame import frame_of
from tcdp_audit.core.quality.pandera_schema import SchemaDemands, demands_of

CHECK = "pandera_schema"
TITLE = "pandera schema"
Reason = SchemaErrorReason

_TYPE_IS_WRONG = (Reason.DATATYPE_COERCION, Reason.WRONG_DATATYPE)
_SENTENCES: dict[Reason, str] = {
    Reason.COLUMN_NOT_IN_SCHEMA: "{column} is not in the schema",
    Reason.COLUMN_NOT_IN_DATAFRAME: "{column} is in the schema and not in the release",
    Reason.COLUMN_NOT_ORDERED: "{column} is out of the schema's order",
    Reason.INVALID_COLUMN_NAME: "no column of the release matches the schema's {column}",
    Reason.SERIES_CONTAINS_NULLS: "{column} has no value in {records}, and the schema demands one",
    Reason.SERIES_CONTAINS_DUPLICATES: "{column} must be unique, and {records} share a value",
    Reason.DUPLICATES: "records must be unique in some columns, and {records} are not",
    Reason.WRONG_DATATYPE: "{column} is of type {type}, and the schema demands {check}",
    Reason.DATATYPE_COERCION: "{records} of {column} cannot be read as the schema's type: {check}",
    Reason.DATAFRAME_CHECK: "{column} does not keep {check} in {records}",
    Reason.CHECK_ERROR: "{check} could not be evaluated on {column}: it raised {raised}",
}
_OTHER = "{column} does not keep {check}"
_TRUTH = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


def schema_outcomes(policy: Policy, engine: Engine, release: Any) -> Sequence[Outcome]:
    """Judge a release by the policy's schema: one passed outcome, or one for each failure.

    Args:
        policy: a policy with a `schema`.
        engine: where the release lives.
        release: what the caller gave; a pandas frame is validated as it is, everything else as the engine has it.

    Raises:
        PolicyError: the schema cannot be loaded, or demands nothing.

    Cost: the whole release as a pandas frame in memory, and pandera's own.
    """
    demands = demands_of(policy)
    frame = frame_of(engine, release, policy.conventions.missing_tokens)
    outcomes = tuple(SchemaValidation(demands, frame).outcomes())
    return outcomes or (_passed(demands, frame),)


@dataclass(frozen=True)
class SchemaValidation:
    """One schema on one frame.

    Args:
        demands: the schema.
        frame: a frame of pandas; or of polars, for a schema that does not coerce.
        is_known: says of a failure whether it has an outcome of its own.
    """

    demands: SchemaDemands
    frame: Any
    is_known: Callable[[SchemaError], bool] = field(default=lambda _: False)

    @classmethod
    def of(cls, schema: Any, frame: Any, is_known: Callable[[SchemaError], bool]) -> SchemaValidation:
        """A schema of a program on its frame, without the schema's silent ways out."""
        return cls(SchemaDemands.of(schema, str(schema.name or "schema")), frame, is_known)

    def outcomes(self) -> Iterator[Outcome]:
        """Everything that does not hold; nothing if all of it was evaluated and holds."""
        seen: list[int] = []
        try:
            coerced, errors = _validated(self.demands.observed_by(seen.append), self.frame)
        except Exception as error:  # noqa: BLE001 - pandera and the schema's own code may raise anything
            raised = type(error).__name__
            yield self._outcome(Status.ERROR, f"pandera raised {raised}; the schema was not evaluated")
            return
        if seen != [len(self.frame)]:
            yield self._outcome(Status.ERROR, "pandera did not evaluate the schema on every record")
        yield from (self._failure(one) for one in _first_causes(errors) if not self.is_known(one))
        if isinstance(self.frame, pd.DataFrame):
            yield from self._losses(self.frame, coerced)

    def _losses(self, frame: pd.DataFrame, coerced: pd.DataFrame) -> Iterator[Outcome]:
        """Cells that another value would have to replace before the schema holds."""
        for column in frame.columns.intersection(coerced.columns):
            records = _altered_records(frame[column], coerced[column])
            if records:
                sentence = f"column {column!r} loses or changes its value in {_counted(records)} when it is read as "
                message = f"{sentence}{coerced[column].dtype}, which the schema demands"
                yield self._outcome(Status.FAILED, message, str(column), "coerce", records)

    def _failure(self, error: SchemaError) -> Outcome:
        column, check, records = _column(error), _check_name(error), self._records(error)
        sentence = _SENTENCES.get(error.reason_code or Reason.NO_ERROR, _OTHER).format(
            column="the table" if column is None else f"column {column!r}",
            check=check,
            records="the table" if records is None else _counted(records),
            type=self.frame[column].dtype if column in self.frame else "another type",
            raised=_raised(error),
        )
        status = Status.ERROR if error.reason_code is Reason.CHECK_ERROR else Status.FAILED
        warns = id(error.check) in self.demands.warnings
        severity = Severity.WARNING if warns else Severity.ERROR
        return self._outcome(status, f"{sentence}.", column, check, records, severity)

    def _records(self, error: SchemaError) -> int | None:
        """Number of failing records; None where the failure is one of the table, or several records have one label."""
        cases = error.failure_cases
        if not isinstance(self.frame, pd.DataFrame):
            return getattr(cases, "height", None)
        if not isinstance(cases, pd.DataFrame) or "index" not in cases or not self.frame.index.is_unique:
            return None
        return int(cases["index"].nunique())

    def _outcome(
        self,
        status: Status,
        message: str,
        column: str | None = None,
        check: str = "",
        records: int | None = None,
        severity: Severity = Severity.ERROR,
    ) -> Outcome:
        return Outcome(
            check=CHECK,
            title=TITLE,
            status=status,
            severity=severity,
            attribute=column,
            parameters={"schema": self.demands.name},
            records=None if records is None else Tally(len(self.frame), records),
            details={"check": check, "column": column} if check else {},
            message=message,
            source=SCHEMA,
        )


def _validated(schema: Any, frame: Any) -> tuple[Any, Sequence[SchemaError]]:
    """The frame as the schema coerces it, and everything that fails. Warnings may quote cells and are not shown."""
    with (
        config_context(validation_enabled=True, validation_depth=ValidationDepth.SCHEMA_AND_DATA),
        warnings.catch_warnings(action="ignore"),
    ):
        try:
            return schema.validate(frame, lazy=True, inplace=False), ()
        except SchemaErrors as failures:
            return failures.data, failures.schema_errors


def _passed(demands: SchemaDemands, frame: pd.DataFrame) -> Outcome:
    return Outcome(
        check=CHECK,
        title=TITLE,
        status=Status.PASSED,
        parameters={"schema": demands.name},
        records=Tally(len(frame), 0),
        details={"columns": demands.columns, "checks": demands.checks},
        message=(
            f"All {len(frame):,} records keep the schema, which describes {demands.columns:,} columns "
            f"and has {demands.checks:,} checks."
        ),
        source=SCHEMA,
    )


def _first_causes(errors: Sequence[SchemaError]) -> Iterator[SchemaError]:
    """Failures without those that only follow from a wrong type of the same column."""
    wrong: dict[str | None, SchemaError] = {}
    for error in errors:
        if error.reason_code in _TYPE_IS_WRONG:
            wrong.setdefault(_column(error), error)
    for error in errors:
        cause = wrong.get(_column(error))
        follows = error.reason_code in (*_TYPE_IS_WRONG, Reason.CHECK_ERROR)
        if cause is None or error is cause or not follows:
            yield error


def _column(error: SchemaError) -> str | None:
    """The column that a failure is about, which for a missing or surplus one is its failure case."""
    by_name = (Reason.COLUMN_NOT_IN_SCHEMA, Reason.COLUMN_NOT_IN_DATAFRAME, Reason.COLUMN_NOT_ORDERED)
    if error.reason_code in by_name:
        return str(error.failure_cases)
    is_column = type(error.schema).__name__ == "Column"
    name = error.column_name or (error.schema.name if is_column else None)
    return None if name is None else str(name)


def _check_name(error: SchemaError) -> str:
    """Name of the check in the schema, which knows nothing of the release."""
    check = error.check
    if check is None or isinstance(check, str):
        return check or str(error.reason_code)
    named = check.error or check.name
    return f"check {error.check_index}" if named in (None, "<lambda>") else str(named)


def _raised(error: SchemaError) -> str:
    """The type of an exception, out of pandera's text for it."""
    name = re.match(r"[A-Za-z_]+", str(error.failure_cases))
    return "an exception" if name is None else name[0]


def _counted(records: int) -> str:
    return count(records, "record")


def _altered_records(before: Any, after: Any) -> int:
    """In how many records coercion lost or changed a value: `1.5` read as 1, `False` as true, `nan` as missing.

    Cost: O(records) where the type changed, nothing where it did not.
    """
    if before.dtype == after.dtype:
        return 0
    present = before.notna() & after.notna()
    lost = before.notna() != after.notna()
    old, new = before[present], after[present]
    if types.is_bool_dtype(new):
        changed = old.astype(str).str.lower().map(_TRUTH).astype(object) != new.astype(object)
    elif types.is_numeric_dtype(new):
        changed = pd.to_numeric(old, errors="coerce").astype(object) != new.astype(object)
    else:
        return int(lost.sum())
    return int(lost.sum() + changed.sum())
