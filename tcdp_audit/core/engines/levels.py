"""A table seen through levels of hierarchies: its distinct values are mapped, its records are never read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.encoding.counted import CountedCodes, MappedShards
from tcdp_audit.core.encoding.domain import Domain, RawDomain, texts_of
from tcdp_audit.core.encoding.hierarchy import Hierarchy
from tcdp_audit.core.engines.base import Batch, BorrowedEngine, Column, Engine, Sampling


@dataclass(frozen=True)
class _View:
    """A column at a level: its values there, and for each value of the column itself the place of the one above it."""

    raw: RawDomain
    position: NDArray[np.int64]


class LeveledEngine(BorrowedEngine):
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

    def __init__(
        self,
        lender: Engine,
        hierarchies: Mapping[str, Hierarchy],
        levels: Mapping[str, int],
        tokens: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(lender)
        self._tokens = tokens
        listed = ", ".join(f"{name} at level {level}" for name, level in sorted(levels.items()))
        self.uri = f"{lender.uri} ({listed})"
        self.value_labels = lender.value_labels
        self._columns = [Column(one.name, "VARCHAR") if one.name in levels else one for one in lender.columns]
        self._views = {name: self._view(name, hierarchies[name], level) for name, level in levels.items()}

    def _view(self, attribute: str, hierarchy: Hierarchy, level: int) -> _View:
        if attribute not in {one.name for one in self._lender.columns}:
            raise DataError(f"{self.name}: column {attribute!r}, whose level is to be {level}, is not in the table")
        raw = self._lender.domain(attribute)
        present = np.ones(len(raw.values), bool) if raw.is_text else ~np.isnan(raw.values)
        texts = texts_of(raw.values[present]).tolist()
        unknown = sum(text not in hierarchy.lineage for text in texts if text not in self._tokens)
        if unknown:
            raise DataError(
                f"{self.name}: the hierarchy of {attribute!r} does not have {unknown:,} of its {len(texts):,} values, "
                f"so that level {level} has no label for them; add them to the hierarchy"
            )
        labels = np.array([*(self._label(hierarchy, text, level) for text in texts), ""], dtype=object)[:-1]
        values, places = np.unique(labels, return_inverse=True)
        position = np.full(len(raw.values), len(values), dtype=np.int64)
        position[present] = places
        counts = np.bincount(position, weights=raw.counts, minlength=len(values) + 1).astype(np.int64)
        return _View(RawDomain(values, counts[:-1], raw.nulls + int(counts[-1])), position)

    def _label(self, hierarchy: Hierarchy, text: str, level: int) -> str:
        """The label at a level above a label; the label itself where it is higher already, or a token."""
        if text in self._tokens and text not in hierarchy.lineage:
            return text
        lowest, upward = hierarchy.lineage[text]
        return upward[level - lowest] if level > lowest else text

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
        """The columns, in the table's order; those at a level hold text."""
        return self._columns

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts. O(values), without a scan of a column at a level."""
        view = self._views.get(attribute)
        return self._lender.domain(attribute) if view is None else view.raw

    def _inner(self, domain: Domain) -> Domain:
        """A domain over the values of the table itself."""
        view = self._views.get(domain.attribute)
        if view is None:
            return domain
        self._lender.domain(domain.attribute)
        return replace(domain, code_of_raw=np.append(domain.code_of_raw, domain.size)[view.position])

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the table's order."""
        return self._lender.batches([self._inner(one) for one in domains])

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes, equal ones counted where the engine can."""
        return self._lender.counted([self._inner(one) for one in domains])

    def shards(self, domains: Sequence[Domain], by: Sequence[Domain], wanted: int) -> MappedShards | None:
        """The table as shards where the engine has shards."""
        return self._lender.shards([self._inner(one) for one in domains], [self._inner(one) for one in by], wanted)

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Some columns of the records that are drawn."""
        return Engine.sample(self, attributes, sampling)

    def glimpse(self, attributes: Sequence[str], most: int) -> Engine:
        """Some columns of some records: here, all of them."""
        return Engine.glimpse(self, attributes, most)

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records that have no value of a column, and that of values that are in more than one record."""
        return Engine.repeats(self, attribute) if attribute in self._views else self._lender.repeats(attribute)

    def locate(self, attribute: str, values: NDArray[np.object_]) -> int | None:
        """The first record, from 1, that holds one of some raw values of a column; None where records have no order."""
        view = self._views.get(attribute)
        if view is None:
            return self._lender.locate(attribute, values)
        places = np.flatnonzero(np.isin(view.raw.values, values))
        return self._lender.locate(attribute, self._lender.domain(attribute).values[np.isin(view.position, places)])

    def table(self) -> pa.Table:
        """All records as one Arrow table, with the labels in place of the cells."""
        table = self._lender.table()
        for number, column in enumerate(self._columns):
            if column.name in self._views:
                table = table.set_column(number, column.name, self._labels(column.name))
        return table

    def _labels(self, attribute: str) -> pa.ChunkedArray:
        view, size = self._views[attribute], len(self._views[attribute].raw.values)
        domain = Domain(attribute, view.raw.values, view.raw.counts, view.raw.nulls, np.arange(size))
        texts = pa.array([*view.raw.values.tolist(), None], pa.string())
        parts = [texts.take(pa.array(batch[attribute].astype(np.int64))) for batch in self.batches([domain])]
        return pa.chunked_array(parts, pa.string())

    def source_table(self) -> pa.Table:
        """The same as `table`."""
        return self.table()

    def sha256(self) -> str | None:
        """None: no file has these cells."""
        return None
