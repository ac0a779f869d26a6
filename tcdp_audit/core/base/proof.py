"""The proof of a verdict that a table alone decides: what checks it without this program, and no cell."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Proof:
    """Counts and exact fractions behind one outcome, for `tcdp-audit verifier`.

    Args:
        classes: the number of equivalence classes.
        records: the number of records in them.
        observed: the observed figure as an exact fraction; infinite, or None for a logarithm, which is none.
        threshold: the threshold as an exact fraction; None where nothing is demanded of the figure.
        counts: the counts of the sensitive values in the worst class in descending order, or its size for a check of
            class sizes; empty where no member has a value. None where no class is the worst: of an attack and a risk.
        sizes: how many classes there are of each size; None where the outcome is not of classes.
    """

    classes: int
    records: int
    observed: Fraction | float | None
    threshold: Fraction | None
    counts: tuple[int, ...] | None
    sizes: Mapping[int, int] | None

    def as_json(self) -> dict[str, Any]:
        """The `proof` of an outcome in the JSON contract: fractions as texts such as `3/8`, sizes as their digest."""
        return {
            "classes": self.classes,
            "records": self.records,
            "observed": _text(self.observed),
            "threshold": _text(self.threshold),
            "counts": None if self.counts is None else list(self.counts),
            "sizes_sha256": None if self.sizes is None else digest_of_sizes(self.sizes),
        }


def digest_of_sizes(sizes: Mapping[int, int]) -> str:
    r"""SHA-256 of a line for each class size, ascending: the size, a blank, and how many classes have it.

    Example:
        >>> digest_of_sizes({3: 2}) == hashlib.sha256(b"3 2\n").hexdigest()
        True
    """
    return hashlib.sha256("".join(f"{size} {sizes[size]}\n" for size in sorted(sizes)).encode()).hexdigest()


def _text(figure: Fraction | float | None) -> str | None:
    if figure is None:
        return None
    return str(figure) if isinstance(figure, Fraction) else "infinity"
