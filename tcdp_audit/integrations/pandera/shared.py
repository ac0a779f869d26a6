"""One audit for all checks of a schema, while one frame is validated.

pandera calls check by check, and does not announce the begin of a validation. Every check asks once in a validation, so
that a check which asks again begins another one, even of the same frame: a frame may have been changed in place.
Nothing here keeps a frame alive, and a measured result is released when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from pathlib import Path
from threading import local
from typing import Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.api import (
    Expectation,
    Policy,
    PolicyError,
    TypedFloat,
    TypedInt,
    failing_records,
    policy_of_one,
    read_policy,
    require_one_table,
)
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.integrations.host import Demand, Pending, by_demand, plugins, policy_of
from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.plugin.sentences import Outcome, Severity, Status

POLICY = "policy"  # the key of a check's statistics that holds the policy it belongs to
_LOCATIONS = ("original", "population", "holdout", "registry", "previous")
_OF_NO_USE = (  # to a single expectation of a policy
    *("release", "schema", "suite", "remedy", "max_loss", "min_utility", "keep_key", "internal_only", "seed", "expect"),
    *("purpose", "recipients", "approved_by"),
)
_DECLARED = ("scale", "order", "hierarchy", "distribution")
Results = tuple[tuple[Outcome, NDArray[np.bool_] | None], ...]  # outcomes, each with the records that fail


@dataclass(frozen=True)
class Demanded:
    """Demand of a check of a schema."""

    demand: Demand  # the demand
    batch: tuple[Demand, ...]  # the demands of its policy, which are measured together
    warns: bool = False  # whether a failure only warns


def demanded_by(name: str, statistics: Mapping[str, Any]) -> Demanded:
    """Make the demand of a check that is named in a schema.

    Args:
        name: the check's name.
        statistics: its parameters, and their context: a `policy` as a mapping or as the path of its file; or
            `quasi_identifiers` and the other arguments of `tcdp_audit.measure`.

    Raises:
        PolicyError: a name or a parameter is wrong, or nothing could fail it.
        UsageError: the policy's file cannot be read.
    """
    parameters = dict(statistics)
    if POLICY in parameters:
        document = document_of(parameters.pop(POLICY))
    else:
        document = _alone(name, parameters)
        parameters = document["expect"][0][name]
    demand = Demand.of(document, {name: parameters})
    expectation = policy_of([demand]).expectations[0]
    _require_threshold(expectation)
    return Demanded(demand, batch_of(document), warns(expectation))


def warns(expectation: Expectation) -> bool:
    """True if a failure of an expectation only warns."""
    return bool(expectation.parameters.severity is Severity.WARNING)


def batch_of(document: Mapping[str, Any]) -> tuple[Demand, ...]:
    """All demands and measurements of a policy."""
    return tuple(Demand.of(document, entry) for entry in document["expect"])


def judges(expectation: Expectation) -> bool:
    """True if an expectation has a threshold."""
    return bool(expectation.check.demands(expectation.parameters))


def _require_threshold(expectation: Expectation) -> None:
    """Require that something can fail an expectation."""
    check = expectation.check
    if not judges(expectation):
        names = " or ".join(f"`{one.parameter}`" for one in check.limits)
        raise PolicyError(
            f"{check.name} is given no threshold, so that nothing can fail it, and a schema only judges; "
            f"give {names}, or call tcdp_audit.measure to see the figure"
        )


def document_of(policy: str | Path | Mapping[str, Any] | Policy) -> dict[str, Any]:
    """A policy as a self-contained mapping: locations do not depend on the policy's folder.

    Raises:
        PolicyError: the policy is wrong.
        UsageError: its file cannot be read.
    """
    read = read_policy(policy, plugins())
    require_one_table(read, "a schema validates one frame", "audit them with `tcdp-audit check`")
    document = plain(read.document.model_dump(by_alias=True, exclude_defaults=True))
    document = {name: value for name, value in document.items() if name not in _OF_NO_USE}
    for name in _LOCATIONS:
        if name in document:
            located = document[name]
            many = isinstance(located, list)  # of several earlier releases
            document[name] = [_resolved(read, one) for one in located] if many else _resolved(read, located)
    for declaration in document["attributes"].values():
        if isinstance(declaration.get("hierarchy"), str):
            declaration["hierarchy"] = read.resolve(declaration["hierarchy"])
    for name in ("profile", "answers"):  # its demands are among the expectations, and no figure answers a question
        document.pop(name, None)
    return {**document, "version": 1, "expect": [plain(one) for one in read.document.expect]}


def _resolved(policy: Policy, named: str | dict[str, Any]) -> str | dict[str, Any]:
    """A table by its whole path, with its names and codes if it has its own."""
    if isinstance(named, str):
        return policy.resolve(named)
    return {**named, "file": policy.resolve(named["file"])} if "file" in named else named


def _alone(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The policy of a check that names its quasi-identifiers itself."""
    known = parameters.pop("quasi_identifiers", None)
    if not isinstance(known, list):
        raise PolicyError(
            f"{name}: name the columns to group by as a list, `quasi_identifiers`, or the `policy` that declares them"
        )
    declared = {key: parameters.pop(key) for key in _DECLARED if key in parameters}
    attribute, conventions = parameters.pop("attribute", None), parameters.pop("conventions", None)
    return policy_of_one(name, known, attribute, declared, conventions, parameters)


