"""Each distance against its definition, a linear program, the papers' numbers, and what it promises to keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, isclose, log
from typing import Any

import numpy as np
import pytest
from distance_tables import (
    Table,
    equal,
    exact,
    hierarchical,
    histogram,
    jensen_shannon,
    kullback_leibler,
    lowest_common_ancestor,
    multiplicative,
    on_a_line,
    random_table,
    transport,
)
from hypothesis import given, settings, strategies as st

from tcdp_audit.core.check.evidence import ReferenceDistribution
from tcdp_audit.core.check.threshold import Measured
from tcdp_audit.core.encoding.hierarchy import Tree
from tcdp_audit.plugin.check import ApproximateFigure, Ratios
from tcdp_audit_plugins.checks._shared import distances
from tcdp_audit_plugins.checks._shared.distances import line
from tcdp_audit_plugins.checks._shared.distances.multiplicative import lacks_value, largest_loss
from tcdp_audit_plugins.checks._shared.frequency_ratios import greatest_ratio

HAIR = Fraction(1, 10**12)
ALL_PAIRS = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])


def _marginal(*weights: int) -> ReferenceDistribution:
    return ReferenceDistribution(np.array(weights, dtype=np.int64))


def _numbers(values: Sequence[Any]) -> Any:
    return np.array(values)


# The papers' and the definitions' numbers


def test_equal_is_half_the_sum_of_differences():
    assert exact(distances.equal_distance(histogram([[1, 1, 0], [3, 0, 0]]), _marginal(1, 1, 1))) == [
        Fraction(1, 3),
        Fraction(2, 3),
    ]


def test_ordered_counts_declared_values_that_no_one_has():
    assert exact(distances.ordered_distance(histogram([[4, 0, 0, 0, 0]]), _marginal(1, 1, 0, 0, 0))) == [Fraction(1, 8)]
    assert exact(distances.ordered_distance(histogram([[4, 0]]), _marginal(1, 1))) == [Fraction(1, 2)]


def test_numeric_heeds_the_gaps_that_ordered_does_not():
    classes, uniform = histogram([[1, 1, 0]]), _marginal(1, 1, 1)

    assert exact(distances.ordered_distance(classes, uniform)) == [Fraction(1, 4)]
    assert exact(distances.numeric_distance(classes, uniform, _numbers([0, 1, 100]))) == [Fraction(199, 600)]


def test_hierarchical_distinguishes_cousins_from_siblings():
    result = distances.hierarchical_distance(
        histogram([[1, 1, 0, 0], [1, 0, 1, 0]]), _marginal(1, 1, 1, 1), Tree(ALL_PAIRS)
    )

    assert exact(result) == [Fraction(1, 2), Fraction(1, 4)]


def test_multiplicative_of_figure_2_of_domingo_ferrer_2015():
    result = distances.multiplicative_distance(histogram([[2, 1, 1], [1, 2, 1], [1, 1, 2]]), _marginal(4, 4, 4))

    assert exact(result) == [Fraction(3, 2)] * 3


def test_multiplicative_is_infinite_where_one_of_the_two_lacks_a_value():
    classes, reference = histogram([[1, 1, 0, 0], [2, 0, 0, 0], [1, 1, 1, 0]]), _marginal(5, 5, 0, 0)

    assert exact(distances.multiplicative_distance(classes, reference)) == [1, inf, inf]
    assert lacks_value(classes, reference).tolist() == [False, True, False]
    assert exact(greatest_ratio(classes, reference)) == [1, 2, inf]
    assert exact(largest_loss(classes, reference)) == [1, Fraction(1, 2), Fraction(3, 2)]


def test_divergences_of_a_class_with_half_of_the_values():
    classes, uniform = histogram([[1, 1, 0, 0], [1, 1, 1, 1]]), _marginal(1, 1, 1, 1)

    assert distances.kullback_leibler(classes, uniform).tolist() == pytest.approx([log(2), 0], abs=1e-15)
    assert distances.jensen_shannon(classes, uniform).tolist() == pytest.approx([0.2157615543388, 0], abs=1e-13)


def test_kullback_leibler_is_infinite_where_the_reference_lacks_a_value_and_jensen_shannon_is_not():
    classes, reference = histogram([[1, 1], [0, 3], [3, 0]]), _marginal(1, 0)

    assert distances.kullback_leibler(classes, reference).tolist() == [inf, inf, 0]
    assert distances.jensen_shannon(classes, reference)[1:].tolist() == [log(2), 0]


# Against the definitions and a linear program


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 10))])
def test_closed_forms_agree_with_a_linear_program(seed: int):
    random = np.random.default_rng(seed)
    for table in (random_table(random) for _ in range(50)):
        m = len(table.weights)
        values = np.sort(random.choice(1000, m, replace=False))
        span = max(int(values[-1] - values[0]), 1)
        (p, q), actual = table.pairs()[0], _closed_forms(table, values)

        assert actual["equal"] == pytest.approx(transport(p, q, lambda i, j: i != j), abs=1e-9)
        assert actual["ordered"] == pytest.approx(
            transport(p, q, lambda i, j, m=m: abs(i - j) / max(m - 1, 1)), abs=1e-9
        )
        assert actual["numeric"] == pytest.approx(
            transport(p, q, lambda i, j, v=values, s=span: abs(int(v[i] - v[j])) / s), abs=1e-9
        )
        assert actual["hierarchical"] == pytest.approx(transport(p, q, lowest_common_ancestor(table.paths)), abs=1e-9)


def _flows(table: Table) -> dict[str, list[distances.Move]]:
    """Of the first class, in both of the distances that Li and others define."""
    first = histogram(table.counts[:1])
    return {
        "ordered": distances.ordered_flow(first, table.marginal),
        "hierarchical": distances.hierarchical_flow(first, table.marginal, table.tree),
    }


def _flows_agree(table: Table) -> None:
    """Each turns p into q, costs what it says, and in all no more than a linear program can do."""
    m, (p, q) = len(table.weights), table.pairs()[0]
    costs = {"ordered": lambda i, j: abs(i - j) / max(m - 1, 1), "hierarchical": lowest_common_ancestor(table.paths)}
    for name, moves in _flows(table).items():
        shares = list(p)
        for one in moves:
            assert one.share > 0
            assert float(one.cost) == pytest.approx(costs[name](one.start, one.end), abs=1e-12)
            shares[one.start] -= one.share
            shares[one.end] += one.share
        assert shares == q
        assert not {one.start for one in moves} & {one.end for one in moves} or name == "ordered"
        work = sum((one.share * one.cost for one in moves), Fraction(0))
        assert work == exact(_distance(name, table))[0]
        assert float(work) == pytest.approx(transport(p, q, costs[name]), abs=1e-9)


def _distance(name: str, table: Table) -> Measured:
    if name == "ordered":
        return distances.ordered_distance(table.histogram, table.marginal)
    return distances.hierarchical_distance(table.histogram, table.marginal, table.tree)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 11))])
def test_item_24_a_flow_turns_the_class_into_the_reference_by_the_least_work(seed: int):
    random = np.random.default_rng(100 + seed)
    for _ in range(50 if seed else 30):
        _flows_agree(random_table(random))


def test_item_24_a_domain_of_one_value_has_no_move():
    assert distances.ordered_flow(histogram([[3]]), _marginal(5)) == []


def _closed_forms(table: Table, values: Any) -> dict[str, float]:
    """The distances of the first class."""
    arguments = table.histogram, table.marginal
    return {
        "equal": float(distances.equal_distance(*arguments).values[0]),
        "ordered": float(distances.ordered_distance(*arguments).values[0]),
        "numeric": float(distances.numeric_distance(*arguments, values).values[0]),
        "hierarchical": float(distances.hierarchical_distance(*arguments, table.tree).values[0]),
    }


@pytest.mark.parametrize("seed", range(10))
def test_figures_are_the_definitions_fractions(seed: int):
    random = np.random.default_rng([seed, 1])
    for table in (random_table(random) for _ in range(50)):
        arguments, pairs = (table.histogram, table.marginal), table.pairs()
        m = len(table.weights)
        values = np.sort(random.choice(np.arange(-500, 500), m, replace=False))

        assert exact(distances.equal_distance(*arguments)) == [equal(p, q) for p, q in pairs]
        assert exact(distances.ordered_distance(*arguments)) == [on_a_line(p, q, range(m)) for p, q in pairs]
        assert exact(distances.numeric_distance(*arguments, values)) == [
            on_a_line(p, q, values.tolist()) for p, q in pairs
        ]
        assert exact(distances.hierarchical_distance(*arguments, table.tree)) == [
            hierarchical(p, q, table.paths) for p, q in pairs
        ]
        assert exact(distances.multiplicative_distance(*arguments)) == [multiplicative(p, q) for p, q in pairs]
        assert distances.kullback_leibler(*arguments) == pytest.approx(
            [kullback_leibler(p, q) for p, q in pairs], abs=1e-12
        )
        assert distances.jensen_shannon(*arguments) == pytest.approx(
            [jensen_shannon(p, q) for p, q in pairs], abs=1e-12
        )


@pytest.mark.parametrize(("pairs", "largest", "entries"), [(1, 1, 16), (4, 20, 2), (7, 2000, 1)])
def test_a_distance_on_a_line_is_the_same_however_its_turns_are_looked_for(
    monkeypatch: pytest.MonkeyPatch, pairs: int, largest: int, entries: int
):
    for name, size in (("PAIRS", pairs), ("LARGEST", largest), ("ENTRIES", entries)):
        monkeypatch.setattr(line, name, size)
    random = np.random.default_rng([pairs, largest])
    for m in (2, 3, 40):
        counts = random.poisson(random.choice([0.1, 1, 20], (8, m))) + (np.arange(m) == random.integers(m))
        table = Table(counts.tolist(), [*random.integers(0, 50, m - 1).tolist(), 1], [])
        values = np.sort(random.choice(10**6, m, replace=False))
        by_rank, by_value = ([on_a_line(p, q, at) for p, q in table.pairs()] for at in (range(m), values.tolist()))
        places = (values - values[0]) / (values[-1] - values[0])
        estimated = line.estimated_distance(table.histogram, table.marginal, places, list)

        assert exact(distances.ordered_distance(table.histogram, table.marginal)) == by_rank
        assert exact(distances.numeric_distance(table.histogram, table.marginal, values)) == by_value
        assert estimated.values == pytest.approx([float(one) for one in by_value], abs=1e-12)


# Beyond 32 and 64 bits


@pytest.mark.parametrize("times", [1, 30_000, 2**31, 2**40])
def test_hierarchical_is_right_where_products_leave_32_and_64_bits(times: int):
    """Shares (0.65, 0.15, 0.2, 0) of 20 in {a, b}, {c, d} are 0.35 from uniform: levels 0.4 and 0.3."""
    classes = histogram([[13 * times, 3 * times, 4 * times, 0], [0, 0, 5, 5]])
    result = distances.hierarchical_distance(classes, _marginal(*[times] * 4), Tree(ALL_PAIRS))

    assert exact(result) == [Fraction(35, 100), Fraction(1, 2)]
    assert result.compare(Fraction(35, 100)).tolist() == [0, 1]
    assert result.values.tolist() == [0.35, 0.5]


@pytest.mark.parametrize("times", [2**31, 2**40])
def test_every_distance_is_exact_for_counts_beyond_32_bits(times: int):
    counts = [[3 * times + 1, 2 * times, 0, times - 1], [1, 0, 2, 5], [times, times, times, times]]
    table = Table(counts, np.array(counts).sum(axis=0).tolist(), ALL_PAIRS.T.tolist())
    pairs, arguments = table.pairs(), (table.histogram, table.marginal)
    values = [-5, 0, 1, 1_000_000]

    for measured, reference in (
        (distances.equal_distance(*arguments), equal),
        (distances.ordered_distance(*arguments), lambda p, q: on_a_line(p, q, range(4))),
        (distances.numeric_distance(*arguments, _numbers(values)), lambda p, q: on_a_line(p, q, values)),
        (distances.hierarchical_distance(*arguments, table.tree), lambda p, q: hierarchical(p, q, table.paths)),
        (distances.multiplicative_distance(*arguments), multiplicative),
    ):
        _decides(measured, [reference(p, q) for p, q in pairs])


def _decides(measured: Measured, figures: Sequence[Fraction | float]) -> None:
    """Values are right to 1e-12, and comparisons are exact at the figure and a hair beside it."""
    assert measured.values == pytest.approx([float(one) for one in figures], abs=1e-12, rel=1e-14)
    for position, figure in enumerate(figures):
        if figure == inf:
            assert measured.compare(Fraction(10**30))[position] == 1
            continue
        signs = [int(measured.compare(Fraction(figure) + shift)[position]) for shift in (-HAIR, 0, HAIR)]
        assert signs == [1, 0, -1]


def test_the_largest_ratio_is_detected_where_floats_cannot_distinguish():
    """(2^40 + 1) / 2^40 and (2^40 + 2) / (2^40 + 1) differ by 2^-80 relatively, which no float shows."""
    base = 2**40
    classes = histogram([[base + 2, base + 1], [base + 1, base + 2]])
    reference = _marginal(base + 1, base)
    pairs = Table([[base + 2, base + 1], [base + 1, base + 2]], [base + 1, base], []).pairs()

    assert exact(distances.multiplicative_distance(classes, reference)) == [multiplicative(p, q) for p, q in pairs]


def test_a_class_gets_the_same_figure_whether_or_not_others_need_more_than_64_bits():
    small, large = [7, 3, 11, 1], [2**45, 1, 2**45, 3]
    weights = [2**20 + 7, 3**12, 5**8, 7**6]
    alone, together = histogram([small]), histogram([small, large])
    values = _numbers([1.5, 2.25, 2.5, 700.125])

    for measure in (
        lambda classes: distances.equal_distance(classes, _marginal(*weights)),
        lambda classes: distances.ordered_distance(classes, _marginal(*weights)),
        lambda classes: distances.numeric_distance(classes, _marginal(*weights), values),
        lambda classes: distances.hierarchical_distance(classes, _marginal(*weights), Tree(ALL_PAIRS)),
        lambda classes: distances.multiplicative_distance(classes, _marginal(*weights)),
    ):
        assert measure(together).values[0] == measure(alone).values[0]


# Numbers of every kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.1, 0.2, 0.3, 0.7], Ratios),
        ([-1.25, -0.1, 1e-6, 3.0], Ratios),
        ([1e-20, 2e-20, 3e-20, 1e-19], Ratios),
        ([-(2**63), -1, 0, 2**63 - 1], ApproximateFigure),
        ([0, 1, 2**40, 2**61], ApproximateFigure),
        ([2**62, 2**62 + 1, 2**62 + 5, 2**62 + 6], Ratios),
        ([0.1, 0.2, 1 / 3, 0.7], ApproximateFigure),
        ([1e15 + 0.1, 1e15 + 0.3, 1e15 + 0.5, 1e15 + 1.3], ApproximateFigure),
        ([-1.7e308, 0.0, 1.0, 1.7e308], ApproximateFigure),
        ([5e-324, 1e-300, 2e-300, 1.0], ApproximateFigure),
        ([5e-324, 1e-323, 1.5e-323, 2e-323], ApproximateFigure),
        ([0.5, 1e300, 2e300, 3e300], ApproximateFigure),
    ],
)
def test_numeric_is_exact_in_the_decimals_that_were_written(values: list[Any], kind: type):
    counts = [[3, 1, 0, 2], [1, 0, 0, 0], [0, 2, 2, 1], [5, 4, 3, 2]]
    table = Table(counts, [9, 7, 5, 5], [])
    result = distances.numeric_distance(table.histogram, table.marginal, _numbers(values))

    assert isinstance(result, kind)
    _decides(result, [on_a_line(p, q, [Fraction(repr(value)) for value in values]) for p, q in table.pairs()])


def test_a_domain_of_one_value_is_at_distance_0():
    classes, reference = histogram([[3], [1]]), _marginal(4)
    one = Tree(np.array([[0], [0]]))

    assert exact(distances.ordered_distance(classes, reference)) == [0, 0]
    assert exact(distances.numeric_distance(classes, reference, _numbers([0.1]))) == [0, 0]
    assert exact(distances.hierarchical_distance(classes, reference, one)) == [0, 0]
    assert exact(distances.equal_distance(classes, reference)) == [0, 0]
    assert exact(distances.multiplicative_distance(classes, reference)) == [1, 1]


@pytest.mark.parametrize("levels", [1, 2, 5])
def test_levels_without_branches_dilute_nothing_but_the_unit(levels: int):
    """Below a root whose children are the values, hierarchical is equal; chains of single children change nothing."""
    table = random_table(np.random.default_rng(levels), values=6)
    tree = Tree(np.array([range(6)] * levels + [[0] * 6]))

    assert exact(distances.hierarchical_distance(table.histogram, table.marginal, tree)) == exact(
        distances.equal_distance(table.histogram, table.marginal)
    )


# What each distance promises


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Small tables whose reference is their own marginal."""
    return _own(random_table(np.random.default_rng(draw(st.integers(0, 2**32)))))


