"""Strata: records with the same sensitive values, and the judgement of classes that are known by their counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, boundaries, fold, numbered
from tcdp_audit.plugin.check import Histogram
from tcdp_audit.plugin.remedy import Demands

MOST = 64  # strata; more values are put together, neighbours first

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Strata:
    """Records in strata by what the demands ask of them."""

    of_record: Integers  # the stratum of each record, shape (records,)
    size: Integers  # the records of each, shape (strata,)
    # by sensitive attribute, or several read together, the value that represents each stratum
    codes: Mapping[str, Integers]

    @classmethod
    def of(cls, demands: Demands) -> Strata:
        """Make the strata of a table: one for each combination of values, or quantiles beyond `MOST`."""
        attributes = {one.attribute.attribute: one.attribute for one in demands.tasks if one.attribute is not None}
        columns = {name: one.codes(demands.shard).astype(np.int64) for name, one in attributes.items()}
        records = len(next(iter(demands.shard.values())))
        keys = fold(
            [np.zeros(records, dtype=np.int64), *columns.values()], [1, *(one.size + 1 for one in attributes.values())]
        )
        values = numbered(keys.values, keys.span)[1].astype(np.int64)
        stratum = _joined(values)
        order = np.lexsort((values, stratum))
        starts = boundaries(stratum[order])
        size = np.diff(np.append(starts, records))
        middle = order[starts + size // 2]
        return cls(stratum, size, {name: codes[middle] for name, codes in columns.items()})

    @property
    def shares(self) -> Floats:
        """The share of each stratum in the table."""
        return self.size / self.size.sum()


def _joined(values: Integers) -> Integers:
    """Values numbered in their order as strata, at most `MOST`. Shape (records,)."""
    counts = np.bincount(values)
    if len(counts) <= MOST:
        return values
    middle = np.cumsum(counts) - counts / 2
    return np.unique((middle * (MOST / len(values))).astype(np.int64)[values], return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True)
class CountJudge:
    """The demands on classes that are known by how many records of each stratum they have.

    It is the audit's own judgement where every combination of values is a stratum, records are counted, and an
    intruder knows no sensitive attribute; elsewhere it is near to it.
    """

    demands: Demands  # what a class must keep
    strata: Strata  # the strata of the table
    least: int  # no class of fewer records is allowed

    def satisfied(self, counts: Integers) -> Mask:
        """Say which classes keep the demands, by their counts; none is empty. Shape of counts: (classes, strata)."""
        size = counts.sum(axis=1)
        satisfied = self._large[size]
        histograms = self._histograms(counts)
        for task in self.demands.tasks:
            if task.attribute is not None:
                satisfied &= ~task.failing(size, histograms[task.attribute.attribute])
        return satisfied

    @cached_property
    def _large(self) -> Mask:
        """Say by size whether a class of so many records is allowed and keeps the demands on sizes alone."""
        sizes = np.arange(int(self.strata.size.sum()) + 1)
        large = np.asarray(sizes >= max(self.least, 1))
        for task in self.demands.tasks:
            if task.attribute is None:
                large[1:] &= ~task.failing(sizes[1:], None)
        return large

    @property
    def least_size(self) -> int | None:
        """The least size from which on classes keep all demands on sizes alone; None where those do not say that."""
        allowed = self._large
        size = len(allowed) - int(allowed.sum())
        return size if allowed[size:].all() else None

    def _histograms(self, counts: Integers) -> Mapping[str, Histogram]:
        attributes = {one.attribute.attribute: one.attribute for one in self.demands.tasks if one.attribute is not None}
        return {
            name: self.demands.counted(_histogram(counts, *self._values[name]), attribute)
            for name, attribute in attributes.items()
        }

    @cached_property
    def _values(self) -> Mapping[str, tuple[Integers, Integers]]:
        """The values that strata have, by attribute, and which of them each stratum has."""
        return {name: np.unique(codes, return_inverse=True) for name, codes in self.strata.codes.items()}


def _histogram(counts: Integers, values: Integers, of_stratum: Integers) -> Histogram:
    """Count each value in classes, from their counts of each stratum."""
    alone = len(values) == len(of_stratum)  # each value is a stratum
    summed = counts[:, np.argsort(of_stratum)] if alone else counts @ (of_stratum[:, None] == np.arange(len(values)))
    row, column = np.nonzero(summed)
    offsets = np.concatenate([[0], np.cumsum((summed > 0).sum(axis=1))])
    return Histogram(offsets, values[column], summed[row, column])
