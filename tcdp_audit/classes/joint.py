"""Several sensitive attributes read together, as one attribute whose values are the combinations that occur."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.encoding.domain import Domain
from tcdp_audit.encoding.keys import SPAN_LIMIT, Codes
from tcdp_audit.errors import CheckError

LOOKUP_SPAN = 2**24  # with so few possible combinations a table serves better than a search


@dataclass(frozen=True)
class JointDomain(Domain):
    """The combinations of several attributes' values. A combination with a missing part is missing.

    Args:
        parts: the attributes.
        combinations: the mixed-radix key of each combination, ascending, int64, shape (size,).
    """

    parts: tuple[Domain, ...] = ()
    combinations: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def codes(self, shard: Mapping[str, Codes]) -> Codes:
        """The code of each record of a shard: its combination's rank."""
        key, missing = _key(self.parts, shard)
        # Every combination without a missing part was counted, so each key is found.
        table = self._table
        codes = np.searchsorted(self.combinations, key).astype(self.dtype) if table is None else table[key]
        codes[missing] = self.size
        return codes

    @cached_property
    def _table(self) -> Codes | None:
        """The code of every possible key, where there are few enough to look them up."""
        if _span(self.parts) > LOOKUP_SPAN:
            return None
        table = np.zeros(_span(self.parts), dtype=self.dtype)
        table[self.combinations] = np.arange(self.size)
        return table


def joint_domain(name: str, parts: Sequence[Domain], *tables: Iterable[Mapping[str, Codes]]) -> JointDomain:
    """The combinations that occur in the shards of some tables; counts are those of the first table.

    Raises:
        CheckError: the attributes have more possible combinations than 62 bits can number.

    Cost: O(records) and a sort of each shard.
    """
    counted = [_combinations(parts, table) for table in tables]
    combinations = np.unique(np.concatenate([keys for keys, _, _ in counted]))
    keys, occurrences, missing = counted[0]
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


def count_codes(domain: Domain, table: Iterable[Mapping[str, Codes]]) -> NDArray[np.int64]:
    """Records of a table with each code of a domain, the missing ones last."""
    counts = np.zeros(domain.size + 1, dtype=np.int64)
    for shard in table:
        counts += np.bincount(domain.codes(shard), minlength=domain.size + 1)
    return counts


def _combinations(
    parts: Sequence[Domain], table: Iterable[Mapping[str, Codes]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The keys of the combinations in a table, how often each shard has them, and the records that lack a part."""
    keys, occurrences, missing = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], 0
    for shard in table:
        key, absent = _key(parts, shard)
        present = key[~absent] if absent.any() else key
        if _span(parts) <= LOOKUP_SPAN:
            counts = np.bincount(present, minlength=_span(parts))
            distinct = np.flatnonzero(counts)
            times = counts[distinct]
        else:
            distinct, times = np.unique(present, return_counts=True)
        keys.append(distinct)
        occurrences.append(times.astype(np.int64))
        missing += int(absent.sum())
    return np.concatenate(keys), np.concatenate(occurrences), missing


def _key(parts: Sequence[Domain], shard: Mapping[str, Codes]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """One number per record for its combination, comparable between shards; and which records lack a part."""
    if _span(parts) > SPAN_LIMIT:
        raise CheckError("these attributes have too many possible combinations to be read together")
    columns = [part.codes(shard) for part in parts]
    key = np.zeros(len(columns[0]), dtype=np.int64)
    missing = np.zeros(len(key), dtype=bool)
    for part, codes in zip(parts, columns, strict=True):
        key = key * (part.size + 1) + codes
        missing |= codes == part.size
    return key, missing


def _span(parts: Sequence[Domain]) -> int:
    """How many keys are possible."""
    return prod(part.size + 1 for part in parts)
