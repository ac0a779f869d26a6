"""A sketch of the different keys of a table: those with the smallest hashes, each with how many records it has.

A key whose hash stays among the smallest was kept from its first record on, so its count is exact. Which keys these are
depends on the hash alone, so that they are drawn from all keys alike, in whatever order and from wherever records come.

Source: Bar-Yossef, Jayram, Kumar, Sivakumar, Trevisan, Counting distinct elements in a data stream, RANDOM 2002; Beyer
et al., On synopses for distinct-value estimation under multiset operations, SIGMOD 2007 (the estimator); Chia et al.,
KHyperLogLog, IEEE S&P 2019 (the uniqueness of keys from it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from math import ceil, floor, inf, log, log10, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Codes, Counts, boundaries, interval_of_mean, occurrences
from tcdp_audit.plugin.engine import Domain

Hashes = NDArray[np.uint64]

LARGEST = np.uint64(2**64 - 1)
WAITING = 4  # times as many hashes as are kept wait before they are sorted
DIGITS = 3  # of an estimated number of keys: more would give away the largest hash that is kept
STEPS = 64  # of a bisection


def column_hashes(domain: Domain, seed: int) -> Hashes:
    """The hash of each code of a column, the missing one last: 64 bits of BLAKE2b of seed, name and canonical text.

    Equal values have equal hashes, whatever the format, the engine, the platform and the other values are.

    Cost: O(distinct values).
    """
    prefix = f"{seed}\0{domain.attribute}\0".encode()
    texts = [b"=" + label.encode("utf-8", "surrogatepass") for label in domain.labels]
    digests = b"".join(blake2b(prefix + text, digest_size=8).digest() for text in [*texts, b""])
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def mixed(hashes: Hashes) -> Hashes:
    """The finaliser of splitmix64: one 64-bit number for another, each bit of it from all bits. O(hashes).

    Example:
        >>> mixed(np.array([1], dtype=np.uint64)).tolist()
        [6238072747940578789]
    """
    hashes = hashes ^ (hashes >> np.uint64(30))
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> np.uint64(27)
    hashes *= np.uint64(0x94D049BB133111EB)
    hashes ^= hashes >> np.uint64(31)
    return hashes


class KeySketch:
    """The keys with the smallest hashes.

    Args:
        keep: how many are kept at the most.
    """

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.is_complete = True  # no key was left out, so that figures of the kept ones are those of all
        self.hashes: Hashes = np.zeros(0, np.uint64)
        self.records: Counts = np.zeros(0, np.int64)
        self._bound = LARGEST
        self._waiting: list[tuple[Hashes, Counts]] = []
        self._rows = 0

    def add(self, hashes: Hashes, times: Counts | None) -> None:
        """Add rows by the hashes of their keys, each row as many `times`, or once where that is None."""
        if self._bound < LARGEST:
            sampled = np.flatnonzero(hashes <= self._bound)
            self.is_complete &= len(sampled) == len(hashes)
            hashes, times = hashes[sampled], None if times is None else times[sampled]
        self._waiting.append((hashes, np.ones(len(hashes), np.int64) if times is None else times))
        self._rows += len(hashes)
        if self._rows > WAITING * self.keep:
            self.merge()

    def merge(self) -> None:
        """Sort what waits into what is kept. After this `hashes` ascend and `records` count all rows so far."""
        hashes = np.concatenate([self.hashes, *(one for one, _ in self._waiting)])
        records = np.concatenate([self.records, *(one for _, one in self._waiting)])
        self._waiting, self._rows = [], 0
        order = np.argsort(hashes)
        starts = boundaries(hashes[order])
        self.is_complete &= len(starts) <= self.keep
        self.hashes = hashes[order[starts[: self.keep]]]
        self.records = np.add.reduceat(records[order], starts)[: self.keep] if len(starts) else records
        if len(self.hashes) == self.keep:
            self._bound = self.hashes[-1]


class CountedKeys:
    """All keys of columns with so few values that every combination has a cell of its own.

    Args:
        radices: for each column a number above all its codes.
    """

    is_complete = True

    def __init__(self, radices: Sequence[int]) -> None:
        self.radices = radices
        self.cells = np.zeros(prod(radices), np.int64)

    def add(self, columns: Sequence[Codes], times: Counts | None) -> None:
        """Add rows by the codes of each column, each row as many `times`, or once where that is None."""
        cells = np.zeros(len(columns[0]), np.intp)
        for codes, radix in zip(columns, self.radices, strict=True):
            cells *= radix
            cells += codes
        self.cells += occurrences(cells, len(self.cells), times)

    def merge(self) -> None:
        """Nothing waits."""

    @property
    def hashes(self) -> Hashes:
        """None are kept."""
        return np.zeros(0, np.uint64)

    @property
    def records(self) -> Counts:
        """The number of records of each key that occurs."""
        return self.cells[self.cells > 0]


@dataclass(frozen=True)
class KeyFigures:
    """What a set of attributes reveals about the records, with standard errors; these are 0 where it is exact."""

    keys: int  # different combinations of values
    keys_error: float  # its standard error
    unique_keys: Fraction | float  # the share of keys that a single record has
    unique_keys_error: float  # its standard error
    unique_records: Fraction | float  # the share of records that are alone with their key
    unique_records_error: float  # its standard error
    small_records: Fraction | float  # the share of records whose key fewer than t records have
    small_records_error: float  # its standard error
    low: Fraction | float  # lower end of the interval of `small_records`
    high: Fraction | float  # upper end
    is_exact: bool  # whether all keys were kept


def figures_of(sketch: KeySketch | CountedKeys, records: int, t: int, error: float) -> KeyFigures:
    """The figures of a table from a sketch of its keys, which is merged first.

    A key is rare if fewer than `t` records have it; `error` is how often the interval may miss the share, above 0.

    Cost: O(keys kept).
    """
    sketch.merge()
    held = sketch.records
    alone, rare = held == 1, np.where(held < t, held, 0)
    if sketch.is_complete:
        unique, small = Fraction(int(alone.sum()), records), Fraction(int(rare.sum()), records)
        of_keys = Fraction(int(alone.sum()), len(held))
        return KeyFigures(len(held), 0.0, of_keys, 0.0, unique, 0.0, small, 0.0, small, small, is_exact=True)
    sampled = len(held)
    keys, fewest, most = number_of_keys(sketch, error / 2)
    share, mean = float(alone.mean()), float(rare.mean())
    unique_records, small_records = (min(1.0, keys * one / records) for one in (share, mean))
    low_mean, high_mean = interval_of_mean(mean / (t - 1), sampled, error / 2)
    return KeyFigures(
        keys=keys,
        keys_error=keys / sqrt(sampled - 2),
        unique_keys=share,
        unique_keys_error=float(alone.std()) / sqrt(sampled),
        unique_records=unique_records,
        unique_records_error=keys / records * _error_of_product(alone, sampled),
        small_records=small_records,
        small_records_error=keys / records * _error_of_product(rare, sampled),
        low=min(1.0, fewest * low_mean * (t - 1) / records),
        high=min(1.0, most * high_mean * (t - 1) / records),
        is_exact=False,
    )


def number_of_keys(sketch: KeySketch | CountedKeys, error: float) -> tuple[int, int, int]:
    """The number of keys, and between what; three times the same where all were kept.

    `error` is how often the interval may be wrong, above 0; the sketch is merged.
    """
    sampled = len(sketch.records)
    if sketch.is_complete:
        return sampled, sampled, sampled
    largest = (int(sketch.hashes[-1]) + 1) / 2**64
    low, high = keys_between(sampled, largest, error)
    return rounded(distinct_keys(sampled, largest), round), rounded(low, floor), rounded(high, ceil)


def distinct_keys(sampled: int, largest: float) -> float:
    """The number of keys, estimated without bias: one less than were kept, over the largest of their hashes.

    `largest` is a part of all numbers that a hash could be.

    Example:
        >>> round(distinct_keys(4, 0.22), 2)
        13.64
    """
    return (sampled - 1) / largest


def _error_of_product(figures: NDArray[np.generic], sampled: int) -> float:
    """Standard error of number of keys times mean figure, for one key: relative errors add up as squares."""
    mean, deviation = float(figures.mean()), float(figures.std())
    return sqrt(mean**2 / (sampled - 2) + deviation**2 / sampled)


def keys_between(sampled: int, largest: float, error: float) -> tuple[float, float]:
    """Between how many keys there are, right for any number of them.

    Of D keys, D p or more have a hash of at most q with a probability of at most exp(-D KL(p, q)), where p > q, and
    likewise as few with p < q.

    `error` is how often the interval may be wrong, above 0.

    Source: Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58 (1963), theorem 1.

    Example:
        >>> [round(one) for one in keys_between(1_000, 0.01, 0.01)]
        [90106, 110492]
    """
    budget = log(2 / error)

    def is_plausible(keys: float, keys_below: int) -> bool:
        return keys * _divergence(keys_below / keys, largest) <= budget

    top = sampled / largest
    while is_plausible(top, sampled - 1):
        top *= 2
    return (
        _last(sampled / largest, float(sampled), lambda keys: is_plausible(keys, sampled)),
        _last((sampled - 1) / largest, top, lambda keys: is_plausible(keys, sampled - 1)),
    )


def _last(near: float, far: float, is_plausible: Callable[[float], bool]) -> float:
    """The farthest number towards another that is plausible; on its far side."""
    if is_plausible(far):
        return far
    for _ in range(STEPS):
        middle = (near + far) / 2
        near, far = (middle, far) if is_plausible(middle) else (near, middle)
    return far


def _divergence(p: float, q: float) -> float:
    """KL(p, q) of two coins; q is neither 0 nor 1."""
    if p >= 1:
        return -log(q) if p == 1 else inf
    return p * log(p / q) + (1 - p) * log((1 - p) / (1 - q)) if p else -log(1 - q)


def rounded(number: float, to: Callable[[float], int]) -> int:
    """A number to so many digits that it does not give a hash away."""
    unit = 10 ** max(0, floor(log10(number)) + 1 - DIGITS)
    return int(to(number / unit)) * unit


def require_memory(sets: int, keep: int, memory: int | None) -> int:
    """The number of bytes that the sketches of so many sets take; 0 where they fit into the memory."""
    needed = sets * keep * 16 * (1 + WAITING)
    return needed if memory is not None and needed > memory else 0


def sets_hashed(columns: Sequence[Hashes], sets: Sequence[tuple[int, ...]]) -> list[tuple[tuple[int, ...], Hashes]]:
    """The hash of each row by each set of columns: their hashes, joined by exclusive or, and mixed.

    Sets are places of columns; each begins as the one before where it can.
    """
    path: list[tuple[int, Hashes]] = []
    hashed = []
    for one in sets:
        while path and tuple(place for place, _ in path) != one[: len(path)]:
            path.pop()
        for place in one[len(path) :]:
            path.append((place, path[-1][1] ^ columns[place] if path else columns[place]))
        hashed.append((one, mixed(path[-1][1])))
    return hashed
