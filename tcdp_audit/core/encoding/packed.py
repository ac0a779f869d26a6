"""Several columns of codes packed into one narrow integer a row, which is less to store, to deal and to fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.encoding.counting import narrow
from tcdp_audit.core.encoding.domain import Domain

PACKED = "\0packed"  # no column of a table has this name
MOST = 2**32 - 1


@dataclass(frozen=True)
class Packing:
    """How the codes of some attributes are one number: in mixed radix, ordered as the attributes are.

    Args:
        radices: attribute -> a number above its codes, in order.
    """

    radices: Mapping[str, int]

    @staticmethod
    def of(domains: Sequence[Domain]) -> Packing | None:
        """That of some attributes, if there are any and 32 bits are enough."""
        packing = Packing({domain.attribute: domain.size + 1 for domain in domains})
        return packing if domains and packing.span <= MOST else None

    @property
    def span(self) -> int:
        """How many numbers are possible."""
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
