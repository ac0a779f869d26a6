"""Entities that count once per class and value. An entity's rows in a class are a visit; most visits are one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.classes.histogram import Counts
from tcdp_audit.core.encoding.counting import numbered, occurrences, tally
from tcdp_audit.core.encoding.keys import Codes, fold


@dataclass(frozen=True)
class Visits:
    """The rows of each entity in each class.

    Args:
        class_of_row: the class of each row. Shape (rows,).
        class_of_visit: the class of each visit. Shape (visits,).
        alone: the rows that are visits by themselves.
        others: all other rows.
        visit_of_other: the visit that each of these belongs to.
    """

    class_of_row: Codes
    class_of_visit: Codes
    alone: NDArray[np.intp]
    others: NDArray[np.intp]
    visit_of_other: NDArray[np.intp]

    @staticmethod
    def of(class_of_row: Codes, classes: int, entities: Codes, radix: int) -> Visits:
        """The visits of entities to classes.

        Args:
            class_of_row: the class of each row.
            classes: how many there are.
            entities: the code of each row's entity.
            radix: a number above all of these codes.

        Cost: O(rows) where each entity is in one class, otherwise O(rows) for each 16 bits of classes x entities.
        """
        distinct, visit = numbered(entities, radix)
        class_of_visit = np.zeros(len(distinct), dtype=class_of_row.dtype)
        class_of_visit[visit] = class_of_row
        if not np.array_equal(class_of_visit[visit], class_of_row):  # an entity is in several classes
            keys = fold([class_of_row, visit], [classes, max(len(distinct), 1)])
            distinct, visit = numbered(keys.values, keys.span)
            class_of_visit = np.zeros(len(distinct), dtype=class_of_row.dtype)
            class_of_visit[visit] = class_of_row
        several = (occurrences(visit, len(distinct)) > 1)[visit]
        others = np.flatnonzero(several)
        return Visits(class_of_row, class_of_visit, np.flatnonzero(~several), others, visit[others])

    def in_classes(self, classes: int) -> Counts:
        """How many entities each of so many classes has."""
        return occurrences(self.class_of_visit, classes)

    def values(self, codes: Codes, radix: int, left_out: int | None = None) -> tuple[Codes, Codes, Codes]:
        """The values of visits, of which only those of several rows can have one twice, or several.

        Args:
            codes: the code of each row.
            radix: a number above all of them.
            left_out: a code that is no value, such as that of a missing one.

        Returns:
            The class and the code of each value of each visit, the one left out among them; and the class of each
            value that is not the first of its visit, the one left out not among them.
        """
        keys = fold([self.visit_of_other, codes[self.others]], [len(self.class_of_visit), radix])
        visit, value = keys.decode(tally(keys.values, keys.span)[0])  # in the order of visits
        counted = visit if left_out is None else visit[value != left_out]
        further = counted[1:][counted[1:] == counted[:-1]]
        rows = self.class_of_row[self.alone], codes[self.alone]
        classes = np.concatenate([rows[0], self.class_of_visit[visit]])
        return classes, np.concatenate([rows[1], value]), self.class_of_visit[further]
