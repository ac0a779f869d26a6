"""Systems at the edge: empty, unbounded, too large, contradictory where no one asks, ended early."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from cells_golden import GOLDEN, Table
from cells_reference import FREE, crossed, generate, system, two_per_line
from scipy.sparse import csr_array

from tcdp_audit.core.base.cancellation import Cancellation, Cancelled, cancellable
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.cells import programs
from tcdp_audit.core.cells.computation import find_computation
from tcdp_audit.core.cells.demands import Demand, Verdict
from tcdp_audit.core.cells.intervals import find_intervals
from tcdp_audit.core.cells.moves import Moves
from tcdp_audit.core.cells.narrowing import narrow
from tcdp_audit.core.cells.programs import Optimum, proved_least
from tcdp_audit.core.cells.recovery import recover
from tcdp_audit.core.cells.remainder import Remainder
from tcdp_audit.core.cells.solutions import certain_people, count_solutions, feasible_values
from tcdp_audit.core.cells.system import INFINITE, CellSystem, parent_relations


def recovered(limits: dict, sums: list, at_least: list | None = None):
    return recover(narrow(system(limits, sums, at_least or [])))


@pytest.mark.parametrize("limits", [{}, {"a": 5}, {"a": FREE}, {"a": (2, 7), "b": FREE}])
def test_systems_without_relations_have_the_limits_of_their_cells(limits: dict) -> None:
    recovery = recovered(limits, [])

    actual = find_intervals(recovery)

    assert actual.attained.all()
    assert actual.low.tolist() == recovery.narrowed.system.low.tolist()
    assert actual.high.tolist() == recovery.narrowed.system.high.tolist()
    assert recovery.free.tolist() == recovery.narrowed.system.hidden.tolist()


def test_cells_that_nothing_bounds_are_infinite() -> None:
    recovery = recovered({"a": FREE, "b": FREE, "c": (2, 7)}, [("a", "b")])

    actual = find_intervals(recovery)

    assert actual.high.tolist() == [INFINITE, INFINITE, 7]
    assert actual.attained.all()
    assert not count_solutions(recovery).is_exact
    assert feasible_values(recovery, 0) is None
    assert (actual.verdicts(Demand(np.ones(3, bool), 3)) == Verdict.PROTECTED).all()


def test_cells_below_nothing_are_infinite_too() -> None:
    actual = find_intervals(recovered({"a": (-INFINITE, None), "b": (-INFINITE, None), "c": 3}, [("c", "a b")]))

    assert actual.low.tolist() == [-INFINITE, -INFINITE, 3]
    assert actual.attained.all()


def test_two_numbers_of_sum_zero_are_known_by_their_limits_and_by_no_null_space() -> None:
    recovery = recovered({"t": 0, "x": FREE, "y": FREE}, [("t", "x y")])
    actual = find_computation(recovery, 1)

    assert recovery.narrowed.known.all()
    assert not recovery.recovered.any()
    assert not recovery.free.any()
    assert actual is not None
    assert actual.limited == (2,)
    assert actual.relations == (0,)


def test_zeros_known_by_several_relations_are_not_called_free() -> None:
    """Column totals 3 and 3, row totals 3 and 3, and one cell that the other tables make 0: no interior."""
    limits = dict.fromkeys(("a", "b", "c", "d", "e", "f"), FREE)
    recovery = recovered(
        limits | {"r1": 3, "r2": 3, "c1": 6, "x": 3, "y": 0},
        [("r1", "a b"), ("r2", "c d"), ("c1", "a c"), ("x", "b d e"), ("y", "f")],
    )
    actual = find_intervals(recovery)

    assert not recovery.free[:4].any()
    assert actual.known.all()
    assert actual.low[:5].tolist() == [3, 0, 3, 0, 3]


def test_a_partial_hierarchy_bounds_its_parent_from_below() -> None:
    actual = find_intervals(recovered({"p": (0, 9), "a": FREE, "b": 3}, [], [("p", "a b")]))

    assert actual.low.tolist() == [3, 0, 3]
    assert actual.high.tolist() == [9, 6, 3]


@pytest.mark.parametrize("demand", [None, "one cell"])
def test_a_piece_that_no_demand_asks_for_may_contradict_all_the_same(demand: str | None) -> None:
    limits = dict.fromkeys("abcxy", FREE) | {"ab": 1, "bc": 1, "ac": 1, "t": 9}
    recovery = recovered(limits, [("ab", "a b"), ("bc", "b c"), ("ac", "a c"), ("t", "x y")])
    asked = np.zeros(9, bool)
    asked[3] = True

    actual = recovery.narrowed.contradiction or find_intervals(recovery, demand and Demand(asked)).contradiction

    assert actual is not None


def test_figures_that_cannot_be_added_are_refused() -> None:
    with pytest.raises(CheckError, match="too large to be added exactly in 64 bits: give them in larger units"):
        system({"t": 2**60, "a": FREE, "b": FREE}, [("t", "a b")])


def test_shapes_that_disagree_are_refused() -> None:
    with pytest.raises(ValueError, match="one number a cell is expected"):
        CellSystem(csr_array(np.ones((1, 2), int)), np.zeros(2, int), np.zeros(3, int), np.ones(2, bool))


def test_coefficients_that_are_no_integers_are_refused() -> None:
    with pytest.raises(ValueError, match="coefficients are integers"):
        CellSystem(csr_array(np.ones((1, 2))), np.zeros(2, int), np.zeros(2, int), np.ones(2, bool))


def test_magnitudes_may_be_fractions_of_a_unit() -> None:
    """2 a + b = 5 and b = 2 in units: a = 3/2."""
    cells = CellSystem(
        csr_array(np.array([[2, 1, -1], [0, 1, -1]])), np.array([0, 0, 5]), np.array([9, 9, 5]), np.zeros(3, bool)
    )
    other = CellSystem(csr_array(np.array([[2, 1, -1]])), np.array([0, 2, 5]), np.array([9, 2, 5]), np.zeros(3, bool))

    assert find_intervals(recover(narrow(cells))).low.tolist() == [0, 5, 5]
    recovery = recover(narrow(other))
    assert recovery.fractional == {0: Fraction(3, 2)}
    assert recovery.narrowed.low.tolist() == [1, 2, 5]
    assert recovery.narrowed.high.tolist() == [2, 2, 5]
    computation = find_computation(recovery, 0)
    assert computation is not None
    assert computation.value(other.low) == Fraction(3, 2)


def test_two_means_bound_the_value_of_one_person() -> None:
    """Means of 11 and 10 people, 12,090.91 and 3,300.00, in half cents."""
    cells = CellSystem(
        csr_array(np.array([[11, -10, -1]])),
        np.array([2_418_181, 659_999, 0]),
        np.array([2_418_183, 660_001, INFINITE]),
        np.zeros(3, bool),
    )

    actual = find_intervals(recover(narrow(cells)))

    assert [actual.low[2] / 200, actual.high[2] / 200] == [99_999.905, 100_000.115]
    assert actual.attained.all()


def test_magnitudes_of_several_relations_have_intervals_within_a_unit() -> None:
    """Two numbers from 1 to 4 units, whose sum is 5, and one doubled from 6 to 7."""
    cells = CellSystem(
        csr_array(np.array([[1, 1, -1, 0], [2, 0, 0, -1]])),
        np.array([1, 1, 5, 6]),
        np.array([4, 4, 5, 7]),
        np.zeros(4, bool),
    )

    actual = find_intervals(recover(narrow(cells)))

    assert actual.low.tolist() == [3, 1, 5, 6]
    assert actual.high.tolist() == [4, 2, 5, 7]
    assert actual.attained.all()
    assert actual.real_high[0] == pytest.approx(3.5)


def test_a_count_that_had_to_be_a_fraction_is_a_contradiction() -> None:
    cells = CellSystem(csr_array(np.array([[2, -1]])), np.array([0, 5]), np.array([9, 5]), np.ones(2, bool))

    assert narrow(cells).contradiction is not None


def test_without_effort_nothing_is_decided_and_nothing_is_wrong() -> None:
    full, few = generate(13, (3, 3, 3), 30, 5)
    cells = crossed(full, two_per_line(full, few, (3, 3, 3)), (3, 3, 3))
    truth = np.array(list(full.values()))

    actual = find_intervals(recover(narrow(cells)), Demand(cells.hidden, 3), effort=0)

    assert not actual.finished
    assert ((actual.low <= truth) & (truth <= actual.high)).all()
    assert (actual.verdicts(Demand(cells.hidden, 3))[cells.hidden] == Verdict.UNDECIDED).all()


def test_relaxed_verdicts_are_not_called_protected() -> None:
    """Pairs 0 or 1 of a triangle: its sum may be 3/2, and so may that of another; in whole numbers 1."""
    table = GOLDEN["G10 triangles"][0]
    demand = Demand(np.array([name == "T" for name in table.names]), 3)

    relaxed = find_intervals(recover(narrow(table.system)), demand, integers=False)
    exact = find_intervals(recover(narrow(table.system)), demand)

    assert relaxed.verdicts(demand)[0] == Verdict.RELAXED
    assert exact.verdicts(demand)[0] == Verdict.NARROW


def test_a_known_solution_is_a_witness_and_another_is_not() -> None:
    full, few = generate(1, (4, 4), 40, 5)
    cells = crossed(full, two_per_line(full, few, (4, 4)), (4, 4))
    truth = np.array(list(full.values()))
    recovery, demand = recover(narrow(cells)), Demand(cells.hidden)

    actual = find_intervals(recovery, demand, solution=truth)
    misled = find_intervals(recovery, demand, solution=truth + 1)

    for one in (actual, misled):
        assert (one.verdicts(demand)[cells.hidden] == Verdict.PROTECTED).all()
        assert ((one.seen_low >= one.low) & (one.seen_high <= one.high)).all()
    assert ((actual.seen_low <= truth) & (truth <= actual.seen_high)).all()


def test_demands_on_either_end_hold_if_one_does() -> None:
    recovery = recovered({"t": 12, "a": (1, 9), "b": FREE, "c": 1}, [("t", "a b c")])
    cells, zero, ten = np.array([False, True, True, False]), np.zeros(4, int), np.full(4, 10)
    demand = Demand(cells, 0, reach_low=zero, reach_high=ten, either=True)

    actual = find_intervals(recovery, demand)

    assert actual.verdicts(demand)[[1, 2]].tolist() == [Verdict.NARROW, Verdict.PROTECTED]


def test_progress_reports_decided_cells_of_all() -> None:
    reports: list[tuple[int, int]] = []
    recovery = recovered({"t": 12, "a": FREE, "b": FREE}, [("t", "a b")])

    find_intervals(recovery, progress=lambda decided, total: reports.append((decided, total)))

    assert reports
    assert {total for _, total in reports} == {2}
    assert reports[-1] == (2, 2)


def test_a_search_can_be_cancelled() -> None:
    cancellation = Cancellation()
    cancellation.request()

    with pytest.raises(Cancelled), cancellable(cancellation):
        recovered({"t": 12, "a": FREE, "b": FREE}, [("t", "a b")])


def test_certain_people_are_the_lower_limits_of_leaves() -> None:
    intervals = find_intervals(recovered({"t": 12, "a": (3, 5), "b": FREE, "c": 1}, [("t", "a b c")]))

    assert certain_people(intervals, np.array([False, True, True, True])) == 3 + 6 + 1


def test_any_prices_prove_a_bound_that_holds() -> None:
    table = GOLDEN["G1 Geurts"][0]
    remainder, random = Remainder.of(narrow(table.system)), np.random.default_rng(1)
    exact = find_intervals(recover(narrow(table.system)))

    for _ in range(40):
        prices = random.normal(size=len(remainder.right))
        for column, cell in enumerate(remainder.cells):
            for sign, limit in ((1, exact.low[cell]), (-1, -exact.high[cell])):
                guess = Optimum(np.zeros(len(remainder.low)), prices, 0.0)
                (actual,) = proved_least(remainder, np.array([column]), np.array([sign]), guess)
                assert actual <= limit


@pytest.mark.parametrize("seed", range(3))
def test_moves_lead_from_solutions_to_solutions(seed: int) -> None:
    full, few = generate(seed, (3, 4, 3), 20, 6)
    cells = crossed(full, two_per_line(full, few, (3, 4, 3)), (3, 4, 3))
    remainder, random = Remainder.of(narrow(cells)), np.random.default_rng(seed)
    solution = np.array(list(full.values()))[remainder.cells]
    moves, every = Moves.of(remainder, random.integers(0, 3, len(solution))), np.ones(len(solution), bool)

    for _ in range(5):
        least, most = moves.sweep(solution, every, random, np.inf)
        assert (remainder.matrix @ solution == remainder.right).all()
        for values in (least, most, solution):
            assert ((remainder.low <= values) & (values <= remainder.high)).all()
    exact = find_intervals(recover(narrow(cells)))
    assert ((exact.low[remainder.cells] <= least) & (most <= exact.high[remainder.cells])).all()


def test_programs_without_highspy_are_those_of_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_highspy", lambda: None)
    table = Table({"t": 12, "a": FREE, "b": FREE}, [("t", "a b")])

    assert isinstance(programs.program(Remainder.of(narrow(table.system))), programs.ScipyProgram)


def test_parents_are_the_sums_of_their_children() -> None:
    matrix = parent_relations(np.array([0, 3]), np.array([0, 2, 3]), np.array([1, 2, 0]), 4)

    assert matrix.toarray().tolist() == [[1, -1, -1, 0], [-1, 0, 0, 1]]
