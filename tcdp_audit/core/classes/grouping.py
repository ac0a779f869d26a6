"""Equivalence classes: the records that agree in all quasi-identifiers, grouped once per set of them.

Entities count once per class and value. An entity's rows in a class are a visit; most visits are one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.classes.histogram import AlikeClasses, Counts, Histogram, add_up, count_in_classes
from tcdp_audit.core.encoding.counted import PACKED, CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import Codes, KeyArray, distinct_of, fold, narrow, numbered, occurrences

if TYPE_CHECKING:
    from tcdp_audit.core.classes.wildcard import Compatibility

Shard = CountedCodes  # no equivalence class is split between two shards
ALIKE = 4  # one class in so many, at least, must be like another one, or each is measured by itself


def count_codes(domain: Domain, shard: Shard) -> Counts:
    """Records of a shard with each code of a domain, the missing ones last. Shape (size + 1,)."""
    return occurrences(domain.codes(shard), domain.size + 1, shard.times)


@dataclass(frozen=True)
class Grouping:
    """One shard grouped by one set of quasi-identifiers. Class c is the same in every figure it gives."""

    shard: Shard  # its rows, each with the number of its records
    quasi_identifiers: Sequence[Domain]  # the domains of the attributes to group by, at least one
    # the domain of the entity column where the unit of privacy is not the row. Records without an entity count as one
    # entity together: they never raise a count that may belong to one person
    unit: Domain | None = None
    wildcard: bool = False  # whether a missing quasi-identifier matches every value

    @cached_property
    def _numbered(self) -> tuple[int, Codes]:
        """The number of classes, and the class of each row."""
        columns, radices = self._columns
        if len(columns) == 1:
            distinct, numbers = numbered(columns[0], radices[0])
        else:
            keys = fold(columns, radices)
            distinct, numbers = numbered(keys.values, keys.span)
        return len(distinct), numbers

    @cached_property
    def dividing(self) -> Sequence[Domain]:
        """The quasi-identifiers that none before determines: classes by these are those by all, in the same order."""
        determined, dividing = set[str](), list[Domain]()
        for one in self.quasi_identifiers:
            if one.attribute not in determined:
                dividing.append(one)
                determined |= one.determines
        return dividing

    @property
    def _columns(self) -> tuple[list[Codes], list[int]]:
        """The columns with the quasi-identifiers' codes, and a number above all of each; packed ones stay packed."""
        shard, domains, packing = self.shard, self.dividing, self.shard.packing
        columns, radices = [], []
        if packing is not None and packing.begins(domains):
            columns, radices, domains = [shard[PACKED]], [packing.span], domains[len(packing.radices) :]
        return columns + [shard[d.attribute] for d in domains], radices + [d.size + 1 for d in domains]

    def has_classes_of(self, other: Grouping) -> bool:
        """Whether another grouping of the shard has the same classes in the same order.

        It has if the columns of one of both begin with those of the other, and both have the same number of classes:
        no further column divides one. Where the columns are others, the answer is False.
        """
        own, its = (tuple(domain.attribute for domain in one.dividing) for one in (self, other))
        shared = min(len(own), len(its))
        return own[:shared] == its[:shared] and (own == its or self._numbered[0] == other._numbered[0])

    def sharing(self, other: Grouping) -> Self:
        """This grouping with the numbers and entities of the classes of another one that has the same classes."""
        counted = ("_numbered",) if self.unit is None else ("_numbered", "_visits")
        self.__dict__.update({name: getattr(other, name) for name in counted})
        return self

    @property
    def class_of_row(self) -> Codes:
        """The class of each row of the shard, in ascending order of the quasi-identifiers' codes. Shape (rows,)."""
        return self._numbered[1]

    @cached_property
    def records(self) -> Counts:
        """Records of the release in each class. Shape (classes,)."""
        return occurrences(self.class_of_row, self._numbered[0], self.shard.times)

    def codes(self) -> list[KeyArray]:
        """For each quasi-identifier the code of every class."""
        row_of_class = np.empty(len(self.records), dtype=np.intp)
        row_of_class[self.class_of_row] = np.arange(self.shard.rows)
        one_of_each = self.shard.take(row_of_class)
        return [one_of_each[domain.attribute].astype(np.int64) for domain in self.quasi_identifiers]

    def rows_of(self, classes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The rows of the shard that belong to some classes; both are masks, of shapes (rows,) and (classes,)."""
        return classes[self.class_of_row]

    @cached_property
    def compatibility(self) -> Compatibility | None:
        """The classes that a missing value makes compatible; None where the convention or the classes have none."""
        missing = [domain.size for domain in self.quasi_identifiers]
        codes = self.codes() if self.wildcard else []
        if not any((column == code).any() for column, code in zip(codes, missing, strict=False)):
            return None
        from tcdp_audit.core.classes.wildcard import Compatibility  # noqa: PLC0415 - only for this convention

        return Compatibility(codes, missing)

    @cached_property
    def size(self) -> Counts:
        """The size that k counts: records of the class, its entities, or compatible records. Shape (classes,)."""
        if self.unit is None:
            return self.records if self.compatibility is None else self.compatibility.sum(self.records)
        if self.compatibility is None:
            return self._visits.in_classes(len(self.records))
        return self.compatibility.distinct(self.entities_of(self.unit), self.unit.size + 1)

    @cached_property
    def _visits(self) -> Visits:
        assert self.unit is not None  # noqa: S101 - only asked for where an entity counts once
        return Visits.of(self.class_of_row, len(self.records), self.shard[self.unit.attribute], self.unit.size + 1)

    def entities_in(self, classes: NDArray[np.bool_]) -> Codes:
        """The entities of some classes, a mask of shape (classes,); one in several of them is listed as often."""
        visits = self._visits
        return visits.entity_of_visit[classes[visits.class_of_visit]]

    def entities_of(self, unit: Domain) -> Histogram:
        """The entities of each ordinary class."""
        return self._counted(self.shard[unit.attribute], unit.size + 1)

    def _counted(self, codes: Codes, radix: int) -> Histogram:
        return count_in_classes(self.class_of_row, len(self.records), codes, radix, self.shard.times)

    def counted(self, codes: Codes, radix: int) -> tuple[Histogram, int]:
        """What `values_of` makes a histogram of: counts in each ordinary class, and a number above all values."""
        if self.unit is None:
            return self._counted(codes, radix), radix
        entities = self.unit.size + 1
        joint = codes.astype(np.int64) * entities + self.shard[self.unit.attribute]
        return self._counted(joint, radix * entities), radix * entities

    def values_of(self, counted: Histogram, radix: int, left_out: int | None = None) -> Histogram:
        """A histogram of values out of that of values and entities: an entity counts once per class and value."""
        if self.unit is None:
            return counted if left_out is None else counted.without(left_out)
        values, entities = np.divmod(counted.values, self.unit.size + 1)
        ones, rows = np.ones(len(values), dtype=np.int64), len(counted)
        histogram = add_up(counted.rows, values, ones, rows, radix)
        histogram = histogram if left_out is None else histogram.without(left_out)
        if self._one_row_each:
            return histogram
        have = slice(None) if left_out is None else values != left_out
        visits = add_up(counted.rows[have], entities[have], ones[have], rows, self.unit.size + 1)
        return replace(histogram, entities=visits.distinct)

    @cached_property
    def _one_row_each(self) -> bool:
        """Whether no entity has several rows, so that each has one value in whatever class."""
        assert self.unit is not None  # noqa: S101 - only asked for where an entity counts once
        codes = self.shard[self.unit.attribute]
        return len(distinct_of(codes, self.unit.size + 1)) == self.shard.rows

    def histogram(self, codes: Codes, radix: int, left_out: int | None = None) -> Histogram:
        """Counts of a sensitive attribute's codes (one for each row, all below `radix`) in each class.

        `left_out` is a code that is no value, such as that of a missing one; None where all are.
        """
        if self.compatibility is not None:
            return self.values_of(self.compatibility.merge(*self.counted(codes, radix)), radix, left_out)
        if self.unit is None:
            return self.values_of(self._counted(codes, radix), radix, left_out)
        classes, values, further = self._visits.values(codes, radix, left_out)
        histogram = count_in_classes(classes, len(self.records), values, radix)
        histogram = histogram if left_out is None else histogram.without(left_out)
        return _with_entities(histogram, further)

    def alike(self, codes: Codes, radix: int, left_out: int | None = None) -> AlikeClasses:
        """The classes with a histogram of an attribute, one for all of one record with the same value, or without any.

        See `histogram` for the arguments. Where few classes are of one record, each is measured by itself.
        """
        joined = self._joined
        if joined is None:
            return AlikeClasses(self.size, self.records, self.histogram(codes, radix, left_out))
        classes, values, times, further = joined.of_row, codes, self.shard.times, None
        if self.unit is not None:
            visited, values, visited_again = self._visits.values(codes, radix, left_out)
            classes, times, further = joined.of_class.take(visited), None, joined.of_class.take(visited_again)
        counted = count_in_classes(classes, joined.several + 1, values, radix, times)
        # The last of these classes has the values of all that are of one record, and how many have each.
        first = int(counted.offsets[-2])
        ones = np.ones(len(counted.values) - first, dtype=np.int64)
        histogram = Histogram(
            np.append(counted.offsets[:-1], np.arange(first + 1, len(counted.values) + 1)),
            counted.values,
            np.append(counted.counts[:first], ones),
        )
        histogram = histogram if left_out is None else histogram.without(left_out)
        of_class = joined.of_class.astype(narrow(joined.several + len(ones)))
        _, number = numbered(codes.take(joined.rows), radix)
        of_class[self.class_of_row.take(joined.rows)] = np.add(number, joined.several, dtype=np.int64)
        several = np.flatnonzero(self.records > 1)
        return AlikeClasses(
            np.append(self.size[several], ones),
            np.append(self.records[several], ones),
            histogram if further is None else _with_entities(histogram, further),
            np.append(np.ones(joined.several, dtype=np.int64), counted.counts[first:]),
            of_class,
        )

    @cached_property
    def _joined(self) -> _Joined | None:
        """The classes of one record as one; None where too few are."""
        several = self.records > 1
        number = int(np.count_nonzero(several))
        if self.compatibility is not None or (len(several) - number) * ALIKE < len(several):
            return None
        of_class = np.where(several, np.cumsum(several) - 1, number).astype(narrow(number + 1))
        of_row = of_class.take(self.class_of_row)
        return _Joined(number, of_class, of_row, np.flatnonzero(of_row == number))

    @cached_property
    def alike_in_size(self) -> AlikeClasses:
        """The classes without an attribute, one for each size."""
        if self.unit is None and self.compatibility is None:
            sizes, of_class = numbered(self.records, int(self.records.max(initial=0)) + 1)
            if (len(of_class) - len(sizes)) * ALIKE >= len(of_class):
                return AlikeClasses(sizes, sizes, None, occurrences(of_class, len(sizes)), of_class)
        return AlikeClasses(self.size, self.records)

    def occurrences(self, codes: Codes, radix: int) -> Counts:
        """What counts for each of an attribute's codes (all below `radix`) in all ordinary classes. Shape (radix,)."""
        if self.unit is None:
            return occurrences(codes, radix, self.shard.times)
        return self._visits.occurrences(codes, radix)


@dataclass(frozen=True)
class _Joined:
    """The classes of several records, and all others as the last one."""

    several: int  # how many have several records
    of_class: Codes  # which of them each class is, shape (classes,)
    of_row: Codes  # which of them each row is in, shape (rows,)
    rows: NDArray[np.intp]  # the rows in the last one


def _with_entities(histogram: Histogram, further: Codes) -> Histogram:
    """The histogram of entities, given the class of each value that is not the first of an entity there."""
    if not len(further):
        return histogram
    return replace(histogram, entities=histogram.total - occurrences(further, len(histogram)))


@dataclass(frozen=True)
class MatchedClasses:
    """Some classes of a grouping under the wildcard convention, as a task sees them."""

    grouping: Grouping  # the ordinary classes
    classes: NDArray[np.int64]  # which of them, shape (classes,)
    size: Counts  # what k counts among the records compatible with each, shape (classes,)

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
        """The rows of the shard that belong to some of these classes, as a mask. Shape (rows,)."""
        whole = np.zeros(len(self.grouping.records), dtype=bool)
        whole[self.classes[classes]] = True
        return self.grouping.rows_of(whole)


@dataclass(frozen=True)
class SummedClasses(Domain):
    """The column of classes that were counted where the table is, with the units that have each value in any row.

    Args:
        wholes: the histogram of the classes, in the order of the codes.
    """

    wholes: Histogram = field(kw_only=True)


@dataclass(frozen=True)
class Visits:
    """The rows of each entity in each class."""

    class_of_row: Codes  # the class of each row, shape (rows,)
    class_of_visit: Codes  # the class of each visit, shape (visits,)
    entity_of_visit: Codes  # whose each visit is, shape (visits,)
    alone: NDArray[np.intp]  # the rows that are visits by themselves
    others: NDArray[np.intp]  # all other rows
    visit_of_other: NDArray[np.intp]  # the visit that each of these belongs to

    @staticmethod
    def of(class_of_row: Codes, classes: int, entities: Codes, radix: int) -> Visits:
        """The visits of entities to classes, from the class and the entity of each row; entities are below `radix`.

        Cost: O(rows) where each entity is in one class, otherwise O(rows) for each 16 bits of classes x entities.
        """
        entity, visit = numbered(entities, radix)
        class_of_visit = np.zeros(len(entity), dtype=class_of_row.dtype)
        class_of_visit[visit] = class_of_row
        if not np.array_equal(class_of_visit[visit], class_of_row):  # an entity is in several classes
            keys = fold([class_of_row, visit], [classes, max(len(entity), 1)])
            distinct, visit = numbered(keys.values, keys.span)
            of_visit, number = keys.decode(distinct)
            class_of_visit, entity = of_visit.astype(class_of_row.dtype), entity[number]
        several = (occurrences(visit, len(entity)) > 1)[visit]
        others = np.flatnonzero(several)
        return Visits(class_of_row, class_of_visit, entity, np.flatnonzero(~several), others, visit[others])

    def in_classes(self, classes: int) -> Counts:
        """The number of entities that each of so many classes has."""
        return occurrences(self.class_of_visit, classes)

    def values(self, codes: Codes, radix: int, left_out: int | None = None) -> tuple[Codes, Codes, Codes]:
        """The values of visits, from the code of each row, all below `radix`.

        Only visits of several rows can have a value twice, or several values. `left_out` is a code that is no value,
        such as that of a missing one.

        Returns:
            The class and the code of each value of each visit, the one left out among them; and the class of each
            value that is not the first of its visit, the one left out not among them.
        """
        visit, value = self._of_several(codes, radix)
        counted = visit if left_out is None else visit[value != left_out]
        further = counted[1:][counted[1:] == counted[:-1]]
        rows = self.class_of_row[self.alone], codes[self.alone]
        classes = np.concatenate([rows[0], self.class_of_visit[visit]])
        return classes, np.concatenate([rows[1], value]), self.class_of_visit[further]

    def _of_several(self, codes: Codes, radix: int) -> list[KeyArray]:
        """The visits of several rows with each of their values, in the order of visits."""
        keys = fold([self.visit_of_other, codes[self.others]], [len(self.class_of_visit), radix])
        return keys.decode(distinct_of(keys.values, keys.span))

    def occurrences(self, codes: Codes, radix: int) -> Counts:
        """The number of visits with each value. Shape (radix,)."""
        return occurrences(codes[self.alone], radix) + occurrences(self._of_several(codes, radix)[1], radix)
