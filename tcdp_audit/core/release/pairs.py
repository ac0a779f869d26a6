"""Release and original with the original record of each released one.

The pairing is a declared key or an explicit `rows_aligned`; the order of rows is never assumed silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import agree, count
from tcdp_audit.core.encoding.keys import Floats
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import Scale
from tcdp_audit.core.release.coded import CodedTable


@dataclass(frozen=True)
class Sample:
    """The origin of a sample of pairs.

    Args:
        records: the number of records of the release.
        seed: the seed of the draw.
        more: a clause on how to make the sample larger or unnecessary.
    """

    records: int
    seed: int
    more: str


@dataclass(frozen=True)
class Pairs:
    """Two tables coded over common domains, and the pairing of their records.

    Args:
        released: the table under audit, n records.
        original: the table it was made from, N records.
        partner: for each released record its original's position, -1 if it has none. int64, shape (n,).
        scales: the declared scale of each compared attribute.
        sample: the origin of the sample, if the pairs are one; None if they are all pairs. The domains' counts are
            those of the whole tables.
    """

    released: CodedTable
    original: CodedTable
    partner: NDArray[np.int64]
    scales: Mapping[str, Scale]
    sample: Sample | None = None

    @cached_property
    def matched(self) -> NDArray[np.intp]:
        """Positions of the released records that have an original."""
        return np.flatnonzero(self.partner >= 0)

    @property
    def without_original(self) -> int:
        """The number of released records without an original."""
        return len(self.partner) - len(self.matched)

    @property
    def withheld(self) -> int:
        """The number of original records that were not released."""
        return self.original.records - len(self.matched)

    def numbers(self, attribute: str) -> tuple[Floats, Floats]:
        """A numeric attribute of the matched records: released and original values, NaN where missing."""
        released, original = self.released.numbers(attribute), self.original.numbers(attribute)
        return released[self.matched], original[self.partner[self.matched]]

    def counted(self) -> dict[str, int]:
        """The figures on pairing that every outcome of a paired check carries."""
        return {
            "matched": len(self.matched),
            "released_without_original": self.without_original,
            "originals_not_released": self.withheld,
        }


def align_by_key(released: CodedTable, original: CodedTable, key: str) -> NDArray[np.int64]:
    """The original's position for each released record, by a key that is unique in both tables.

    Raises:
        CheckError: the key is missing or repeated; the message has counts and no value.

    Cost: O(records).
    """
    for table in (released, original):
        counts = np.bincount(table.codes[key], minlength=table.domains[key].size + 1)
        require_unique((int(counts[-1]), int((counts[:-1] > 1).sum())), key, table.name)
    position = np.full(original.domains[key].size, -1, dtype=np.int64)
    position[original.codes[key]] = np.arange(original.records)
    return position[released.codes[key]]


def require_unique(repeats: tuple[int, int], key: str, table: str) -> None:
    """Require a distinct key for every record.

    Args:
        repeats: the number of records without a key, and of keys in more than one record.
        key: the attribute.
        table: the table's name in messages.

    Raises:
        CheckError: a key is missing or repeated; the message has counts and no value.
    """
    missing, repeated = repeats
    if missing:
        records = f"{count(missing, 'record')} {agree(missing, 'has', 'have')}"
        raise CheckError(
            f"records cannot be paired: {records} no value in the key {key!r} of {table}; fill it in, or remove them"
        )
    if repeated:
        values = f"{count(repeated, 'value')} {agree(repeated, 'appears', 'appear')}"
        raise CheckError(
            f"records cannot be paired: {values} in more than one record in the key {key!r} of {table}; "
            "name a key that is unique"
        )


def align_by_row(released: CodedTable, original: CodedTable) -> NDArray[np.int64]:
    """Pair row i with row i, as the policy declares; `CheckError` if the tables differ in length."""
    require_as_many(released, original)
    return np.arange(released.records, dtype=np.int64)


def require_as_many(released: CodedTable | Engine, original: CodedTable | Engine) -> None:
    """Raise `CheckError` unless two tables have the same length."""
    if released.records != original.records:
        raise CheckError(
            f"the policy says `rows_aligned`, but {released.name} has {count(released.records, 'record')} and "
            f"{original.name} has {original.records:,}; declare a `key` instead"
        )
