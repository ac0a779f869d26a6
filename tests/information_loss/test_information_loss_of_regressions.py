"""Regression coefficients: published results, the same in exact fractions, and what intervals have in common."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from information_loss_reference import TREE, loss_of_lists

from tcdp_audit.core.information_loss.least_squares import LeastSquares, least_squares, t_quantile
from tcdp_audit.core.information_loss.regression import Estimate, Fitted, interval_overlap

# Longley, Journal of the American Statistical Association 62, 1967; certified by NIST, Statistical Reference Datasets
LONGLEY = """
60323  83.0 234289 2356 1590 107608 1947   61122  88.5 259426 2325 1456 108632 1948
60171  88.2 258054 3682 1616 109773 1949   61187  89.5 284599 3351 1650 110929 1950
63221  96.2 328975 2099 3099 112075 1951   63639  98.1 346999 1932 3594 113270 1952
64989  99.0 365385 1870 3547 115094 1953   63761 100.0 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955   67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957   66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959   69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961   70551 116.9 554894 4007 2827 130081 1962
"""
CERTIFIED = [15.0618722713733, -0.0358191792925910, -2.02022980381683, -1.03322686717359, -0.0511041056535807]
CERTIFIED += [1829.15146461355]
DEVIATIONS = [84.9149257747669, 0.0334910077722432, 0.488399681651699, 0.214274163161675, 0.226073200069370]
DEVIATIONS += [455.478499142212]

# mtcars of R (Motor Trend, 1974): miles per gallon, weight, manual transmission
CARS = {
    "mpg": [
        *[21, 21, 22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8, 16.4, 17.3, 15.2, 10.4, 10.4, 14.7, 32.4, 30.4],
        *[33.9, 21.5, 15.5, 15.2, 13.3, 19.2, 27.3, 26, 30.4, 15.8, 19.7, 15, 21.4],
    ],
    "wt": [
        *[2.62, 2.875, 2.32, 3.215, 3.44, 3.46, 3.57, 3.19, 3.15, 3.44, 3.44, 4.07, 3.73, 3.78, 5.25, 5.424, 5.345],
        *[2.2, 1.615, 1.835, 2.465, 3.52, 3.435, 3.84, 3.845, 1.935, 2.14, 1.513, 3.17, 2.77, 3.57, 2.78],
    ],
    "am": [*"yyy", *"n" * 14, *"yyy", *"nnnnn", *"y" * 7],
}
NUMERIC = {"scale": "numeric"}
OUTCOME = {"scale": "numeric", "role": "sensitive"}


def fitted(before: dict[str, list[Any]], after: dict[str, list[Any]] | None = None, **more: Any) -> Fitted:
    """The one regression, of what is called `mpg` where nothing else is declared."""
    declared = {"mpg": OUTCOME, **({"wt": NUMERIC} if "wt" in before else {}), **more}
    (one,) = loss_of_lists(before, before if after is None else after, **declared).regressions
    return one


def fit_of(rows: Sequence[Sequence[float]], weights: Sequence[float] | None = None, block: int = 5) -> LeastSquares:
    """By blocks of a few records; the outcome comes first."""
    table = np.array(rows, dtype=np.float64)
    own = np.ones(len(table)) if weights is None else np.array(weights, dtype=np.float64)

    def blocks() -> Any:
        for start in range(0, len(table), block):
            part = table[start : start + block]
            yield np.hstack([np.ones((len(part), 1)), part[:, 1:]]), part[:, 0], own[start : start + block]

    return least_squares(blocks, table.shape[1], weighted=weights is not None)


def test_longley_as_certified():
    table = np.array(LONGLEY.split(), dtype=np.float64).reshape(16, 7)
    spread = table.std(axis=0, ddof=1)
    result = fit_of((table - table.mean(axis=0)) / spread)
    unit = spread[0] / spread[1:]

    assert result.coefficients[1:] * unit == pytest.approx(np.array(CERTIFIED), rel=1e-11)
    assert result.errors[1:] * unit == pytest.approx(np.array(DEVIATIONS), rel=1e-11)
    assert (result.records, result.rank, result.freedom, result.is_exact) == (16, 7, 9, False)


def test_cars_as_everybody_has_them():
    fit = fitted(CARS)  # lm(mpg ~ am + wt), confint
    manual, weight = fit.effects

    assert (fit.of, fit.by, fit.records, fit.reason) == ("mpg", ("am", "wt"), (32, 32), "")
    assert (manual.column, manual.level, weight.column, weight.level) == ("am", 2, "wt", None)
    assert (weight.before.estimate, manual.before.estimate) == pytest.approx((-5.35281, -0.02362), abs=5e-6)
    reach = 2.045230 * 0.78824, 2.045230 * 1.54565  # the quantile of t with 29 degrees of freedom
    assert (weight.before.high - weight.before.low, manual.before.high - manual.before.low) == pytest.approx(
        (2 * reach[0], 2 * reach[1]), abs=3e-5
    )
    assert (weight.overlap, manual.overlap) == pytest.approx((1, 1))


def test_an_example_of_overlaps_by_hand():
    assert interval_overlap(Estimate(2, 0, 4), Estimate(4, 2, 6)) == 0.5
    assert interval_overlap(Estimate(2, 0, 4), Estimate(2, 1, 3)) == (1 / 2 + 1) / 2  # one lies in the other
    assert interval_overlap(Estimate(1, 0, 2), Estimate(3.5, 3, 4)) == 0
    assert interval_overlap(Estimate(1, 0, 2), Estimate(2, 2, 2)) == 0.5
    assert interval_overlap(Estimate(3, 3, 3), Estimate(3, 3, 3)) == 1
    assert interval_overlap(Estimate(3, 3, 3), Estimate(4, 4, 4)) == 0


def test_a_shuffled_column_loses_its_effect():
    moved = CARS["wt"][16:] + CARS["wt"][:16]
    fit = fitted(CARS, CARS | {"wt": moved})

    assert fit.effects[1].column == "wt"
    assert fit.effects[1].overlap == 0
    assert fit.as_json()["least"] == 0


def test_generalised_cells_stand_at_their_middle_and_are_shares_of_values():
    ranges = {name: [*cells] for name, cells in CARS.items()}
    ranges["wt"] = [f"[{wt - 0.1:.3f}, {wt + 0.1:.3f}]" if 2 < wt < 5 else str(wt) for wt in CARS["wt"]]
    fit = fitted(CARS, ranges)
    assert [one.overlap for one in fit.effects] == pytest.approx([1, 1])

    sets = CARS | {"am": ["{n, y}"] * 16 + CARS["am"][16:]}
    manual = [{"n": 0, "y": 1}.get(am, 0.5) for am in sets["am"]]
    slow = fit_of(list(zip(CARS["mpg"], CARS["wt"], manual, strict=True)))
    assert fitted(CARS, sets).effects[0].after.estimate == pytest.approx(slow.coefficients[2])


def test_labels_of_a_hierarchy_are_shares_of_what_is_below_them():
    colours = ["blue", "orange", "blue", "red"] * 15
    pay = [10 + {"red": 4, "orange": 2, "blue": 0}[colour] + number % 3 for number, colour in enumerate(colours)]
    labels = [one if one == "blue" or number % 8 < 4 else "warm" for number, one in enumerate(colours)]
    fit = fitted({"colour": colours, "mpg": pay}, {"colour": labels, "mpg": pay}, colour={"hierarchy": TREE})
    share = {"warm": (0.5, 0.5), "blue": (0, 0), "orange": (1, 0), "red": (0, 1)}
    slow = fit_of([[mpg, *share[label]] for mpg, label in zip(pay, labels, strict=True)])

    assert [one.level for one in fit.effects] == [2, 3]  # of two that are as frequent the first by its name
    assert [one.after.estimate for one in fit.effects] == pytest.approx(slow.coefficients[1:].tolist())


def test_what_is_suppressed_or_new_is_left_out():
    after = {
        "mpg": [*CARS["mpg"][:30], "*"],
        "wt": ["*", *CARS["wt"][1:31]],
        "am": ["n", "elsewhere", *CARS["am"][2:31]],
    }
    fit = fitted(CARS, after, records_retained=range(31), am={})

    assert fit.records == (32, 28)
    slow = fit_of([[CARS["mpg"][one], CARS["wt"][one], CARS["am"][one] == "y"] for one in range(2, 30)])
    assert [one.after.estimate for one in fit.effects] == pytest.approx([slow.coefficients[2], slow.coefficients[1]])


def test_effects_that_a_release_does_not_tell_any_more_overlap_by_nothing():
    merged = fitted(CARS, CARS | {"am": ["{n, y}"] * 32})
    emptied = fitted(CARS, CARS | {"am": ["*"] * 32})
    dropped = fitted(CARS, {name: cells[:2] for name, cells in CARS.items()}, records_retained=[0, 1])

    assert [(one.after is None, one.overlap == 0) for one in merged.effects] == [(True, True), (False, False)]
    assert [(one.after, one.overlap) for one in emptied.effects] == [(None, 0), (None, 0)]  # no record has all values
    assert [(one.after, one.overlap) for one in dropped.effects] == [(None, 0), (None, 0)]  # nothing is left to vary
    assert emptied.as_json()["value"] == 0


def test_columns_that_vary_together_have_no_effect_of_their_own():
    twice = CARS | {"tons": [2 * wt for wt in CARS["wt"]]}
    fit = fitted(twice, tons=NUMERIC)

    assert [one.column for one in fit.effects] == ["am"]
    assert fit.effects[0].before.estimate == pytest.approx(fitted(CARS).effects[0].before.estimate)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({name: cells[:11] for name, cells in CARS.items()}, "fewer than 10 records more than coefficients"),
        (CARS | {"mpg": [20] * 32}, "its columns predict the outcome without error"),
        (CARS | {"mpg": [3 * wt - 7 for wt in CARS["wt"]]}, "its columns predict the outcome without error"),
        ({"mpg": CARS["mpg"], "wt": CARS["wt"], "tons": CARS["wt"]}, "none of its columns has an effect of its own"),
    ],
)
def test_where_there_is_nothing_to_compare_a_sentence_says_so(columns: dict[str, list[Any]], reason: str):
    more = {"tons": NUMERIC} if "tons" in columns else {}
    fit = fitted(columns, **more)

    assert fit.effects == ()
    assert reason in fit.reason
    assert fit.as_json()["value"] is None


def test_no_coefficient_is_about_fewer_than_ten_records():
    towns = ["a"] * 40 + ["b"] * 20 + ["c"] * 9 + ["d"] * 4
    pay = [number * 7 % 11 for number in range(73)]
    few = fitted({"town": towns, "mpg": pay})  # c and d together are thirteen
    fewer = fitted({"town": towns[:69], "mpg": pay[:69]})  # nine of c are put to b
    slow = fit_of([[one, town in "bc"] for one, town in zip(pay, towns[:69], strict=False)])

    assert [one.level for one in few.effects] == [2, 3]
    assert [one.before.estimate for one in fewer.effects] == pytest.approx([slow.coefficients[1]])


def test_weights_count_records_and_widen_intervals():
    weights = [1 + number % 4 for number in range(32)]
    policy = {"weight": "w", "utility": {"regressions": [{"of": "mpg", "by": ["wt"]}]}}
    declared = {"w": {"role": "insensitive", "scale": "numeric"}}
    fit = fitted(CARS | {"w": weights}, CARS | {"w": [*weights[:31], 0]}, policy=policy, **declared)
    (effect,) = fit.effects

    assert fit.records == (32, 31)  # a weight of 0 is none
    rows = list(zip(CARS["mpg"], CARS["wt"], strict=True))
    repeated = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    assert effect.before.estimate == pytest.approx(fit_of(repeated).coefficients[1])
    assert fit_of(rows, weights).errors[1] == pytest.approx(_sandwich(rows, weights))
    assert effect.before.high - effect.before.low == pytest.approx(2 * 2.0422725 * _sandwich(rows, weights))


def _sandwich(rows: Sequence[Sequence[float]], weights: Sequence[float]) -> float:
    """The standard error of a slope by linearisation, number by number."""
    total = sum(weights)
    means = [sum(w * row[place] for row, w in zip(rows, weights, strict=True)) / total for place in (0, 1)]
    squares = sum(w * (x - means[1]) ** 2 for (_, x), w in zip(rows, weights, strict=True))
    products = sum(w * (x - means[1]) * (y - means[0]) for (y, x), w in zip(rows, weights, strict=True))
    slope = products / squares
    left = [
        w * (x - means[1]) * (y - means[0] - slope * (x - means[1])) for (y, x), w in zip(rows, weights, strict=True)
    ]
    return (sum(one**2 for one in left) * len(rows) / (len(rows) - 1)) ** 0.5 / squares


def test_regressions_are_those_of_the_policy_or_of_numeric_sensitive_attributes():
    columns = CARS | {"gears": [4] * 32, "town": ["here"] * 32}
    declared: dict[str, Any] = {"mpg": OUTCOME, "wt": OUTCOME, "gears": NUMERIC}

    def models(**policy: Any) -> list[Any]:
        return [(one.of, one.by) for one in loss_of_lists(columns, columns, policy=policy, **declared).regressions]

    assert models() == [("mpg", ("am",)), ("wt", ("am",))]  # by what varies
    assert models(utility={"regressions": []}) == []
    assert models(utility={"regressions": [{"of": "wt", "by": ["mpg"]}]}) == [("wt", ("mpg",))]


def test_a_column_that_is_not_there_is_reported():
    policy = {"utility": {"regressions": [{"of": "mpg", "by": ["wt", "doors"]}]}}
    assert fitted(CARS, policy=policy, doors={"scale": "numeric"}).reason == "column 'doors' is not in the release"


@st.composite
def designs(draw: st.DrawFn) -> list[list[int]]:
    width = draw(st.integers(2, 4))
    row = st.lists(st.integers(-9, 9), min_size=width, max_size=width)
    return draw(st.lists(row, min_size=width + 3, max_size=12))


@given(designs())
@settings(max_examples=40)
def test_coefficients_as_exact_fractions_have_them(rows: list[list[int]]):
    exact = _solved(rows)
    assume(exact is not None)
    result = fit_of(rows, block=4)

    assert exact is not None
    assert result.coefficients == pytest.approx(np.array([float(one) for one in exact[0]]), abs=1e-8)
    if not result.is_exact:
        assert result.errors**2 == pytest.approx(np.array([float(one) for one in exact[1]]), abs=1e-8)
    else:
        assert exact[1] == [0] * len(exact[1])


def _solved(rows: Sequence[Sequence[int]]) -> tuple[list[Fraction], list[Fraction]] | None:
    """Coefficients and squared standard errors by Gauss and Jordan; None where features vary together."""
    x, y = [[1, *row[1:]] for row in rows], [row[0] for row in rows]
    width = len(x[0])
    table = [
        [Fraction(sum(one[i] * one[j] for one in x)) for j in range(width)] + [Fraction(i == j) for j in range(width)]
        for i in range(width)
    ]
    for place in range(width):
        pivot = next((row for row in range(place, width) if table[row][place]), None)
        if pivot is None:
            return None
        table[place], table[pivot] = table[pivot], table[place]
        table[place] = [one / table[place][place] for one in table[place]]
        for row in range(width):
            if row != place:
                table[row] = [one - table[row][place] * own for one, own in zip(table[row], table[place], strict=True)]
    inverse = [row[width:] for row in table]
    products = [sum(one[i] * outcome for one, outcome in zip(x, y, strict=True)) for i in range(width)]
    solution = [sum(a * b for a, b in zip(row, products, strict=True)) for row in inverse]
    left = [outcome - sum(a * b for a, b in zip(one, solution, strict=True)) for one, outcome in zip(x, y, strict=True)]
    variance = sum(one**2 for one in left) / (len(rows) - width)
    return [Fraction(one) for one in solution], [variance * inverse[place][place] for place in range(width)]


@pytest.mark.parametrize("freedom", [1, 2, 9, 29, 1000, 9_999, 10_001, 10**7])
def test_quantiles_of_t_as_scipy_has_them(freedom: int):
    from scipy.special import stdtrit

    assert t_quantile(0.975, freedom) == pytest.approx(float(stdtrit(freedom, 0.975)), rel=1e-10)
    assert t_quantile(0.6, freedom) == pytest.approx(float(stdtrit(freedom, 0.6)), rel=1e-10)


@pytest.mark.long
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_order_is_nothing_and_shuffling_is_a_loss(seed: int):
    rng = np.random.default_rng(seed)
    age, town = rng.integers(20, 60, 80), rng.choice(list("abc"), 80)
    pay = 100 + 3 * age + 20 * (town == "b") + rng.integers(0, 30, 80)
    before = {"mpg": pay.tolist(), "age": age.tolist(), "town": town.tolist()}
    order = rng.permutation(80)
    same = {name: [cells[place] for place in order] for name, cells in before.items()}
    shuffled = before | {"age": [before["age"][place] for place in order]}

    assert [one.overlap for one in fitted(before, same, records_retained=order, age=NUMERIC).effects] == pytest.approx(
        [1, 1, 1]
    )
    lost = fitted(before, shuffled, age=NUMERIC)
    assert lost.effects[0].overlap < 0.5
    assert lost.as_json()["least"] < 1
