"""Random systems against exhaustive search in whole numbers and elimination in fractions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from cells_reference import crossed, determined, generate, system, two_per_line
from random_cells import Example, random_example
from scipy.sparse import csr_array

from tcdp_audit.core.cells.computation import find_computation
from tcdp_audit.core.cells.contradictions import find_smallest
from tcdp_audit.core.cells.demands import Demand, Intervals, Verdict
from tcdp_audit.core.cells.elimination import Echelon
from tcdp_audit.core.cells.intervals import find_intervals
from tcdp_audit.core.cells.narrowing import narrow
from tcdp_audit.core.cells.recovery import recover
from tcdp_audit.core.cells.solutions import count_solutions, feasible_values
from tcdp_audit.core.cells.system import CellSystem, Contradiction

LONG = pytest.param(1000, marks=pytest.mark.long)


def derive(cells: CellSystem, demand: Demand | None = None) -> Intervals | Contradiction:
    """Intervals, or what contradicts at any step."""
    narrowed = narrow(cells)
    if narrowed.contradiction is not None:
        return narrowed.contradiction
    recovery = recover(narrowed)
    if recovery.narrowed.contradiction is not None:
        return recovery.narrowed.contradiction
    intervals = find_intervals(recovery, demand)
    assert intervals.finished or intervals.contradiction
    return intervals.contradiction or intervals


def only(cells: CellSystem, rows: Iterable[int]) -> CellSystem:
    """The same cells with some of the relations and inequalities."""
    numbers, equations = np.array(sorted(rows), np.int64), cells.relations.shape[0]
    more = None if cells.inequalities is None else cells.inequalities[numbers[numbers >= equations] - equations]
    return CellSystem(cells.relations[numbers[numbers < equations]], cells.low, cells.high, cells.integral, more)


def examples(count: int, *, wrong: bool = False) -> Iterable[tuple[int, Example]]:
    return ((seed, random_example(seed, wrong=wrong, size=20_000 if count < 100 else 3_000)) for seed in range(count))


@pytest.mark.parametrize("count", [20, LONG])
def test_intervals_are_those_of_all_tables(count: int) -> None:
    for seed, example in examples(count):
        actual = derive(example.system)

        assert isinstance(actual, Intervals), seed
        assert actual.attained.all(), seed
        assert actual.low.tolist() == example.tables.min(axis=0).tolist(), seed
        assert actual.high.tolist() == example.tables.max(axis=0).tolist(), seed
        assert (actual.real_low <= actual.low + 1e-6).all(), seed
        assert (actual.real_high >= actual.high - 1e-6).all(), seed


@pytest.mark.parametrize("count", [30, LONG])
@pytest.mark.parametrize("width", [1, 3])
def test_verdicts_are_those_of_all_tables(count: int, width: int) -> None:
    for seed, example in examples(count):
        demand = Demand(example.system.hidden, width)

        actual = derive(example.system, demand)

        assert isinstance(actual, Intervals), seed
        verdicts, widths = actual.verdicts(demand)[demand.cells], np.ptp(example.tables, axis=0)[demand.cells]
        assert ((verdicts == Verdict.PROTECTED) == (widths >= width)).all(), seed
        assert np.isin(verdicts[widths < width], (Verdict.KNOWN, Verdict.NARROW)).all(), seed
        assert (widths[verdicts == Verdict.KNOWN] == 0).all(), seed


@pytest.mark.parametrize("count", [30, LONG])
def test_a_search_goes_on_from_what_another_saw(count: int) -> None:
    for seed, example in examples(count):
        hidden, widths = example.system.hidden, np.ptp(example.tables, axis=0)
        recovery = recover(narrow(example.system))
        first = find_intervals(recovery, Demand(hidden & (np.arange(len(hidden)) % 2 == 0), 1))
        demand = Demand(hidden, 2)

        actual = find_intervals(recovery, demand, seen=first)

        assert ((actual.verdicts(demand) == Verdict.PROTECTED) == (widths >= 2))[hidden].all(), seed
        assert (actual.low <= example.tables.min(axis=0)).all(), seed
        assert (actual.high >= example.tables.max(axis=0)).all(), seed
        again = find_intervals(recovery, demand, seen=actual)
        assert (again.programs, again.integer_programs) == (0, 0), seed


@pytest.mark.parametrize("count", [30, LONG])
def test_real_numbers_that_were_seen_are_those_of_solutions(count: int) -> None:
    for seed, example in examples(count):
        recovery = recover(narrow(example.system))
        exact = find_intervals(recovery, integers=False)

        actual = find_intervals(recovery, Demand(example.system.hidden, 2), integers=False)

        assert (actual.real_low >= np.minimum(exact.real_low, exact.seen_low) - 1e-6).all(), seed
        assert (actual.real_high <= np.maximum(exact.real_high, exact.seen_high) + 1e-6).all(), seed


@pytest.mark.parametrize("count", [30, LONG])
def test_numbers_of_tables_and_values_are_those_of_all_tables(count: int) -> None:
    for seed, example in examples(count):
        recovery = recover(narrow(example.system))

        actual = count_solutions(recovery)

        assert (actual.number, actual.is_exact) == (len(example.tables), True), seed
        for cell, values in enumerate(example.tables.T):
            assert feasible_values(recovery, cell).tolist() == np.unique(values).tolist(), seed


@pytest.mark.parametrize("count", [40, pytest.param(600, marks=pytest.mark.long)])
def test_systems_contradict_if_and_only_if_there_is_no_table(count: int) -> None:
    contradictions = 0
    for seed, example in examples(count, wrong=True):
        actual = derive(example.system, Demand(example.system.hidden, 2) if seed % 2 else None)

        assert isinstance(actual, Contradiction) == (not len(example.tables)), seed
        if isinstance(actual, Contradiction) and actual.relations:
            contradictions += 1
            smallest = find_smallest(example.system, actual)
            assert smallest.is_smallest, seed
            assert isinstance(derive(only(example.system, smallest.relations)), Contradiction), seed
            for row in smallest.relations:
                assert isinstance(derive(only(example.system, {*smallest.relations} - {row})), Intervals), seed
    assert contradictions > count / 10


@pytest.mark.parametrize("count", [30, LONG])
def test_known_cells_have_computations_and_free_ones_none(count: int) -> None:
    computed = 0
    for seed, example in examples(count):
        recovery = recover(narrow(example.system))
        known = recovery.narrowed.known & example.system.hidden

        assert not (known & recovery.free).any(), seed
        for cell in np.flatnonzero(known).tolist():
            actual = find_computation(recovery, cell, effort=0)
            assert actual is not None, seed
            if not actual.limited and actual.terms:
                computed += 1
                assert actual.value(example.system.low) == example.truth[cell], seed
        assert all(find_computation(recovery, cell) is None for cell in np.flatnonzero(recovery.free).tolist())
    assert computed > count / 3


@pytest.mark.parametrize("count", [20, LONG])
def test_elimination_determines_what_fractions_do(count: int) -> None:
    for seed in range(count):
        random = np.random.default_rng(seed)
        matrix = random.choice([-2, -1, 0, 0, 0, 1], (random.integers(1, 6), random.integers(1, 7)))
        truth = random.integers(0, 9, matrix.shape[1])
        echelon = Echelon.of(csr_array(matrix), matrix @ truth)

        expected = {column for column, is_determined in enumerate(determined(matrix)) if is_determined}

        assert echelon.false < 0
        assert echelon.determined(range(matrix.shape[1])) == expected, seed
        values = echelon.solution()
        assert all(values[column] == truth[column] for column in expected), seed
        for column in range(matrix.shape[1]):
            factors = echelon.combination(column)
            assert bool(factors) == (column in expected), seed
            sums = sum(
                (factor * matrix[row].astype(object) for row, factor in factors.items()), np.zeros(len(truth), int)
            )
            assert not factors or sums.tolist() == np.eye(len(truth), dtype=int)[column].tolist(), seed


@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.long)])
def test_publishing_more_never_widens_and_order_changes_nothing(count: int) -> None:
    for seed, example in examples(count):
        cells, random = example.system, np.random.default_rng(seed)
        before = derive(cells)
        shown = random.random(len(cells.low)) < 0.3
        more = CellSystem(
            cells.relations,
            np.where(shown, example.truth, cells.low),
            np.where(shown, example.truth, cells.high),
            cells.integral,
            cells.inequalities,
        )
        columns, rows = random.permutation(len(cells.low)), random.permutation(cells.relations.shape[0])
        mixed = CellSystem(
            cells.relations[rows][:, columns],
            cells.low[columns],
            cells.high[columns],
            cells.integral,
            None if cells.inequalities is None else cells.inequalities[:, columns],
        )

        after, other = derive(more), derive(mixed)

        assert isinstance(before, Intervals)
        assert isinstance(after, Intervals)
        assert isinstance(other, Intervals)
        assert ((after.low >= before.low) & (after.high <= before.high)).all(), seed
        assert other.low.tolist() == before.low[columns].tolist(), seed
        assert other.high.tolist() == before.high[columns].tolist(), seed


@pytest.mark.parametrize("seed", range(4))
def test_leaves_alone_give_the_same_intervals_as_all_cells(seed: int) -> None:
    full, few = generate(seed, (3, 3), 20, 6)
    hidden = set(few) | {("0", "0")}
    leaves = [key for key in full if "T" not in key]
    limits = {" ".join(key): full[key] if key not in hidden else (0, None) for key in leaves}
    totals = [key for key in full if "T" in key and key not in hidden]
    sums = [
        (
            "total " + " ".join(key),
            " ".join("".join(leaf) for leaf in leaves if all(a in ("T", b) for a, b in zip(key, leaf, strict=True))),
        )
        for key in totals
    ]
    limits = {name.replace(" ", ""): limit for name, limit in limits.items()}
    by_leaves = system(limits | {"total " + " ".join(key): full[key] for key in totals}, sums)

    actual, expected = derive(by_leaves), derive(crossed(full, hidden, (3, 3)))

    assert isinstance(actual, Intervals)
    assert isinstance(expected, Intervals)
    places = [list(full).index(leaf) for leaf in leaves]
    assert actual.low[: len(leaves)].tolist() == expected.low[places].tolist()
    assert actual.high[: len(leaves)].tolist() == expected.high[places].tolist()


@pytest.mark.parametrize("count", [4, pytest.param(100, marks=pytest.mark.long)])
def test_verdicts_of_tables_agree_with_their_intervals(count: int) -> None:
    """Moves, sums of cells and a known solution decide early what intervals of all cells decide in the end."""
    for seed in range(count):
        shape, random = [(4, 4), (3, 3, 3), (5, 3), (2, 3, 3)][seed % 4], np.random.default_rng(seed)
        full, few = generate(seed, shape, int(random.integers(10, 40)), int(random.integers(3, 7)))
        cells = crossed(full, two_per_line(full, few, shape) if seed % 3 else few, shape)
        truth, recovery = np.array(list(full.values())), recover(narrow(cells))
        exact = find_intervals(recovery)
        widths = (exact.high - exact.low)[cells.hidden]
        for width in (1, 2, 5):
            demand = Demand(cells.hidden, width)
            for solution in (None, truth):
                actual = find_intervals(recovery, demand, solution=solution, seed=seed)
                verdicts = actual.verdicts(demand)[cells.hidden]

                assert actual.finished
                assert ((verdicts == Verdict.PROTECTED) == (widths >= width)).all(), (seed, width)
                assert (verdicts <= Verdict.PROTECTED).all(), (seed, width)
                assert ((exact.low <= actual.seen_low) | (actual.seen_low == np.inf)).all(), (seed, width)
                assert ((actual.low <= exact.low) & (exact.high <= actual.high)).all(), (seed, width)


def test_shared_inputs_of_a_long_chain_are_computed_once() -> None:
    """Each cell is the sum of the two before it, from the last to the first: as many paths as Fibonacci has numbers."""
    length, truth = 60, [1, 1]
    while len(truth) < length:
        truth.append(truth[-1] + truth[-2])
    limits = {f"c{number}": (0, None) for number in range(length)}
    limits |= {f"c{number}": truth[number] for number in (length - 2, length - 1)}
    cells = system(limits, [(f"c{number}", f"c{number - 1} c{number - 2}") for number in range(2, length)])

    actual = find_computation(recover(narrow(cells)), 0, effort=0)

    assert actual is not None
    assert {cell for _, cell in actual.terms} == {length - 2, length - 1}
    assert actual.value(cells.low) == 1
