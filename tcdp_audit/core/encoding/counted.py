"""Counted codes, which engines pass to classes: rows of codes, each with the number of its records.

Several columns of codes can be packed into one narrow integer a row, which is less to store, to assign and to fold.
Shards of a table have one interface, whether they are in this process or on a cluster. So have the classes of units,
where they are formed in a database or on a cluster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import Codes, narrow

if TYPE_CHECKING:
    import pyarrow as pa

PACKED = "\0packed"  # no column of a table has this name
MOST = 2**32 - 1
R = TypeVar("R")
Part = tuple[int, int]  # which of how many parts of a shard's classes, from 0
WHOLE: Part = (0, 1)
Measure = Callable[[Part], R]  # a shard made ready, asked for a part of it


@dataclass(frozen=True)
class Packing:
    """The codes of some attributes as one number: in mixed radix, ordered as the attributes are."""

    radices: Mapping[str, int]  # attribute -> a number above its codes, in order

    @staticmethod
    def of(domains: Sequence[Domain]) -> Packing | None:
        """The packing of some attributes, if there are any and 32 bits are enough."""
        packing = Packing({domain.attribute: domain.size + 1 for domain in domains})
        return packing if domains and packing.span <= MOST else None

    @property
    def span(self) -> int:
        """The number of possible keys."""
        return prod(self.radices.values())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The narrowest type that holds the numbers and the span."""
        return np.dtype(narrow(self.span + 1))

    def begins(self, domains: Sequence[Domain]) -> bool:
        """Whether some attributes begin with those that are packed."""
        return [domain.attribute for domain in domains[: len(self.radices)]] == list(self.radices)

    def packed(self, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """One number for each row, given the codes of each attribute. O(rows x attributes)."""
        # The codes of all columns that decide on the shard are the digits of one number in mixed radix. A row then
        # takes at most four bytes where it is hashed, moved and spilled, and the last column's codes are a remainder
        # away. The span is checked once, in `of`: no product or sum below can overflow, so the additions are done in
        # place and unchecked.
        numbers = columns[0].astype(self.dtype)
        for column, radix in zip(columns[1:], list(self.radices.values())[1:], strict=True):
            numbers *= radix
            np.add(numbers, column, out=numbers, casting="unsafe")  # the sum is below the span
        return numbers

    def unpacked(self, numbers: NDArray[Any], attribute: str) -> NDArray[Any]:
        """The codes of one attribute. O(rows)."""
        names, radix = list(self.radices), self.radices[attribute]
        below = prod(self.radices[name] for name in names[names.index(attribute) + 1 :])
        above = numbers // below if below > 1 else numbers
        return (above % radix).astype(narrow(radix))


@dataclass(frozen=True)
class CountedCodes(Mapping[str, Codes]):
    """Some rows of a table; as a mapping, the codes of each attribute.

    Args:
        codes: attribute -> code of each row. Shape (rows,) each.
        times: how many records each row represents, at least 1, int64, shape (rows,). None where each row is one
            record, which costs nothing.
        packing: the attributes whose codes are packed into one column, `PACKED`; None where there are none. They are
            read like the others.

    Example:
        >>> rows = CountedCodes({"zip": np.array([0, 1])}, np.array([5, 2]))
        >>> rows.rows, rows.records, rows["zip"].tolist()
        (2, 7, [0, 1])
    """

    codes: Mapping[str, Codes]
    times: NDArray[np.int64] | None = None
    packing: Packing | None = None

    def __getitem__(self, attribute: str) -> Codes:
        """The code of each row."""
        if self.packing is not None and attribute in self.packing.radices:
            return self.packing.unpacked(self.codes[PACKED], attribute)
        return self.codes[attribute]

    def __iter__(self) -> Iterator[str]:
        """The attributes."""
        yield from () if self.packing is None else self.packing.radices
        yield from (attribute for attribute in self.codes if attribute != PACKED)

    def __len__(self) -> int:
        """The number of attributes."""
        return sum(1 for _ in self)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.codes.values()))) if self.codes else 0

    @property
    def records(self) -> int:
        """The number of records that the rows represent."""
        return self.rows if self.times is None else int(self.times.sum())

    def take(self, rows: NDArray[Any] | slice) -> CountedCodes:
        """Some rows: their positions in the order wanted, a mask, or a slice."""
        times = None if self.times is None else self.times[rows]
        codes = {attribute: codes[rows] for attribute, codes in self.codes.items()}
        return replace(self, codes=codes, times=times)

    def packed(self, packing: Packing) -> CountedCodes:
        """The same rows with the codes of some attributes in one column. O(rows x attributes)."""
        packed = packing.packed([self.codes[attribute] for attribute in packing.radices])
        others = {attribute: codes for attribute, codes in self.codes.items() if attribute not in packing.radices}
        return CountedCodes({PACKED: packed, **others}, self.times, packing)

    @staticmethod
    def joined(parts: Sequence[CountedCodes]) -> CountedCodes:
        """Several tables of the same attributes, at least one, as one; all of them packed alike, or none."""
        if len(parts) == 1:
            return parts[0]
        codes = {name: np.concatenate([part.codes[name] for part in parts]) for name in parts[0].codes}
        counted = any(part.times is not None for part in parts)
        times = np.concatenate([part.each for part in parts]) if counted else None
        return CountedCodes(codes, times, parts[0].packing)

    @property
    def each(self) -> NDArray[np.int64]:
        """The number of records that each row represents, written out. Shape (rows,)."""
        return np.ones(self.rows, dtype=np.int64) if self.times is None else self.times


