"""A table in memory, opened once for whoever reads it: remedies, audits, measures of what it has lost."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa

from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.engines import Engine, open_engine
from tcdp_audit.core.engines.plain import PlainEngine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.treatment import settled
from tcdp_audit.core.repair.dropped import dropped_columns
from tcdp_audit.core.session.inputs import AuditInputs


class OpenTable:
    """A table under the policy of a repair. What it opens is closed with it.

    Args:
        table: the records.
        inputs: the release as it came in, and what it must satisfy.
        engine: one that is open already and has the same records in the same order.
    """

    def __init__(self, table: pa.Table, inputs: AuditInputs, engine: Engine | None = None) -> None:
        self.table, self._inputs, self._given = table, inputs, engine
        self._opened = ExitStack()

    @classmethod
    def of_input(cls, inputs: AuditInputs) -> OpenTable:
        """The release as it came in, by its own engine if that keeps the order of the records."""
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

    @cached_property
    def engine(self) -> Engine:
        """The engine over it."""
        if self._given is not None:
            return self._given
        return self._opened.enter_context(_engine_over(self.table, self._inputs.memory))

    @cached_property
    def release(self) -> Release:
        """The table with the roles that the policy declares."""
        return Release(self.engine, self._inputs.policy)

    @property
    def settled(self) -> OpenTable:
        """The table as it is released: no quasi-identifier is missing. See `treatment.settled`."""
        return self if self._otherwise is None else self._otherwise

    @cached_property
    def _otherwise(self) -> OpenTable | None:
        """The settled table where it is another one."""
        domains = {one.attribute: one for one in self.release.quasi_identifiers if one.missing}
        if not domains:
            return None
        batches = list(self.engine.batches(list(domains.values())))
        codes = {name: np.concatenate([batch[name] for batch in batches]) for name in domains}
        missing = {name: (domains[name], codes[name]) for name in domains}
        table = settled(self.table, missing, self._inputs.policy.conventions.suppressed_token)
        return self._opened.enter_context(OpenTable(table, self._inputs))

    def outcomes(self, checks: frozenset[str] | None = None) -> tuple[Outcome, ...]:
        """Its audit, or the part of it that concerns some checks, as it is without the columns that are not written."""
        inputs = replace(self._inputs, release=self.table, engine=self.engine)
        dropped = dropped_columns(inputs.policy, self.table.column_names)
        found = inputs.outcomes() if checks is None else inputs.outcomes_of(checks)
        return inputs.without(found, [one.name for one in dropped])


def _engine_over(table: pa.Table, memory: int) -> Engine:
    """The engine for plain tables where a table is one: it asks no database."""
    return PlainEngine(table, "release") if PlainEngine.reads(table) else open_engine(table, memory)
