"""Random systems of few cells, small enough for exhaustive search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from cells_reference import solutions, system

from tcdp_audit.core.cells.system import CellSystem

MOST = 8  # of a cell that declares no limit


@dataclass(frozen=True)
class Example:
    """A system, the numbers that it was made of, and all tables that fit it."""

    system: CellSystem
    truth: np.ndarray
    tables: np.ndarray  # shape (tables, cells)


def random_example(seed: int, *, wrong: bool = False, size: float = 20_000) -> Example:
    """A few numbers, sums of some of them, one or the other incomplete; half of the cells are hidden.

    Args:
        seed: of all choices.
        wrong: whether one published number is changed, by which there may be no table.
        size: the number of tables that exhaustive search may try.
    """
    for attempt in range(100):
        random = np.random.default_rng((seed, attempt))
        values = random.integers(0, 4, random.integers(2, 6)).tolist()
        names, sums, at_least = [f"c{number}" for number in range(len(values))], [], []
        for _ in range(random.integers(1, 4)):
            children = random.choice(len(names), min(len(names), random.integers(1, 4)), replace=False)
            is_partial = random.random() < 0.25
            values.append(sum(values[child] for child in children) + int(is_partial and random.integers(0, 2)))
            names.append(f"c{len(names)}")
            (at_least if is_partial else sums).append((names[-1], " ".join(names[child] for child in children)))
        limits = {name: _limits(random, value) for name, value in zip(names, values, strict=True)}
        published = [name for name, limit in limits.items() if isinstance(limit, int)]
        if wrong and published:
            limits[published[0]] += 1
        cells = system(limits, sums, at_least)
        if np.prod([float(b - a + 1) for a, b in zip(cells.low, cells.high, strict=True)]) <= size:
            return Example(cells, np.array(values), np.array(solutions(cells)).reshape(-1, len(values)))
    raise AssertionError(f"no small system for seed {seed}")


def _limits(random: np.random.Generator, value: int) -> int | tuple[int, int]:
    kind = random.random()
    if kind < 0.45:
        return value
    if kind < 0.75:
        return (0, max(MOST, value))
    return (max(0, value - int(random.integers(0, 2))), value + int(random.integers(0, 2)))
