"""Quasi-identifier cells, any of which may be suppressed, and records of failing classes grouped with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import checkpoint, fold, numbered
from tcdp_audit.plugin.remedy import Attribute, Demands, MergedDemands, NewColumn, RemedyError, RemedyView

Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class QuasiIdentifierCells:
    """Codes of the quasi-identifiers. A missing cell is a suppressed one, because it is released as one."""

    attributes: Sequence[Attribute]
    token: str  # the cell of a suppressed value
    exempt: Mask  # the records that the policy leaves out of class checks, bool, shape (records,)

    @classmethod
    def of(cls, view: RemedyView) -> QuasiIdentifierCells:
        """Take the cells of a release; raise a RemedyError where it has no quasi-identifier."""
        if not view.quasi_identifiers:
            raise RemedyError("the policy declares no quasi-identifier, so there are no classes to suppress")
        return cls(view.quasi_identifiers, view.suppressed_token, _exempt(view))

    @cached_property
    def hidden(self) -> Integers:
        """The code of a suppressed cell in each attribute: the token's, or that of a missing value without one."""
        return np.array([one.suppressed_code(self.token) for one in self.attributes], dtype=np.int64)[:, None]

    @cached_property
    def codes(self) -> Integers:
        """The code of every cell. Shape (attributes, records)."""
        return np.array([one.released_codes(self.token) for one in self.attributes])

    @cached_property
    def blank(self) -> Mask:
        """The cells that show nothing in the table as it is. Shape (attributes, records)."""
        return np.asarray(self.codes == self.hidden)

    def classes(
        self, suppressed: Mask | None = None, records: Indices | None = None, among: Mask | None = None
    ) -> tuple[Integers, int]:
        """The equivalence classes of some records, in the order of their values.

        Without `records`, all are classified; `suppressed` has shape (attributes, len(records)). With `among`, records
        are alike that agree in these attributes, shape (attributes,). Return the class number of each record, int64
        from 0, and how many classes there are.

        Cost: that of `numbered`.
        """
        chosen = range(len(self.attributes)) if among is None else np.flatnonzero(among).tolist()
        columns = [np.zeros(self.codes.shape[1] if records is None else len(records), dtype=np.int64)]
        for one in chosen:
            codes = self.codes[one] if records is None else self.codes[one, records]
            columns.append(codes if suppressed is None else np.where(suppressed[one], self.hidden[one], codes))
        keys = fold(columns, [1, *(self.attributes[one].domain.size + 1 for one in chosen)])
        distinct, numbers = numbered(keys.values, keys.span)
        return numbers.astype(np.int64), len(distinct)

    def changed(self, suppressed: Mask) -> Mask:
        """The suppressed cells that had a value before. Shape (attributes, records)."""
        return np.asarray(suppressed & ~self.blank)

    def columns(self, suppressed: Mask) -> Iterator[tuple[str, NewColumn]]:
        """The columns with some cells suppressed; those without a changed cell are left out."""
        for attribute, changed in zip(self.attributes, self.changed(suppressed), strict=True):
            if changed.any():
                yield attribute.name, self._column(attribute, changed)

    def _column(self, attribute: Attribute, changed: Mask) -> NewColumn:
        labels = attribute.domain.labels
        cells = labels if self.token in labels else [*labels, self.token]
        codes = np.where(attribute.codes == attribute.domain.size, len(cells), attribute.codes.astype(np.int64))
        codes[changed] = cells.index(self.token)
        return NewColumn.of_texts(cells, codes)


def _exempt(view: RemedyView) -> Mask:
    """The records that show nothing, a missing quasi-identifier among them, where the policy exempts those."""
    if view.policy.conventions.suppressed == "counted":
        return np.zeros(view.records, dtype=bool)
    silent = [one.domain.is_uninformative[one.codes] for one in view.quasi_identifiers]
    silent += [np.isin(one.codes, list(one.domain.suppressed)) for one in view.sensitive]
    return np.asarray(np.logical_and.reduce(silent))


