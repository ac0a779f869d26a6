"""Which records are in a sample: a seeded hash of a column's text decides, and every engine can compute it.

Two tables with the same column give the same values, wherever they live. A record is drawn where the MD5 of the seed,
a slash and its text, in hexadecimal digits, comes before `bound`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import md5

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.encoding.domain import RawDomain, texts_of

DIGITS = 12  # of a hash, which decide: shares to 1 in 281 million million
EVERYTHING = "g"  # after all hexadecimal digits


@dataclass(frozen=True)
class Sampling:
    """A draw of records by the text of a column.

    Args:
        by: the column: its integers as decimal digits, everything else as the text that nominal values compare by.
        share: about how large a share of the column's values is drawn.
        seed: of the draw.

    Example:
        >>> Sampling("id", Fraction(1, 2), 1).drawn(["1", "2", "3", "4"]).tolist()
        [True, False, False, False]
    """

    by: str
    share: Fraction
    seed: int

    @property
    def prefix(self) -> str:
        """What stands before the text that is hashed."""
        return f"{self.seed}/"

    @property
    def bound(self) -> str:
        """The hashes before this are drawn, compared as text."""
        if self.share >= 1:
            return EVERYTHING
        return f"{int(self.share * 16**DIGITS):0{DIGITS}x}"

    def drawn(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether records with these texts are drawn. O(texts)."""
        bound, prefix = self.bound, self.prefix
        hashes = (md5((prefix + text).encode(), usedforsecurity=False).hexdigest() for text in texts)
        return np.fromiter((one < bound for one in hashes), bool, len(texts))

    def drawn_of(self, raw: RawDomain) -> NDArray[np.bool_]:
        """The same for the values of a column, and last for null, which is never drawn. Shape (values + 1,)."""
        return np.append(self.drawn(texts_of(raw.values).tolist()), False)
