"""Remedies over several linked tables: each acts on one of them, and what belongs to a dropped row goes with it.

A remedy sees one table as a release: its columns, and the unit of each row, wherever that is written. The audit after
it is of all tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.base.words import listing
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.engines.arrow_types import array_of_truths
from tcdp_audit.core.policy.model import SEPARATOR
from tcdp_audit.core.policy.policy import PlannedRemedy, Policy
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.demands import with_class_sizes
from tcdp_audit.core.remedy.remedy import TABLE, Remedy, RemedyError, Treatment, applicability
from tcdp_audit.core.remedy.treatment import apply_treatment, same_cells, settled
from tcdp_audit.core.remedy.view import Attribute, RemedyView
from tcdp_audit.core.repair.candidate import Candidate, OpenTable, engine_over
from tcdp_audit.core.repair.loop import NOTHING_PROPOSED, RepairLoop
from tcdp_audit.core.session.inputs import AuditInputs
from tcdp_audit.core.units.linked import LinkedTables, depth_of
from tcdp_audit.core.units.trees import OneTable

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]
ONE_TABLE = "works on a release of one table"


class LinkedRelease(OpenTable):
    """Several linked tables under the policy of a repair. Closing them closes everything that was opened here.

    Args:
        tables: the rows of each table, by its name.
        retained: for each row of each table its position in the input.
        inputs: the release before the repair, and its policy.
        engine: open engines with the same rows in the same order, if there are such.
    """

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        retained: Mapping[str, Rows],
        inputs: AuditInputs,
        engine: LinkedTables | None = None,
    ) -> None:
        self.tables, self.retained, self._inputs = dict(tables), dict(retained), inputs
        self._linked, self._opened = engine, ExitStack()

    @classmethod
    def of_input(cls, inputs: AuditInputs) -> LinkedRelease:
        """The release before the repair, with its own engines if all preserve the order of the rows."""
        engine = inputs.engine
        assert isinstance(engine, LinkedTables)  # noqa: S101 - the policy has tables
        tables = {name: one.table() for name, one in engine.tables.items()}
        retained = {name: np.arange(one.num_rows) for name, one in tables.items()}
        return cls(tables, retained, inputs, engine if all(one.ordered for one in engine.tables.values()) else None)

    @property
    def content(self) -> Any:
        """The tables, as an audit takes them."""
        return self.tables

    @property
    def rows(self) -> int:
        """The number of rows of all tables."""
        return sum(int(one.num_rows) for one in self.tables.values())

    def is_same(self, other: OpenTable) -> bool:
        """Whether another one has the same rows in the same order in every table."""
        assert isinstance(other, LinkedRelease)  # noqa: S101 - of the same repair
        return all(same_cells(one, other.tables[name]) for name, one in self.tables.items())

    @cached_property
    def engine(self) -> LinkedTables:
        """The engine over the tables."""
        if self._linked is not None:
            return self._linked
        memory = self._inputs.memory
        engines = {
            name: self._opened.enter_context(engine_over(one, memory, name)) for name, one in self.tables.items()
        }
        return LinkedTables(engines, self._inputs.policy.document)

    @cached_property
    def _otherwise(self) -> LinkedRelease | None:
        """The tables without missing quasi-identifiers, if they differ."""
        missing: dict[str, dict[str, tuple[Domain, Any]]] = {}
        for domain in self.release.quasi_identifiers:
            if domain.missing:
                missing.setdefault(self.engine.table_of(domain.attribute), {})[domain.attribute] = (
                    domain,
                    self._codes(domain),
                )
        if not missing:
            return None
        token = self._inputs.policy.conventions.suppressed_token
        tables = {
            name: _own(settled(_named(one, name), missing[name], token), one) if name in missing else one
            for name, one in self.tables.items()
        }
        return self._opened.enter_context(LinkedRelease(tables, self.retained, self._inputs))

    def _codes(self, domain: Domain) -> NDArray[np.int64]:
        """A column's code of each row of its table, in their order."""
        batches = [batch[domain.attribute] for batch in self.engine.batches([domain])]
        return np.concatenate([np.zeros(0, dtype=np.int64), *batches]).astype(np.int64)

    # One table

    def release_of(self, table: str) -> Release:
        """One table as a release: its columns, under a policy that declares these alone, and its time."""
        return Release(OneTable(self.engine, table), self._policy_of(table))

    def _policy_of(self, table: str) -> Policy:
        policy = self._inputs.policy
        own = {name: one for name, one in policy.attributes.items() if self.engine.table_of(name) == table}
        time = self.engine.declared[table].time
        changes = {"attributes": FrozenDict(own), "time": None if time is None else f"{table}{SEPARATOR}{time}"}
        return replace(policy, document=policy.document.model_copy(update=changes))

    @cached_property
    def parent_rows(self) -> Mapping[str, Rows]:
        """For each row of each table that belongs to another, the row that it belongs to; -1 for none."""
        rows = {}
        for name, link in self.engine.links.by_table.items():
            keys = self._codes(link.key)
            place = np.full(link.key.size + 1, -1, dtype=np.intp)
            place[keys] = np.arange(len(keys))
            place[link.key.size] = -1  # a missing key is no one's
            rows[name] = place[link.of_parent[self._codes(link.own)]]
        return rows

    def unit_rows(self, table: str) -> Rows:
        """For each row of a table the row of the table of units that it belongs to, by way of others; -1 for none."""
        if table == self.engine.top:
            return np.arange(self.tables[table].num_rows)
        above = self.unit_rows(str(self.engine.declared[table].belongs_to))
        return np.append(above, -1)[self.parent_rows[table]]

    def joining(self, table: str) -> Attribute:
        """The unit of each row of a table, or its household, by the column of the table of units.

        Raises:
            RemedyError: the column is absent.
        """
        document = self._inputs.policy.document
        name = document.household or document.unit or ""
        column = RemedyView(self.release_of(self.engine.top), (), document.seed, lambda _: ()).attribute(name)
        codes = np.append(column.codes.astype(np.int64), column.domain.size)
        return replace(column, codes=codes[self.unit_rows(table)])

    def failing_rows(self, table: str) -> Mask:
        """Whether each row of a table is of a unit that fails a demand on classes.

        Raises:
            RemedyError: whole histories cannot be judged.
        """
        inputs = replace(self._inputs, policy=with_class_sizes(self._inputs.policy))
        failing = inputs.over(self.tables, self.engine).evaluated().failing_units
        if failing is None:
            raise RemedyError("whole histories cannot be judged, so no one knows who fails")
        of_unit = np.append(failing.failing[self._codes(failing.unit)], False)
        return of_unit[self.unit_rows(table)]

    def treated(self, view: RemedyView, treatment: Treatment, table: str) -> LinkedRelease:
        """The tables after a treatment of one: rows that belong to a dropped row are dropped, on every level."""
        one = self.tables[table]
        tables = {**self.tables, table: _own(apply_treatment(_named(one, table), view, treatment), one)}
        retained = dict(self.retained)
        for name, stays in self._staying(table, treatment.retained).items():
            tables[name] = tables[name] if name == table else tables[name].filter(array_of_truths(stays))
            retained[name] = retained[name][stays]
        return LinkedRelease(tables, retained, self._inputs)

    def _staying(self, table: str, retained: Mask | None) -> dict[str, Mask]:
        """Which rows stay, of the tables where some do not."""
        staying = {} if retained is None else {table: retained}
        for name in sorted(self.tables, key=lambda one: depth_of(one, self.engine.declared)):
            parent = self.engine.declared[name].belongs_to
            if parent in staying and name != table:
                staying[name] = np.append(staying[parent], False)[self.parent_rows[name]]
        return staying