@dataclass
class LocalSuppression:
    """A search for cells to suppress. A record is pending until it is in a class that keeps the demands.

    The classes of the records that are not pending keep the demands at every moment.
    """

    cells: QuasiIdentifierCells  # the quasi-identifiers
    judge: MergedDemands  # what a class must keep, each record by itself a base class; no record is dropped
    suppressed: Mask  # which cells are suppressed so far, shape (attributes, records)
    pending: Mask  # which records are pending, shape (records,)

    @classmethod
    def begun(cls, cells: QuasiIdentifierCells, demands: Demands) -> LocalSuppression:
        """Nothing is suppressed, and the records of failing classes are pending."""
        nothing = np.zeros(cells.codes.shape, dtype=bool)
        records = np.arange(len(cells.exempt))
        judge = MergedDemands(demands.without(cells.exempt), records, len(records))
        search = cls(cells, judge, nothing, np.zeros(len(records), dtype=bool))
        numbers, satisfied = search.judged(nothing[:, search.counted], search.counted)
        search.pending[search.counted] = ~satisfied[numbers]
        return search

    def copy(self) -> LocalSuppression:
        """Another search that goes on from here."""
        return LocalSuppression(self.cells, self.judge, self.suppressed.copy(), self.pending.copy())

    @property
    def demands(self) -> Demands:
        """The demands that a class must keep."""
        return self.judge.demands

    @cached_property
    def counted(self) -> Indices:
        """The records that count."""
        return np.flatnonzero(~self.cells.exempt)

    @property
    def settled(self) -> Mask:
        """The records in classes that keep the demands. Shape (records,)."""
        return ~self.pending & ~self.cells.exempt

    def judged(self, suppressed: Mask, records: Indices) -> tuple[Integers, Mask]:
        """The class of each of some records, and which of these classes keep the demands.

        Positions of records ascend; `suppressed` has shape (attributes, len(records)).
        """
        numbers, count = self.cells.classes(suppressed, records)
        return numbers, self.judge.satisfied_by(numbers, count, chosen=records)

    def served(self, pattern: Mask, movers: Indices) -> Mask:
        """The records among some that would be in a class that keeps the demands if all had a pattern suppressed.

        Settled records whose cells are like that already are in those classes too. Movers are positions of records,
        ascending.
        """
        hidden = (self.suppressed[pattern] | self.cells.blank[pattern]).all(axis=0)
        moves = np.zeros(len(self.pending), dtype=bool)
        moves[movers] = True
        records = np.flatnonzero(moves | (self.settled & hidden))
        # all of them hide the pattern, so that only the other attributes tell them apart
        numbers, count = self.cells.classes(self.suppressed[:, records], records, ~pattern)
        return self.judge.satisfied_by(numbers, count, chosen=records)[numbers][moves[records]]

    def move(self, pattern: Mask, movers: Indices) -> None:
        """Suppress a pattern in those of some records that it serves. They are settled then."""
        done = movers[self.served(pattern, movers)] if len(movers) else movers
        self.suppressed[np.ix_(pattern, done)] = True
        self.pending[done] = False

    def group(self, levels: Sequence[Sequence[Mask]], *, most_first: bool) -> None:
        """Group pending records with each other, pattern by pattern.

        With `most_first`, of equally important patterns the one that serves the most records goes first, else the
        fewest.

        Cost: a sort of the pending records, at most twice, for each pattern.
        """
        for level in levels:
            for pattern in self._in_turn(level, most_first=most_first):
                checkpoint()
                self.move(pattern, np.flatnonzero(self.pending))

    def _in_turn(self, level: Sequence[Mask], *, most_first: bool) -> list[Mask]:
        """The patterns of a level that serve any record."""
        pending = np.flatnonzero(self.pending)
        if len(level) == 1 or not len(pending):
            return list(level)
        served = np.array([int(self.served(pattern, pending).sum()) for pattern in level])
        order = np.argsort(-served if most_first else served, kind="stable")
        return [level[place] for place in order if served[place]]
