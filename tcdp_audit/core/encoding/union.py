"""Domains of one attribute in several tables, over the values of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import Interval, by_cover, number_text

EXACT = 2**53  # every integer up to here is a float64 of its own


def union(domains: Sequence[Domain]) -> list[Domain]:
    """The same domains with the values of all of them, in their common order: equal codes are equal values.

    Raises:
        DataError: one holds numbers and another ranges, or numbers of one would be rounded to those of another.

    Cost: a merge of sorted values; O(values log values) where they are generalised.
    """
    _require_comparable(domains)
    if all(np.array_equal(one.values, domains[0].values) for one in domains[1:]):
        return list(domains)  # ordinal ones always are
    if any(one.covers is not None for one in domains):
        return _over_ranges(domains)
    values, positions = _merged([one.values for one in domains])
    return [one.recoded_to(values, position) for one, position in zip(domains, positions, strict=True)]


def _merged(values: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], list[NDArray[np.int64]]]:
    """All values in order, and the place of each array's own among them; every array is sorted and distinct."""
    together = np.concatenate(values)
    order = np.argsort(together, kind="stable")  # takes what is sorted already as it is, and merges it
    ordered = together[order]
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    position = np.empty(len(ordered), dtype=np.int64)
    position[order] = np.cumsum(new) - 1
    return ordered[new], np.split(position, np.cumsum([len(one) for one in values[:-1]]))


def _over_ranges(domains: Sequence[Domain]) -> list[Domain]:
    """Domains with generalised values; one that is not generalised covers itself by its rank or its number."""
    known = {label: cover for one in domains for label, cover in zip(one.labels, one.covers or (), strict=False)}
    plain = [one for one in domains if one.covers is None]
    known |= {label: Interval(code, code) for one in plain for code, label in enumerate(one.labels)}
    ordered = sorted(known, key=lambda label: by_cover(label, known[label]))
    rank = {label: code for code, label in enumerate(ordered)}
    values, covers = np.array([*ordered, None], dtype=object)[:-1], tuple(known[label] for label in ordered)
    positions = (np.array([rank[value] for value in one.values.tolist()], dtype=np.int64) for one in domains)
    return [one.recoded_to(values, position, covers) for one, position in zip(domains, positions, strict=True)]


def _require_comparable(domains: Sequence[Domain]) -> None:
    if len({one.values.dtype == object for one in domains if one.size}) > 1:
        reason = "is generalised in one table and holds numbers in another, so they cannot be compared"
        raise DataError(f"column {domains[0].attribute!r} {reason}")
    require_exact(domains)


def require_exact(domains: Sequence[Domain]) -> None:
    """Insist that no number of one domain would be rounded to that of another.

    Raises:
        DataError: one would be.
    """
    reason = _inexact(domains)
    if reason:
        raise DataError(f"column {domains[0].attribute!r} {reason}")


def _inexact(domains: Sequence[Domain]) -> str:
    """Why the numbers of some domains cannot be compared exactly, or nothing; follows the column's name."""
    whole = [one.values for one in domains if one.values.dtype.kind == "i" and one.size]
    mixed = any(one.values.dtype.kind == "f" or one.covers is not None for one in domains)
    if mixed and any(max(-int(one[0]), int(one[-1])) > EXACT for one in whole):
        return (
            "holds integers too large to be compared exactly with the decimals or ranges that it holds in another "
            "table; if they are codes, declare `scale: nominal`"
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
