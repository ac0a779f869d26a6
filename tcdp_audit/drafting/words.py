"""The words of a column's name, and which topic of a vocabulary they speak of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tcdp_audit.drafting.vocabulary import TOPICS, Topic

CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WORD = re.compile(r"[^\W\d_]+")
LETTERS = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "đ": "d", "ı": "i"})


def words_of(name: str) -> list[str]:
    """The words of a name, in small letters without accents and numbers.

    Example:
        >>> words_of("dateOfBirth"), words_of("Staatsangehörigkeit_2"), words_of("HIV-status")
        (['date', 'of', 'birth'], ['staatsangehorigkeit'], ['hiv', 'status'])
    """
    parted = CAMEL.sub(" ", unicodedata.normalize("NFC", name))
    plain = unicodedata.normalize("NFKD", parted.lower().translate(LETTERS))
    return WORD.findall("".join(one for one in plain if not unicodedata.combining(one)))


@dataclass(frozen=True)
class Phrase:
    """One entry of a vocabulary: words in a row, each of which may begin or end with `*` for any letters.

    After `=` it is the whole of a name.

    Args:
        text: as it stands in the vocabulary.
    """

    text: str

    @cached_property
    def _words(self) -> Sequence[re.Pattern[str]]:
        return [re.compile(one.replace("*", r"\w*")) for one in self.text.split()]

    @cached_property
    def _joined(self) -> re.Pattern[str]:
        return re.compile(self.text.replace(" ", "").replace("*", r"\w*"))

    def end(self, words: Sequence[str]) -> int | None:
        """After how many of the words the entry ends, counted from the first; None where it does not stand there."""
        if self.text.startswith("="):
            return len(words) if list(words) == self.text[1:].split() else None
        ends = [end for end in range(1, len(words) + 1) if self._ends_at(words, end)]
        return ends[-1] if ends else None

    def _ends_at(self, words: Sequence[str], end: int) -> bool:
        start = end - len(self._words)
        in_a_row = start >= 0 and all(
            pattern.fullmatch(word) for pattern, word in zip(self._words, words[start:end], strict=True)
        )
        return in_a_row or self._joined.fullmatch(words[end - 1]) is not None


PHRASES = [(Phrase(text.strip()), topic) for topic in TOPICS for text in topic.words.split(",")]


def topic_of(name: str) -> Topic | None:
    """What a column's name speaks of; None where no word is known.

    The word that stands last decides, as it does in English, and of several that end there the longest.

    Example:
        >>> topic_of("zip_code").key, topic_of("Geburtsdatum").key, topic_of("salary-class").key, topic_of("x1")
        ('place', 'date', 'money', None)
    """
    words = words_of(name)
    found = [(end, len(phrase.text.replace("*", "")), topic) for phrase, topic, end in _matches(words, PHRASES)]
    return max(found, key=lambda one: one[:2])[2] if found else None


def _matches(words: Sequence[str], phrases: Iterable[tuple[Phrase, Topic]]) -> Iterator[tuple[Phrase, Topic, int]]:
    for phrase, topic in phrases:
        end = phrase.end(words)
        if end is not None:
            yield phrase, topic, end
