"""implied_counts: shares of known and unknown numbers of people, means of whole numbers, and values of two or three."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import pytest
from cell_tables import PEOPLE, Between, figures_of, names, nodes_of, table_of, view_of
from hypothesis import given, settings, strategies as st

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.check.aggregate_check import CellFigure
from tcdp_audit_plugins.checks.published_cells.implied_counts import (
    ImpliedCountsParameters,
    implied_counts,
    people_of_mean,
)

SHARE: dict[str, Any] = {"share": "smoker", "over": "n", "decimals": 1}


def rounded(value: str) -> Between:
    """A printed figure as its decimals leave it."""
    unit = Fraction(1, 2 * 10 ** len(value.partition(".")[2]))
    return Between((Fraction(value) - unit, Fraction(value) + unit))


def shares(
    *pairs: tuple[str, Any], total: str | None = None, show_values: bool = False, **parameters: Any
) -> CellFigure:
    labels = [str(place) for place in range(len(pairs))]
    cells = [nodes_of("ward", labels, total)]
    share = figures_of(SHARE, [rounded(one) for one, _ in pairs], 200)
    table = table_of(cells, {"n": figures_of(PEOPLE, [base for _, base in pairs]), "p": share})
    return implied_counts(view_of(table, show_values=show_values), ImpliedCountsParameters(**parameters))


def unknown(*printed: str, **parameters: Any) -> CellFigure:
    share = figures_of({"share": "kind", "decimals": 1}, [rounded(one) for one in printed], 200)
    dimension = nodes_of("kind", [str(place) for place in range(len(printed))], None)
    return implied_counts(view_of(table_of([dimension], {"p": share})), ImpliedCountsParameters(**parameters))


def test_shares_of_known_numbers_of_people() -> None:
    exact = shares(("2.5", 200), k=10, show_values=True)
    assert (exact.value, exact.cells, names(exact)) == (5, 1, [("0",)])
    assert exact.failing[0].figures == {"low": 5, "high": 5}
    assert shares(("2.1", 48)).value == 1
    wide = implied_counts(
        view_of(
            table_of(
                [nodes_of("w", ["0"], None)],
                {"n": figures_of(PEOPLE, [200]), "p": figures_of(SHARE, [rounded("3")], 200)},
            ),
            show_values=True,
        ),
        ImpliedCountsParameters(k=8),
    )
    assert (wide.value, wide.failing[0].figures) == (7, {"low": 5, "high": 7})


def test_the_rest_of_a_share_is_a_number_of_people() -> None:
    figure = shares(("97.5", 200), k=10)
    assert (figure.value, figure.failing[0].says) == (5, "so few do not have it")
    assert shares(("0.0", 200)).value == 200
    assert shares(("100.0", 200)).value == 200


def test_nothing_follows_of_no_one() -> None:
    assert shares(("0.0", 0)).value == inf


def test_shares_of_unknown_numbers_of_people() -> None:
    sevenths = unknown("14.3", "28.6", "57.1", k=10)
    assert (sevenths.value, sevenths.details["divisor"], sevenths.details["bases_in_all"]) == (7, 7, 8)
    assert names(sevenths) == [("0",)]
    thirds = unknown("33.3", "66.7")
    assert (thirds.value, thirds.details["divisor"]) == (3, 3)
    rare = unknown("2.4", "97.6")
    assert (rare.value, rare.details["bases"], rare.details["divisor"]) == (41, [41, 42], 1)
    assert unknown("2.4").details["bases"] == [41, 42]
    assert unknown("100.0").value == inf


def test_a_hidden_number_is_narrowed_by_its_share() -> None:
    figure = shares(("14.3", (1, 9)), k=10)
    assert (figure.value, figure.details["implied"]) == (1, 3)  # seven people, one and six of them
    assert figure.failing[0].figures is None


def test_a_token_that_says_all_fails_nothing() -> None:
    assert shares(("100.0", (1, 9)), k=10).value == inf


MEAN: dict[str, Any] = {"mean": "age", "over": "n", "integers": True, "decimals": 2}


def means(*pairs: tuple[str, Any], declared: Any = None, scale: int = 20_000, **parameters: Any) -> CellFigure:
    cells = [nodes_of("ward", [str(place) for place in range(len(pairs))], None)]
    mean = figures_of(declared or MEAN, [rounded(one) for one, _ in pairs], scale)
    table = table_of(cells, {"n": figures_of(PEOPLE, [base for _, base in pairs]), "m": mean})
    return implied_counts(view_of(table), ImpliedCountsParameters(**parameters))


def test_means_of_whole_numbers_exclude_numbers_of_people() -> None:
    assert people_of_mean((11_245, 11_255), 1000, range(7, 12)) == [8]
    narrowed = means(("11.25", Between((7, 11))), ("7.9167", Between((12, 16))), k=10)
    assert (narrowed.value, names(narrowed), narrowed.details["implied"]) == (8, [("0",)], 2)
    assert means(("11.25", 8), k=10).value == inf  # published: cell_frequency's
    alone = means(("11.25", 5), declared={"mean": "age", "integers": True}, up_to=20)
    assert (alone.value, alone.details["divisor"]) == (4, 4)


def test_values_of_two_and_of_three_people_follow() -> None:
    cells = [nodes_of("ward", ["a", "b"], None)]
    both: dict[str, Any] = {"over": "n"}
    figures = {
        "n": figures_of(PEOPLE, [2, 3]),
        "mean": figures_of({"mean": "age", **both}, [rounded("30.0"), rounded("30.0")], 20),
        "sd": figures_of({"deviation": "age", **both}, [rounded("4.2426"), rounded("4.2426")], 20_000),
        "min": figures_of({"minimum": "age", **both}, [27, 25]),
        "max": figures_of({"maximum": "age", **both}, [33, 40]),
    }
    figure = implied_counts(view_of(table_of(cells, figures), show_values=True), ImpliedCountsParameters(k=10))

    assert (figure.value, figure.details["values_known"]) == (2, 2)
    values = [[round(one, 3) for one in cell.figures["values"]] for cell in figure.failing if cell.figures]
    assert values == [[27, 33], [25, 25, 40]]


def test_no_share_and_no_mean_is_an_error() -> None:
    table = table_of([nodes_of("ward", ["a"], None)], {"n": figures_of(PEOPLE, [3])})
    with pytest.raises(CheckError, match="no table has shares"):
        implied_counts(view_of(table), ImpliedCountsParameters())


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 1))
def test_the_true_counts_are_among_the_candidates(base: int, part: int, decimals: int) -> None:
    count = min(part, base)
    printed = f"{float(round(Fraction(100 * count, base), decimals)):.{decimals}f}"
    figure = shares((printed, base), k=1000, show_values=True)
    unit = Fraction(1, 2 * 10**decimals)
    fits = [c for c in range(base + 1) if abs(Fraction(100 * c, base) - Fraction(printed)) <= unit]
    assert count in fits

    follows = [(fits[0], fits[-1])] if fits[0] else []
    follows += [(base - fits[-1], base - fits[0])] if fits[-1] < base else []
    assert figure.value == min((high for _, high in follows), default=inf)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=3).filter(any))
def test_the_true_number_is_among_the_bases(counts: list[int]) -> None:
    base = sum(counts)
    printed = [f"{float(round(Fraction(100 * one, base), 1)):.1f}" for one in counts]
    fits = [
        n
        for n in range(1, 25)
        if _adds_up(
            n,
            [[c for c in range(n + 1) if abs(Fraction(100 * c, n) - Fraction(p)) <= Fraction(1, 20)] for p in printed],
        )
    ]
    figure = unknown(*printed, k=2, up_to=24)

    assert base in fits
    assert figure.value == fits[0]
    assert figure.details["bases_in_all"] == len(fits)


def _adds_up(base: int, candidates: list[list[int]]) -> bool:
    sums = {0}
    for one in candidates:
        sums = {total + count for total in sums for count in one}
    return base in sums
