"""One audit for all checks of a schema, while one frame is validated.

pandera calls check by check, and tells none of them when a validation begins. Every check asks once in a validation,
so that one which asks again begins another, even of the same frame: a frame may have been changed in place. Nothing
here keeps a frame alive, and what was measured is given away when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import local
from typing import Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.api import failing_records
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.failing_records import FailingRecords
from tcdp_audit.integrations.pandera.demand import Demand, installed
from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.plugin.sentences import Outcome, Status

Results = tuple[tuple[Outcome, NDArray[np.bool_] | None], ...]  # outcomes, each with the records that fail


@dataclass(eq=False)
class Run:
    """One validation through our own entry point.

    Args:
        demands: what the schema's checks demand.
        audits: what was audited for them.
        results: what came of each.
        errors: why some could not be asked for.
    """

    demands: tuple[Demand, ...]
    audits: list[Audit] = field(default_factory=list)
    results: dict[Demand, Results] = field(default_factory=dict)
    errors: list[TcdpAuditError] = field(default_factory=list)


_RUN: ContextVar[Run | None] = ContextVar("tcdp_audit_pandera_run", default=None)


@contextmanager
def running(run: Run) -> Iterator[None]:
    """Have checks report to a validation."""
    token = _RUN.set(run)
    try:
        yield
    finally:
        _RUN.reset(token)


def results_of(demand: Demand, batch: Sequence[Demand], frame: Any, in_schema: Sequence[Demand]) -> Results:
    """What comes of a frame for one demand.

    Args:
        demand: the demand.
        batch: those of the policy that it was given with.
        frame: the frame as pandera hands it to a check.
        in_schema: the demands of the schema that pandera validates, as far as the frame tells.

    Raises:
        TcdpAuditError: the frame cannot be audited.
    """
    run = _RUN.get()
    together = run.demands if run else _together(demand, batch, in_schema, frame)
    _LAST.continue_or_begin(frame, together, demand)
    if demand not in _LAST.waiting:
        marked = _audited(frame, demand, _entries(demand, together, batch), run)
        _LAST.waiting |= _by_demand(marked, demand, _entries(demand, together, batch))
    results = _LAST.waiting.pop(demand)
    _LAST.asked.add(demand)
    _LAST.sentences[demand] = " ".join(outcome.message for outcome, _ in results if fails(outcome))
    if run:
        run.results[demand] = results
    return results


def fails(outcome: Outcome) -> bool:
    """Whether an outcome fails a check; of the findings on columns those that only warn do not."""
    return outcome.blocks if outcome.is_structural else outcome.status is Status.FAILED


def sentence_on(demand: Demand) -> str | None:
    """What the validation that this thread is in, or was in last, said about a demand that failed."""
    return _LAST.sentences.get(demand) or None if _LAST.is_alive else None


def forget_sentence_on(demand: Demand) -> None:
    """Say no more about a demand until it is asked for again."""
    _LAST.sentences.pop(demand, None)


class _Validation(local):
    """The validation that a thread is in, as far as its checks can tell."""

    def __init__(self) -> None:
        self.frame: ref[Any] | None = None
        self.together: tuple[Demand, ...] = ()
        self.asked: set[Demand] = set()
        self.waiting: dict[Demand, Results] = {}  # measured, and not asked for yet
        self.sentences: dict[Demand, str] = {}  # on what failed, as long as the frame is the same

    @property
    def is_alive(self) -> bool:
        """Whether its frame is still there."""
        return self.frame is not None and self.frame() is not None

    def continue_or_begin(self, frame: Any, together: tuple[Demand, ...], demand: Demand) -> None:
        """Take a question as one of this validation, or as the first of the next."""
        same_frame = self.frame is not None and self.frame() is frame
        if same_frame and self.together == together and demand not in self.asked:
            return
        waiting: dict[Demand, Results] = {}
        self.asked, self.waiting, self.together = set(), waiting, together
        self.sentences = self.sentences if same_frame else {}
        self.frame = ref(frame, lambda _: waiting.clear())


_LAST = _Validation()


def _together(demand: Demand, batch: Sequence[Demand], in_schema: Sequence[Demand], frame: Any) -> tuple[Demand, ...]:
    """What pandera is likely to ask for as well; nothing where a check is called by itself.

    Between two such calls a frame may be changed in place. A lazy one of polars, as pandera makes them, never is.
    """
    if demand in in_schema:
        return tuple(in_schema)
    is_lazy = type(frame).__name__ == "LazyFrame"
    return tuple(batch) if is_lazy and (demand in batch or not demand.entry) else (demand,)


def _entries(demand: Demand, together: Sequence[Demand], batch: Sequence[Demand]) -> list[str]:
    """The expectations to measure with a demand: those that stand in the same policy, each once."""
    for demands in ((demand, *together), batch):
        entries = [one.entry for one in demands if one.policy == demand.policy and one.entry]
        if entries:
            return list(dict.fromkeys(entries))
    return []


def _audited(frame: Any, demand: Demand, entries: Sequence[str], run: Run | None) -> FailingRecords:
    try:
        marked = failing_records(frame, demand.with_entries(entries), plugins=installed())
    except TcdpAuditError as error:
        if run:
            run.errors.append(error)
        raise
    if run:
        run.audits.append(marked.audit)
    return marked


def _by_demand(marked: FailingRecords, demand: Demand, entries: Iterable[str]) -> dict[Demand, Results]:
    """What came of each expectation, one outcome for each attribute that it runs on; and of the columns."""
    policy, pairs = marked.audit.policy, iter(marked)
    results: dict[Demand, Results] = {Demand(demand.policy): tuple((one, None) for one in marked.audit.structure)}
    for entry, expectation in zip(entries, policy.expectations, strict=True):
        targets = expectation.check.targets(expectation.parameters, policy.document)
        results[Demand(demand.policy, entry)] = tuple(next(pairs) for _ in targets)
    return results
