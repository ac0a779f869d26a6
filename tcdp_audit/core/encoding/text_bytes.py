"""Many texts at a time, as bytes: sorted, searched for blanks and compared, without a step of Python for each.

The order of texts is that of their code points, which is that of their bytes in UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass

WORD = 8
SORTED_WORDS = 4  # texts that agree in so many words are few, or alike for long: Python sorts them
HASHED_WORDS = 32  # longer texts are compared in Python
MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
SEPARATOR = "\0"
_BLANKS = np.zeros(256, np.bool_)  # of ASCII, and all bytes of what is not ASCII
_BLANKS[[*range(0x09, 0x0E), *range(0x1C, 0x21), *range(0x80, 0x100)]] = True


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

    def words(self, texts: NDArray[np.intp], skipped: int) -> NDArray[np.uint64]:
        """The next eight bytes of some texts, by position, after the `skipped` ones, with zeros after the end.

        They are numbers that sort as the bytes do.
        """
        starts = np.minimum(self.starts[texts] + skipped, self.ends[texts])
        windows = np.lib.stride_tricks.sliding_window_view(self.data, WORD)
        words = windows[starts].view(">u8").ravel().astype(np.uint64)
        rest = (8 * np.maximum(WORD - (self.ends[texts] - starts), 0)).astype(np.uint64)
        return np.where(rest < 8 * WORD, words >> rest << rest, np.uint64(0))

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


def indices_with_surrounding_whitespace(texts: Sequence[str]) -> list[int]:
    """The positions of texts among which are all that begin or end with a blank; of few others."""
    many = TextBytes.joined(SEPARATOR.join(texts), len(texts)) if texts else None
    return list(range(len(texts))) if many is None else many.edged_with(_BLANKS).tolist()


def differ_in_case_only(texts: Sequence[str]) -> bool:
    """Whether two of some different texts differ in upper and lower case only."""
    folded = SEPARATOR.join(texts).casefold()  # character by character, so that texts may be joined before
    many = TextBytes.joined(folded, len(texts)) if texts else None
    if many is not None and many.are_different():
        return False
    return len({text.casefold() for text in texts}) < len(texts)
