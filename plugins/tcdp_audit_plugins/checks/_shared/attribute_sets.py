"""Every set of attributes up to a size: which there are, and when they are too many to look at."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

from tcdp_audit.plugin.sentences import agree, count

SETS = 100_000  # at most


def sets_up_to(attributes: int, order: int) -> list[tuple[int, ...]]:
    """The sets of at most `order` attributes by their places, each beginning as the one before where it can.

    Example:
        >>> sets_up_to(3, 2)
        [(0,), (0, 1), (0, 2), (1,), (1, 2), (2,)]
    """
    return sorted(one for size in range(1, min(order, attributes) + 1) for one in combinations(range(attributes), size))


def number_of_sets(attributes: int, order: int) -> int:
    """How many `sets_up_to` gives."""
    return sum(comb(attributes, size) for size in range(1, min(order, attributes) + 1))


def require_few_sets(attributes: int, order: int, parameter: str) -> Iterator[tuple[str, str]]:
    """Why an expectation cannot hold for a policy: the sets are too many."""
    sets = number_of_sets(attributes, order)
    if sets > SETS:
        yield (
            parameter,
            f"{count(sets, 'set')} of attributes are too many, {SETS:,} at most; choose a smaller `{parameter}`",
        )


def few_columns(order: int) -> str:
    """What an intruder knows, in words."""
    return agree(order, "a single column", f"{order:,} columns or fewer")