def _own(table: Table) -> Table:
    return Table(table.counts, np.array(table.counts).sum(axis=0).tolist(), table.paths)


MEASURES: dict[str, Callable[[Table], Measured | Any]] = {
    "equal": lambda t: distances.equal_distance(t.histogram, t.marginal),
    "ordered": lambda t: distances.ordered_distance(t.histogram, t.marginal),
    "numeric": lambda t: distances.numeric_distance(t.histogram, t.marginal, np.arange(len(t.weights)) ** 3),
    "hierarchical": lambda t: distances.hierarchical_distance(t.histogram, t.marginal, t.tree),
    "multiplicative": lambda t: distances.multiplicative_distance(t.histogram, t.marginal),
    "kullback_leibler": lambda t: distances.kullback_leibler(t.histogram, t.marginal),
    "jensen_shannon": lambda t: distances.jensen_shannon(t.histogram, t.marginal),
}
RATIONAL = ("equal", "ordered", "numeric", "hierarchical", "multiplicative")
UNORDERED = ("equal", "multiplicative", "kullback_leibler", "jensen_shannon")


def _figures(name: str, table: Table) -> list[Any]:
    measured = MEASURES[name](table)
    return exact(measured) if name in RATIONAL else measured.tolist()


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=60, deadline=None)
@given(table=tables(), data=st.data())
def test_merging_classes_never_increases_t(name: str, table: Table, data: st.DataObject):
    """All of them are convex (or quasi-convex) in p: the generalisation property, and with it the subset property."""
    target = data.draw(st.lists(st.integers(0, 2), min_size=len(table.counts), max_size=len(table.counts)))
    merged = [
        np.array([row for row, group in zip(table.counts, target, strict=True) if group == one]).sum(axis=0).tolist()
        for one in sorted(set(target))
    ]
    before, after = max(_figures(name, table)), max(_figures(name, Table(merged, table.weights, table.paths)))

    assert after <= before if name in RATIONAL else after <= before + 1e-12


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=40, deadline=None)
@given(table=tables(), times=st.integers(2, 9))
def test_multiplying_all_counts_changes_nothing(name: str, table: Table, times: int):
    many = Table((times * np.array(table.counts)).tolist(), (times * np.array(table.weights)).tolist(), table.paths)

    assert _close(_figures(name, many), _figures(name, table), name)


