"""Two tables whose values were changed at random, attribute by attribute: the likelihood of every pair of records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, Floats, fold
from tcdp_audit.plugin.check import Pairs
from tcdp_audit_plugins.checks.masking_attacks.posteriors import most_likely
from tcdp_audit_plugins.checks.record_linkage.credit import Credit, credit_of

EPSILON = float(np.finfo(np.float64).eps)
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class CodedPoints:
    """The distinct records of a table, in the order of their codes, whatever the order of its rows is."""

    codes: Codes  # int64, shape (points, attributes)
    records: Counts  # how many records are at each point. int64.
    point: NDArray[np.intp]  # the point of each record

    @classmethod
    def of(cls, columns: Sequence[Codes], sizes: Sequence[int]) -> CodedPoints:
        """The points of a table. O(records log records)."""
        keys = fold(columns, sizes).values
        _, first, point, records = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        return cls(np.column_stack([column[first] for column in columns]), records.astype(np.int64), point)


@dataclass(frozen=True)
class Transitions:
    """The likelihood that a known record was released as another: a product over attributes."""

    # for each attribute ln Pr(released | original), shape (released codes, original codes)
    logarithms: Sequence[Floats]
    seekers: CodedPoints  # released points; known ones where `turned`
    others: CodedPoints  # known points; released ones where turned
    rounding: float  # what a sum of logarithms can be wrong by, several times over
    # for each attribute Pr(released code | original code) of a released code, as fractions
    columns: Sequence[Callable[[int], Sequence[Fraction]]]

    @classmethod
    def of(
        cls,
        logarithms: Sequence[Floats],
        released: CodedPoints,
        known: CodedPoints,
        columns: Sequence[Callable[[int], Sequence[Fraction]]],
    ) -> Transitions:
        """The transitions between two tables."""
        largest = sum(float(np.abs(table[np.isfinite(table)]).max(initial=1)) for table in logarithms)
        return cls(logarithms, released, known, 8 * EPSILON * len(logarithms) * largest, columns)

    @property
    def released(self) -> Counts:
        """Records on each seeking point."""
        return self.seekers.records

    @property
    def known(self) -> Counts:
        """Records on each point that is looked for."""
        return self.others.records

    def block(self, some: slice) -> Floats:
        """Ln Pr of some seeking points next to all others, added attribute by attribute in one order.

        Points are in the order of their codes, so that those of a block agree in their first attributes: what these
        add up to is computed once for each of their combinations.
        """
        total = np.zeros((1, len(self.known)))
        group = np.zeros(some.stop - some.start, dtype=np.intp)  # the row of `total` that each point has so far
        for table, own, other in zip(self.logarithms, self.seekers.codes[some].T, self.others.codes.T, strict=True):
            _, first, groups = np.unique(group * len(table) + own, return_index=True, return_inverse=True)
            codes, which = np.unique(own[first], return_inverse=True)
            if len(first) > len(total):
                total = total[group[first]]
            rows = np.take(table[codes], other, axis=1)
            total += rows if len(rows) == 1 else rows[which]
            group = groups
        return total

    def of_pairs(self, released: NDArray[np.intp], known: NDArray[np.intp]) -> Floats:
        """Ln Pr of points side by side, added in the same order."""
        total = np.zeros(len(released))
        for table, own, other in zip(self.logarithms, self.seekers.codes.T, self.others.codes.T, strict=True):
            total += table[own[released], other[known]]
        return total

    def exceeds(self, released: NDArray[np.intp], known: NDArray[np.intp], share: Fraction) -> NDArray[np.bool_]:
        """Whether posteriors are above a share, decided in whole numbers; of pairs of points that are in order.

        Probabilities of an attribute are multiplied by what makes them whole, which posteriors do not depend on.
        Persons to whom they are the same in every attribute are counted together.

        Cost: O(known points x attributes) for each released point among them.
        """
        above = np.zeros(len(released), np.bool_)
        whole = cache(lambda attribute, code: _whole(self.columns[attribute](code)))
        for pairs in np.split(np.arange(len(released)), np.flatnonzero(np.diff(released)) + 1):
            if len(pairs):
                codes = enumerate(self.seekers.codes[released[pairs[0]]].tolist())
                above[pairs] = self._exceeds([whole(*one) for one in codes], known[pairs], share)
        return above

    def _exceeds(
        self, ranked: Sequence[tuple[list[int], NDArray[np.intp]]], known: NDArray[np.intp], share: Fraction
    ) -> NDArray[np.bool_]:
        """The same for some persons and one released point, of which each attribute has `_whole` probabilities."""
        # L / sum of L > share without a division: all probabilities of an attribute are scaled to whole numbers by one
        # factor, which cancels. Products of whole numbers are exact in Python, and people to whom every attribute has
        # the same probability share one product.
        ranks = [places[codes] for (_, places), codes in zip(ranked, self.others.codes.T, strict=True)]
        keys = fold(ranks, [len(numbers) for numbers, _ in ranked]).values
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        ways = zip(*(one[first].tolist() for one in ranks), strict=True)
        products = [prod(numbers[place] for (numbers, _), place in zip(ranked, way, strict=True)) for way in ways]
        persons = np.bincount(group, self.known).astype(np.int64).tolist()
        least = share.numerator * sum(one * times for one, times in zip(products, persons, strict=True))
        return np.array([one * share.denominator > least for one in products], np.bool_)[group[known]]

    def ends(self, pairs: Pairs) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The seeking and the other point of each pair of records that are one person."""
        return self.seekers.point[pairs.matched], self.others.point[pairs.partner[pairs.matched]]

    def linked(self, seekers: NDArray[np.intp], matches: NDArray[np.intp]) -> Credit:
        """The credit of links to the likeliest point."""
        return self.credit(*most_likely(self), seekers, matches)

    def credit(self, top: Floats, ties: Counts, seekers: NDArray[np.intp], matches: NDArray[np.intp]) -> Credit:
        """The same where the largest likelihoods are known, and how many records have them."""
        hit = self.of_pairs(seekers, matches) >= top[seekers] - self.rounding
        return credit_of(hit, ties[seekers], int(self.known.sum()))

    def turned(self) -> Transitions:
        """The same, searched from the known table in the release."""
        tables = [np.ascontiguousarray(table.T) for table in self.logarithms]
        return replace(self, logarithms=tables, seekers=self.others, others=self.seekers)


def _whole(column: Sequence[Fraction]) -> tuple[list[int], NDArray[np.intp]]:
    """The distinct ones of some fractions, multiplied by what makes them whole, and which of them each is.

    Example:
        >>> numbers, places = _whole([Fraction(1, 2), Fraction(1, 3), Fraction(1, 2)])
        >>> numbers, places.tolist()
        ([3, 2], [0, 1, 0])
    """
    place = {one: number for number, one in enumerate(dict.fromkeys(column))}
    scale = lcm(*(one.denominator for one in place))
    return [int(one * scale) for one in place], np.array([place[one] for one in column], np.intp)