def _named(table: pa.Table, name: str) -> pa.Table:
    """A table with its columns called `table.column`."""
    return table.rename_columns([f"{name}{SEPARATOR}{column}" for column in table.column_names])


def _own(treated: pa.Table, table: pa.Table) -> pa.Table:
    """A table with the names of its columns as they are written."""
    return treated.rename_columns(table.column_names)


def opened(candidate: Candidate) -> LinkedRelease:
    """The tables of a candidate."""
    assert isinstance(candidate.opened, LinkedRelease)  # noqa: S101 - of a repair of several tables
    return candidate.opened


class LinkedLoop(RepairLoop):
    """The application of remedies to several linked tables; see `RepairLoop`."""

    def _opened_input(self) -> OpenTable:
        return LinkedRelease.of_input(self.inputs)

    def _require_units_behind(self, after: Candidate) -> None:
        """No remedy of several tables draws pseudonyms anew."""

    def _place(self, planned: PlannedRemedy) -> str:
        remedy: Remedy[Any] = planned.remedy
        if remedy.tables is None:
            raise RemedyError(ONE_TABLE)
        return remedy.tables(planned.parameters, self.policy.document)[0]

    def _seen(self, candidate: Candidate, place: str) -> tuple[Release, Attribute | None]:
        tables = opened(candidate)
        if not tables.tables[place].num_rows:
            raise RemedyError(f"the table {place!r} has no rows")
        return tables.release_of(place), tables.joining(place)

    def _failing_records(self, candidate: Candidate, place: str) -> Mask:
        after = candidate.opened.settled
        assert isinstance(after, LinkedRelease)  # noqa: S101 - likewise
        return after.failing_rows(place)

    def _changed(self, candidate: Candidate, view: RemedyView, treatment: Treatment, place: str) -> Candidate:
        after = opened(candidate).treated(view, treatment, place)
        return Candidate(after, candidate.retained, (), candidate.steps)

    def _proposals(self, remedy: Remedy[Any], candidate: Candidate) -> list[Mapping[str, Any]]:
        """The parameters that a remedy proposes for each table that it may act on."""
        proposals: list[Mapping[str, Any]] = []
        reasons: dict[str, None] = {}
        places = () if remedy.tables is None else remedy.tables(None, self.policy.document)
        for place in [one for one in places if opened(candidate).tables[one].num_rows]:
            view = self._view(candidate, place)
            helpful = applicability(remedy, view, None, candidate.failing_demands)
            named = {TABLE: place} if TABLE in remedy.parameters.model_fields else {}
            own = remedy.proposals(view, tuple(candidate.failing_demands)) if helpful.helped else []
            proposals += [{**one, **named} for one in own]
            reasons[NOTHING_PROPOSED if helpful.helped else helpful.reasons] = None
        if not proposals:
            no_table = "can act on none of these tables"
            self._left_out[remedy.name] = "; ".join(reasons) or (ONE_TABLE if remedy.tables is None else no_table)
        return proposals


def require_remedies_of_tables(policy: Policy, remedies: Mapping[str, Remedy[Any]]) -> None:
    """Insist that the remedies and measures that a policy of several tables names work over them.

    Raises:
        PolicyError: one does not; the message names those that do.
    """
    able = sorted(name for name, one in remedies.items() if one.tables is not None)
    for planned in policy.remedies:
        if planned.remedy.tables is None:
            line = "" if planned.line is None else f", line {planned.line}"
            raise PolicyError(
                f"{policy.name}{line}: remedy: {planned.remedy.name} {ONE_TABLE}, and the policy has "
                f"`tables`; over several tables work {listing(able)}"
            )
    if policy.document.utility.named:
        raise PolicyError(
            f"{policy.name}: utility: it measures the columns of one table, and the policy has `tables`; leave it out"
        )
