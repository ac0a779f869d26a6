"""Agreement of two values of an attribute: equal, near enough, or spelt alike, in levels. Missing ones never agree.

Where agreement is more than equality, patterns of all pairs are enumerated in blocks and never held at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from math import ceil
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Codes
from tcdp_audit.plugin.engine import CheckError

Agreeing = NDArray[np.bool_]
ROUNDING = 4 * np.finfo(np.float64).eps  # decimals as floats, and their difference, are off by less than this
LARGEST = 2**28  # texts times bigrams: 1 GiB

Whole = NDArray[np.int64]
PAIRS = 2**20  # pairs in a block
Levels = NDArray[np.int64]  # bit i says that a pair reaches level i of an attribute, and so all lower ones


class Agreement(Protocol):
    """A relation between codes; `size` is the code of a missing value."""

    def block(self, released: Codes, original: Codes) -> Agreeing | Levels:
        """The same for each released code and each original one, shape (released, original)."""
        ...

    def paired(self, released: Codes, original: Codes) -> Agreeing | Levels:
        """Whether codes side by side agree, or which levels of agreement they reach, shape (pairs,)."""
        ...


@dataclass(frozen=True)
class Within:
    """Values agree from a lowest to a highest code that each value has, both inclusive."""

    lowest: NDArray[np.int64]  # the lowest code that agrees with each code, int64, shape (size + 1,)
    highest: NDArray[np.int64]  # the highest; below the lowest where there is none

    def block(self, released: Codes, original: Codes) -> Agreeing:
        """Two comparisons a pair."""
        return self.paired(released[:, None], original[None, :])

    def paired(self, released: Codes, original: Codes) -> Agreeing:
        """Two comparisons a pair."""
        return np.asarray((self.lowest[released] <= original) & (original <= self.highest[released]))


def equal(size: int) -> Within:
    """Values agree where they are equal."""
    code = np.arange(size + 1)
    return Within(code, np.where(code < size, code, -1))


def tolerant(values: NDArray[Any], tolerance: Fraction) -> Within:
    """Numbers agree where |a - b| <= tolerance, as decimals: 0.4 and 0.3 are within 0.1.

    Values are distinct and ascend; the tolerance is at least 0, in units of the attribute.

    Example:
        >>> import numpy
        >>> near = tolerant(numpy.array([0.3, 0.4, 0.6]), Fraction("0.1"))
        >>> near.lowest.tolist(), near.highest.tolist()
        ([0, 0, 2, 3], [1, 1, 2, -1])
    """
    numbers, width = values.astype(np.float64), float(tolerance)
    slack = ROUNDING * (np.abs(numbers) + width)
    lowest = np.searchsorted(numbers, numbers - width - slack)
    highest = np.searchsorted(numbers, numbers + width + slack, side="right") - 1
    return Within(np.append(lowest, len(values)), np.append(highest, -1))


@dataclass(frozen=True)
class Alike:
    """Texts agree where Dice's coefficient of their bigrams, 2 |A and B| / (|A| + |B|), is large enough."""

    # which bigrams each text has, float32 of 0 and 1, shape (size + 1, bigrams); none for a missing one
    bigrams: NDArray[np.float32]
    least: NDArray[np.int64]  # how many common bigrams are enough for a number of bigrams in both together

    def block(self, released: Codes, original: Codes) -> Agreeing:
        """One matrix product of the distinct texts in the block: O(released texts x size x bigrams)."""
        texts, place = np.unique(released, return_inverse=True)
        common = self.bigrams[texts] @ self.bigrams.T
        alike = common >= self.least[self._sizes[texts][:, None] + self._sizes]
        return np.asarray(alike[:, original][place])

    def paired(self, released: Codes, original: Codes) -> Agreeing:
        """O(pairs x bigrams)."""
        agree = np.zeros(len(released), dtype=bool)
        for start in range(0, len(agree), 4096):
            a, b = released[start : start + 4096], original[start : start + 4096]
            common = np.einsum("ij,ij->i", self.bigrams[a], self.bigrams[b])
            agree[start : start + 4096] = common >= self.least[self._sizes[a] + self._sizes[b]]
        return agree

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        return np.asarray(self.bigrams.sum(axis=1), dtype=np.int64)


def alike(texts: Sequence[str], similarity: Fraction) -> Alike:
    """Texts agree where Dice's coefficient of their bigrams is at least a similarity, compared exactly.

    A bigram is a pair of neighbouring characters, with a blank before the first and after the last.

    Texts are distinct; the similarity is above 0 and at most 1.

    Raises:
        CheckError: texts times bigrams that occur are more than 2^28.

    Memory: 4 bytes for each text and bigram that occurs.

    Source: Dice (1945); Christen, Data Matching (2012), section 5.

    Example:
        >>> import numpy
        >>> near = alike(["smith", "smyth", "jones"], Fraction("2/3"))
        >>> near.block(numpy.array([0, 3]), numpy.array([0, 1, 2, 3])).tolist()
        [[True, True, False, False], [False, False, False, False]]
    """
    bigrams_of_texts = [
        {padded[i : i + 2] for i in range(len(padded) - 1)} for padded in (f" {text} " for text in texts)
    ]
    place = {bigram: number for number, bigram in enumerate(sorted(set().union(*bigrams_of_texts)))}
    if (len(texts) + 1) * len(place) > LARGEST:
        raise CheckError("an attribute has too many distinct texts for a string similarity; let it agree exactly")
    bigrams = np.zeros((len(texts) + 1, len(place)), dtype=np.float32)
    rows = np.repeat(np.arange(len(texts)), [len(one) for one in bigrams_of_texts])
    bigrams[rows, [place[bigram] for one in bigrams_of_texts for bigram in one]] = 1
    largest = 2 * max((len(one) for one in bigrams_of_texts), default=0)
    least = [max(1, ceil(similarity * both / 2)) for both in range(largest + 1)]
    return Alike(bigrams, np.array(least))


