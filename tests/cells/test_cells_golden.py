"""Intervals, recoveries and computations of published examples."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from cells_golden import GOLDEN, GROUP, LINKED, SINGLETONS, Table, cross
from cells_reference import crossed, generate, lines, two_per_line

from tcdp_audit.core.cells.computation import find_computation
from tcdp_audit.core.cells.intervals import find_intervals
from tcdp_audit.core.cells.narrowing import narrow
from tcdp_audit.core.cells.recovery import recover
from tcdp_audit.core.cells.solutions import SolutionCount, count_solutions, feasible_values


@pytest.mark.parametrize("name", GOLDEN)
def test_published_examples_have_their_intervals(name: str) -> None:
    table, expected, _ = GOLDEN[name]

    actual = find_intervals(recover(narrow(table.system)))

    assert actual.attained.all()
    assert actual.contradiction is None
    places = {cell: table.names.index(cell) for cell in expected}
    assert {cell: (actual.low[at], actual.high[at]) for cell, at in places.items()} == expected


def test_handbooks_rounded_table_is_narrowed_in_five_redacted_cells_and_more() -> None:
    table = GOLDEN["G7"][0]

    actual = find_intervals(recover(narrow(table.system)))

    narrowed = {
        name for name, width in zip(table.names, actual.high - actual.low, strict=True)
        if width < table.limits[name][1] - table.limits[name][0]
    }  # fmt: skip
    assert narrowed == {"BM", "BF", "BT", "CT", "TT"}


def test_misprinted_singleton_table_is_a_contradiction() -> None:
    table = Table({**SINGLETONS, "T1": 73, "TT": 224}, cross("A B", "1 2 3 4"))

    problem = narrow(table.system).contradiction

    assert problem is not None
    assert problem.is_smallest
    assert [table.sums[row] for row in problem.relations] == [("T1", "A1 B1")]


def test_linked_tables_determine_a_cell_whose_computation_has_the_fewest_terms() -> None:
    table = GOLDEN["G6 together"][0]
    recovery = recover(narrow(table.system))
    at = table.names.index("K")

    actual = find_computation(recovery, at)

    assert recovery.recovered[at]
    assert actual is not None
    assert actual.is_shortest
    terms = {table.names[cell]: int(factor) for factor, cell in actual.terms}
    assert terms in ({"two": 1, "N": -1, "big": -1}, {"small": 1, "N": -1, "one": -1})
    assert actual.value(table.system.low) == 3


def test_one_table_alone_leaves_its_cells_free() -> None:
    table = Table({**LINKED, "all": 36, "big": 6, "small": 30}, GROUP)

    recovery = recover(narrow(table.system))

    assert {name for name, free in zip(table.names, recovery.free, strict=True) if free} >= set("ABKLM")


# seed, shape, top, below, two in each line; hidden, exact, below, sum of widths of real and of whole numbers
GENERATED = [
    (1, (4, 4), 40, 5, False, 4, 4, 4, 0, 0),
    (1, (4, 4), 40, 5, True, 10, 0, 0, 194, 194),
    (2, (5, 4), 30, 5, True, 6, 0, 3, 18, 18),
    (13, (3, 3, 3), 30, 5, True, 33, 0, 0, 550.5, 540),
]


@pytest.mark.parametrize(
    ("seed", "shape", "top", "below", "two", "hidden", "exact", "small", "real", "whole"), GENERATED
)
def test_generated_tables_have_their_intervals(
    seed: int, shape: tuple[int, ...], top: int, below: int, two: bool,
    hidden: int, exact: int, small: int, real: float, whole: int,
) -> None:  # fmt: skip
    full, few = generate(seed, shape, top, below)
    cells = crossed(full, two_per_line(full, few, shape) if two else few, shape)
    chosen, truth = cells.hidden, np.array(list(full.values()))

    actual = find_intervals(recover(narrow(cells)))

    assert actual.attained.all()
    assert ((actual.low <= truth) & (truth <= actual.high)).all()
    assert chosen.sum() == hidden
    assert (actual.known & chosen).sum() == exact
    assert (actual.high[chosen] < below).sum() == small
    assert (actual.real_high - actual.real_low)[chosen].sum() == pytest.approx(real)
    assert (actual.high - actual.low)[chosen].sum() == whole


def test_an_interval_of_whole_numbers_may_be_narrower_than_that_of_real_ones() -> None:
    full, few = generate(13, (3, 3, 3), 30, 5)
    cells = crossed(full, two_per_line(full, few, (3, 3, 3)), (3, 3, 3))
    first, second = list(full).index(("1", "0", "T")), list(full).index(("2", "1", "1"))

    actual = find_intervals(recover(narrow(cells)))
    relaxed = find_intervals(recover(narrow(cells)), integers=False)

    assert [actual.low[first], actual.high[first], actual.high[second]] == [0, 14, 33]
    assert [actual.real_high[first], actual.real_high[second]] == pytest.approx([15, 33.5])
    assert (actual.high - actual.low < actual.real_high - actual.real_low - 1e-6).sum() == 18
    assert relaxed.integer_programs == 0
    assert not relaxed.attained.all()


ADULT = [  # hidden, exact, known below 10, sum of widths, the same under a token from 1 to 9
    (("workclass", "race"), 8, 8, 8, 0, 0),
    (("education", "race"), 25, 5, 9, 248, 130),
    (("workclass", "race", "sex"), 30, 30, 30, 0, 0),
]


@pytest.mark.parametrize(("columns", "hidden", "exact", "small", "widths", "under_token"), ADULT)
def test_hiding_small_counts_of_adult_alone_protects_few(
    data: Path, columns: tuple[str, ...], hidden: int, exact: int, small: int, widths: int, under_token: int
) -> None:
    with (data / "adult" / "adult.csv").open(encoding="utf-8") as file:
        leaves = Counter(tuple(row[column] for column in columns) for row in csv.DictReader(file))
    codes = [sorted({leaf[at] for leaf in leaves}) for at in range(len(columns))]
    numbered = Counter(
        {tuple(str(codes[at].index(leaf[at])) for at in range(len(columns))): n for leaf, n in leaves.items()}
    )
    shape = [len(one) for one in codes]
    full = {
        key: sum(n for leaf, n in numbered.items() if all(a in ("T", b) for a, b in zip(key, leaf, strict=True)))
        for key in product(*[["T", *map(str, range(m))] for m in shape])
    }
    few = [key for key, count in full.items() if 1 <= count <= 9]

    first = find_intervals(recover(narrow(crossed(full, few, shape))))
    second = find_intervals(recover(narrow(crossed(full, few, shape, (1, 9)))))

    assert len(list(lines(shape))) > 5
    chosen = np.array([key in set(few) for key in full])
    assert chosen.sum() == hidden
    assert (first.known & chosen).sum() == exact
    assert (first.high[chosen] < 10).sum() == small
    assert (first.high - first.low)[chosen].sum() == widths
    assert (second.high - second.low)[chosen].sum() == under_token


@pytest.mark.parametrize("name", [name for name in GOLDEN if GOLDEN[name][2] < 400_000])
def test_published_examples_have_their_number_of_tables(name: str) -> None:
    table, _, expected = GOLDEN[name]

    actual = count_solutions(recover(narrow(table.system)))

    assert (actual.number, actual.is_exact, actual.finished) == (expected, True, True)


def test_counting_ends_at_the_cap() -> None:
    table, _, expected = GOLDEN["G3 with xb"]
    recovery = recover(narrow(table.system))

    assert count_solutions(recovery, cap=1000) == SolutionCount(1000, is_exact=False)
    assert expected > 1000


@pytest.mark.long
def test_counting_goes_as_far_as_the_cap() -> None:
    table, _, expected = GOLDEN["G3 with xb"]

    assert count_solutions(recover(narrow(table.system)), cap=2_000_000).number == expected


@pytest.mark.parametrize(
    ("seed", "shape", "top", "below", "two", "expected"),
    [
        (1, (4, 4), 40, 5, False, 1),
        (1, (4, 4), 40, 5, True, 3430),
        (2, (5, 4), 30, 5, True, 4),
        (13, (3, 3, 3), 30, 5, True, 2000),
    ],
)
def test_generated_tables_have_their_number_of_tables(
    seed: int, shape: tuple[int, ...], top: int, below: int, two: bool, expected: int
) -> None:  # fmt: skip
    full, few = generate(seed, shape, top, below)
    hidden = two_per_line(full, few, shape) if two else few

    assert count_solutions(recover(narrow(crossed(full, hidden, shape)))).number == expected


def test_values_that_occur_may_be_fewer_than_those_of_an_interval() -> None:
    full, few = generate(13, (3, 3, 3), 30, 5)
    recovery = recover(narrow(crossed(full, two_per_line(full, few, (3, 3, 3)), (3, 3, 3))))

    actual = feasible_values(recovery, list(full).index(("1", "0", "T")))

    assert actual is not None
    assert actual.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
