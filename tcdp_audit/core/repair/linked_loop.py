"""Remedies over several linked tables: each acts on one of them, and what belongs to a dropped row goes with it.

A remedy sees one table as a release: its columns, and the unit of each row, wherever that is written. The audit after
it is of all tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.base.words import agree, listing
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import fold, numbered
from tcdp_audit.core.engines.arrow_types import array_of_numbers, array_of_truths
from tcdp_audit.core.information_loss.columns import LostLinks, links_between
from tcdp_audit.core.policy.model import SEPARATOR, AttributeDeclaration, Role
from tcdp_audit.core.policy.policy import PlannedRemedy, Policy
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.demands import with_class_sizes
from tcdp_audit.core.remedy.remedy import TABLE, NewColumn, Remedy, RemedyError, Treatment, applicability
from tcdp_audit.core.remedy.treatment import (
    apply_treatment,
    as_text,
    in_unlinkable_order,
    new_cells,
    same_cells,
    settled,
)
from tcdp_audit.core.remedy.view import Attribute, RemedyView
from tcdp_audit.core.repair.candidate import Candidate, OpenTable, Perspective, dropped_columns, engine_over
from tcdp_audit.core.repair.linked_pseudonyms import LinkedPseudonyms, Names
from tcdp_audit.core.repair.loop import NOTHING_PROPOSED, RepairLoop
from tcdp_audit.core.repair.pseudonyms import require_units_behind_parts
from tcdp_audit.core.session.inputs import AuditInputs
from tcdp_audit.core.units.coding import LinkedRows
from tcdp_audit.core.units.linked import LinkedTables, depth_of
from tcdp_audit.core.units.reading_tables import read_tables
from tcdp_audit.core.units.trees import OneTable

pc: Any = pyarrow.compute  # its functions are created on import, so type checkers do not know them

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
        redrawn: the columns of pseudonyms that were drawn anew in all tables.
    """

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        retained: Mapping[str, Rows],
        inputs: AuditInputs,
        engine: LinkedTables | None = None,
        redrawn: tuple[str, ...] = (),
    ) -> None:
        self.tables, self.retained, self._inputs, self.redrawn = dict(tables), dict(retained), inputs, redrawn
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
        """The number of rows of all tables that are rows of the input, whatever copies there are of them."""
        return sum(len(np.unique(one)) for one in self.retained.values())

    @property
    def without_copies(self) -> LinkedRelease:
        """The tables with each row of the input once; a unit that was divided has a row for each of its parts.

        Their links are faulty: what belongs to another copy belongs to nothing.
        """
        first = {name: np.sort(np.unique(rows, return_index=True)[1]) for name, rows in self.retained.items()}
        if all(len(rows) == len(self.retained[name]) for name, rows in first.items()):
            return self
        tables = {name: table.take(array_of_numbers(first[name])) for name, table in self.tables.items()}
        retained = {name: rows[first[name]] for name, rows in self.retained.items()}
        return self._opened.enter_context(LinkedRelease(tables, retained, self._inputs))

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
                    self.codes_of(domain),
                )
        if not missing:
            return None
        token = self._inputs.policy.conventions.suppressed_token
        tables = {
            name: _own(settled(_named(one, name), missing[name], token), one) if name in missing else one
            for name, one in self.tables.items()
        }
        return self._opened.enter_context(LinkedRelease(tables, self.retained, self._inputs))

    @cached_property
    def pseudonyms(self) -> LinkedPseudonyms:
        """The columns that link the tables."""
        policy = self._inputs.policy
        dropped = dropped_columns(policy, [column.name for column in self.engine.columns])
        left_out = {one.name for one in dropped}
        return LinkedPseudonyms(self.tables, self.engine, self.parent_rows, policy.document, left_out)

    def with_new_pseudonyms(self, names: Names) -> LinkedRelease:
        """The same rows with other links: see `LinkedPseudonyms`."""
        columns = (*self.pseudonyms.columns, *self.pseudonyms.copies)
        return LinkedRelease(self.pseudonyms.drawn(names), self.retained, self._inputs, redrawn=columns)

    @property
    def is_drawn(self) -> bool:
        """Whether the tables are, to the cell and in their order, what new pseudonyms would make of them."""
        pseudonyms = self.pseudonyms
        again = pseudonyms.drawn(Names.like(domain for domain, _ in pseudonyms.read.values()))
        seed = self._inputs.policy.document.seed
        orders = {name: array_of_numbers(in_unlinkable_order(one, seed)) for name, one in again.items()}
        return all(same_cells(one.take(orders[name]), self.tables[name]) for name, one in again.items())

    def codes_of(self, domain: Domain) -> NDArray[np.int64]:
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
        weight = policy.document.weight
        changes = {
            "attributes": FrozenDict(own),
            "time": None if time is None else f"{table}{SEPARATOR}{time}",
            "weight": weight if weight in own else None,
            "utility": policy.document.utility.among(own),
        }
        return replace(policy, document=policy.document.model_copy(update=changes))

    @cached_property
    def parent_rows(self) -> Mapping[str, Rows]:
        """For each row of each table that belongs to another, the row that it belongs to; -1 for none."""
        rows = {}
        for name, link in self.engine.links.by_table.items():
            keys = self.codes_of(link.key)
            place = np.full(link.key.size + 1, -1, dtype=np.intp)
            place[keys] = np.arange(len(keys))
            place[link.key.size] = -1  # a missing key is no one's
            rows[name] = place[link.of_parent[self.codes_of(link.own)]]
        return rows

    def unit_rows(self, table: str) -> Rows:
        """For each row of a table the row of the table of units that it belongs to, by way of others; -1 for none."""
        if table == self.engine.top:
            return np.arange(self.tables[table].num_rows)
        above = self.unit_rows(str(self.engine.declared[table].belongs_to))
        return np.append(above, -1)[self.parent_rows[table]]

    @cached_property
    def linked_rows(self) -> LinkedRows:
        """The rows of all tables, by what they belong to and by the units, or households, of the table of units."""
        top, declared = self.engine.top, self.engine.declared
        deepest_first = sorted(self.tables, key=lambda one: -depth_of(one, declared))
        return LinkedRows(
            top,
            self.joining(top).codes.astype(np.int64),
            {name: str(declared[name].belongs_to) for name in deepest_first if name != top},
            {name: self.parent_rows[name] for name in deepest_first if name != top},
            {name: one.num_rows for name, one in self.tables.items()},
        )

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

    def lost_links(self, before: LinkedRelease, table: str) -> LostLinks | None:
        """The loss of links between the rows of units in a table; None where no unit has several."""
        if before.engine.links.faults or not before.pseudonyms.columns:
            return None
        was, now = (one.joining(table) for one in (before, self))
        units = was.codes.astype(np.int64)
        if int(np.bincount(units).max(initial=0)) < 2:
            return None
        return links_between(was.name, units, now.codes.astype(np.int64), self.retained[table])

    def failing_rows(self, table: str) -> Mask:
        """Whether each row of a table is of a unit that fails a demand on classes.

        Raises:
            RemedyError: whole histories cannot be judged.
        """
        inputs = replace(self._inputs, policy=with_class_sizes(self._inputs.policy.of_own_unit))
        failing = inputs.over(self.tables, self.engine).evaluated().failing_units
        if failing is None:
            raise RemedyError("whole histories cannot be judged, so no one knows who fails")
        of_unit = np.append(failing.failing[self.codes_of(failing.unit)], False)
        return of_unit[self.unit_rows(table)]

    def treated(self, view: RemedyView, treatment: Treatment, table: str) -> LinkedRelease:
        """The tables after a treatment: rows that belong to a dropped row are dropped, on every level.

        Args:
            view: the view of the remedy.
            treatment: its answer.
            table: the table that it saw, and whose rows it may drop.
        """
        one, others = self.tables[table], dict[str, dict[str, NewColumn]]()
        for name, cells in treatment.columns.items():
            others.setdefault(self.engine.table_of(name), {})[name] = cells
        own = replace(treatment, columns=others.pop(table, {}))
        tables = {**self.tables, table: _own(apply_treatment(_named(one, table), view, own), one)}
        for other, columns in others.items():
            changed = apply_treatment(_named(self.tables[other], other), view.tables[other], Treatment(columns))
            tables[other] = _own(changed, self.tables[other])
        retained = dict(self.retained)
        column = treatment.columns.get(f"{table}{SEPARATOR}{self._inputs.policy.document.unit_column}")
        if column is not None and table != self.engine.top:
            return self._divided(table, column, tables)
        for name, stays in self._staying(table, treatment.retained).items():
            tables[name] = tables[name] if name == table else tables[name].filter(array_of_truths(stays))
            retained[name] = retained[name][stays]
        return LinkedRelease(tables, retained, self._inputs)

    def _divided(self, table: str, column: NewColumn, tables: Mapping[str, pa.Table]) -> LinkedRelease:
        """The tables with a row of the table of units for each new pseudonym of a unit.

        A unit without a row in the table keeps its pseudonym.

        Args:
            table: the table whose rows have new pseudonyms.
            column: these.
            tables: the tables with them.

        Raises:
            RemedyError: another table or column joins the parts of a unit.
        """
        top, links = self.engine.top, self.engine.links.by_table
        others = [name for name, one in links.items() if one.parent == top and name != table]
        if others or table not in links or links[table].parent != top:
            raise RemedyError(f"{named_tables(others or [table])} by the unit as well, so that no pseudonym is theirs")
        if copies := [*self.pseudonyms.copies]:
            raise RemedyError(f"{listing([*map(repr, copies)])} repeats the pseudonyms of units; drop it first")
        units = self.tables[top]
        keys = fold([self.parent_rows[table], column.codes], [units.num_rows, len(column.cells) + 1])
        rows, codes = keys.decode(numbered(keys.values, keys.span)[0])
        if len(np.unique(codes)) < len(codes):
            raise RemedyError("the remedy gave rows of several units one pseudonym")
        without = np.setdiff1d(np.arange(units.num_rows), rows)
        rows, codes = np.append(rows, without), np.append(codes, np.full(len(without), len(column.cells)))
        (domain, own), name = self.pseudonyms.read[self._unit], self._unit[len(top) + 1 :]
        taken = units.take(array_of_numbers(rows))
        old = Attribute(self._unit, AttributeDeclaration(role=Role.INSENSITIVE), domain, own[rows])
        new = new_cells(taken[name], old, NewColumn(column.cells, codes))
        is_text = pa.types.is_string(new.type)
        unchanged = as_text(taken[name], domain, own[rows]) if is_text else taken[name].cast(new.type)
        cells = pc.if_else(new.is_null(), unchanged, new)
        divided = taken.set_column(taken.column_names.index(name), name, cells)
        retained = {**self.retained, top: self.retained[top][rows]}
        after = LinkedRelease({**tables, top: divided}, retained, self._inputs)
        if joining := sorted(after._joining(rows)):
            joins = agree(len(joining), "joins", "join")
            raise RemedyError(f"{listing([*map(repr, joining)])} {joins} rows of one unit as well; drop it first")
        return after

    @property
    def _unit(self) -> str:
        return str(self._inputs.policy.document.unit)

    def _joining(self, units: Rows) -> Iterator[str]:
        """The columns that join the parts of a unit, as a case number does.

        At least half of the rows whose value is in several rows have one that only their unit has. A quasi-identifier
        is left to the demands, which judge it.

        Args:
            units: the unit of each row of the table of units, before it was divided.
        """
        judged = {*self._inputs.policy.with_role(Role.QUASI_IDENTIFIER), *self.pseudonyms.columns}
        left_out = {*judged, *self.pseudonyms.dropped}
        for table in self.tables:
            owner = np.append(units, -1)[self.unit_rows(table)]
            for column in self.tables[table].column_names:
                name = f"{table}{SEPARATOR}{column}"
                if name not in left_out and _joins(*self.pseudonyms.read_column(name), owner):
                    yield name

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


