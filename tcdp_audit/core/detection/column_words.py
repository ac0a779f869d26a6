"""Whether a column's name says what the column is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")


def is_named(column: str, phrases: Iterable[str]) -> bool:
    """Whether a column's name has the words of some phrase beside each other, or is the phrase written as one word.

    A phrase that begins with `=` must be the whole name. Case and accents make no difference; words end where the case
    changes, at digits and at all other characters.

    Example:
        >>> is_named("patientFirstName", ["first name"]), is_named("email", ["mail"]), is_named("drug_name", ["=name"])
        (True, False, False)
        >>> is_named("firstname", ["first name"])
        True
    """
    name = _name(column)
    return any(_says(name, _phrase(one)) for one in phrases)


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case without accents.

    Example:
        >>> words_of("dateOfBirth_2"), words_of("Téléphone")
        (('date', 'of', 'birth', '2'), ('telephone',))
    """
    decomposed = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(one for one in decomposed if not unicodedata.combining(one))
    return tuple(part.lower() for part in PARTS.findall(plain))


@dataclass(frozen=True)
class _Words:
    """Words as texts that are quick to compare: without anything between them, and with blanks around each."""

    joined: str
    spaced: str
    whole: bool = False
    alone: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def _phrase(text: str) -> _Words:
    words = words_of(text)
    return _Words("".join(words), f" {' '.join(words)} ", text.startswith("="))


@lru_cache(maxsize=4096)
def _name(text: str) -> _Words:
    """A column's name; `alone` are its words, and all of them without digits as one word."""
    words = words_of(text)
    one_word = "".join(word for word in words if not word.isdigit())
    return _Words("".join(words), f" {' '.join(words)} ", alone=frozenset({*words, one_word}))


def _says(name: _Words, phrase: _Words) -> bool:
    if phrase.whole:
        return name.joined == phrase.joined
    return phrase.spaced in name.spaced or phrase.joined in name.alone
