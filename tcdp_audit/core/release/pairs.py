"""Release and original side by side: which released record came from which original one.

The truth is a declared key or an explicit `rows_aligned`; never silently the order of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.arrays import Floats
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.words import agree, count
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import Scale
from tcdp_audit.core.release.coded import CodedTable


@dataclass(frozen=True)
class Sample:
    """What a sample of pairs is of.

    Args:
        records: how many records the release has.
        seed: of the draw.
        more: what would make the sample larger, or needless: half a sentence.
    """

    records: int
    seed: int
    more: str


@dataclass(frozen=True)
class Pairs:
    """Two tables coded over common domains, and who is who.

    Args:
        released: the table under audit, n records.
        original: the table it was made from, N records.
        partner: for each released record its original's position, -1 where it has none. int64, shape (n,).
        scales: the declared scale of each compared attribute.
        sample: where the pairs are a sample, of what; None where they are all there are. The domains' counts are those
            of the whole tables.
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
        """Released records without an original."""
        return len(self.partner) - len(self.matched)

    @property
    def withheld(self) -> int:
        """Original records that were not released."""
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
        CheckError: the key is missing or repeated somewhere; the message counts, and names no value.

    Cost: O(records).
    """
    for table in (released, original):
        counts = np.bincount(table.codes[key], minlength=table.domains[key].size + 1)
        require_unique((int(counts[-1]), int((counts[:-1] > 1).sum())), key, table.name)
    position = np.full(original.domains[key].size, -1, dtype=np.int64)
    position[original.codes[key]] = np.arange(original.records)
    return position[released.codes[key]]


def require_unique(repeats: tuple[int, int], key: str, table: str) -> None:
    """Insist that every record has a key of its own.

    Args:
        repeats: how many records have none, and how many keys stand in more than one record.
        key: the attribute.
        table: what messages call the table.

    Raises:
        CheckError: they do not; the message counts, and names no value.
    """
    missing, repeated = repeats
    if missing:
        records = f"{count(missing, 'record')} {agree(missing, 'has', 'have')}"
        raise CheckError(
            f"records cannot be paired: {records} no value in the key {key!r} of {table}; fill it in, or remove them"
        )
    if repeated:
        values = f"{count(repeated, 'value')} {agree(repeated, 'stands', 'stand')}"
        raise CheckError(
            f"records cannot be paired: {values} in more than one record in the key {key!r} of {table}; "
            "name a key that is unique"
        )


def align_by_row(released: CodedTable, original: CodedTable) -> NDArray[np.int64]:
    """Row i of one is row i of the other, because the policy says so.

    Raises:
        CheckError: the tables differ in length.
    """
    require_as_many(released, original)
    return np.arange(released.records, dtype=np.int64)


def require_as_many(released: CodedTable | Engine, original: CodedTable | Engine) -> None:
    """Insist that two tables are of one length.

    Raises:
        CheckError: they are not.
    """
    if released.records != original.records:
        raise CheckError(
            f"the policy says `rows_aligned`, but {released.name} has {count(released.records, 'record')} and "
            f"{original.name} has {original.records:,}; declare a `key` instead"
        )
