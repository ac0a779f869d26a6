"""Attacks on candidate sets by trying everything: slow, exact, independent of how the checks do it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import pandas as pd
import pyarrow as pa

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome

Column = Sequence[int | None]
Matrix = list[list[bool]]
Table = Mapping[str, Any] | pd.DataFrame
NUMERIC = {"role": "quasi_identifier", "scale": "numeric"}


def attacked(check: str, released: Table, original: Table, **parameters: Any) -> Outcome:
    """What comes of an attack on tables whose rows are aligned."""
    policy = {
        "version": 1,
        "rows_aligned": True,
        "attributes": dict.fromkeys(map(str, released), NUMERIC),
        "expect": [{check: parameters}],
    }
    tables = (pa.table({name: pa.array(column) for name, column in one.items()}) for one in (released, original))
    return tcdp_audit.audit(next(tables), policy, next(tables)).expectations[0]


def displacement(known: int, released: int, column: Column) -> int:
    """Between the nearest ends of both in the sorted column."""
    ranked = sorted(value for value in column if value is not None)
    low, high = ([side(ranked, value) for value in (known, released)] for side in (bisect_left, bisect_right))
    return max(low[0] - (high[1] - 1), low[1] - (high[0] - 1), 0)


def within(released: Column, original: Column, most: int) -> Matrix:
    """Which original values may have become which released ones; a missing one says nothing."""
    return [[x is None or y is None or displacement(x, y, released) <= most for y in released] for x in original]


def largest(released: Column, original: Column) -> int:
    """The largest displacement of a pair."""
    both = [(x, y) for x, y in zip(original, released, strict=True) if x is not None and y is not None]
    return max(displacement(x, y, released) for x, y in both)


def least(released: Sequence[Column], original: Sequence[Column]) -> int:
    """The least displacement in all attributes that leaves everybody a candidate."""
    people = range(len(released[0]))

    def moved(i: int, j: int) -> int:
        cells = [(x[i], y[j], y) for x, y in zip(original, released, strict=True)]
        return max([displacement(x, y, column) for x, y, column in cells if x is not None and y is not None], default=0)

    return max(min(moved(i, j) for j in people) for i in people)


def together(matrices: Sequence[Matrix]) -> Matrix:
    """What all attributes leave."""
    return [[all(cells) for cells in zip(*rows, strict=True)] for rows in zip(*matrices, strict=True)]


def closed(matrix: Matrix) -> Matrix:
    """What some matching of everybody leaves, by trying all of them."""
    size = len(matrix)
    left = [[False] * size for _ in range(size)]
    for order in permutations(range(size)):
        if all(matrix[i][j] for i, j in enumerate(order)):
            for i, j in enumerate(order):
                left[i][j] = True
    return left


def figures(matrix: Matrix) -> dict[str, Any]:
    """The figures of candidate sets that the checks give, of people who are released in their own order."""
    sizes = [sum(row) for row in matrix]
    return {
        "certain": sum(size == 1 and matrix[i][i] for i, size in enumerate(sizes)),
        "wrongly_certain": sum(size == 1 and not matrix[i][i] for i, size in enumerate(sizes)),
        "expected_correct": sum((Fraction(matrix[i][i], size) for i, size in enumerate(sizes) if size), Fraction(0)),
        "mean_candidates": sum(sizes) / len(sizes),
        "least_candidates": min(sizes),
        "empty": sizes.count(0),
    }


def both_ends(matrix: Matrix) -> dict[str, Any]:
    """The same in both directions."""
    turned = [list(column) for column in zip(*matrix, strict=True)]
    return {"original_to_masked": figures(matrix), "masked_to_original": figures(turned)}


def without_nearest(details: Mapping[str, Any]) -> dict[str, Any]:
    """Both directions of an outcome, without what needs a distance."""
    return {
        end: {name: value for name, value in details[end].items() if name != "nearest_correct"}
        for end in ("original_to_masked", "masked_to_original")
    }
