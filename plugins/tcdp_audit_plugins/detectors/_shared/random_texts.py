"""Random texts, to find out how many of them a detector takes for what it looks for."""

from __future__ import annotations

import string
from collections.abc import Callable

import numpy as np

DIGITS = string.digits
ANYTHING = string.ascii_letters + string.digits + string.punctuation + " "

RandomText = Callable[[np.random.Generator], str]


def characters(alphabet: str, least: int, most: int | None = None) -> RandomText:
    """Texts of so many characters of an alphabet, all equally likely."""
    letters = np.array([*alphabet])

    def random_text(generator: np.random.Generator) -> str:
        length = least if most is None else int(generator.integers(least, most + 1))
        return "".join(generator.choice(letters, length))

    return random_text


def formed(form: str) -> RandomText:
    """Texts of a form: `9` stands for a digit, `A` for a capital letter, all else for itself.

    Example:
        >>> formed("GB99 AAAA")(np.random.default_rng(1))
        'GB45 TYAD'
    """
    kinds = {"9": string.digits, "A": string.ascii_uppercase}

    def random_text(generator: np.random.Generator) -> str:
        return "".join(str(generator.choice([*kinds[one]])) if one in kinds else one for one in form)

    return random_text


anything = characters(ANYTHING, 4, 20)  # a column of texts that mean nothing