def plain(value: Any) -> Any:
    """A value as YAML and JSON take it, exact numbers as the text that a policy takes."""
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, TypedInt | TypedFloat):  # as typed in a file: 1.10 may be a name, and not 1.1
        number = float(value) if isinstance(value, float) else int(value)
        return number if str(number) == value.text else value.text
    return str(value) if isinstance(value, str | Fraction | Path) else value


@dataclass(eq=False)
class Run:
    """One validation through our own entry point."""

    demands: tuple[Demand, ...]  # those of the schema's checks
    audits: list[Audit] = field(default_factory=list)  # the audits that were made for them
    results: dict[Demand, Results] = field(default_factory=dict)  # the results of each demand
    errors: list[TcdpAuditError] = field(default_factory=list)  # the reasons why some were not measured


_RUN: ContextVar[Run | None] = ContextVar("tcdp_audit_pandera_run", default=None)


@contextmanager
def running(run: Run) -> Iterator[None]:
    """Let checks report to a validation."""
    token = _RUN.set(run)
    try:
        yield
    finally:
        _RUN.reset(token)


def results_of(demand: Demand, batch: Sequence[Demand], frame: Any, in_schema: Sequence[Demand]) -> Results:
    """Evaluate one demand on a frame.

    Args:
        demand: the demand.
        batch: the demands of the policy that it was given with.
        frame: the frame as pandera passes it to a check.
        in_schema: the demands of the schema that pandera validates, as far as the frame reveals it.

    Raises:
        TcdpAuditError: the frame cannot be audited.
    """
    run = _RUN.get()
    together = run.demands if run else _together(demand, batch, in_schema, frame)
    _LAST.continue_or_begin(frame, together, demand)
    if demand not in _LAST.pending.answered:
        _LAST.pending.ask(Demand(demand.policy), *_in_one_policy(demand, together, batch))
    results = _LAST.pending.answer(demand, lambda asked: _audited(frame, asked, run))
    _LAST.asked.add(demand)
    _LAST.sentences[demand] = " ".join(outcome.message for outcome, _ in results if fails(outcome))
    if run:
        run.results[demand] = results
    return results


def fails(outcome: Outcome) -> bool:
    """True if an outcome fails a check; of the findings on columns those that only warn do not."""
    return outcome.blocks if outcome.is_structural else outcome.status is Status.FAILED


def sentence_on(demand: Demand) -> str | None:
    """Sentence of this thread's present or last validation about a demand that failed."""
    return _LAST.sentences.get(demand) or None if _LAST.is_alive else None


def forget_sentence_on(demand: Demand) -> None:
    """Drop the sentence about a demand until it is asked for again."""
    _LAST.sentences.pop(demand, None)


class _Validation(local):
    """The validation of a thread, as far as its checks can see it."""

    def __init__(self) -> None:
        self.frame: ref[Any] | None = None
        self.together: tuple[Demand, ...] = ()
        self.asked: set[Demand] = set()
        self.pending: Pending[Results] = Pending()
        self.sentences: dict[Demand, str] = {}  # on what failed, as long as the frame is the same

    @property
    def is_alive(self) -> bool:
        """Whether its frame still exists."""
        return self.frame is not None and self.frame() is not None

    def continue_or_begin(self, frame: Any, together: tuple[Demand, ...], demand: Demand) -> None:
        """Treat a question as one of this validation, or as the first of the next."""
        same_frame = self.frame is not None and self.frame() is frame
        if same_frame and self.together == together and demand not in self.asked:
            return
        pending: Pending[Results] = Pending()
        self.asked, self.pending, self.together = set(), pending, together
        self.sentences = self.sentences if same_frame else {}
        self.frame = ref(frame, lambda _: pending.answered.clear())


_LAST = _Validation()


def _together(demand: Demand, batch: Sequence[Demand], in_schema: Sequence[Demand], frame: Any) -> tuple[Demand, ...]:
    """Demands that pandera will probably ask for as well; none where a check is called by itself.

    Between two such calls a frame may be changed in place. A lazy frame of polars, as pandera makes them, never is.
    """
    if demand in in_schema:
        return tuple(in_schema)
    is_lazy = type(frame).__name__ == "LazyFrame"
    return tuple(batch) if is_lazy and (demand in batch or not demand.entry) else (demand,)


def _in_one_policy(demand: Demand, together: Sequence[Demand], batch: Sequence[Demand]) -> list[Demand]:
    """The expectations to measure with a demand: those of the same policy."""
    for demands in ((demand, *together), batch):
        expectations = [one for one in demands if one.policy == demand.policy and one.entry]
        if expectations:
            return expectations
    return []


def _audited(frame: Any, demands: Sequence[Demand], run: Run | None) -> dict[Demand, Results]:
    """Audit demands in one policy: outcomes with the records that fail them; of the columns none are named."""
    document = {**demands[0].document, "expect": [one.expected for one in demands if one.entry]}
    try:
        policy = read_policy(document, plugins(), is_part=True)
        marked = failing_records(frame, policy, plugins=plugins())
    except TcdpAuditError as error:
        if run:
            run.errors.append(error)
        raise
    if run:
        run.audits.append(marked.audit)
    return by_demand(marked.audit.policy, demands, tuple((one, None) for one in marked.audit.structure), marked)