@pytest.mark.parametrize("name", UNORDERED)
@settings(max_examples=40, deadline=None)
@given(table=tables(), random=st.randoms(use_true_random=False))
def test_distances_without_order_survive_any_relabelling(name: str, table: Table, random: Any):
    order = list(range(len(table.weights)))
    random.shuffle(order)
    relabelled = Table(
        [[row[i] for i in order] for row in table.counts],
        [table.weights[i] for i in order],
        [table.paths[i] for i in order],
    )

    assert _close(_figures(name, relabelled), _figures(name, table), name)


@settings(max_examples=60, deadline=None)
@given(table=tables(), random=st.randoms(use_true_random=False))
def test_hierarchical_survives_any_relabelling_that_takes_the_tree_along(table: Table, random: Any):
    order, renamed = list(range(len(table.weights))), [random.sample(range(100), 100) for _ in table.paths[0]]
    random.shuffle(order)
    relabelled = Table(
        [[row[i] for i in order] for row in table.counts],
        [table.weights[i] for i in order],
        [[names[node] for names, node in zip(renamed, table.paths[i], strict=True)] for i in order],
    )

    assert _figures("hierarchical", relabelled) == _figures("hierarchical", table)


@pytest.mark.parametrize("name", ["ordered", "numeric"])
@settings(max_examples=40, deadline=None)
@given(table=tables(), shift=st.integers(-1000, 1000), factor=st.sampled_from([-7, -1, 2, 10]))
def test_distances_on_a_line_survive_shifts_scaling_and_reversal(name: str, table: Table, shift: int, factor: int):
    """Ordered survives every relabelling that keeps or reverses the order: it never sees the values."""
    values = np.arange(len(table.weights)) ** 3
    step = 1 if factor > 0 else -1
    moved = (values * factor + shift)[::step]
    turned = Table([row[::step] for row in table.counts], table.weights[::step], table.paths[::step])
    arguments = turned.histogram, turned.marginal
    result = (
        distances.ordered_distance(*arguments) if name == "ordered" else distances.numeric_distance(*arguments, moved)
    )

    assert exact(result) == _figures(name, table)


@settings(max_examples=100, deadline=None)
@given(table=tables())
def test_ranges(table: Table):
    for name in ("equal", "ordered", "numeric", "hierarchical"):
        assert all(0 <= figure <= 1 for figure in _figures(name, table))
    assert all(figure >= 1 for figure in _figures("multiplicative", table))
    assert all(0 <= figure < inf for figure in _figures("kullback_leibler", table))
    assert all(0 <= figure <= log(2) for figure in _figures("jensen_shannon", table))


def _close(outcome: list[Any], expected: list[Any], name: str) -> bool:
    if name in RATIONAL:
        return outcome == expected
    return all(isclose(a, b, abs_tol=1e-12) for a, b in zip(outcome, expected, strict=True))
