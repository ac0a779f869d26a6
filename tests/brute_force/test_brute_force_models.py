"""Models with distributions behind them, against enumeration, other libraries' distributions, and other ways to fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import comb, exp, inf
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, reject, settings, strategies as st
from scipy import optimize, stats
from scipy.special import gammaln

from tcdp_audit import audit
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
Classes = dict[str, list[Any]]  # the values of each class's records


def audited(columns: dict[str, Sequence[Any]], roles: dict[str, Any], expect: list[Any], **more: Any) -> list[Outcome]:
    policy = {"version": 1, "attributes": roles, "expect": expect, **more}
    return list(audit(pa.table({n: pa.array(c) for n, c in columns.items()}), policy, plugins=PLUGINS).expectations)


def by_class(classes: Classes, scale: str, expect: list[Any]) -> list[Outcome]:
    cells = [(place, value) for place, values in classes.items() for value in values]
    columns = {"place": [place for place, _ in cells], "answer": [value for _, value in cells]}
    roles = {"place": {"role": "quasi_identifier"}, "answer": {"role": "sensitive", "scale": scale}}
    return audited(columns, roles, expect)


def fails_as(outcome: Outcome, classes: Classes, failing: Sequence[str]) -> None:
    assert (outcome.status is Status.FAILED) is bool(failing)
    if outcome.status is not Status.MEASURED:
        assert outcome.classes is not None
        assert outcome.records is not None
        assert outcome.classes.failing == len(failing)
        assert outcome.records.failing == sum(len(classes[place]) for place in failing)


def beside(figures: Sequence[float]) -> list[Fraction]:
    """Thresholds just below and above the smallest and the largest finite figure."""
    ends = [one for one in {min(figures), max(figures)} if one < inf]
    near = [Fraction(one) * (1 + step) for one in ends for step in (Fraction(-1, 10**6), Fraction(1, 10**6))]
    return [one.limit_denominator(10**12) for one in near if one > Fraction(1001, 1000)]


# Stochastic t-closeness under Laplace and two-sided geometric noise

noisy = st.dictionaries(
    st.sampled_from("abc"), st.lists(st.integers(-3, 9), min_size=1, max_size=6), min_size=1, max_size=3
)


def factor(own: Sequence[int], everyone: Sequence[int], scale: float, mechanism: str) -> float:
    """The largest ratio of outputs' likelihoods between a class and the table: on a fine grid, or on all integers."""
    low, high = min(everyone) - 6, max(everyone) + 6
    if mechanism == "geometric":
        outputs = np.arange(low, high + 1)
        of_value = [stats.dlaplace(1 / scale, loc=value).pmf(outputs) for value in range(low, high + 1)]
    else:
        outputs = np.linspace(low, high, 40 * (high - low) + 1)  # holds every whole number
        of_value = [stats.laplace(value, scale).pdf(outputs) for value in range(low, high + 1)]
    class_, table = (np.mean([of_value[value - low] for value in values], axis=0) for values in (own, everyone))
    return float(max((class_ / table).max(), (table / class_).max()))


@pytest.mark.long
@settings(max_examples=20)
@given(noisy, st.sampled_from(["1/2", "1", "3"]), st.sampled_from(["laplace", "geometric"]))
def test_noise_identifies_a_class_by_its_most_revealing_output(classes: Classes, scale: str, mechanism: str) -> None:
    everyone = [value for values in classes.values() for value in values]
    figures = {place: factor(values, everyone, float(Fraction(scale)), mechanism) for place, values in classes.items()}
    limits = beside(list(figures.values()))
    given = {"mechanism": mechanism, "noise_scale": scale}
    expect = [{"stochastic_t_closeness": {**given, **one}} for one in ({}, *({"t": str(t)} for t in limits))]
    measured, *judged = by_class(classes, "numeric", expect)
    assert measured.observed == pytest.approx(max(figures.values()), rel=1e-9)
    for outcome, limit in zip(judged, limits, strict=True):
        fails_as(outcome, classes, [place for place, figure in figures.items() if figure > limit])


# Expected t-closeness

