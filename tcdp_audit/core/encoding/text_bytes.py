"""Many texts at a time, as bytes: sorted, searched for blanks and compared, without a step of Python for each.

The order of texts is that of their code points, which is that of their bytes in UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.keys import Codes, numbered

WORD = 8
SORTED_WORDS = 4  # texts that agree in so many words are few, or alike for long: Python sorts them
HASHED_WORDS = 32  # longer texts are compared in Python
MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
SEPARATOR = "\0"
SHORT = 16  # bytes up to which texts are numbered by the pairs of bytes that occur at each place
PAIRS = WORD // 2  # pairs of bytes in a word
MOST = 2**32 - 1
_BLANKS = np.zeros(256, np.bool_)  # of ASCII, and all bytes of what is not ASCII
_BLANKS[[*range(0x09, 0x0E), *range(0x1C, 0x21), *range(0x80, 0x100)]] = True
_BEFORE_END = np.array([2**64 - 2 ** (8 * after) for after in range(WORD)] + [0], np.uint64)  # by bytes after the end


@dataclass(frozen=True)
class TextBytes:
    """Texts in UTF-8."""

    data: NDArray[np.uint8]  # the bytes of all, and at least eight more
    starts: NDArray[np.int64]  # where each text begins
    ends: NDArray[np.int64]  # where each ends

    @classmethod
    def between(cls, data: NDArray[np.uint8], offsets: NDArray[Any]) -> TextBytes:
        """Texts that follow one another, as Arrow lays them out."""
        own = data[int(offsets[0]) : int(offsets[-1])]
        places = offsets.astype(np.int64) - int(offsets[0])
        return cls(np.append(own, np.zeros(WORD, np.uint8)), places[:-1], places[1:])

    @classmethod
    def joined(cls, texts: str, number: int) -> TextBytes | None:
        """Join some texts, at least one, by the character 0; None where one of them holds it, too."""
        data = np.frombuffer(texts.encode("utf-8", "surrogatepass"), np.uint8)
        ends = np.append(np.flatnonzero(data == 0), len(data))
        if len(ends) != number:
            return None
        return cls(np.append(data, np.zeros(WORD, np.uint8)), np.append(0, ends[:-1] + 1), ends)

    def words(self, texts: NDArray[np.intp] | slice, skipped: int) -> NDArray[np.uint64]:
        """The next eight bytes of some texts, by position, after the `skipped` ones, with zeros after the end.

        They are numbers that sort as the bytes do.
        """
        starts = np.minimum(self.starts[texts] + skipped, self.ends[texts])
        windows: NDArray[np.uint64] = np.ndarray((len(self.data) - WORD + 1,), ">u8", self.data, strides=(1,))
        after = np.maximum(WORD - (self.ends[texts] - starts), 0)
        return windows[starts].astype(np.uint64) & _BEFORE_END.take(after)

    def order(self, listed: Callable[[NDArray[np.intp]], Sequence[str]]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The texts' positions in sorted order, and for each place there whether its text is not the one before.

        `listed` gives some of the texts by position; it is called only for those that agree in their first words.
        """
        order, is_new = np.arange(len(self.starts)), np.ones(len(self.starts), np.bool_)
        places, group = order.copy(), np.zeros(len(order), np.int64)  # what is not settled, and among which places
        skipped = self._shared()
        for _ in range(SORTED_WORDS):
            words = self.words(order[places], skipped)
            by = np.lexsort((words, group)) if group[-1] else np.argsort(words)
            order[places], words = order[places[by]], words[by]
            agrees = np.concatenate(([False], (group[1:] == group[:-1]) & (words[1:] == words[:-1]), [False]))
            tied = agrees[1:] | agrees[:-1]
            places, group = places[tied], np.cumsum(~agrees[:-1])[tied]
            if not len(places):
                return order, is_new
            skipped += WORD
        keys = list(zip(group.tolist(), listed(order[places]), strict=True))
        by = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.intp)
        order[places] = order[places[by]]
        is_new[places[1:]] = [
            keys[one] != keys[two] for one, two in zip(by[1:].tolist(), by[:-1].tolist(), strict=True)
        ]
        return order, is_new

    def _shared(self) -> int:
        """The number of bytes that all texts begin with alike."""
        shared, everything = 0, np.arange(len(self.starts))
        shortest = int((self.ends - self.starts).min())
        while shared < shortest:
            words = self.words(everything, shared)
            alike = WORD - (int(words.min() ^ words.max()).bit_length() + 7) // 8
            shared = min(shared + alike, shortest)
            if alike < WORD:
                break
        return shared

    def edged_with(self, bytes_: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The texts that begin or end with some bytes; the mask has a truth value for each of 256."""
        full = np.flatnonzero(self.ends > self.starts)
        return full[bytes_[self.data[self.starts[full]]] | bytes_[self.data[self.ends[full] - 1]]]

    def are_different(self) -> bool:
        """Whether all texts are certainly different: their hashes are. False does not say that two are equal."""
        lengths = self.ends - self.starts
        if int(lengths.max(initial=0)) > HASHED_WORDS * WORD:
            return False
        hashes, longer = lengths.astype(np.uint64), np.arange(len(lengths))
        for word in range(HASHED_WORDS):
            longer = longer[lengths[longer] > word * WORD]
            if not len(longer):
                break
            mixed = (hashes[longer] ^ self.words(longer, word * WORD)) * MIX
            hashes[longer] = mixed ^ mixed >> np.uint64(32)
        hashes.sort()
        return bool((hashes[1:] != hashes[:-1]).all())


@dataclass(frozen=True)
class NumberedTexts:
    """Distinct texts in ascending order, and the number of each text of several lists among them.

    Args:
        data: the bytes of the distinct texts, one after another.
        offsets: where each begins, and where the last ends; int64, shape (distinct + 1,).
        numbers: of the texts of all lists, one list after another, in the narrowest type.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    numbers: Codes


@dataclass(frozen=True)
class _Pairs:
    """The pairs of bytes of some texts, as numbers of 16 bits: an array where they differ, otherwise one number."""

    texts: int
    at: Sequence[NDArray[np.uint16] | int]

    @classmethod
    def of(cls, texts: TextBytes) -> _Pairs:
        everything, pairs = slice(None), list[NDArray[np.uint16] | int]()
        for skipped in range(0, int((texts.ends - texts.starts).max(initial=0)), WORD):
            words = texts.words(everything, skipped)
            differing = int(np.bitwise_or.reduce(words) ^ np.bitwise_and.reduce(words))
            for shift in range(16 * (PAIRS - 1), -1, -16):
                if differing >> shift & 0xFFFF:
                    pairs.append((words >> np.uint64(shift)).astype(np.uint16))
                else:
                    pairs.append(int(words[0]) >> shift & 0xFFFF)
        return cls(len(texts.starts), pairs)


def numbered_texts(lists: Iterable[TextBytes]) -> NumberedTexts | None:
    """Number short texts without hashing and comparing them. Exact: two texts have one number only if they are equal.

    Args:
        lists: lists of texts that do not hold the character 0, each with a text.

    Returns:
        None where a text is longer than `SHORT` bytes or holds the character 0, or where more than 2^32 texts could be
        made of the pairs of bytes that occur.

    Cost: O(texts), and some bytes for each; the distinct texts need not be sorted.
    """
    # The texts of a column of identifiers or places are alike but for a few characters: a prefix and some digits. At
    # each place few pairs of bytes occur. The rank of a text's pair among them is a digit, and its digits, in mixed
    # radix, are a number. Zeros fill up what follows the end. As no text holds a zero, texts that differ differ in a
    # pair, thus in a digit, thus in the number; the smallest byte at a place is the end, so the numbers are ordered as
    # the texts are. The texts themselves are made again from the numbers that occur. Two bytes at a time halve the
    # passes, and leave fewer possible numbers than single bytes do.
    occurring, parts = list[NDArray[np.bool_]](), list[_Pairs]()
    for texts in lists:
        if int((texts.ends - texts.starts).max()) > SHORT or not texts.data[:-WORD].all():
            return None
        part = _Pairs.of(texts)
        for place, pair in enumerate(part.at):
            if place == len(occurring):
                occurring.append(np.zeros(2**16, np.bool_))
                occurring[place][0] = bool(parts)  # earlier texts ended before
            occurring[place][pair] = True
        for further in occurring[len(part.at) :]:
            further[0] = True
        parts.append(part)
        if prod(int(one.sum()) for one in occurring) > MOST:
            return None
    pairs = [np.flatnonzero(one) for one in occurring]
    radices = [len(one) for one in pairs]
    digits = [(np.cumsum(one) - 1).astype(np.uint32) for one in occurring]
    numbers = np.concatenate([_numbers(part, digits, radices) for part in parts])
    parts.clear()
    distinct, codes = numbered(numbers, prod(radices))
    return NumberedTexts(*_spelled(distinct.astype(np.int64), pairs), codes)


def _numbers(part: _Pairs, digits: Sequence[NDArray[np.uint32]], radices: Sequence[int]) -> NDArray[np.uint32]:
    """The number of each text in mixed radix, given the digit of each pair of bytes at each place."""
    numbers = np.zeros(part.texts, np.uint32)
    for place, radix in enumerate(radices):
        if radix > 1:  # otherwise the only digit is 0
            numbers *= np.uint32(radix)
            numbers += digits[place].take(part.at[place] if place < len(part.at) else 0)
    return numbers


def _spelled(
    numbers: NDArray[np.int64], pairs: Sequence[NDArray[np.intp]]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The texts of some numbers, one after another, and their offsets."""
    letters = np.zeros((len(numbers), len(pairs)), ">u2")
    for place in range(len(pairs) - 1, -1, -1):
        numbers, digits = np.divmod(numbers, len(pairs[place]))
        letters[:, place] = pairs[place][digits]
    spelled = letters.view(np.uint8)
    is_letter = spelled != 0
    return spelled[is_letter], np.append(0, np.cumsum(is_letter.sum(axis=1)))


def indices_with_surrounding_whitespace(texts: Sequence[str]) -> list[int]:
    """The positions of texts among which are all that begin or end with a blank; of few others."""
    many = TextBytes.joined(SEPARATOR.join(texts), len(texts)) if texts else None
    return list(range(len(texts))) if many is None else many.edged_with(_BLANKS).tolist()


def differ_in_case_only(texts: Sequence[str]) -> bool:
    """Whether two of some different texts differ in upper and lower case only."""
    joined = SEPARATOR.join(texts)
    folded = joined.casefold()  # character by character, so that texts may be joined before
    if folded == joined:
        return False
    many = TextBytes.joined(folded, len(texts)) if texts else None
    if many is not None and many.are_different():
        return False
    return len({text.casefold() for text in texts}) < len(texts)
