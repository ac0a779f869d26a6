"""Cells that hold several items, read into sets of items: each cell a set, or all cells of an entity together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, fold, numbered, occurrences
from tcdp_audit.plugin.engine import CodedTable
from tcdp_audit_plugins.checks.km_anonymity.item_sets import ItemSets, Positions, joined

pc: Any = pyarrow.compute  # it makes its functions when it is imported, so that no type checker knows them


def item_sets_of(
    table: CodedTable, columns: Sequence[str], delimiter: str, unit: str | None, nothing: Collection[str]
) -> ItemSets:
    """The sets of items in some columns. The same text in two columns is two items.

    Args:
        table: with the columns, and the unit's.
        columns: their names, at least one.
        delimiter: what is between two items of a cell. Blanks around an item do not count.
        unit: the column with the entity, whose items are those of all its rows; None where each record is one.
        nothing: items that says nothing, such as what stands for a suppressed one.

    Cost: one pass over the distinct cells, and a sort of the items of all different rows.
    """
    owner, records = _owners(table, columns, unit)
    rows = np.arange(len(owner)) if unit is not None else np.unique(owner, return_index=True)[1]
    owners, items, shift = [], [], 0
    for name in columns:
        item, offsets = _split(table.domains[name].labels, delimiter, nothing)
        cells = table.codes[name][rows].astype(np.intp)
        lengths = offsets[cells + 1] - offsets[cells]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        items.append(shift + item[np.repeat(offsets[cells], lengths) + within])
        owners.append(np.repeat(owner[rows], lengths))
        shift += int(item.max(initial=-1)) + 1
    return joined(np.concatenate(owners), len(records), np.concatenate(items), records)


def _owners(table: CodedTable, columns: Sequence[str], unit: str | None) -> tuple[NDArray[Any], Counts]:
    """Whose items the cells of each row are, and how many records each stands for: an entity, or records that agree."""
    if unit is not None:
        entities, entity = numbered(table.codes[unit], table.domains[unit].size + 1)
        return entity, np.ones(len(entities), dtype=np.int64)
    keys = fold([table.codes[name] for name in columns], [table.domains[name].size + 1 for name in columns])
    distinct, alike = numbered(keys.values, keys.span)
    return alike, occurrences(alike, len(distinct), table.rows.times)


def _split(labels: Sequence[str], delimiter: str, nothing: Collection[str]) -> tuple[Positions, Positions]:
    """The numbers of the items of all cells, one cell after the other, and where those of each begin and end.

    Returns:
        Shape (items of all cells,), and (cells + 2,): a missing cell, which is last, has none.
    """
    lists = pc.split_pattern(pa.array(labels, pa.large_string()), pattern=delimiter)
    texts = pc.utf8_trim_whitespace(lists.flatten()).dictionary_encode()
    is_item = ~pc.is_in(texts.dictionary, pa.array(["", *nothing], pa.large_string())).to_numpy(zero_copy_only=False)
    item = texts.indices.to_numpy()
    chosen = is_item[item]
    upto = np.concatenate([[0], np.cumsum(chosen)])
    offsets = upto[lists.offsets.to_numpy()]
    return item[chosen].astype(np.int64), np.append(offsets, offsets[-1])