sizes = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 9), min_size=1, max_size=4)


@pytest.mark.long
@settings(max_examples=25)
@given(sizes, st.sampled_from(["0", "0.01", "1/3", "1"]))
def test_expected_t_is_the_exponential_to_forty_digits(sizes: dict[str, int], epsilon: str) -> None:
    classes = {place: ["x"] * size for place, size in sizes.items()}
    total = sum(sizes.values())
    with localcontext(prec=60):
        rate = Decimal(Fraction(epsilon).numerator) / Decimal(Fraction(epsilon).denominator)
        figures = {place: (rate * (total - size)).exp() for place, size in sizes.items()}
        worst = max(figures.values())
        step = worst * Decimal("1e-30")
        limits = [one for one in (worst - step, worst, worst + step) if one > 1]
        typed = [Fraction(one) for one in limits]
    given = [{"epsilon": epsilon}, *({"epsilon": epsilon, "at_most": str(one)} for one in typed)]
    measured, *judged = by_class(classes, "nominal", [{"expected_t_closeness": one} for one in given])
    assert measured.observed == pytest.approx(float(worst), rel=1e-12)
    with localcontext(prec=60):
        for outcome, limit in zip(judged, limits, strict=True):
            if limit != worst:  # a decimal is never exactly an exponential
                fails_as(outcome, classes, [place for place, figure in figures.items() if figure > limit])


# Item 29: definition 1 of D13 with any non-decreasing g


def slow_g(name: str, exponent: Fraction, ratio: Decimal) -> Decimal:
    if name == "logarithm":
        return ratio.ln()
    power = {"identity": Fraction(1), "square_root": Fraction(1, 2), "power": exponent}[name]
    return ratio ** (Decimal(power.numerator) / Decimal(power.denominator))


def judges_as_slow_g(seed: int) -> None:
    """Ratios first, in decimals of sixty digits, and g of each; the check has one exponential of a rational."""
    random = Random(seed)  # noqa: S311 - the same tables every time
    sizes = {place: random.randint(1, 6) for place in "abcd"[: random.randint(1, 4)]}
    name = random.choice(["identity", "square_root", "logarithm", "power"])
    epsilon, exponent = Fraction(random.choice(["0", "0.01", "1/3", "1"])), Fraction(random.choice(["1/4", "2", "0.7"]))
    classes, total = {place: ["x"] * size for place, size in sizes.items()}, sum(sizes.values())
    with localcontext(prec=60):
        rate = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        figures = {place: slow_g(name, exponent, (rate * (total - n)).exp()) for place, n in sizes.items()}
        worst = max(figures.values())
        limits = [worst * (1 + step) for step in (Decimal("-1e-30"), Decimal("1e-30"))]
        limits = [one for one in limits if one > (0 if name == "logarithm" else 1)]
        typed = [str(Fraction(one)) for one in limits]
    given = {"epsilon": str(epsilon), "g": name, "exponent": str(exponent) if name == "power" else None}
    expectations = [{"expected_t_closeness": one} for one in (given, *({**given, "at_most": one} for one in typed))]
    measured, *judged = by_class(classes, "nominal", expectations)
    assert measured.observed == pytest.approx(float(worst), rel=1e-12)
    for outcome, limit in zip(judged, limits, strict=True):
        fails_as(outcome, classes, [place for place, figure in figures.items() if figure > limit])


