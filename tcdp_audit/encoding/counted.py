"""Counted codes: rows of codes, each with how many records it stands for. What travels from engines to classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.encoding.keys import Codes


@dataclass(frozen=True)
class CountedCodes(Mapping[str, Codes]):
    """Some rows of a table; as a mapping, the codes of each attribute.

    Args:
        codes: attribute -> code of each row. Shape (rows,) each.
        times: how many records each row stands for, at least 1, int64, shape (rows,). None where each row is one
            record, which costs nothing.

    Example:
        >>> rows = CountedCodes({"zip": np.array([0, 1])}, np.array([5, 2]))
        >>> rows.rows, rows.records, rows["zip"].tolist()
        (2, 7, [0, 1])
    """

    codes: Mapping[str, Codes]
    times: NDArray[np.int64] | None = None

    def __getitem__(self, attribute: str) -> Codes:
        """The code of each row."""
        return self.codes[attribute]

    def __iter__(self) -> Iterator[str]:
        """The attributes."""
        return iter(self.codes)

    def __len__(self) -> int:
        """How many attributes there are."""
        return len(self.codes)

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
        return CountedCodes({attribute: codes[rows] for attribute, codes in self.codes.items()}, times)

    @staticmethod
    def joined(parts: Sequence[CountedCodes]) -> CountedCodes:
        """Several tables of the same attributes, at least one, as one."""
        if len(parts) == 1:
            return parts[0]
        codes = {attribute: np.concatenate([part[attribute] for part in parts]) for attribute in parts[0]}
        if all(part.times is None for part in parts):
            return CountedCodes(codes)
        return CountedCodes(codes, np.concatenate([part.each for part in parts]))

    @property
    def each(self) -> NDArray[np.int64]:
        """How many records each row stands for, written out. Shape (rows,)."""
        return np.ones(self.rows, dtype=np.int64) if self.times is None else self.times
