"""Release, original and hold-out as points, and Gower's distance by which an intruder looks for the nearest records.

Of each attribute a pair of records differs by 0 to 1: a number, or a rank in the declared order, by its share of the
range that original and hold-out have, a nominal value by 0 or 1. A missing cell equals a missing cell and differs by 1
from any other. The distance is the sum over attributes. A cell that covers a range has its middle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats, ThreadPool, fold
from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.engine import CheckError, CodedTable, Domain
from tcdp_audit_plugins.checks._shared.control_comparison import CONTROL
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes
from tcdp_audit_plugins.checks.control.risk import companions_of, require_comparable

CELLS = 2**18  # of a block of distances: 2 MiB, which a processor's cache holds
EPSILON = float(np.finfo(np.float64).eps)
T = TypeVar("T")


@dataclass(frozen=True)
class Points:
    """The distinct records of a table."""

    # numeric and ordinal attributes in parts of their range; NaN where missing. Shape (points, attributes).
    numbers: Floats
    labels: NDArray[np.int32]  # codes of nominal attributes, a missing cell's among them. Shape (points, attributes).
    records: NDArray[np.int64]  # how many records are at each point. Shape (points,).
    point: NDArray[np.intp]  # the point of each row of the table. Shape (rows,).

    def __len__(self) -> int:
        """The number of points."""
        return len(self.records)


@dataclass(frozen=True)
class Gower:
    """A distance."""

    # of each code of a numeric or ordinal attribute, in parts of its range; NaN for the missing one
    positions: Mapping[str, Floats]
    labels: Sequence[str]  # the nominal attributes

    @classmethod
    def of(cls, tables: Sequence[CodedTable], scales: Mapping[str, Scale]) -> Gower:
        """The distance by some attributes.

        Args:
            tables: whose values give numbers their range: those that an intruder looks for, not those of the release,
                which could make it as wide as it likes.
            scales: the attributes and their scales.

        Raises:
            CheckError: none of the attributes varies.
        """
        if not any(_varies(tables, name) for name in scales):
            raise CheckError(
                "none of the compared attributes varies in the original, so there is nothing to compare by"
            )
        ranked = [name for name in sorted(scales) if scales[name] is not Scale.NOMINAL]
        positions = {name: _positions(tables, name, scales[name]) for name in ranked}
        return cls(positions, [name for name in sorted(scales) if name not in positions])

    @property
    def rounding(self) -> float:
        """Distances that differ by no more are equal: what float64 can lose on sums of so many parts."""
        return 16 * EPSILON * (len(self.positions) + len(self.labels) + 1) ** 2

    def points(self, table: CodedTable) -> Points:
        """The distinct records of a table in the order of their codes, whatever the order of its rows is."""
        names = [*self.positions, *self.labels]
        keys = fold([table.codes[name] for name in names], [table.domains[name].size + 1 for name in names]).values
        _, first, point = np.unique(keys, return_index=True, return_inverse=True)
        numbers = [positions[table.codes[name][first]] for name, positions in self.positions.items()]
        labels = [table.codes[name][first].astype(np.int32) for name in self.labels]
        return Points(
            np.column_stack([np.zeros((len(first), 0)), *numbers]),
            np.column_stack([np.zeros((len(first), 0), np.int32), *labels]),
            np.bincount(point, table.times).astype(np.int64),
            point,
        )

    def each_block(self, seekers: Points, known: Points, measure: Callable[[NDArray[np.intp], Floats], T]) -> list[T]:
        """What `measure` returns for blocks of distances, in the order of the seekers.

        It gets the positions of some seekers, and their distances to all known points, which it may change.

        Cost: O(seekers x known x attributes); memory of a block for each processor.
        """
        return each_block(len(seekers), len(known), lambda some: measure(some, self.distances(seekers, some, known)))

    def least(self, seekers: Points, known: Points) -> Floats:
        """The distance of each seeker to the nearest known point."""
        return np.concatenate(self.each_block(seekers, known, lambda _, distances: distances.min(axis=1)))

    def nearest(self, distances: Floats) -> NDArray[np.bool_]:
        """The known points that are the nearest of each seeker: all that tie."""
        return np.asarray(distances <= distances.min(axis=1, keepdims=True) + self.rounding)

    def distances(self, seekers: Points, some: NDArray[np.intp], known: Points) -> Floats:
        """The distances of some seekers to all known points, shape (some, known)."""
        differing = np.zeros((len(some), len(known)), np.uint16)
        for attribute in range(len(self.labels)):
            differing += seekers.labels[some, attribute, None] != known.labels[:, attribute]
        total = differing.astype(np.float64)
        for attribute in range(len(self.positions)):
            total += _parts(seekers.numbers[some, attribute, None], known.numbers[:, attribute])
        return total


def each_block(seekers: int, cells: int, measure: Callable[[NDArray[np.intp]], T]) -> list[T]:
    """What `measure` returns for blocks of positions of seekers, in order; each seeker takes so many cells."""
    step = max(1, CELLS // max(1, cells))
    blocks = [np.arange(start, min(start + step, seekers)) for start in range(0, seekers, step)]
    with ThreadPool() as pool:
        return list(pool.map(measure, blocks))


def _parts(seeking: Floats, known: Floats) -> Floats:
    """By how much of its range a number differs, for all pairs; no more than 1."""
    parts = np.abs(seeking - known)
    np.minimum(parts, 1, out=parts)  # NaN stays
    here, there = np.isnan(seeking), np.isnan(known)
    return np.where(here | there, here != there, parts) if here.any() or there.any() else parts


def _varies(tables: Sequence[CodedTable], name: str) -> bool:
    codes = [np.unique(table.codes[name]) for table in tables]
    return len(np.unique(np.concatenate(codes))) > 1


def _positions(tables: Sequence[CodedTable], name: str, scale: Scale) -> Floats:
    """The position of each code in parts of the range that some tables have; NaN where it says nothing."""
    domain = tables[0].domains[name]
    seen = np.unique(np.concatenate([table.codes[name] for table in tables]))
    values = numbers_of(domain, scale)
    own = values[seen[seen < domain.size]]
    own = own[~np.isnan(own)]
    low, high = (own.min(), own.max()) if len(own) else (0.0, 0.0)
    return np.append((values - low) / ((high - low) or 1.0), np.nan)


def numbers_of(domain: Domain, scale: Scale) -> Floats:
    """The number of each code but the missing one: a rank of an ordinal attribute, and the middle of a range.

    A range without an end is at the one that it has; a suppressed cell nowhere, which is NaN.
    """
    if domain.covers is None:
        return np.arange(domain.size, dtype=np.float64) if scale is Scale.ORDINAL else domain.values.astype(np.float64)
    ends = np.array([(one.low, one.high) for one in domain.covers], np.float64).reshape(-1, 2)
    ends[np.isinf(ends)] = np.nan
    known = np.isfinite(ends).sum(axis=1)
    return np.divide(np.nansum(ends, axis=1), known, out=np.full(len(ends), np.nan), where=known > 0)


@dataclass(frozen=True)
class Tables:
    """The tables of an attack, coded together."""

    released: CodedTable
    targets: Sequence[CodedTable]  # the original, and the hold-out if there is one

    @classmethod
    def of(cls, view: TableView, names: Sequence[str], *companions: str) -> Tables:
        """Some columns of the release and of some companions; by default the original, and the hold-out if it is there.

        Raises:
            CheckError: there is no such table, it lacks a column or has no record, or the memory is too small.
        """
        chosen = companions or companions_of(view)
        released, *targets = view.coded(sorted(set(names)), *chosen)
        require_comparable(view)
        return cls(released, targets)


@dataclass(frozen=True)
class Places:
    """The records of all tables as points."""

    gower: Gower  # the distance between them
    released: Points  # points of the release
    targets: Sequence[Points]  # points of the original, and of the hold-out if there is one

    @classmethod
    def of(cls, view: TableView, tables: Tables, names: Sequence[str]) -> Places:
        """Points by some attributes.

        Raises:
            CheckError: none of them varies, or one has no value in a table.
        """
        for table, name in product(tables.targets, names):
            if (table.codes[name] == table.domains[name].size).all():
                raise CheckError(
                    f"column {name!r} has no value in {table.name}, so it gives no distance to its records; "
                    "leave it out, or check that this is the right table"
                )
        gower = Gower.of(tables.targets, {name: scale_of(view, name) for name in names})
        return cls(gower, gower.points(tables.released), [gower.points(one) for one in tables.targets])

    @classmethod
    def of_both(cls, view: TableView, attributes: Sequence[str] | None) -> Places:
        """Points of release, original and hold-out by the attributes that are named, else by all quasi-identifiers.

        Raises:
            CheckError: there is no hold-out, or none of the attributes varies.
        """
        names = known_attributes(attributes, view.quasi_identifiers)
        return cls.of(view, Tables.of(view, names, "original", CONTROL), names)


def scale_of(view: TableView, name: str) -> Scale:
    """The declared scale of an attribute; without one its values are equal or not."""
    return view.policy.attributes[name].scale or Scale.NOMINAL


CONTROL_PARTS = {
    "on_both": (
        "{success:%} of the {record:plural} in the original"
        "[{control_success?}, and for {control_success:%} of those in the hold-out]"
    ),
    "added": (
        "[{control_success?}the release adds at most {observed:%} to chance (with {details.confidence:%} confidence)"
        "[, where {allowed}]|without a hold-out it is unknown how much of that is chance]"
    ),
    "chances": (
        "is right with {success:chance}"
        "[{control_success?}; about a person who had no part in the release, with {control_success:chance}]"
    ),
}