COMPARATORS = {"jaro_winkler": "JaroWinkler", "levenshtein": "Levenshtein"}  # and their names in RapidFuzz
NEAR = 1e-12  # two similarities of texts of up to 100 characters are equal, or farther apart than this


@dataclass(frozen=True)
class Graded:
    """Texts agree on as many levels as their similarity reaches."""

    texts: NDArray[np.object_]  # the text of each code
    similarities: Callable[[list[str], list[str]], NDArray[np.float64]]  # of texts side by side, from 0 to 1
    levels: NDArray[np.float64]  # the least similarity of each level; they ascend, and are above 0

    def block(self, released: Codes, original: Codes) -> Levels:
        """Each pair of distinct texts in the block is compared once."""
        pairs = np.repeat(released, len(original)), np.tile(original, len(released))
        return self.paired(*pairs).reshape(len(released), len(original))

    def paired(self, released: Codes, original: Codes) -> Levels:
        """Each distinct pair of texts is compared once: a sort of the pairs, and O(length^2) for each distinct one."""
        size = len(self.texts)
        keys, place = np.unique(released.astype(np.int64) * (size + 1) + original, return_inverse=True)
        a, b = np.divmod(keys, size + 1)
        present = (a < size) & (b < size)
        scores = np.zeros(len(keys))
        scores[present] = self.similarities(self.texts[a[present]].tolist(), self.texts[b[present]].tolist())
        reached = np.searchsorted(self.levels - NEAR, scores, side="right")
        return np.asarray(((1 << reached) - 1)[place])


def graded(texts: Sequence[str], comparator: str, levels: Sequence[Fraction]) -> Graded:
    """Texts agree on each level whose least similarity they reach, inclusive; letters in other cases differ.

    `jaro_winkler` is Jaro's similarity, and above 0.7 a tenth of what it lacks more for each common character at the
    start, of four at most; `levenshtein` is 1 - edits / length of the longer text. Both are fractions with small
    denominators, so that a similarity within 1e-12 of a level equals it.

    Levels are distinct, above 0 and at most 1, in any order.

    Raises:
        CheckError: RapidFuzz is not installed.

    Source: Winkler, String comparator metrics and enhanced decision rules (1990); Levenshtein (1966).
    """
    try:
        process, distance = import_module("rapidfuzz.process"), import_module("rapidfuzz.distance")
    except ModuleNotFoundError:
        raise CheckError('`comparators` need RapidFuzz; pip install "tcdp-audit[linkage]"') from None
    scorer = getattr(distance, COMPARATORS[comparator]).normalized_similarity

    def similarities(one: list[str], other: list[str]) -> NDArray[np.float64]:
        return np.asarray(process.cpdist(one, other, scorer=scorer, dtype=np.float64))

    return Graded(np.array(texts, dtype=np.object_), similarities, np.array(sorted(map(float, levels))))


@dataclass(frozen=True)
class Compared:
    """One attribute of two tables, coded over a common domain, and when two codes agree."""

    released: Codes
    original: Codes
    agreement: Agreement
    levels: int = 1  # the bits of a pattern that say how far two codes agree


def enumerated_counts(columns: Sequence[Compared]) -> Whole:
    """Pairs with each agreement pattern, as `pattern_counts` has them, for any agreement.

    Cost: O(p n_released n_original) time; memory for 2^20 pairs.
    """
    counts = np.zeros(1 << sum(one.levels for one in columns), dtype=np.int64)
    for _, patterns in _blocks(columns):
        counts += np.bincount(patterns.ravel(), minlength=len(counts))
    return counts


def enumerated_best(columns: Sequence[Compared], rank: Whole) -> tuple[Whole, Whole]:
    """For each released record the highest rank of a pattern that it has with an original, and with how many.

    Cost: as `enumerated_counts`.
    """
    best = np.zeros(len(columns[0].released), dtype=np.int64)
    ties = np.zeros_like(best)
    for records, patterns in _blocks(columns):
        ranks = rank[patterns]
        best[records] = ranks.max(axis=1)
        ties[records] = (ranks == best[records, None]).sum(axis=1)
    return best, ties


def patterns_of_pairs(columns: Sequence[Compared], released: Whole, original: Whole) -> Whole:
    """The agreement pattern of some pairs, given by their positions. O(p pairs)."""
    patterns = np.zeros(len(released), dtype=np.int64)
    bit = 0
    for one in columns:
        patterns |= one.agreement.paired(one.released[released], one.original[original]).astype(np.int64) << bit
        bit += one.levels
    return patterns


def _blocks(columns: Sequence[Compared]) -> Iterator[tuple[slice, NDArray[np.uint16]]]:
    """Some released records at a time, and their patterns with every original. uint16, shape (records, originals)."""
    n, originals = len(columns[0].released), len(columns[0].original)
    rows = max(1, PAIRS // originals)
    for start in range(0, n, rows):
        records = slice(start, min(start + rows, n))
        patterns = np.zeros((records.stop - start, originals), dtype=np.uint16)
        bit = 0
        for one in columns:
            patterns |= one.agreement.block(one.released[records], one.original).astype(np.uint16) << bit
            bit += one.levels
        yield records, patterns
