"""Domains of one attribute in several tables, over the values of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.encoding.domain import Domain
from tcdp_audit.encoding.generalised import Interval, by_cover, number_text
from tcdp_audit.errors import DataError

EXACT = 2**53  # every integer up to here is a float64 of its own


def union(domains: Sequence[Domain]) -> list[Domain]:
    """The same domains with the values of all of them, in their common order: equal codes are equal values.

    Raises:
        DataError: one holds numbers and another ranges, or numbers of one would be rounded to those of another.

    Cost: O(values log values).
    """
    _require_comparable(domains)
    values, covers = _common_values(domains)
    return [one.recoded_to(values, covers) for one in domains]


def _common_values(domains: Sequence[Domain]) -> tuple[NDArray[Any], tuple[Interval, ...] | None]:
    """All values in the order that each domain has them, and what they cover; ordinal domains are equal already."""
    values = [one.values for one in domains]
    if all(np.array_equal(other, values[0]) for other in values[1:]):
        return values[0], domains[0].covers
    if any(one.covers is not None for one in domains):
        return _common_ranges(domains)
    if values[0].dtype == object:
        return np.array([*sorted(set().union(*(one.tolist() for one in values))), None], dtype=object)[:-1], None
    return np.unique(np.concatenate(values)), None


def _common_ranges(domains: Sequence[Domain]) -> tuple[NDArray[Any], tuple[Interval, ...]]:
    """Generalised values of several tables; one that is not generalised covers itself by its rank or its number."""
    known = {label: cover for one in domains for label, cover in zip(one.labels, one.covers or (), strict=False)}
    plain = [one for one in domains if one.covers is None]
    known |= {label: Interval(code, code) for one in plain for code, label in enumerate(one.labels)}
    ordered = sorted(known, key=lambda label: by_cover(label, known[label]))
    return np.array([*ordered, None], dtype=object)[:-1], tuple(known[label] for label in ordered)


def _require_comparable(domains: Sequence[Domain]) -> None:
    reason = _incomparable(domains)
    if reason:
        raise DataError(f"column {domains[0].attribute!r} {reason}")


def _incomparable(domains: Sequence[Domain]) -> str:
    """Why the values of some domains cannot be compared exactly, or nothing; follows the column's name."""
    if len({one.values.dtype == object for one in domains if one.size}) > 1:
        return "is generalised in one table and holds numbers in another, so they cannot be compared"
    whole = [one.values for one in domains if one.values.dtype.kind == "i" and one.size]
    mixed = any(one.values.dtype.kind == "f" for one in domains)
    if mixed and any(max(-int(one[0]), int(one[-1])) > EXACT for one in whole):
        return (
            "holds integers too large to be compared exactly with the decimal numbers that it holds in another table; "
            "if they are codes, declare `scale: nominal`"
        )
    if any(_merges(one, other) for one, other in permutations(domains, 2)):
        return (
            "holds numbers that are told from those of another table only beyond the digits of 64-bit floating point; "
            "round both alike, or declare `scale: nominal`"
        )
    return ""


def _merges(one: Domain, other: Domain) -> bool:
    """Whether a number of one domain is rounded to a value that is another number in the other domain."""
    if not one.rounded:
        return False
    known = set(other.values.tolist())  # numbers, or labels where some are ranges
    return any(
        (number in known or number_text(number) in known) and other.rounded.get(number) != cell
        for number, cell in one.rounded.items()
    )
