"""New pseudonyms for several linked tables: the same one in every column that links a row, whatever they were before.

They are drawn when a release is written. The units behind the pseudonyms that a remedy draws for one column are
counted in `pseudonyms`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import count
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import fold, numbered
from tcdp_audit.core.engines.base import domain_as_typed
from tcdp_audit.core.policy.model import SEPARATOR, AttributeDeclaration, PolicyDocument, Role
from tcdp_audit.core.policy.tables import linking_columns
from tcdp_audit.core.remedy.remedy import NewColumn
from tcdp_audit.core.remedy.treatment import new_cells, ranks_of_cells
from tcdp_audit.core.remedy.view import Attribute
from tcdp_audit.core.units.coding import code_histories
from tcdp_audit.core.units.linked import Link, LinkedTables, depth_of

Numbers = NDArray[np.int64]
Rows = NDArray[np.intp]
EXACT = 2**53  # whole numbers below this are exact however a table stores them


@dataclass(frozen=True)
class Names:
    """What new pseudonyms are called.

    Args:
        prefix: what those of columns of text begin with.
        start: the first one of columns of numbers.
    """

    prefix: str
    start: int

    @classmethod
    def unlike(cls, labels: Iterable[str]) -> Names:
        """Names of which none is among some pseudonyms, neither as text nor as a number."""
        runs, largest = 0, 0.0
        for label in labels:
            runs = max(runs, len(label) - len(label.lstrip("u")))
            try:
                number = abs(float(label))
            except ValueError:
                continue
            largest = max(largest, number) if isfinite(number) else largest
        return cls("u" * (runs + 1), 10 ** len(str(int(largest))))

    @classmethod
    def like(cls, domains: Iterable[Domain]) -> Names:
        """The names that some columns have, if they were drawn before; otherwise any."""
        texts, start = [], EXACT
        for one in domains:
            if one.values.dtype == object:
                texts += [*one.values[:1]]
            elif one.size:
                start = min(start, int(one.values.min()))
        drawn = re.match("u+", texts[0]) if texts else None
        return cls("u" if drawn is None else drawn.group(), start)

    def cells(self, sizes: Sequence[int], texts: Sequence[bool]) -> list[NDArray[Any]]:
        """The pseudonyms of some groups of columns, each once, by number of owners and by whether they are text."""
        fits = self.start + sum(sizes) < EXACT
        is_text = [one or not fits for one in texts]
        digits = len(str(sum(size for size, one in zip(sizes, is_text, strict=True) if one)))
        begun, cells = {True: 1, False: self.start}, []
        for size, one in zip(sizes, is_text, strict=True):
            numbers = range(begun[one], begun[one] + size)
            begun[one] += size
            named = [*(f"{self.prefix}{number:0{digits}}" for number in numbers), None] if one else [*numbers]
            cells.append(np.array(named, dtype=object)[:-1] if one else np.array(named, dtype=np.int64))
        return cells


@dataclass(frozen=True)
class LinkedPseudonyms:
    """The columns that link tables, and the order of the rows without them.

    Args:
        tables: the rows of each table.
        engine: an engine over them, which preserves their order.
        parent_rows: for each row of each table that belongs to another, the row that it belongs to; -1 for none.
        document: the policy that links them.
        dropped: the columns that are not written, each with its table.
    """

    # What is drawn must say nothing of the pseudonyms before, of their order or of that of the rows. So the units are
    # put in the order of everything that is released of them, with all rows that belong to them, the rows of each in
    # the order of everything that is released of these, and so on. Units that tie are the same in every cell of every
    # table: exchanging them, with all that belongs to them, changes nothing. The numbers in this order are shuffled
    # with the policy's seed. So the written tables are a function of the released cells, of which rows belong
    # together, and of the seed: anyone who undoes the shuffle learns what is released anyway.

    tables: Mapping[str, pa.Table]
    engine: LinkedTables
    parent_rows: Mapping[str, Rows]
    document: PolicyDocument
    dropped: Collection[str] = ()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The linking columns, those of parents first."""
        there = {one.name for one in self.engine.columns}
        links = [one for one in linking_columns(self.document) if one in there]
        return tuple(sorted(links, key=lambda one: depth_of(self.engine.table_of(one), self.engine.declared)))

    @cached_property
    def read(self) -> Mapping[str, tuple[Domain, Numbers]]:
        """The values of each linking column, and the code of each row."""
        return {one: self.read_column(one) for one in self.columns}

    def read_column(self, column: str) -> tuple[Domain, Numbers]:
        """The values of a column as they are written, and the code of each row."""
        domain = domain_as_typed(column, self.engine.domain(column))
        batches = [batch[column] for batch in self.engine.batches([domain])]
        return domain, np.concatenate([np.zeros(0, dtype=np.int64), *batches]).astype(np.int64)

    @cached_property
    def labels(self) -> list[str]:
        """All pseudonyms as text."""
        return [label for domain, _ in self.read.values() for label in domain.labels]

    @cached_property
    def copies(self) -> Mapping[str, tuple[str, Rows]]:
        """Columns that repeat a pseudonym: the linking column, and the row of its table that each row belongs to.

        Such a column links nothing under the policy, and all of its cells are the pseudonym of the row that theirs
        belongs to: a table of drugs often has the patient, too, though it belongs to visits.
        """
        copies: dict[str, tuple[str, Rows]] = {}
        for table in self._downwards:
            for column in self._others(table):
                for link, rows in self._links_above(table):
                    if column not in copies and self._repeats(column, link, rows):
                        copies[column] = (link, rows)
        return copies

    def _others(self, table: str) -> list[str]:
        """The columns of a table that link nothing, and are neither known nor sensitive."""
        known = {name for name, one in self.document.attributes.items() if one.role is not Role.INSENSITIVE}
        own = [f"{table}{SEPARATOR}{one}" for one in self.tables[table].column_names]
        return [one for one in own if one not in known and one not in self.read]

    def require_recognised(self) -> None:
        """Insist that no other column has the pseudonyms of rows, such as that of a patient's mother.

        At least half of its rows with a value have one that is text and a pseudonym. Numbers are left out: a count is
        often the number of a patient as well.

        Raises:
            DataError: one has; the message has the number of rows.
        """
        pseudonyms = {one for one in self.labels if not _is_number(one)}
        for table in self._downwards:
            for column in [one for one in self._others(table) if one not in self.copies]:
                domain, _ = self.read_column(column)
                known = np.array([one in pseudonyms for one in domain.labels], dtype=bool)
                rows = int(domain.counts[known].sum())
                if rows and 2 * rows >= int(domain.counts.sum()):
                    raise DataError(
                        f"column {column!r} has pseudonyms that link the tables in {count(rows, 'row')}, though it "
                        "links nothing; declare it as an identifier, which is not written, or say `keep_links: true`"
                    )

    def _links_above(self, table: str) -> Iterator[tuple[str, Rows]]:
        """The linking columns of a table and of those above it, with the row that each row belongs to."""
        rows, at = np.arange(self.tables[table].num_rows), table
        while True:
            yield from ((one, rows) for one in self.columns if self.engine.table_of(one) == at)
            if at not in self.parent_rows:
                return
            rows, at = np.append(self.parent_rows[at], -1)[rows], str(self.engine.declared[at].belongs_to)

    def _repeats(self, column: str, link: str, rows: Rows) -> bool:
        domain, codes = self.read_column(column)
        linking, own = self.read[link]
        place = {label: code for code, label in enumerate(domain.labels)}
        if not place.keys() <= set(linking.labels):
            return False
        expected = np.array([*(place.get(label, -1) for label in linking.labels), -1])[np.append(own, linking.size)]
        present = codes < domain.size
        return bool(present.any() and (expected[rows] == codes)[present].all())

    # The order of the rows

    @cached_property
    def _downwards(self) -> list[str]:
        return sorted(self.tables, key=lambda one: depth_of(one, self.engine.declared))

    @cached_property
    def _contents(self) -> Mapping[str, Numbers]:
        """A number for each row that is equal where the cells are, with those of all rows that belong to it."""
        contents: dict[str, Numbers] = {}
        left_out = {*self.columns, *self.copies, *self.dropped}
        for table in reversed(self._downwards):
            rows = self.tables[table]
            own = [one for one in rows.column_names if f"{table}{SEPARATOR}{one}" not in left_out]
            columns = [np.zeros(rows.num_rows, dtype=np.int64), *(ranks_of_cells(rows[one]) for one in sorted(own))]
            children = sorted(one for one in contents if self.engine.declared[one].belongs_to == table)
            columns += [_whole(self.parent_rows.get(one), contents[one], rows.num_rows) for one in children]
            keys = fold(columns, [int(one.max(initial=0)) + 1 for one in columns])
            contents[table] = numbered(keys.values, keys.span)[1].astype(np.int64)
        return contents

    @cached_property
    def places(self) -> Mapping[str, Numbers]:
        """The place of each row of each table in an order in which links do not count."""
        places: dict[str, Numbers] = {}
        for table in self._downwards:
            parent = self.engine.declared[table].belongs_to
            if table == self.engine.top:
                above = self._places_of_owners()
            elif table in self.parent_rows:
                above = np.append(places[str(parent)], -1)[self.parent_rows[table]]
            else:  # its link cannot be read
                above = np.zeros(self.tables[table].num_rows, dtype=np.int64)
            places[table] = _placed(above, self._contents[table])
        return places

    def _places_of_owners(self) -> Numbers:
        """For each row of the first table the place of its unit, where that has several rows, and its household."""
        unit = self.document.unit if self.engine.is_of_rows else None
        owners = [self.read[one] for one in (unit, self.document.household) if one is not None and one in self.read]
        contents = self._contents[self.engine.top]
        if not owners:
            return np.zeros(len(contents), dtype=np.int64)
        item = np.arange(len(contents))
        inner: list[tuple[Numbers, Numbers]] = []  # of each level, outwards: the owner of each item, and its contents
        for domain, codes in owners:
            owner = np.full(len(contents), -1, dtype=np.int64)
            owner[item] = codes
            inner.append((owner, contents))
            item, contents = codes, _whole(owner, contents, domain.size + 1)
        place = _placed(np.zeros(len(contents), dtype=np.int64), contents)
        for owner, within in reversed(inner[1:]):
            place = _placed(place[owner], within)
        return place[owners[0][1]]

    # New pseudonyms

    @property
    def _links(self) -> Mapping[str, Link]:
        return {one.own.attribute: one for one in self.engine.links.by_table.values()}

    def drawn(self, names: Names) -> dict[str, pa.Table]:
        """The tables with new pseudonyms: the same one in all columns that link a row, in an order that says nothing.

        Cells without a link stay without one, and so does a row that belongs to no other.

        Args:
            names: what the new pseudonyms are called.

        Cost: a sort of the rows of each table by all their cells.
        """
        drawn: dict[str, tuple[NDArray[Any], Numbers]] = {}  # the cells of each column, and that of each value
        links, generator = self._links, np.random.default_rng(self.document.seed)
        first = [one for one in self.columns if one not in links]
        owners = [self.read[one][0] for one in first]
        named = names.cells([one.size for one in owners], [one.values.dtype == object for one in owners])
        cells = dict(zip(first, named, strict=True))
        for column in self.columns:
            if column in links:
                values, place = drawn[links[column].key.attribute]
                drawn[column] = values, place[links[column].of_parent]
            else:
                shuffled = generator.permutation(len(cells[column]))
                drawn[column] = cells[column], np.append(self._in_place(column, shuffled), len(shuffled))
        tables = dict(self.tables)
        for column, (values, place) in drawn.items():
            self._set(tables, column, self.read[column], NewColumn(values, place[self.read[column][1]]))
        for column, (link, rows) in self.copies.items():
            (values, place), own, (domain, codes) = drawn[link], self.read[link], self.read_column(column)
            of_row = np.append(place[own[1]], len(values))[rows]
            new = NewColumn(values, np.where(codes < domain.size, of_row, len(values)))
            self._set(tables, column, (domain, codes), new)
        return tables

    def _in_place(self, column: str, numbers: Numbers) -> Numbers:
        """Numbers for the values of a column, given in the order of the first row that has each."""
        domain, codes = self.read[column]
        places = self.places[self.engine.table_of(column)]
        first = np.full(domain.size + 1, len(places), dtype=np.int64)
        np.minimum.at(first, codes, places)
        given = np.empty_like(numbers)
        given[np.argsort(first[:-1], kind="stable")] = numbers
        return given

    def _set(self, tables: dict[str, pa.Table], column: str, read: tuple[Domain, Numbers], new: NewColumn) -> None:
        table = self.engine.table_of(column)
        own, rows = column[len(table) + 1 :], tables[table]
        old = Attribute(column, AttributeDeclaration(role=Role.INSENSITIVE), *read)
        tables[table] = rows.set_column(rows.column_names.index(own), own, new_cells(rows[own], old, new))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _whole(owner: Numbers | Rows | None, contents: Numbers, owners: int) -> Numbers:
    """The contents of each owner of some items together; items with the owner -1 have none."""
    if owner is None:
        return np.zeros(owners, dtype=np.int64)
    owned = owner >= 0
    return code_histories(owner[owned], contents[owned], owners, int(contents.max(initial=0)) + 1).codes


def _placed(above: Numbers, contents: Numbers) -> Numbers:
    """The place of each item in the order of what it belongs to, and then of its contents."""
    place = np.empty(len(above), dtype=np.int64)
    place[np.lexsort((contents, above))] = np.arange(len(above))
    return place
