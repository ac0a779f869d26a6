"""Candidates: a release after some remedies, its table, and the limits of its information loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from math import inf
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.auditor.evaluation import companions_of, records_failing_on_classes
from tcdp_audit.core.base.errors import DataError, PolicyError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.words import percent, percent_of
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.plain import PlainEngine
from tcdp_audit.core.policy.model import PolicyDocument, Role
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.demands import with_class_sizes
from tcdp_audit.core.remedy.remedy import ROUNDING, RemedyError
from tcdp_audit.core.remedy.treatment import same_cells, settled
from tcdp_audit.core.results.change_log import DroppedColumn, Step, failing_demands
from tcdp_audit.core.session.inputs import AuditInputs

if TYPE_CHECKING:
    from tcdp_audit.core.information_loss.loss import Loss


def is_of_columns(outcome: Outcome) -> bool:
    """Whether an outcome is of no demand of the policy on disclosure."""
    return outcome.is_structural or outcome.is_schema or outcome.is_question


@dataclass(frozen=True)
class Perspective:
    """The intruders whose demands a remedy sees, as those of one who knows what any of them does.

    Args:
        names: the scenarios; see `Policy.intruders`.
        known_first: see `Policy.of_intruders`.
        is_whole: whether these are all, so that every outcome counts.
    """

    names: tuple[str, ...]
    known_first: bool = False
    is_whole: bool = False

    @classmethod
    def of_all(cls, policy: Policy) -> Perspective:
        """Every demand on the policy's own unit."""
        return cls(policy.intruders, is_whole=True)

    def seen(self, outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
        """The outcomes of these scenarios, and those that are of no demand."""
        return tuple(
            one
            for one in outcomes
            if self.is_whole or is_of_columns(one) or (one.scenario in self.names and not one.unit)
        )


_RELEASED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


def dropped_columns(policy: Policy, names: Sequence[str]) -> tuple[DroppedColumn, ...]:
    """The columns of a release that `fix` does not write, in their order.

    Args:
        policy: the policy that declares them.
        names: the names of the release's columns.

    Raises:
        PolicyError: the key is also an attribute that is to be released, so that it can be neither dropped nor kept.
        DataError: no column would be left.
    """
    document = policy.document
    key = None if document.keep_key else document.key
    declared = None if key is None else document.attributes.get(key)
    if declared is not None and declared.role in _RELEASED and key in names:
        raise PolicyError(
            f"{policy.name}: key: {key!r} is declared as {declared.role.value.replace('_', '-')} as well, and no key "
            "is written: declare it as an identifier, or say `keep_key: true` and `internal_only: true`"
        )
    identifiers = {*document.with_role(Role.IDENTIFIER)} - ({document.key} if document.keep_key else set())
    unit = None if document.unit_released else document.unit
    reasons: dict[str | None, str] = {unit: "unit", **dict.fromkeys(identifiers, "identifier"), key: "key"}
    dropped = [DroppedColumn(name=name, why=reasons[name]) for name in names if name in reasons]
    if names and len(dropped) == len(names):
        raise DataError(
            "nothing would be left: every column of the release is an identifier, the key or the unit; declare what is "
            "released"
        )
    return tuple(dropped)


def columns_to_put_back(policy: Policy, dropped: Sequence[DroppedColumn]) -> tuple[str, ...]:
    """The dropped columns that some demand reads: the key, the unit, and columns that an expectation names."""
    document = policy.document
    read = {document.key, document.unit}
    for expectation in policy.expectations:
        read |= _texts(expectation.parameters.model_dump())
    return tuple(one.name for one in dropped if one.name in read)


def _texts(value: Any) -> set[str]:
    """Every text in some parameters, including names of columns."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        return {text for pair in value.items() for one in pair for text in _texts(one)}
    several = isinstance(value, list | tuple | set | frozenset)
    return {text for one in value for text in _texts(one)} if several else set()


class TooMuchLostError(RemedyError):
    """A release loses more information than the policy allows."""


@dataclass(frozen=True)
class LossLimits:
    """The limits of the information loss of a repaired release.

    Args:
        most: the greatest mean loss of a cell over all attributes, from 0 to 1; None without a limit.
        min_utility: for some attributes the least utility: 1 minus the mean loss of their cells.
    """

    most: Fraction | None = None
    min_utility: Mapping[str, Fraction] = field(default_factory=dict)

    @classmethod
    def of(cls, document: PolicyDocument) -> LossLimits:
        """The limits of a policy."""
        return cls(document.max_loss, document.min_utility or {})

    @property
    def are_set(self) -> bool:
        """Whether a limit is set."""
        return self.most is not None or bool(self.min_utility)

    def require(self, loss: Loss) -> None:
        """Check that a loss is within the limits.

        Args:
            loss: the information loss; a column that is missing has lost everything.

        Raises:
            TooMuchLostError: it is not; the message has every figure, limit and column.
        """
        if self.are_set and (sentences := list(self._excesses(loss))):
            raise TooMuchLostError("; ".join(sentences))

    def _excesses(self, loss: Loss) -> Iterator[str]:
        if self.most is not None and _is_beyond(loss.total, self.most):
            share, most = percent(loss.total, self.most), percent_of(self.most)
            yield f"it loses {share} of the information on average over all cells, and max_loss allows {most}"
        for name, least in self.min_utility.items():
            lost = loss.cell_loss.get(name, 1.0)
            if _is_beyond(lost, 1 - least):
                yield f"it retains {percent(1 - lost, least)} of {name!r}, and min_utility asks for {percent_of(least)}"


def _is_beyond(lost: float, most: Fraction) -> bool:
    """Whether a loss exceeds a limit by more than a rounding error; NaN exceeds every limit."""
    return not lost <= float(most) + ROUNDING


class OpenTable:
    """A table under the policy of a repair. Closing it closes everything that it has opened.

    Args:
        table: the records.
        inputs: the release before the repair, and its policy.
        engine: an open engine with the same records in the same order, if there is one.
    """

    def __init__(self, table: pa.Table, inputs: AuditInputs, engine: Engine | None = None) -> None:
        self.table, self._inputs, self._given = table, inputs, engine
        self._opened = ExitStack()

    @classmethod
    def of_input(cls, inputs: AuditInputs) -> OpenTable:
        """The release before the repair, with its own engine if that preserves the order of the records."""
        engine = inputs.engine
        return cls(engine.table(), inputs, engine if engine.ordered else None)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close its engine, if it was opened here."""
        self._opened.close()

    @property
    def content(self) -> Any:
        """The records, as an audit takes them."""
        return self.table

    @property
    def rows(self) -> int:
        """The number of records."""
        return int(self.table.num_rows)

    def is_same(self, other: OpenTable) -> bool:
        """Whether another one has the same records in the same order."""
        return same_cells(self.table, other.table)

    @cached_property
    def engine(self) -> Engine:
        """The engine over it."""
        if self._given is not None:
            return self._given
        return self._opened.enter_context(engine_over(self.table, self._inputs.memory))

    @cached_property
    def release(self) -> Release:
        """The table with the roles that the policy declares; where it has scenarios, those of one intruder in all."""
        cache = self._inputs.over(self.content, self.engine).options.cache  # a session's, for its own table alone
        return Release(self.engine, self._inputs.policy.of_one_intruder, cache=cache)

    @property
    def settled(self) -> OpenTable:
        """The table as it is released, without missing quasi-identifiers. See `treatment.settled`."""
        return self if self._otherwise is None else self._otherwise

    @cached_property
    def _otherwise(self) -> OpenTable | None:
        """The settled table, if it differs."""
        domains = {one.attribute: one for one in self.release.quasi_identifiers if one.missing}
        if not domains:
            return None
        batches = list(self.engine.batches(list(domains.values())))
        codes = {name: np.concatenate([batch[name] for batch in batches]) for name in domains}
        missing = {name: (domains[name], codes[name]) for name in domains}
        table = settled(self.table, missing, self._inputs.policy.conventions.suppressed_token)
        return self._opened.enter_context(OpenTable(table, self._inputs))

    def outcomes(self, checks: frozenset[str] | None = None) -> tuple[Outcome, ...]:
        """The outcomes of all or some checks, as without the columns that are not written."""
        inputs = self._inputs.over(self.content, self.engine)
        dropped = dropped_columns(inputs.policy, [column.name for column in self.engine.columns])
        outcomes = inputs.outcomes() if checks is None else inputs.outcomes_of(checks)
        return inputs.without(outcomes, [one.name for one in dropped])

    def failing_records(self, names: Sequence[str] | None = None) -> NDArray[np.bool_]:
        """Whether each record fails a demand on classes. Shape (records,).

        Args:
            names: the scenarios whose demands count; None for every demand on the policy's own unit.
        """
        inputs, policy = self._inputs, self._inputs.policy
        judged = [(policy.of_own_unit, inputs.companions)]
        if names is not None:
            judged = [(policy.parts[name], companions_of(name, inputs.companions)) for name in names]
        masks = [
            records_failing_on_classes(with_class_sizes(one), self.engine, inputs.options, companions)
            for one, companions in judged
        ]
        return np.logical_or.reduce(masks)


def engine_over(table: pa.Table, memory: int, name: str = "release") -> Engine:
    """An engine over a table: `PlainEngine` if it can read it, which needs no database."""
    return PlainEngine(table, name) if PlainEngine.reads(table) else open_engine(table, memory, name)


@dataclass(frozen=True)
class Candidate:
    """A release after some remedies.

    Args:
        opened: its records, in the input's order.
        retained: for each record its position in the input.
        outcomes: its audit.
        steps: the remedies applied.
        loss: its information loss compared with the input; None if it was not measured.
        joined: whether its last remedy was extended to further rows of units, so that its classes differ from those
            that the remedy made.
    """

    opened: OpenTable
    retained: NDArray[np.intp]
    outcomes: tuple[Outcome, ...]
    steps: tuple[Step, ...] = ()
    loss: Loss | None = None
    joined: bool = False

    @property
    def table(self) -> pa.Table:
        """The records."""
        return self.opened.table

    @property
    def as_released(self) -> OpenTable:
        """The records to release, in the input's order; those of the input itself if no remedy was applied."""
        return self.opened.settled if self.steps else self.opened

    @property
    def released(self) -> pa.Table:
        """The table to release; see `as_released`."""
        return self.as_released.table

    @property
    def total_loss(self) -> float | None:
        """The total information loss; None if it was not measured."""
        return None if self.loss is None else self.loss.total

    @property
    def rank(self) -> tuple[int, float]:
        """The rank, lower is better: outcomes that prevent a pass, then the loss; infinite if not measured."""
        return len(self.failing_demands), inf if self.total_loss is None else self.total_loss

    @property
    def failing_demands(self) -> list[Outcome]:
        """The outcomes that prevent a pass."""
        return failing_demands(self.outcomes)

    @property
    def failing(self) -> int:
        """The number of failing records, summed over the failing demands."""
        return sum(one.records.failing or 0 for one in self.failing_demands if one.records is not None)

    @property
    def failing_share(self) -> float:
        """The largest share of records, or of units, that fails a failing demand; 1 where it is not counted."""
        shares = [
            1.0 if one.records is None or one.records.failing is None else one.records.failing / one.records.total
            for one in self.failing_demands
        ]
        return max(shares, default=0.0)

    @property
    def passes(self) -> bool:
        """Whether no demand fails."""
        return not self.failing_demands
