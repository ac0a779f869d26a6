"""group_disclosure: the Handbook's table, hidden and rounded counts, and a twin that tries every value."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from cell_tables import IMPOSSIBLE, PEOPLE, Between, figures_of, names, nodes_of, table_of, view_of
from hypothesis import given, settings, strategies as st

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.check.aggregate_check import CellFigure
from tcdp_audit_plugins.checks.published_cells.group_disclosure import (
    GROUP_DISCLOSURE,
    GroupDisclosureParameters,
    group_disclosure,
)

MARITAL = nodes_of("marital", ["married", "divorced", "single", "T"])
WORK = nodes_of("work", ["full", "part", "T"])
HANDBOOK = [6, 0, 6, 5, 1, 6, 2, 2, 4, 13, 3, 16]


def measured(
    values: list[Any], dimensions: Any = (MARITAL, WORK), declared: Any = None, **parameters: Any
) -> CellFigure:
    more = {} if declared is None else declared
    table = table_of(dimensions, {"n": figures_of(PEOPLE, values)}, **more)
    return group_disclosure(view_of(table), GroupDisclosureParameters(**parameters))


def test_the_handbooks_table() -> None:
    of_work = [measured(HANDBOOK, sensitive=["work"], coalition=k) for k in range(3)]

    assert [one.value for one in of_work] == [1, 2, 4]
    assert names(of_work[0]) == [("married", "full")]
    assert names(of_work[1]) == [("divorced", "full"), ("married", "full")]
    assert names(of_work[2]) == [("divorced", "full"), ("married", "full"), ("single", "full"), ("single", "part")]
    assert of_work[0].details == {"full": 1, "ruled_out": 1, "possible": 0, "people": 6}
    assert of_work[0].failing[0].says == "everyone of work 'T' is in it"
    assert of_work[0].cells == 8


def test_no_one_in_a_category_fails_where_zeros_count() -> None:
    figure = measured(HANDBOOK, sensitive=["work"], zeros="counted")

    assert names(figure) == [("married", "full"), ("married", "part")]
    assert [one.says for one in figure.failing] == ["everyone of work 'T' is in it", "no one of work 'T' is in it"]


def test_a_share_of_a_group_can_count_as_all_of_it() -> None:
    assert measured(HANDBOOK, sensitive=["work"], share=Fraction(5, 6)).value == 2
    assert measured(HANDBOOK, sensitive=["work"], share=Fraction(84, 100)).value == 1


def test_hidden_and_rounded_counts_are_certain_or_possible() -> None:
    one = (nodes_of("work", ["full", "part", "T"]),)

    assert measured([(1, 9), 0, 5], one).value == 1  # the hidden count can only be the total
    figure = measured([Between((8, 12)), Between((0, 2)), Between((8, 12))], one)
    assert (figure.value, figure.details["possible"], figure.details["ruled_out"]) == (0, 1, 0)
    assert measured([7, 0, (0, None)], one).value == 1  # a total that is not published is the sum of its parts
    assert measured([7, 0, (0, None)], one, {"totals": "shown"}).value == 1
    unknown = measured([7, (0, None), (0, None)], one)
    assert (unknown.value, unknown.details["possible"]) == (0, 2)


def test_totals_of_what_is_shown_say_nothing_of_hidden_parts() -> None:
    one = (nodes_of("work", ["full", "part", "T"]),)

    shown = measured([7, (1, 9), 7], one, {"totals": "shown"})
    assert (shown.value, shown.details["possible"]) == (0, 1)  # the group has 8 to 16 members, and 7 or 9 in a part
    assert measured([7, (1, 9), 10], one, {"totals": "all"}).value == 0


def test_impossible_categories_never_fail() -> None:
    one = (nodes_of("work", ["full", "part", "T"]),)

    assert measured([7, IMPOSSIBLE, 7], one, {"absent": "structural"}).value == 0
    assert measured([7, None, 7], one, zeros="counted").value == 2


def test_rows_of_a_coalition_need_a_bound() -> None:
    rows = {"counts": "rows", "of": "visit"}
    one = (nodes_of("work", ["full", "part", "T"]),)
    open_ended = view_of(table_of(one, {"n": figures_of(rows, [7, 1, 8])}))
    bounded = view_of(table_of(one, {"n": figures_of({**rows, "per_person": 2}, [7, 2, 9])}))

    with pytest.raises(CheckError, match="per_person"):
        group_disclosure(open_ended, GroupDisclosureParameters(coalition=1))
    assert group_disclosure(bounded, GroupDisclosureParameters(coalition=1)).value == 1


def test_parameters_are_a_demand() -> None:
    assert GroupDisclosureParameters().at_most is None
    assert GroupDisclosureParameters(coalition=1).at_most == 0
    assert GroupDisclosureParameters(coalition=1, at_most=None).at_most is None
    assert GroupDisclosureParameters(coalition=1, at_most=3).at_most == 3


def test_nothing_that_adds_up_is_an_error() -> None:
    with pytest.raises(CheckError, match="give the dimension a `total:`"):
        measured([3, 4], (nodes_of("work", ["full", "part"], None),))
    view = view_of(table_of((MARITAL, WORK), {"n": figures_of(PEOPLE, HANDBOOK)}))
    faults = list(GROUP_DISCLOSURE.validate(GroupDisclosureParameters(sensitive=["wark"]), view.policy.document))
    assert faults == [("sensitive", "no table has a dimension 'wark'")]


def _plainly(values: list[tuple[int, int]], share: Fraction, coalition: int) -> tuple[set[int], set[int]]:
    """The parts that are full in every way to choose the counts of one line, and those full in some way."""
    *parts, whole = values
    full = []
    for chosen in product(*[range(low, high + 1) for low, high in parts]):
        total = sum(chosen)
        if whole[0] <= total <= whole[1]:
            left = total - coalition
            full.append({place for place, one in enumerate(chosen) if left > 0 and one >= share * left})
    if not full:
        return set(), set()
    return set.intersection(*full), set.union(*full)


SMALL = st.tuples(st.integers(0, 4), st.integers(0, 2)).map(lambda ends: (ends[0], sum(ends)))


@settings(max_examples=30)
@given(
    st.lists(SMALL, min_size=3, max_size=3),
    st.sampled_from([Fraction(1), Fraction(9, 10), Fraction(1, 2)]),
    st.integers(0, 2),
)
def test_what_fails_is_full_in_every_table_that_fits(parts: Any, share: Fraction, coalition: int) -> None:
    low, high = sum(one[0] for one in parts), sum(one[1] for one in parts)
    line = (nodes_of("work", ["a", "b", "c", "T"]),)
    certain, possible = _plainly([*parts, (low, high)], share, coalition)

    figure = measured([*parts, (low, high)], line, share=share, coalition=coalition)
    failing = {"abc".index(labels[0]) for labels in names(figure)}

    assert failing <= certain
    assert len(possible) <= figure.details["possible"] + len(failing)
    if all(one[0] == one[1] for one in parts):
        assert failing == certain
