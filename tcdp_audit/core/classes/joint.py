"""Several sensitive attributes read together, as one attribute whose values are the combinations that occur."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import SPAN_LIMIT, Codes, distinct_of, tally

COMBINED = " × "  # between the parts of a combination, as between the names of its attributes
LOOKUP_SPAN = 2**24  # with so few possible combinations a table serves better than a search


@dataclass(frozen=True)
class JointDomain(Domain):
    """The combinations of several attributes' values. A combination with a missing part is missing."""

    parts: tuple[Domain, ...] = ()  # the attributes
    # the mixed-radix key of each combination, ascending, int64, shape (size,)
    combinations: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def codes(self, shard: Mapping[str, Codes]) -> Codes:
        """The code of each row of a shard: its combination's rank."""
        key, missing = _key(self.parts, shard)
        # Every combination without a missing part was counted, so each key is found.
        table = self._table
        codes = np.searchsorted(self.combinations, key).astype(self.dtype) if table is None else table.take(key)
        codes[missing] = self.size
        return codes

    def label(self, code: int) -> str:
        """The values that are combined, as text, for evidence with `--show-values` only."""
        if code == self.size:
            return super().label(code)
        key, labels = int(self.combinations[code]), []
        for part in reversed(self.parts):
            key, own = divmod(key, part.size + 1)
            labels.append(part.label(own))
        return COMBINED.join(reversed(labels))

    @cached_property
    def part_codes(self) -> tuple[NDArray[np.int64], ...]:
        """The code of each part in every combination, each of shape (size,)."""
        codes, key = [], self.combinations
        for part in reversed(self.parts):
            key, own = np.divmod(key, part.size + 1)
            codes.append(own)
        return tuple(reversed(codes))

    @cached_property
    def _table(self) -> Codes | None:
        """The code of every possible key, where there are few enough to look them up."""
        if _span(self.parts) > LOOKUP_SPAN:
            return None
        table = np.zeros(_span(self.parts), dtype=self.dtype)
        table[self.combinations] = np.arange(self.size)
        return table


def joint_domain(
    name: str, parts: Sequence[Domain], shards: Iterable[Combinations], others: Iterable[Combinations] = ()
) -> JointDomain:
    """The combinations that occur in one or two tables, as the values of one attribute.

    Args:
        name: the attribute's name.
        parts: the attributes that are read together.
        shards: the combinations in each shard of the table that is counted.
        others: those in another table, which only adds values.

    Cost: a sort of all combinations.
    """
    counted = list(shards)
    keys = np.concatenate([np.zeros(0, np.int64), *(one.keys for one in counted)])
    occurrences = np.concatenate([np.zeros(0, np.int64), *(one.records for one in counted)])
    combinations = distinct_of(np.concatenate([keys, *(one.keys for one in others)]), _span(parts))
    missing = sum(one.missing for one in counted)
    counts = np.zeros(len(combinations), dtype=np.int64)
    np.add.at(counts, np.searchsorted(combinations, keys), occurrences)
    return JointDomain(
        attribute=name,
        values=np.full(len(combinations), None, dtype=object),
        counts=counts,
        missing=missing,
        code_of_raw=np.zeros(0, dtype=np.int64),
        parts=tuple(parts),
        combinations=combinations,
    )


@dataclass(frozen=True)
class Combinations:
    """The combinations of several attributes' values in a shard."""

    keys: NDArray[np.int64]  # the mixed-radix key of each, ascending. int64, shape (combinations,)
    records: NDArray[np.int64]  # how many records have it
    missing: int  # records that lack a part


def combinations_in(parts: Sequence[Domain], shard: CountedCodes) -> Combinations:
    """The combinations that occur in a shard.

    Raises:
        CheckError: the attributes have more possible combinations than 62 bits can number.

    Cost: O(rows) where few combinations are possible, otherwise O(rows) for each 16 bits of them.
    """
    key, absent = _key(parts, shard)
    lacking = shard.take(absent).records
    present, times = (key[~absent], shard.take(~absent).times) if absent.any() else (key, shard.times)
    keys, counts = tally(present, _span(parts), times)
    return Combinations(keys, counts, lacking)


def _key(parts: Sequence[Domain], shard: Mapping[str, Codes]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """One number per row for its combination, comparable between shards; and which rows lack a part."""
    if _span(parts) > SPAN_LIMIT:
        raise CheckError("these attributes have too many possible combinations to be read together")
    columns = [part.codes(shard) for part in parts]
    key = np.zeros(len(columns[0]), dtype=np.int64)
    missing = np.zeros(len(key), dtype=bool)
    for part, codes in zip(parts, columns, strict=True):
        key *= part.size + 1
        key += codes
        missing |= codes == part.size
    return key, missing


def _span(parts: Sequence[Domain]) -> int:
    """The number of possible keys."""
    return prod(part.size + 1 for part in parts)