class MappedShards(ABC):
    """A table as shards that hold their equivalence classes whole. Use it as a context manager.

    Args:
        count: how many shards there are; some may have no records.
        divisible: whether several threads may work on parts of one shard.
        in_memory: whether a shard is the same object whenever it is asked for.
    """

    count: int
    divisible: bool = False
    in_memory: bool = False

    @cached_property
    def derived(self) -> dict[Any, Any]:
        """Values that were computed of the shards, by key, for as long as they are kept."""
        return {}

    @abstractmethod
    def map(self, prepare: Callable[[CountedCodes], Measure[R]], parts: int = 1) -> Iterator[R]:
        """The result of every shard that has records, in any order.

        Args:
            prepare: makes a shard ready; it is called once for each shard, where the shard is. On a cluster it travels
                by cloudpickle, and so do the answers.
            parts: how many parts of each shard are asked for; 1 unless shards are `divisible`.

        Raises:
            BaseException: what `prepare` or its answer raises.
        """

    def each(self, figure: Callable[[CountedCodes], R]) -> Iterator[R]:
        """A figure of every shard that has records, in any order."""
        return self.map(lambda shard: lambda _: figure(shard))

    def close(self) -> None:  # noqa: B027 - shards may hold nothing
        """Give back what the shards hold."""

    def __enter__(self) -> Self:
        """Use as a context manager."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


class ShardInMemory(MappedShards):
    """One shard whose rows are in memory."""

    count = 1
    in_memory = True

    def __init__(self, shard: CountedCodes) -> None:
        self.shard = shard

    def map(self, prepare: Callable[[CountedCodes], Measure[R]], parts: int = 1) -> Iterator[R]:
        """The results of the shard, if it has records."""
        if self.shard.rows:
            measure = prepare(self.shard)
            yield from (measure((part, parts)) for part in range(parts))


class UnitClasses(ABC):
    """Whole histories of the units of a table, compared where the table is; see `Engine.unit_classes`.

    A history is the multiset of a unit's rows, each row as the tuple of its known cells. Records without a unit are one
    unit. What comes back are counts, and values of secrets with counts: no record, and no unit's own value.
    """

    @abstractmethod
    def is_doubtful(self) -> bool:
        """Whether texts of several units may mean one: some have blanks around them, or differ in case only.

        True also if this is not known there, as of letters beyond ASCII.
        """

    @abstractmethod
    def sizes(self) -> pa.Table:
        """The number of classes of each size.

        Returns:
            Whole numbers, a row for each combination: `rows` of a unit; `lacking`, 1 if a known cell of the history is
            missing; `unnamed`, 1 if the records without a unit are one of the units; `units` of a class; and `classes`.
        """

    @abstractmethod
    def values(self, attributes: Sequence[str]) -> pa.Table:
        """The number of units with each combination of values in each class, of attributes that are constant in units.

        Returns:
            A row for each class and combination: `class`, a number from 1; `rows`, `lacking`, `unnamed` and `units` as
            above; and the values, under the names of the attributes.
        """

    @abstractmethod
    def shares(self, attribute: str, *, in_cells: bool) -> pa.Table:
        """The number of units with each value of an attribute that differs within units.

        Args:
            attribute: the attribute.
            in_cells: whether in each cell, the rows of a class with one label, or in any row of a class.

        Returns:
            A row for each class, label and value: `class`, a number from 1, the same as in `values`; `label`, a number
            from 1, always 1 if cells are not asked for; `units` and `records` with the value, a missing one is one; and
            the value, under the name of the attribute.
        """

    @abstractmethod
    def members(self, attribute: str, *, in_cells: bool) -> pa.Table:
        """The number of `units` with any value of an attribute, for each `class` and `label`; see `shares`."""

    @abstractmethod
    def varying(self, attributes: Sequence[str]) -> Mapping[str, int]:
        """The number of units that have several values of each attribute. A missing value is one."""

    @abstractmethod
    def per_row(self) -> tuple[int, int]:
        """The smallest number of units among rows with equal known cells, and the number of such classes of rows."""

    @abstractmethod
    def units_joined(self, attribute: str, left_out: Sequence[str]) -> int | None:
        """The number of units of the records whose value of an attribute several records have.

        Args:
            attribute: a column that may join rows as the unit does.
            left_out: texts that are no values.

        Returns:
            None if records of several units have the same value.
        """
