"""Entities that count once per class and value. An entity's rows in a class are a visit; most visits are one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.classes.histogram import Counts
from tcdp_audit.encoding.counting import boundaries, occurrences, order_of, run_lengths, tally
from tcdp_audit.encoding.keys import Codes, fold


@dataclass(frozen=True)
class Visits:
    """The rows of each entity in each class.

    Args:
        class_of_row: the class of each row. Shape (rows,).
        class_of_visit: the class of each visit. Shape (visits,).
        alone: the rows that are visits by themselves.
        others: all other rows, those of a visit side by side.
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

        Cost: O(rows) for each 16 bits of classes x entities.
        """
        keys = fold([class_of_row, entities], [classes, radix])
        order = order_of(keys.values, keys.span)
        starts = boundaries(keys.values[order])
        lengths = run_lengths(starts, len(order))
        several = lengths > 1
        return Visits(
            class_of_row=class_of_row,
            class_of_visit=class_of_row[order[starts]],
            alone=order[starts[~several]],
            others=order[np.repeat(several, lengths)],
            visit_of_other=np.repeat(np.flatnonzero(several), lengths[several]),
        )

    def in_classes(self, classes: int) -> Counts:
        """How many entities each of so many classes has."""
        return occurrences(self.class_of_visit, classes)

    def values(self, codes: Codes, radix: int) -> tuple[Codes, Codes]:
        """The class and the code of each value of each visit, given the codes of rows and a number above all of them.

        Only visits of several rows can have a value twice.
        """
        keys = fold([self.visit_of_other, codes[self.others]], [len(self.class_of_visit), radix])
        visit, value = keys.decode(tally(keys.values, keys.span)[0])
        rows = self.class_of_row[self.alone], codes[self.alone]
        return np.concatenate([rows[0], self.class_of_visit[visit]]), np.concatenate([rows[1], value])
