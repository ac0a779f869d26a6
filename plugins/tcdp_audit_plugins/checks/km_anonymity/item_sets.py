"""The sets of items of records, and how many records hold each combination of a few of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, boundaries, fold, gibibytes, numbered, occurrences
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit.plugin.sentences import count

if TYPE_CHECKING:
    from scipy.sparse import csr_array


SPAN = 2**62  # of the number that represents a combination
DIRECT = 2**24  # combinations that could be, up to which each has a place of its own in a table
BLOCK = 2**22  # combinations that are looked at together
EACH = 40  # bytes that a combination takes where all are held at once
PAIR = 32  # bytes that a pair of items takes in a product of sparse matrices

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class ItemSets:
    """Different sets of items, each with how many records have it."""

    offsets: Positions  # where each set begins in `items`. Shape (sets + 1,).
    items: Positions  # numbers from 0, ascending within a set
    records: Counts  # how many records have each set. Shape (sets,).

    @property
    def lengths(self) -> Counts:
        """The number of items that each set has."""
        return np.diff(self.offsets)

    @cached_property
    def different(self) -> int:
        """The number of different items."""
        return int(self.items.max(initial=-1)) + 1

    @cached_property
    def matrix(self) -> csr_array:
        """1 where a set has an item. Shape (sets, items)."""
        ones = np.ones(len(self.items), dtype=np.int64)
        from scipy.sparse import csr_array  # noqa: PLC0415 - only where tables are measured

        return csr_array((ones, self.items, self.offsets), shape=(len(self.records), self.different))

    def combinations_of(self, size: int) -> Iterator[tuple[Positions, Positions]]:
        """Some sets, and the number of each combination of so many items that each of them has, block by block.

        Returns:
            Positions of sets, shape (some,); numbers in mixed radix, shape (some, combinations).
        """
        lengths = self.lengths
        for length in np.flatnonzero(np.bincount(lengths)).tolist():
            if length < size:
                continue
            sets = np.flatnonzero(lengths == length)
            chosen = _chosen(length, size)
            for start in range(0, len(sets), step := max(1, BLOCK // len(chosen))):
                some = sets[start : start + step]
                held = self.items[self.offsets[some][:, None] + np.arange(length)]
                numbers = np.zeros((len(some), len(chosen)), dtype=np.int64)
                for place in range(size):
                    numbers *= self.different
                    numbers += held[:, chosen[:, place]]
                yield some, numbers


def _chosen(length: int, size: int) -> NDArray[np.intp]:
    """The places of every combination of so many out of `length`, each ascending."""
    return np.array(list(combinations(range(length), size)), dtype=np.intp).reshape(-1, size)


@dataclass(frozen=True)
class Supports:
    """The number of records that hold each combination of some number of items."""

    size: int  # of the combinations
    numbers: Positions  # of those that occur, ascending
    records: Counts  # how many records hold each, at least 1. Shape as `numbers`.
    span: int  # a number above all that there could be

    def of(self, numbers: Positions) -> Counts:
        """The records of combinations that occur. Any shape."""
        if self._direct is not None:
            return self._direct[numbers]
        return self.records[np.searchsorted(self.numbers, numbers)]

    @cached_property
    def _direct(self) -> Counts | None:
        if self.span > DIRECT:
            return None
        table = np.zeros(self.span, dtype=np.int64)
        table[self.numbers] = self.records
        return table


def supports(sets: ItemSets, size: int, memory: int | None) -> Supports:
    """The number of records that hold each combination of so many items. Exact.

    Raises:
        CheckError: they outgrow the memory, or 62 bits.

    Cost: for pairs a product of sparse matrices, some items at a time; for more O(combinations that sets have).

    Example:
        >>> sets = ItemSets(np.array([0, 2, 4]), np.array([0, 1, 0, 2]), np.array([3, 1]))
        >>> supports(sets, 1, None).records.tolist(), supports(sets, 2, None).records.tolist()
        ([4, 3, 1], [3, 1])
    """
    span = sets.different**size
    if span > SPAN:
        raise CheckError(
            f"combinations of {size} out of {count(sets.different, 'item')} are too many to be numbered; lower `m`"
        )
    if size == 1:
        held = occurrences(sets.items, sets.different, np.repeat(sets.records, sets.lengths))
        return Supports(1, np.arange(sets.different), held, span)
    numbers, held = _of_pairs(sets, memory) if size == 2 else _of_more(sets, size, memory)
    return Supports(size, numbers, held, span)


def _of_pairs(sets: ItemSets, memory: int | None) -> tuple[Positions, Counts]:
    """Pairs as the upper half of the product of items by sets with sets by items."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - only where tables are measured

    matrix = sets.matrix
    weighted = csr_array(matrix.multiply(sets.records[:, None]).T)
    most = np.minimum(matrix.T @ sets.lengths, sets.different)  # entries that the row of an item has at the most
    needed, blocks = 0, []
    for block in _blocks(most):
        product = (weighted[block] @ matrix).tocoo()
        first = product.coords[0] + block.start
        upper = product.coords[1] > first
        numbers = first[upper].astype(np.int64) * sets.different + product.coords[1][upper]
        order = np.argsort(numbers)
        blocks.append((numbers[order], product.data[upper][order]))
        needed += PAIR * len(numbers)
        _require(needed, 2, len(numbers), memory)
    return np.concatenate([one for one, _ in blocks]), np.concatenate([held for _, held in blocks])