def test_item_29_a_bound_by_any_g_is_that_of_slow_decimals() -> None:
    for seed in range(30):
        judges_as_slow_g(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", [1000, 2000, 3000, 4000])
def test_item_29_a_bound_by_any_g_on_125_more_tables(first: int) -> None:
    for seed in range(first, first + 125):
        judges_as_slow_g(seed)


# Recursive (c,l)-diversity with don't-care and with protected values

answers = st.dictionaries(
    st.sampled_from("abc"), st.lists(st.sampled_from("uvwxy"), min_size=1, max_size=9), min_size=1, max_size=3
)


def tail_ratio(values: Sequence[str], l: int, dont_care: Sequence[str]) -> Fraction | float:
    """Case by case, as the paper has it: y is the rank of the most frequent value that is not a don't-care one."""
    counts = Counter(values)
    ranked = sorted(counts, key=lambda value: (-counts[value], value in dont_care))
    matters = [rank for rank, value in enumerate(ranked, 1) if value not in dont_care]
    if not matters:
        return Fraction(0)
    y, r = matters[0], [0, *(counts[value] for value in ranked)]
    below = range(l, len(r)) if y <= l - 1 else [j for j in range(l - 1, len(r)) if j != y]
    tail = sum(r[j] for j in below)
    return Fraction(r[y], tail) if tail else inf


@pytest.mark.long
@settings(max_examples=20)
@given(answers, st.integers(2, 4), st.sets(st.sampled_from("uvz")), st.sets(st.sampled_from("uwz"), min_size=1))
def test_dont_care_and_protected_values(classes: Classes, l: int, dont_care: set[str], protected: set[str]) -> None:
    ratios = {place: tail_ratio(values, l, sorted(dont_care)) for place, values in classes.items()}
    shares = {place: min(Fraction(v.count(one), len(v)) for one in protected) for place, v in classes.items()}
    small = Fraction(1, 10**6)
    cuts = [Fraction(one) + step for one in set(ratios.values()) - {0, inf} for step in (-small, 0, small)]
    floors = [one + step for one in set(shares.values()) - {0, 1} for step in (-small, 0, small)]
    common: dict[str, Any] = {"l": l, "variant": "negative_disclosure", "protected": sorted(protected)}
    common |= {"dont_care": sorted(dont_care)} if dont_care else {}
    given = [{}, *({"c": str(c)} for c in cuts), *({"c2": str(c)} for c in floors)]
    given += [{"c": str(c), "c2": str(d)} for c, d in zip(cuts, floors, strict=False)]
    outcomes = by_class(classes, "nominal", [{"recursive_cl_diversity": {**common, **one}} for one in given])
    assert outcomes[0].observed == pytest.approx(float(max(ratios.values())), rel=1e-12)
    assert outcomes[0].details["c2"] == pytest.approx(float(min(shares.values())), rel=1e-12)
    for outcome, one in zip(outcomes[1:], given[1:], strict=True):
        failing = {place for place, ratio in ratios.items() if "c" in one and ratio >= Fraction(one["c"])}
        failing |= {place for place, share in shares.items() if "c2" in one and share < Fraction(one["c2"])}
        fails_as(outcome, classes, sorted(failing))


# Population uniqueness

samples = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", None]), st.sampled_from("12")), min_size=3, max_size=16
)


def estimated(rows: Sequence[tuple[Any, ...]], fraction: str, **further: Any) -> Outcome:
    columns = {name: list(column) for name, column in zip("pqr", zip(*rows, strict=True), strict=True)}
    roles = {name: {"role": "quasi_identifier"} for name in "pqr"}
    expect = [{"population_uniqueness": {"estimator": "zayatz", **further}}]
    (outcome,) = audited(columns, roles, expect, sampling_fraction=float(Fraction(fraction)))
    return outcome


def log_likelihood(sizes: Sequence[int], theta: float, alpha: float) -> float:
    """Of a partition under Pitman's sampling formula, by its products of rising factorials."""
    n, classes = sum(sizes), len(sizes)
    opened = sum(np.log(theta + i * alpha) for i in range(1, classes))
    joined = sum(gammaln(size - alpha) - gammaln(1 - alpha) for size in sizes)
    return float(opened + joined - (gammaln(theta + n) - gammaln(theta + 1)))


def fitted(cells: Counter[tuple[Any, ...]]) -> dict[tuple[Any, ...], float]:
    """Expected counts of a main-effects Poisson model over the whole cross-classification, by proportional fitting."""
    levels = [sorted({key[j] for key in cells}, key=str) for j in range(3)]
    expected = dict.fromkeys(product(*levels), 1.0)
    for _ in range(30):
        for j, values in enumerate(levels):
            for value in values:
                inside = [key for key in expected if key[j] == value]
                scale = sum(cells[key] for key in inside) / sum(expected[key] for key in inside)
                for key in inside:
                    expected[key] *= scale
    return expected


