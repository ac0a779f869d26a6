"""What is derivable from published tables of counts: seconds for exact recovery and for the verdict.

    python benchmarks/aggregates.py [--tables flat,small,...] [--width 1] [--effort 60] [--seed 0]

Counts are Poisson, their means gamma. Counts from 1 to 9 are hidden; `two` hides in addition the smallest positive
other cell of each line with one hidden cell, until there is none. Processor seconds are
printed next to those of the clock.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tcdp_audit.core.cells.demands import Demand, Verdict
from tcdp_audit.core.cells.intervals import find_intervals
from tcdp_audit.core.cells.narrowing import narrow
from tcdp_audit.core.cells.recovery import recover
from tcdp_audit.core.cells.system import INFINITE, CellSystem, parent_relations

HIDDEN = 9
Tree = list[int]  # how many children the nodes of each level have


@dataclass(frozen=True)
class Table:
    """Dimensions, each a tree, and whether further cells are hidden."""

    trees: tuple[Tree, ...]
    two: bool = False


TABLES = {
    "flat": Table(([99], [99])),  # 10,000 cells
    "flat_large": Table(([315], [315])),
    "small": Table(([9, 9], [9, 9])),
    "small_two": Table(([9, 9], [9, 9]), two=True),
    "cube": Table(([4, 4], [4, 4], [3, 5])),
    "cube_two": Table(([4, 4], [4, 4], [3, 5]), two=True),
    "large": Table(([18, 18], [18, 18])),  # 117,649 cells, two hierarchies
    "large_two": Table(([18, 18], [18, 18]), two=True),
    "deep": Table(([6, 6, 8], [6, 6, 8])),  # 109,561 cells, two hierarchies of three levels
    "large_cube": Table(([6, 6], [6, 6], [6, 7])),
    "large_cube_two": Table(([6, 6], [6, 6], [6, 7]), two=True),  # 40,617 hidden cells in one piece
}


def parents(tree: Tree) -> NDArray[np.int64]:
    """The parent of each node of a tree, level by level; -1 of the root."""
    result, level = [-1], [0]
    for children in tree:
        begin = len(result)
        result += [parent for parent in level for _ in range(children)]
        level = list(range(begin, len(result)))
    return np.array(result)


def counts(table: Table, seed: int) -> tuple[CellSystem, NDArray[np.int64]]:
    """A table with all totals and some cells hidden, and its true counts."""
    trees, random = [parents(tree) for tree in table.trees], np.random.default_rng(seed)
    shape = [len(tree) for tree in trees]
    leaves = [np.setdiff1d(np.arange(len(tree)), tree) for tree in trees]
    cross = np.zeros(shape, np.int64)
    cross[np.ix_(*leaves)] = random.poisson(random.gamma(0.5, 8.0, [len(one) for one in leaves]))
    for axis, tree in enumerate(trees):
        moved = np.moveaxis(cross, axis, 0)
        for node in range(len(tree) - 1, 0, -1):
            moved[tree[node]] += moved[node]
    truth = cross.ravel()
    relations = _relations(trees, np.arange(cross.size).reshape(shape))
    hidden = (truth > 0) & (truth <= HIDDEN)
    if table.two:
        _hide_more(relations, truth, hidden)
    system = CellSystem(
        relations, np.where(hidden, 0, truth), np.where(hidden, INFINITE, truth), np.ones(len(truth), np.bool_)
    )
    return system, truth


def _relations(trees: list[NDArray[np.int64]], cells: NDArray[np.int64]) -> csr_array:
    above, lengths, below = [], [], []
    for axis, tree in enumerate(trees):
        by_node = np.moveaxis(cells, axis, 0).reshape(len(tree), -1)
        for node in np.unique(tree[1:]):
            children = by_node[tree == node]
            above.append(by_node[node])
            lengths.append(np.full(children.shape[1], children.shape[0]))
            below.append(children.T.ravel())
    starts = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    return parent_relations(np.concatenate(above), starts, np.concatenate(below), cells.size)


def _hide_more(relations: csr_array, truth: NDArray[np.int64], hidden: NDArray[np.bool_]) -> None:
    rows = np.repeat(np.arange(relations.shape[0]), np.diff(relations.indptr))
    cells = relations.indices
    while True:
        lonely = np.bincount(rows[hidden[cells]], minlength=relations.shape[0]) == 1
        entries = np.flatnonzero(lonely[rows] & ~hidden[cells] & (truth[cells] > 0))
        if not len(entries):
            return
        ordered = entries[np.lexsort((cells[entries], truth[cells[entries]], rows[entries]))]
        hidden[cells[ordered[np.unique(rows[ordered], return_index=True)[1]]]] = True


def measure(name: str, width: int, effort: float, seed: int) -> None:
    system, truth = counts(TABLES[name], seed)
    clock, processor = [time.perf_counter()], [time.process_time()]

    def lap() -> str:
        clock.append(time.perf_counter())
        processor.append(time.process_time())
        return f"{processor[-1] - processor[-2]:6.2f} s ({clock[-1] - clock[-2]:.2f} s by the clock)"

    recovery = recover(narrow(system))
    pieces = recovery.remainder.pieces
    known = int((recovery.narrowed.known & system.hidden).sum())
    print(
        f"{name}: {len(truth):,} cells, {int(system.hidden.sum()):,} hidden, largest piece "
        f"{int(np.bincount(pieces, minlength=1).max()):,}\n  recovery {lap()}: {known:,} known exactly, "
        f"{int(recovery.free.sum()):,} shown to be free",
        flush=True,
    )
    demand = Demand(system.hidden, width)
    intervals = find_intervals(recovery, demand, effort=effort)
    verdicts = intervals.verdicts(demand)[system.hidden]
    print(
        f"  width >= {width} {lap()}: "
        + ", ".join(f"{int((verdicts == one).sum()):,} {one.name.lower()}" for one in Verdict)
        + f"; {intervals.programs} programs, {intervals.integer_programs} in integers",
        flush=True,
    )
    assert ((intervals.low <= truth) & (truth <= intervals.high)).all()  # noqa: S101 - the truth is in each interval


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tables", default="flat,small,small_two,cube,large,large_two,deep,large_cube_two")
    parser.add_argument("--width", type=int, default=1)
    parser.add_argument("--effort", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for name in arguments.tables.split(","):
        measure(name, arguments.width, arguments.effort, arguments.seed)


if __name__ == "__main__":
    main()
