"""Whether a column's name says what the column is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
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
    words = words_of(column)
    return any(_is(words, words_of(one)) if one.startswith("=") else _has(words, words_of(one)) for one in phrases)


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


def _is(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    return "".join(words) == "".join(phrase)


def _has(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    length = len(phrase)
    if any(words[start : start + length] == phrase for start in range(len(words) - length + 1)):
        return True
    return "".join(phrase) in {*words, "".join(word for word in words if not word.isdigit())}