def _blocks(sizes: Counts) -> Iterator[slice]:
    """Slices of items whose sizes add up to about as many as are looked at together."""
    ends = np.flatnonzero(np.diff(np.cumsum(sizes) // BLOCK)) + 1
    for start, end in zip([0, *ends.tolist()], [*ends.tolist(), len(sizes)], strict=True):
        yield slice(start, end)


def _of_more(sets: ItemSets, size: int, memory: int | None) -> tuple[Positions, Counts]:
    """Combinations of three and more items, all at once."""
    lengths, occurring = np.unique(sets.lengths, return_counts=True)
    combined = sum(comb(one, size) * times for one, times in zip(lengths.tolist(), occurring.tolist(), strict=True))
    _require(EACH * combined, size, combined, memory)
    numbers, times = np.zeros(combined, dtype=np.int64), np.zeros(combined, dtype=np.int64)
    end = 0
    for some, sets_of_size in sets.combinations_of(size):
        start, end = end, end + sets_of_size.size
        numbers[start:end] = sets_of_size.reshape(-1)
        times[start:end] = np.repeat(sets.records[some], sets_of_size.shape[1])
    order = np.argsort(numbers)
    numbers, times = numbers[order], times[order]
    starts = boundaries(numbers)
    return numbers[starts], np.add.reduceat(times, starts) if combined else times


def _require(needed: int, size: int, combined: int, memory: int | None) -> None:
    if memory is not None and needed > memory:
        raise CheckError(
            f"it needs about {gibibytes(needed)} for {combined:,} combinations of {size} items, and "
            f"{gibibytes(memory)} may be used; lower `m`, or give more with --memory"
        )


def least_of_each(sets: ItemSets, held: Supports) -> Counts:
    """The least records that hold some combination of each set; a very large number for a set of fewer items."""
    least = np.full(len(sets.records), np.iinfo(np.int64).max)
    for some, numbers in sets.combinations_of(held.size):
        least[some] = held.of(numbers).min(axis=1)
    return least


def joined(owner: Positions, owners: int, items: Positions, records: Counts) -> ItemSets:
    """Sets of items out of pairs of owner and item, in any order and any number of times.

    Owners and items count from 0; owners without an item have an empty set. `records` are those of each owner.
    """
    radix = int(items.max(initial=0)) + 1
    pairs, _ = numbered(owner.astype(np.int64) * radix + items, owners * radix)
    _, renumbered = numbered(pairs % radix, radix)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(pairs // radix, minlength=owners))])
    return ItemSets(offsets, renumbered.astype(np.int64), records)


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
        nothing: items without information, such as the mark of a suppressed one.

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
    """Whose items the cells of each row are, and how many records each represents: an entity, or records that agree."""
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
