"""Counted codes: rows of codes, each with how many records it stands for. What travels from engines to classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.encoding.packed import PACKED, Packing


@dataclass(frozen=True)
class CountedCodes(Mapping[str, Codes]):
    """Some rows of a table; as a mapping, the codes of each attribute.

    Args:
        codes: attribute -> code of each row. Shape (rows,) each.
        times: how many records each row stands for, at least 1, int64, shape (rows,). None where each row is one
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
        """How many attributes there are."""
        return sum(1 for _ in self)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.codes.values()))) if self.codes else 0

    @property
    def records(self) -> int:
        """How many records the rows stand for."""
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
        """How many records each row stands for, written out. Shape (rows,)."""
        return np.ones(self.rows, dtype=np.int64) if self.times is None else self.times
