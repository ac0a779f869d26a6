"""Slow twins of the kernel of published tables: tables by labels, exhaustive search, and elimination in fractions."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.sparse import csr_array

from tcdp_audit.core.cells.system import INFINITE, CellSystem

Limits = Mapping[str, tuple[int, int | None] | int]  # of cells by name; one number is published
Key = tuple[str, ...]
FREE = (0, None)  # the limits of a hidden count of which nothing is said


def system(limits: Limits, sums: Iterable[tuple[str, str]], at_least: Iterable[tuple[str, str]] = ()) -> CellSystem:
    """Cells by name, and parents with the names of their children, separated by spaces."""
    names = list(limits)
    pairs = [(value, value) if isinstance(value, int) else value for value in limits.values()]
    matrices = [
        csr_array(_coefficients(names, rows), shape=(len(rows), len(names)), dtype=np.int64)
        for rows in (list(sums), list(at_least))
    ]
    return CellSystem(
        relations=matrices[0],
        low=np.array([low for low, _ in pairs], np.int64),
        high=np.array([INFINITE if high is None else high for _, high in pairs], np.int64),
        integral=np.ones(len(names), np.bool_),
        inequalities=matrices[1] if matrices[1].shape[0] else None,
    )


def _coefficients(names: Sequence[str], rows: Sequence[tuple[str, str]]) -> np.ndarray:
    matrix = np.zeros((len(rows), len(names)), np.int64)
    for row, (parent, children) in enumerate(rows):
        matrix[row, names.index(parent)] += 1
        for child in children.split():
            matrix[row, names.index(child)] -= 1
    return matrix


def generate(seed: int, shape: Sequence[int], top: int, below: int) -> tuple[dict[Key, int], list[Key]]:
    """The tables of DEFINITIONS-AGGREGATES, section 7: counts with all totals, and small ones to hide."""
    g = random.Random(seed)  # noqa: S311 - no secret
    leaf = {k: int(g.random() ** 3 * top) for k in product(*[[str(i) for i in range(m)] for m in shape])}
    full = {
        k: sum(v for c, v in leaf.items() if all(a in ("T", b) for a, b in zip(k, c, strict=True)))
        for k in product(*[["T"] + [str(i) for i in range(m)] for m in shape])
    }
    return full, [k for k in full if 0 < full[k] < below]


def lines(shape: Sequence[int]) -> Iterator[list[Key]]:
    """Each total with all of its codes, by dimension, then by the others in product order."""
    nodes = [["T"] + [str(i) for i in range(m)] for m in shape]
    for d in range(len(shape)):
        for rest in product(*[n for e, n in enumerate(nodes) if e != d]):
            yield [(*rest[:d], code, *rest[d:]) for code in nodes[d]]


def two_per_line(full: Mapping[Key, int], hidden: Iterable[Key], shape: Sequence[int]) -> set[Key]:
    """Hide the smallest positive other cell of each line with one hidden cell, until there is none."""
    result, before = set(hidden), -1
    while before != len(result):
        before = len(result)
        for line in lines(shape):
            others = [key for key in line if key not in result and full[key] > 0]
            if len(set(line) & result) == 1 and others:
                result.add(min(others, key=lambda key: (full[key], key)))
    return result


def crossed(
    full: Mapping[Key, int], hidden: Iterable[Key], shape: Sequence[int], token: tuple[int, int | None] = (0, None)
) -> CellSystem:
    """A cross with all totals, whose hidden cells have the limits of a token."""
    hidden = set(hidden)
    limits = {" ".join(key): token if key in hidden else value for key, value in full.items()}
    names = {name: number for number, name in enumerate(limits)}
    matrix = np.zeros((len(list(lines(shape))), len(full)), np.int64)
    for row, line in enumerate(lines(shape)):
        matrix[row, names[" ".join(line[0])]] = 1
        matrix[row, [names[" ".join(key)] for key in line[1:]]] = -1
    flat = system(limits, ())
    return CellSystem(csr_array(matrix), flat.low, flat.high, flat.integral)


def solutions(cells: CellSystem) -> list[tuple[int, ...]]:
    """All tables in whole numbers, by trying every value from the lower to the upper limit."""
    relations = cells.relations.toarray()
    at_least = np.zeros((0, len(cells.low))) if cells.inequalities is None else cells.inequalities.toarray()
    ranges = [np.arange(low, high + 1) for low, high in zip(cells.low, cells.high, strict=True)]
    tables = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, len(ranges))
    holds = (tables @ relations.T == 0).all(axis=1) & (tables @ at_least.T >= 0).all(axis=1)
    return [tuple(table) for table in tables[holds].tolist()]


def rank(matrix: np.ndarray) -> int:
    """The rank of integers, by elimination in fractions."""
    rows, result = [[Fraction(int(value)) for value in row] for row in matrix], 0
    for column in range(matrix.shape[1]):
        pivot = next((row for row in rows[result:] if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(result, pivot)
        for number in range(result + 1, len(rows)):
            factor = rows[number][column] / pivot[column]
            rows[number] = [a - factor * b for a, b in zip(rows[number], pivot, strict=True)]
        result += 1
    return result


def determined(matrix: np.ndarray) -> list[bool]:
    """Whether each column is 0 in all vectors that the matrix maps to 0."""
    whole = rank(matrix)
    return [rank(np.delete(matrix, column, axis=1)) < whole for column in range(matrix.shape[1])]
