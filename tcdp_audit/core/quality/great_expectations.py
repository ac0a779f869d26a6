"""A policy's expectation suite: Great Expectations evaluates it on the release, and each failure becomes an outcome.

Its own texts quote cells, and so do its logs. None of them is passed on: a sentence is made of the expectation's type,
its column, and the number of records.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd
from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
from great_expectations.validator.validator import Validator

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import SUITE, Outcome, Severity, Status, Tally
from tcdp_audit.core.base.phrases import part_of
from tcdp_audit.core.base.words import agree, count, listing
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.quality.frame import frame_of
from tcdp_audit.core.quality.great_expectations_suite import Suite, suite_in

CHECK = "great_expectations_suite"
TITLE = "Great Expectations suite"
DOMAIN = ("row_condition", "condition_parser")  # where an expectation says which records it is about
OF_NO_VALUE = ("type", "non_null")  # in the names of those that are about a column's type or its missing values
COLUMNS = ("column", "column_A", "column_B", "column_list", "column_set")  # where an expectation names columns


def suite_outcomes(policy: Policy, engine: Engine, release: Any) -> Sequence[Outcome]:
    """Judge a release by the policy's suite: one passed outcome, or one for each failure.

    Args:
        policy: a policy with a `suite`.
        engine: where the release lives.
        release: what the caller gave; a pandas frame is evaluated as it is, everything else as the engine has it.

    Raises:
        PolicyError: the suite cannot be loaded, or demands nothing.

    Cost: the whole release as a pandas frame in memory, and Great Expectations' own.
    """
    suite = suite_in(policy)
    frame = frame_of(engine, release, policy.conventions.missing_tokens)
    outcomes = tuple(_Evaluation(suite, frame).outcomes())
    return outcomes or (_passed(suite, frame),)


class _Validator(Validator):  # type: ignore[misc]
    """Great Expectations' own, without a context, which would replace the caller's, and without progress bars."""

    def _determine_progress_bars(self) -> bool:
        return False


@dataclass(frozen=True)
class _Evaluation:
    """One suite on one frame."""

    suite: Suite
    frame: pd.DataFrame

    def outcomes(self) -> Iterator[Outcome]:
        """Everything that does not hold; nothing if all of it was evaluated and holds."""
        try:
            results = self._results()
        except Exception as error:  # noqa: BLE001 - its text may quote cells
            raised = type(error).__name__
            yield self._outcome(Status.ERROR, f"Great Expectations raised {raised}; nothing was evaluated.")
            return
        asked = len(self.suite.configurations)
        if len(results) != asked:
            yield self._outcome(Status.ERROR, f"{len(results):,} of {count(asked, 'expectation')} were evaluated.")
        for one in sorted(results, key=_number):
            yield from self._judged(one)

    def _results(self) -> Sequence[Any]:
        with _silent():
            validator = _Validator(PandasExecutionEngine(batch_data_dict={"release": self.frame}))
            results: Sequence[Any] = validator.graph_validate(
                configurations=list(self.suite.configurations), runtime_configuration={"result_format": "BASIC"}
            )
            return results

    def _judged(self, result: Any) -> Iterator[Outcome]:
        """Outcomes of a result; none where it holds."""
        kind = f"expectation {_number(result)}, {result.expectation_config.type}"
        columns = _columns(result.expectation_config.kwargs)
        about = _about(columns)
        figures = result.result or {}
        if _raised(result.exception_info):
            message = f"{about} could not be evaluated by {kind}: it raised an exception."
            yield self._outcome(Status.ERROR, message, result)
        elif not result.success:
            records = _tally(figures)
            where = "" if records is None else f", in {part_of(records.failing or 0, records.total, 'record')}"
            verb = agree(len(columns), "does", "do") if columns else "does"
            yield self._outcome(Status.FAILED, f"{about} {verb} not keep {kind}{where}.", result, records)
        elif _nothing_seen(figures) or self._column_is_empty(result.expectation_config, figures):
            yield self._outcome(Status.ERROR, f"{about} has no value that could be evaluated by {kind}.", result)

    def _column_is_empty(self, configuration: Any, figures: Mapping[str, Any]) -> bool:
        """True if a figure of a column, such as its sum, is one of no value at all."""
        kwargs = configuration.kwargs
        if "element_count" in figures or "observed_value" not in figures or kwargs.get("column") not in self.frame:
            return False
        if any(one in configuration.type for one in OF_NO_VALUE):
            return False
        domain = {name: kwargs[name] for name in DOMAIN if kwargs.get(name) is not None}
        with _silent():
            engine = PandasExecutionEngine(batch_data_dict={"release": self.frame})
            records, _, _ = engine.get_compute_domain(domain, domain_type=MetricDomainTypes.TABLE)
        return not records[kwargs["column"]].notna().any()

    def _outcome(self, status: Status, message: str, result: Any = None, records: Tally | None = None) -> Outcome:
        configuration = None if result is None else result.expectation_config
        columns = [] if configuration is None else _columns(configuration.kwargs)
        return Outcome(
            check=CHECK,
            title=TITLE,
            status=status,
            severity=Severity.ERROR if configuration is None else _severity(configuration),
            attribute=columns[0] if len(columns) == 1 else None,
            parameters={"suite": self.suite.name},
            records=records,
            details={} if configuration is None else {"expectation": str(configuration.type), "columns": columns},
            message=message[:1].upper() + message[1:],
            source=SUITE,
        )


@contextmanager
def _silent() -> Iterator[None]:
    """Silence Great Expectations' logs and warnings, which quote cells."""
    logger = logging.getLogger("great_expectations")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logger.setLevel(level)


def _number(result: Any) -> int:
    """The place of an expectation in the suite, from 1."""
    return int(result.expectation_config.id)


def _columns(kwargs: Mapping[str, Any]) -> list[str]:
    named = [kwargs[key] for key in COLUMNS if kwargs.get(key) is not None]
    return [str(one) for value in named for one in (value if isinstance(value, list | tuple | set) else [value])]


def _about(columns: Sequence[str]) -> str:
    if not columns:
        return "the table"
    return f"column{'s' if len(columns) > 1 else ''} {listing([repr(one) for one in columns])}"


def _raised(info: Mapping[str, Any]) -> bool:
    """True if anything was raised; metrics that raise are listed by their ids."""
    if "raised_exception" in info:
        return bool(info["raised_exception"])
    return any(one.get("raised_exception", True) for one in info.values())


def _tally(figures: Mapping[str, Any]) -> Tally | None:
    """Tally of failing records, where the expectation is one on records."""
    total, failing = figures.get("element_count"), figures.get("unexpected_count")
    return None if total is None or failing is None else Tally(int(total), int(failing))


def _nothing_seen(figures: Mapping[str, Any]) -> bool:
    """True if an expectation on records saw none: there is none, or all of them have no value."""
    total = figures.get("element_count")
    return total is not None and total - figures.get("missing_count", 0) == 0


def _severity(configuration: Any) -> Severity:
    given = getattr(configuration.severity, "value", configuration.severity)
    return Severity.ERROR if given == "critical" else Severity.WARNING


def _passed(suite: Suite, frame: pd.DataFrame) -> Outcome:
    asked = len(suite.configurations)
    return Outcome(
        check=CHECK,
        title=TITLE,
        status=Status.PASSED,
        parameters={"suite": suite.name},
        records=Tally(len(frame), 0),
        details={"expectations": asked},
        message=f"All {len(frame):,} records keep the suite, which has {count(asked, 'expectation')}.",
        source=SUITE,
    )