def named_tables(names: Sequence[str]) -> str:
    """Tables as the subject of a sentence on the rows that belong to units."""
    return f"rows of {listing([*map(repr, names)])} {agree(len(names), 'is linked', 'are linked')}"


def _joins(domain: Domain, codes: NDArray[np.int64], owner: Rows) -> bool:
    """Whether a column joins rows of one owner; see `LinkedRelease._joining`."""
    present = codes < domain.size
    values, owners = codes[present], owner[present]
    first = np.zeros(domain.size, dtype=np.int64)
    first[values] = owners
    of_several = np.zeros(domain.size, dtype=bool)
    of_several[values[first[values] != owners]] = True
    repeated = np.bincount(values, minlength=domain.size) > 1
    joining, rows = (int(some[values].sum()) for some in (repeated & ~of_several, repeated))
    return joining > 0 and 2 * joining >= rows


def opened(candidate: Candidate) -> LinkedRelease:
    """The tables of a candidate."""
    assert isinstance(candidate.opened, LinkedRelease)  # noqa: S101 - of a repair of several tables
    return candidate.opened


class LinkedLoop(RepairLoop):
    """The application of remedies to several linked tables; see `RepairLoop`."""

    def _opened_input(self) -> OpenTable:
        tables = LinkedRelease.of_input(self.inputs)
        if not self.policy.document.keep_links:
            tables.pseudonyms.require_recognised()
        return tables

    def finished(self, candidate: Candidate) -> Candidate:
        """The candidate with new pseudonyms in all columns that link tables, none of which is one of the input.

        A release to which no remedy was applied stays as it is if its pseudonyms were drawn before.
        """
        tables, before = candidate.as_released, self.input
        assert isinstance(tables, LinkedRelease)  # noqa: S101 - of a repair of several tables
        assert isinstance(before, LinkedRelease)  # noqa: S101 - likewise
        if self.policy.document.keep_links or not tables.pseudonyms.columns:
            return candidate
        if not candidate.steps and not tables.pseudonyms.dropped and tables.is_drawn:
            return candidate
        after = tables.with_new_pseudonyms(Names.unlike(before.pseudonyms.labels))
        self._open.append(after)
        return replace(candidate, opened=after)

    def _require_units_behind(self, after: Candidate) -> None:
        before = self.input
        assert isinstance(before, LinkedRelease)  # noqa: S101 - likewise
        tables = after.opened.settled  # a missing quasi-identifier agrees with a suppressed one
        assert isinstance(tables, LinkedRelease)  # noqa: S101 - likewise
        unit = tables.pseudonyms.read.get(str(self.policy.document.unit))
        if unit is None:
            return
        was = before.pseudonyms.read[unit[0].attribute][1][tables.retained[tables.engine.top]]
        keys = fold([unit[1], was], [unit[0].size + 1, int(was.max(initial=0)) + 1])
        parts, units = keys.decode(numbered(keys.values, keys.span)[0])
        if len(np.unique(units)) == len(units):
            return  # no unit has several pseudonyms
        histories = read_tables(tables.release, self.inputs.memory)
        whole = np.empty(unit[0].size + 1, dtype=np.int64)  # of each pseudonym
        whole[unit[1]] = histories.by[()].codes[tables.codes_of(histories.unit)]
        require_units_behind_parts(self.policy, whole[parts], units)

    def _places(self, planned: PlannedRemedy) -> Sequence[str]:
        remedy: Remedy[Any] = planned.remedy
        places = remedy.places(planned.parameters, self.policy.document)
        if places is None:
            raise RemedyError(ONE_TABLE)
        return places

    def _seen(self, candidate: Candidate, place: str) -> tuple[Release, Attribute | None]:
        tables = opened(candidate)
        if not tables.tables[place].num_rows:
            raise RemedyError(f"the table {place!r} has no rows")
        return tables.release_of(place), tables.joining(place)

    def _linked(self, candidate: Candidate, place: str) -> tuple[Mapping[str, RemedyView], LinkedRows | None]:
        tables = opened(candidate)
        if place != tables.engine.top:
            return {}, None
        others = [name for name, one in tables.tables.items() if name != place and one.num_rows]
        return {name: self._view(candidate, name) for name in others}, tables.linked_rows

    def _failing_records(self, candidate: Candidate, place: str, against: Perspective) -> Mask:  # noqa: ARG002
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
        places = remedy.places(None, self.policy.document)
        for place in [one for one in places or () if opened(candidate).tables[one].num_rows]:
            view = self._view(candidate, place)
            helpful = applicability(remedy, view, None, candidate.failing_demands)
            named = {TABLE: place} if TABLE in remedy.parameters.model_fields else {}
            own = remedy.proposals(view, tuple(candidate.failing_demands)) if helpful.helped else []
            proposals += [{**one, **named} for one in own]
            reasons[NOTHING_PROPOSED if helpful.helped else helpful.reasons] = None
        if not proposals:
            no_table = "can act on none of these tables"
            self._left_out[remedy.name] = "; ".join(reasons) or (ONE_TABLE if places is None else no_table)
        return proposals


def require_remedies_of_tables(policy: Policy, remedies: Mapping[str, Remedy[Any]]) -> None:
    """Insist that the tables are linked, and that the remedies that their policy names work over them.

    Raises:
        PolicyError: nothing links the tables, or a remedy does not; the message names those that do.
    """
    if policy.document.is_unlinked:
        raise PolicyError(
            f"{policy.name}: nothing links the tables, and remedies change several tables only where their rows belong "
            "together; repair each under a policy of that table"
        )
    able = sorted(name for name, one in remedies.items() if one.places(None, policy.document) is not None)
    for planned in policy.remedies:
        if planned.remedy.places(planned.parameters, policy.document) is None:
            line = "" if planned.line is None else f", line {planned.line}"
            raise PolicyError(
                f"{policy.name}{line}: remedy: {planned.remedy.name} {ONE_TABLE}, and the policy has "
                f"`tables`; over several tables work {listing(able)}"
            )
