"""A table seen through a mapping of its columns and of their distinct values; its records are never read again.

Levels of hierarchies are such a mapping, and so are the names and codes that a policy declares for the file of an
intruder. Statements in databases and scans of files stay those of the table itself: what a mapped value means is
decided once for each distinct value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.counted import CountedCodes, MappedShards
from tcdp_audit.core.encoding.domain import Domain, RawDomain, Strings, texts_of
from tcdp_audit.core.encoding.hierarchy import Hierarchy
from tcdp_audit.core.engines.base import Batch, BorrowedEngine, Column, Engine, Sampling, Translation, domain_as_typed
from tcdp_audit.core.policy.faults import nearest

TEXT = "VARCHAR"


@dataclass(frozen=True)
class _View:
    """A column with other values, and for each value of the column itself the place of the one that replaces it."""

    raw: RawDomain
    position: NDArray[np.int64]


class MappedEngine(BorrowedEngine):
    """A table whose columns have other names, or whose cells are replaced by texts.

    Args:
        lender: the table; it is not closed.
        names: the table's own name of each column, by the name that it has here.
        mapped: the columns, by their name here, whose cells may be replaced.
        labels: for a column and its distinct values, none of them NaN, the text that replaces each; None where nothing
            is replaced. Asked once, when a column is first read.
    """

    def __init__(
        self,
        lender: Engine,
        names: Mapping[str, str],
        mapped: frozenset[str],
        labels: Callable[[str, NDArray[np.generic]], Strings | None],
    ) -> None:
        super().__init__(lender)
        self.value_labels = {
            own: lender.value_labels[name]
            for own, name in names.items()
            if name in lender.value_labels and own not in mapped
        }
        types = {one.name: one.type for one in lender.columns}
        self._columns = [Column(own, TEXT if own in mapped else types[name]) for own, name in names.items()]
        self._names, self._mapped, self._labels = names, mapped, labels
        self._views: dict[str, _View | None] = {}

    def _view(self, attribute: str) -> _View | None:
        """The values of a column here; None where they are the table's."""
        if attribute not in self._views:
            raw = self._lender.domain(self._names[attribute]) if attribute in self._mapped else None
            self._views[attribute] = None if raw is None else self._viewed(attribute, raw)
        return self._views[attribute]

    def _viewed(self, attribute: str, raw: RawDomain) -> _View | None:
        present = np.ones(len(raw.values), bool) if raw.is_text else ~np.isnan(raw.values)
        labels = self._labels(attribute, raw.values[present])
        if labels is None:
            return None
        values, places = np.unique(labels, return_inverse=True)
        position = np.full(len(raw.values), len(values), dtype=np.int64)
        position[present] = places
        counts = np.zeros(len(values) + 1, dtype=np.int64)
        np.add.at(counts, position, raw.counts)
        return _View(RawDomain(values, counts[:-1], raw.nulls + int(counts[-1])), position)

    @property
    def progress(self) -> Callable[[str, int, int], None] | None:
        """The function that is called while the table is read."""
        return self._lender.progress

    @progress.setter
    def progress(  # pyright: ignore[reportIncompatibleVariableOverride] - it is read and written like one
        self, progress: Callable[[str, int, int], None] | None
    ) -> None:
        self._lender.progress = progress

    @property
    def columns(self) -> Sequence[Column]:
        """The columns, in the table's order; those whose cells may be replaced hold text."""
        return self._columns

    def group_by(self, attributes: Sequence[str]) -> None:
        """Announce columns that will be counted together."""
        self._lender.group_by([self._names[name] for name in attributes])

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts. O(values), without a scan of a mapped column."""
        view = self._view(attribute)
        return self._lender.domain(self._names[attribute]) if view is None else view.raw

    def _inner(self, domain: Domain) -> Domain:
        """A domain over the values of the table itself."""
        view, name = self._view(domain.attribute), self._names[domain.attribute]
        if view is None:
            return domain if name == domain.attribute else replace(domain, attribute=name)
        self._lender.domain(name)
        return replace(domain, attribute=name, code_of_raw=np.append(domain.code_of_raw, domain.size)[view.position])

    def _renamed(self, batch: Batch, domains: Sequence[Domain]) -> Batch:
        """A batch of the table by the names that columns have here."""
        return {one.attribute: batch[self._names[one.attribute]] for one in domains}

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the table's order."""
        return (self._renamed(one, domains) for one in self._lender.batches([self._inner(one) for one in domains]))

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes, equal ones counted where the engine can."""
        counted = self._lender.counted([self._inner(one) for one in domains])
        return (CountedCodes(self._renamed(rows, domains), rows.times) for rows in counted)

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Some columns of the records that are drawn; drawn where the table is if none of them is mapped."""
        if any(self._view(name) for name in {*attributes, sampling.by}):
            return Engine.sample(self, attributes, sampling)
        names = [self._names[name] for name in attributes]
        drawn = self._lender.sample(names, replace(sampling, by=self._names[sampling.by]))
        return drawn.select(names).rename_columns([*attributes])

    def glimpse(self, attributes: Sequence[str], most: int) -> Engine:
        """Some columns of some records: here, all of them."""
        return Engine.glimpse(self, attributes, most)

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records that have no value of a column, and that of values that are in more than one record."""
        if self._view(attribute) is not None:
            return Engine.repeats(self, attribute)
        return self._lender.repeats(self._names[attribute])

    def locate(self, attribute: str, values: NDArray[np.object_]) -> int | None:
        """The first record, from 1, that holds one of some raw values of a column; None where records have no order."""
        view, name = self._view(attribute), self._names[attribute]
        if view is None:
            return self._lender.locate(name, values)
        places = np.flatnonzero(np.isin(view.raw.values, values))
        return self._lender.locate(name, self._lender.domain(name).values[np.isin(view.position, places)])

    def table(self) -> pa.Table:
        """All records as one Arrow table, with the texts in place of the cells that they replace."""
        table = self._lender.table()
        return pa.table({one.name: self._cells(one.name, table) for one in self._columns})

    def _cells(self, attribute: str, table: pa.Table) -> pa.ChunkedArray:
        """The cells of a column."""
        view = self._view(attribute)
        if view is None:
            return table.column(self._names[attribute])
        domain = domain_as_typed(attribute, view.raw)
        texts = pa.array([*view.raw.values.tolist(), None], pa.string())
        parts = [texts.take(pa.array(batch[attribute].astype(np.int64))) for batch in self.batches([domain])]
        return pa.chunked_array(parts, pa.string())

    def source_table(self) -> pa.Table:
        """The same as `table`."""
        return self.table()


class LeveledEngine(MappedEngine):
    """A table whose cells are replaced by the labels above them in a hierarchy.

    Args:
        lender: the table; it is not closed.
        hierarchies: by column.
        levels: by column, from 1 to the hierarchy's height; a cell that is at a higher level already keeps its label,
            and a cell without a value has none.
        tokens: cells that are no values of a hierarchy, for missing and suppressed values; they stay as they are.

    Raises:
        DataError: the table lacks a column, or a hierarchy lacks a value of it.
    """

    borrowed = ("_lender", "_hierarchies")

    def __init__(
        self,
        lender: Engine,
        hierarchies: Mapping[str, Hierarchy],
        levels: Mapping[str, int],
        tokens: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(lender, {one.name: one.name for one in lender.columns}, frozenset(levels), self._above)
        self.value_labels = lender.value_labels
        self._hierarchies, self._levels, self._tokens = hierarchies, levels, tokens
        listed = ", ".join(f"{name} at level {level}" for name, level in sorted(levels.items()))
        self.uri = f"{lender.uri} ({listed})"
        for name, level in levels.items():
            if name not in self._names:
                raise DataError(f"{self.name}: column {name!r}, whose level is to be {level}, is not in the table")
            self._view(name)

    def _above(self, attribute: str, values: NDArray[np.generic]) -> Strings:
        """The labels above the values of a column."""
        hierarchy, level = self._hierarchies[attribute], self._levels[attribute]
        texts = texts_of(values).tolist()
        unknown = sum(text not in hierarchy.lineage for text in texts if text not in self._tokens)
        if unknown:
            raise DataError(
                f"{self.name}: the hierarchy of {attribute!r} does not have {unknown:,} of its {len(texts):,} values, "
                f"so that level {level} has no label for them; add them to the hierarchy"
            )
        return np.array([*(self._label(hierarchy, text, level) for text in texts), ""], dtype=object)[:-1]

    def _label(self, hierarchy: Hierarchy, text: str, level: int) -> str:
        """The label at a level above a label; the label itself where it is higher already, or a token."""
        if text in self._tokens and text not in hierarchy.lineage:
            return text
        lowest, upward = hierarchy.lineage[text]
        return upward[level - lowest] if level > lowest else text

    def shards(self, domains: Sequence[Domain], by: Sequence[Domain], wanted: int) -> MappedShards | None:
        """The table as shards where the engine has shards."""
        return self._lender.shards([self._inner(one) for one in domains], [self._inner(one) for one in by], wanted)

    def sha256(self) -> str | None:
        """None: no file has these cells."""
        return None


class TranslatedEngine(MappedEngine):
    """A table with a schema of its own, under the names and values that the release has.

    A column of the table that has the name of a renamed attribute, and is not its column, is left out. A value that no
    code names stays as it is, as text. The digest is that of the table.

    Args:
        lender: the table; it is not closed.
        translation: its names and codes.

    Raises:
        DataError: the table lacks a column.
    """

    def __init__(self, lender: Engine, translation: Translation) -> None:
        own = [one.name for one in lender.columns]
        for attribute, column in translation.columns.items():
            if column not in own:
                raise DataError(
                    f"{translation.where(attribute)}: {lender.name} has no column {column!r}{nearest(column, own)}"
                )
        attribute_of = {column: attribute for attribute, column in translation.columns.items()}
        visible = [name for name in own if name in attribute_of or name not in translation.columns]
        names = {attribute_of.get(name, name): name for name in visible}
        for attribute in translation.codes:
            if attribute not in names:
                raise DataError(
                    f"{translation.where(attribute)}: {lender.name} has no column {attribute!r}; name its column under "
                    "`columns:`, or leave its codes out"
                )
        self._of_code = {
            attribute: {code: value for value, codes in values.items() for code in codes}
            for attribute, values in translation.codes.items()
        }
        super().__init__(lender, names, frozenset(translation.codes), self._decoded)
        self.translation = replace(translation, hidden=len(own) - len(names))

    def _decoded(self, attribute: str, values: NDArray[np.generic]) -> Strings:
        """Our values of a column; a value that no code names stays as it is."""
        of_code = self._of_code[attribute]
        return np.array([*(of_code.get(text, text) for text in texts_of(values).tolist()), ""], dtype=object)[:-1]


class AlignedEngine(MappedEngine):
    """A table whose values are replaced by the cells of another table that cover them.

    Args:
        lender: the table; it is not closed.
        cells: for a column and its values here, the text that replaces each; None where nothing is replaced.
    """

    def __init__(self, lender: Engine, cells: Callable[[str, NDArray[np.generic]], Strings | None]) -> None:
        names = {one.name: one.name for one in lender.columns}
        super().__init__(lender, names, frozenset(names), cells)
        self._columns = [*lender.columns]