@pytest.mark.long
@settings(max_examples=20)
@given(samples, st.sampled_from(["1/10", "1/4", "1/2", "9/10"]))
def test_estimates_of_population_uniques_by_other_ways(rows: list[tuple[Any, ...]], fraction: str) -> None:
    cells = Counter(rows)
    sizes, share, n = list(cells.values()), float(Fraction(fraction)), len(rows)
    uniques = sizes.count(1)
    assume(uniques)
    details = estimated(rows, fraction).details
    population = n / Fraction(fraction)
    assert details["estimated_population_records"] == pytest.approx(float(population))
    if population.denominator == 1:
        chances = Counter(sizes)
        whole = int(population)
        lone = {i: Fraction(i * comb(whole - i, n - 1), comb(whole, n)) for i in chances}
        by_bayes = uniques * lone[1] / sum(times * lone[i] for i, times in chances.items())
        assert details["zayatz"] == pytest.approx(float(by_bayes), rel=1e-9)
    expected = fitted(cells)
    outside = [expected[key] * (1 - share) / share for key, size in cells.items() if size == 1]
    assert details["log_linear"] == pytest.approx(sum(exp(-one) for one in outside) / uniques, rel=1e-9)
    assert details["match_probability_log_linear"] == pytest.approx(uniques / sum(1 + one for one in outside), rel=1e-9)
    pairs = sizes.count(2)
    assert details["match_probability_dis"] == pytest.approx(
        uniques * share / (uniques * share + 2 * (1 - share) * pairs)
    )


@pytest.mark.long
@settings(max_examples=25)
@given(st.lists(st.sampled_from([1, 1, 1, 2, 2, 3, 5, 9]), min_size=2, max_size=14), st.sampled_from(["1/10", "1/2"]))
def test_pitman_is_the_best_of_a_search_over_the_likelihood(sizes: list[int], fraction: str) -> None:
    assume(1 in sizes)
    rows = [(f"c{number}", "x", "1") for number, size in enumerate(sizes) for _ in range(size)]
    details = estimated(rows, fraction).details
    if "pitman_theta" not in details:  # the likelihood grows without end: towards all apart, or all together
        assert set(sizes) == {1} or len(sizes) == 1 or _grows_to_the_edge(sizes)
        reject()
    theta, alpha = details["pitman_theta"], details["pitman_alpha"]
    here = log_likelihood(sizes, theta, alpha)

    def loss(point: Any) -> float:
        a = 1 / (1 + exp(-float(np.clip(point[1], -30, 30))))
        return -log_likelihood(sizes, exp(float(np.clip(point[0], -40, 40))) - a, a)

    starts = product((-2.0, 0.0, 3.0), (-4.0, 0.0, 2.0))
    result = min((optimize.minimize(loss, start, method="Nelder-Mead") for start in starts), key=lambda one: one.fun)
    assert here >= -result.fun - 1e-6 * max(1, abs(here))
    whole = len(rows) / float(Fraction(fraction))
    gammas = gammaln(theta + 1) + gammaln(theta + alpha + whole - 1) - gammaln(theta + alpha) - gammaln(theta + whole)
    by_gammas = whole * exp(gammas)
    assert details["pitman_population_uniques"] == pytest.approx(by_gammas, rel=1e-6)
    assert details["pitman"] == pytest.approx(min(by_gammas * float(Fraction(fraction)) / sizes.count(1), 1), rel=1e-6)


def _grows_to_the_edge(sizes: Sequence[int]) -> bool:
    """Whether no inner point of a coarse search is best: alpha next to 1 is at least as likely."""
    inner = max(log_likelihood(sizes, theta, alpha) for theta in (0.1, 1, 10, 100) for alpha in (0.01, 0.3, 0.6, 0.9))
    edge = max(log_likelihood(sizes, theta, 1 - 1e-9) for theta in (-0.9, 0.1, 1, 10, 100, 1e4))
    return edge >= inner
