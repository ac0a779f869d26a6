"""Equivalence classes: the records that agree in all quasi-identifiers, grouped once per set of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.classes.histogram import Counts, Histogram, add_up, count_pairs
from tcdp_audit.classes.wildcard import Compatibility, compatibility
from tcdp_audit.encoding.counted import CountedCodes
from tcdp_audit.encoding.domain import Domain
from tcdp_audit.encoding.keys import Codes, KeyArray, Keys, boundaries, fold, in_order, run_lengths

DENSE = 8  # keys for each row up to which a table of all of them beats a search
Shard = CountedCodes  # no equivalence class is split between two shards


@dataclass(frozen=True)
class Grouping:
    """One shard grouped by one set of quasi-identifiers. Class c is the same in every figure it gives.

    Args:
        shard: its rows, each with how many records it stands for.
        quasi_identifiers: the domains of the attributes to group by, at least one.
        unit: the domain of the entity column where the unit of privacy is not the row. Records without an
            entity count as one entity together: they never raise a count that may belong to one person.
        wildcard: whether a missing quasi-identifier matches every value.
    """

    shard: Shard
    quasi_identifiers: Sequence[Domain]
    unit: Domain | None = None
    wildcard: bool = False

    @cached_property
    def keys(self) -> Keys:
        """One key per row."""
        domains = self.quasi_identifiers
        return fold([self.shard[d.attribute] for d in domains], [d.size + 1 for d in domains])

    @cached_property
    def _classes(self) -> tuple[KeyArray, Counts]:
        ordered, times = in_order(self.keys.values, self.shard.times)
        starts = boundaries(ordered)
        return ordered[starts], run_lengths(starts, len(ordered), times)

    @property
    def records(self) -> Counts:
        """Records of the release in each class. Shape (classes,)."""
        return self._classes[1]

    def codes(self) -> list[KeyArray]:
        """For each quasi-identifier the code of every class."""
        return self.keys.decode(self._classes[0])

    def rows_of(self, classes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which rows of the shard belong to some classes. Shape (rows,).

        Args:
            classes: whether each class is one of them. Shape (classes,).
        """
        return classes[self._class_of_row]

    @cached_property
    def _class_of_row(self) -> NDArray[np.integer[Any]]:
        """The class of each row: read from a table where keys are dense, and found by halving where they are not."""
        keys, classes = self.keys, self._classes[0]
        if keys.span > DENSE * len(keys.values):
            return np.searchsorted(classes, keys.values)
        number = np.zeros(keys.span, dtype=np.int32)
        number[classes] = np.arange(len(classes), dtype=np.int32)
        return number[keys.values]

    @cached_property
    def compatibility(self) -> Compatibility | None:
        """Which classes a missing value makes compatible; None where the convention or the classes have none."""
        missing = [domain.size for domain in self.quasi_identifiers]
        codes = self.codes() if self.wildcard else []
        if not any((column == code).any() for column, code in zip(codes, missing, strict=False)):
            return None
        return compatibility(codes, missing)

    @cached_property
    def size(self) -> Counts:
        """What k counts: records of the class, its entities, or the records compatible with it. Shape (classes,)."""
        if self.unit is None:
            return self.records if self.compatibility is None else self.compatibility.sum(self.records)
        entities, radix = self.entities_of(self.unit), self.unit.size + 1
        return entities.distinct if self.compatibility is None else self.compatibility.distinct(entities, radix)

    def entities_of(self, unit: Domain) -> Histogram:
        """The entities of each ordinary class."""
        return count_pairs(self.keys, self.shard[unit.attribute], unit.size + 1, self.shard.times)

    def counted(self, codes: Codes, radix: int) -> tuple[Histogram, int]:
        """What `values_of` makes a histogram of: counts in each ordinary class, and a number above all values."""
        if self.unit is None:
            return count_pairs(self.keys, codes, radix, self.shard.times), radix
        entities = self.unit.size + 1
        joint = codes.astype(np.int64) * entities + self.shard[self.unit.attribute]
        return count_pairs(self.keys, joint, radix * entities, self.shard.times), radix * entities

    def values_of(self, counted: Histogram, radix: int) -> Histogram:
        """A histogram of values out of that of values and entities: an entity counts once per class and value."""
        if self.unit is None:
            return counted
        values = counted.values // (self.unit.size + 1)
        return add_up(counted.rows, values, np.ones(len(values), dtype=np.int64), len(counted), radix)

    def histogram(self, codes: Codes, radix: int) -> Histogram:
        """Counts of a sensitive attribute's codes (all below `radix`) in each class, missing codes included."""
        counted, span = self.counted(codes, radix)
        matched = counted if self.compatibility is None else self.compatibility.merge(counted, span)
        return self.values_of(matched, radix)


@dataclass(frozen=True)
class MatchedClasses:
    """Some classes of a grouping under the wildcard convention, as a task sees them.

    Args:
        grouping: the ordinary classes.
        classes: which of them. Shape (classes,).
        size: what k counts among the records compatible with each. Shape (classes,).
    """

    grouping: Grouping
    classes: NDArray[np.int64]
    size: Counts

    @property
    def quasi_identifiers(self) -> Sequence[Domain]:
        """The domains of the attributes that it groups by."""
        return self.grouping.quasi_identifiers

    @property
    def records(self) -> Counts:
        """Records of the release in each class. Shape (classes,)."""
        return self.grouping.records[self.classes]

    def codes(self) -> list[KeyArray]:
        """For each quasi-identifier the code of every class."""
        return [column[self.classes] for column in self.grouping.codes()]

    @property
    def shard(self) -> Shard:
        """The rows that are grouped."""
        return self.grouping.shard

    def rows_of(self, classes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which rows of the shard belong to some of these classes. Shape (rows,)."""
        whole = np.zeros(len(self.grouping.records), dtype=bool)
        whole[self.classes[classes]] = True
        return self.grouping.rows_of(whole)
