"""Random texts, to find out how many of them a detector takes for what it looks for."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

DIGITS = string.digits
ANYTHING = string.ascii_letters + string.digits + string.punctuation + " "

RandomText = Callable[["np.random.Generator"], str]  # its library takes longer to load than most columns to look at


def characters(alphabet: str, least: int, most: int | None = None) -> RandomText:
    """Texts of so many characters of an alphabet, all equally likely."""

    def random_text(generator: np.random.Generator) -> str:
        length = least if most is None else int(generator.integers(least, most + 1))
        return "".join(alphabet[place] for place in generator.integers(0, len(alphabet), length).tolist())

    return random_text


def formed(form: str) -> RandomText:
    """Texts of a form: `9` stands for a digit, `A` for a capital letter, all else for itself.

    Example:
        >>> import numpy as np
        >>> formed("GB99 AAAA")(np.random.default_rng(1))
        'GB19 LVKO'
    """
    kinds = {"9": string.digits, "A": string.ascii_uppercase}

    def random_text(generator: np.random.Generator) -> str:
        parts = zip((kinds.get(one, one) for one in form), generator.random(len(form)).tolist(), strict=True)
        return "".join(choices[int(part * len(choices))] for choices, part in parts)

    return random_text


anything = characters(ANYTHING, 4, 20)  # a column of texts that mean nothing
