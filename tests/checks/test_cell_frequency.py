"""cell_frequency: totals, rounded counts, counts of rows, and a twin that lists the counts."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from cell_tables import IMPOSSIBLE, PEOPLE, Between, figures_of, names, nodes_of, table_of, view_of
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.check.aggregate_check import CellFigure
from tcdp_audit_plugins.checks.published_cells.cell_frequency import CellFrequencyParameters, cell_frequency


def measured(values: list[Any], declared: Any = None, **parameters: Any) -> CellFigure:
    labels = [*map(str, range(len(values) - 1)), "T"]
    table = table_of([nodes_of("ward", labels)], {"n": figures_of(declared or PEOPLE, values)})
    return cell_frequency(view_of(table), CellFrequencyParameters(**parameters))


def test_counts_of_few_people_fail_totals_too() -> None:
    figure = measured([3, 0, 2, 5], k=6)
    assert (figure.value, figure.cells, names(figure)) == (2, 4, [("0",), ("2",), ("T",)])
    assert names(measured([3, 0, 2, 5], k=3)) == [("2",)]
    assert dict(figure.failing[0].labels) == {"ward": "2"}


def test_a_published_zero_is_of_no_one_unless_it_counts() -> None:
    assert measured([0, 0]).value == inf
    figure = measured([0, 12, 12], k=10, zeros="counted")
    assert (figure.value, names(figure)) == (0, [("0",)])


def test_rounded_counts_are_taken_for_the_most_that_they_can_be() -> None:
    assert measured([Between((3, 7)), Between((0, 2)), Between((8, 12))], k=8).value == 2
    assert names(measured([Between((3, 7)), Between((0, 2)), Between((8, 12))], k=8)) == [("0",)]


def test_hidden_absent_and_impossible_counts_are_not_examined() -> None:
    figure = measured([(1, 9), None, IMPOSSIBLE, 20], k=10)
    assert (figure.value, figure.cells, figure.failing) == (20, 1, ())


def test_rows_are_of_people() -> None:
    rows = {"counts": "rows", "of": "visit"}
    figure = measured([20, 25, 45], {**rows, "per_person": 3}, k=8)
    assert (figure.value, names(figure)) == (7, [("0",)])
    with pytest.raises(CheckError, match="per_person"):
        measured([20, 25, 45], rows)


def test_without_counts_there_is_nothing_to_judge() -> None:
    with pytest.raises(CheckError, match="no table has counts"):
        measured([20, 25, 45], {"sum": "income"})


def test_a_demand_that_no_count_can_fail_is_refused() -> None:
    with pytest.raises(ValidationError, match="every count above 0 is of 1 person at least; raise `k`"):
        CellFrequencyParameters(k=1)
    assert CellFrequencyParameters(k=1, zeros="counted").k == 1


@settings(max_examples=30)
@given(st.lists(st.integers(0, 30), min_size=2, max_size=6), st.integers(2, 12))
def test_every_count_is_examined(counts: list[int], k: int) -> None:
    figure = measured([*counts, sum(counts)], k=k)
    people = [one for one in [*counts, sum(counts)] if one]

    assert figure.value == min(people, default=inf)
    assert len(figure.failing) == sum(one < k for one in people)
