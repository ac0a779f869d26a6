"""Stochastic t-closeness against its definition: every output is tried, and what theory promises holds."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from mechanism_tables import Rows, histogram, log_ratio, points, tables

from tcdp_audit import Outcome, PolicyError, Status, audit, measure
from tcdp_audit.core.check.evidence import ReferenceDistribution
from tcdp_audit_plugins.checks.differential_privacy.extremes import (
    extremes,
    heaviest_lacked,
    maximum,
    response_distance,
)
from tcdp_audit_plugins.checks.differential_privacy.laplace import laplace_distance

SCALES = st.sampled_from([Fraction(1, 20), Fraction(1, 3), Fraction(1), Fraction(7), Fraction(1000)])
RETENTIONS = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(9, 10), Fraction(1)])


def _laplace(rows: Rows, weights: list[int], values: Any, scale: Fraction) -> Any:
    return laplace_distance(histogram(rows), ReferenceDistribution(np.array(weights)), np.asarray(values), scale)


def _response(rows: Rows, weights: list[int], retention: Fraction) -> list[Fraction | float]:
    result = response_distance(histogram(rows), ReferenceDistribution(np.array(weights)), retention)
    pairs = zip(result.numerator.tolist(), result.denominator.tolist(), strict=True)
    return [Fraction(a, b) if b else math.inf for a, b in pairs]


# Laplace and geometric


@settings(max_examples=100)
@given(st.data(), tables(), SCALES)
def test_laplace_is_the_largest_ratio_of_all_outputs(
    data: st.DataObject, table: tuple[Rows, list[int]], scale: Fraction
):
    rows, weights = table
    values = data.draw(points(len(weights)))

    actual = _laplace(rows, weights, values, scale).values

    b, at = float(scale), values.tolist()
    for figure, row in zip(actual.tolist(), rows, strict=True):
        expected = max(log_ratio(row, weights, at, x, b) for x in at)
        beyond = [at[0] - 3 * b, at[-1] + 3 * b]
        between = [one + (other - one) * part / 8 for one, other in itertools.pairwise(at) for part in range(1, 8)]
        assert max(log_ratio(row, weights, at, x, b) for x in [*beyond, *between]) <= expected + 1e-10
        if expected < 700:
            assert figure == pytest.approx(math.exp(expected), rel=1e-10)
        else:
            assert figure > 1e303


def test_a_worked_example():
    """Values 0 and 1, b = 1/ln 2, so that a step halves: f_E = (1, 1/2), f_T = (3/4, 3/4), ratio 4/3 or 3/2."""
    result = _laplace([[1, 0], [0, 1]], [1, 1], [0, 1], Fraction(1 / math.log(2)))

    assert result.values.tolist() == [pytest.approx(1.5, rel=1e-14)] * 2


def test_a_maximum_inside_a_gap_of_the_class():
    """The class has the ends and lacks the heavy middle: f_T / f_E peaks there, between the class's own values."""
    result = _laplace([[1, 0, 1], [1, 8, 1]], [2, 8, 2], [0, 1, 2], Fraction(1, 3))

    peak = (8 / 12 + 4 / 12 * math.exp(-3)) / math.exp(-3)
    assert result.values[0] == pytest.approx(peak, rel=1e-13)


@pytest.mark.parametrize("far", [10**11 + step for step in range(8)])
def test_relative_distances_decide_where_positions_are_too_coarse(far: int):
    """Floats resolve positions 10^11 away to 1e-5; which of the middle values is the peak hangs on one in a million."""
    rows, weights = [[1, 1, 0, 0, 1]], [10**6, 10, 10**6, 10**6 + 1, 10]

    actual = _laplace(rows, weights, [0, far, far + 1, far + 3, far + 4], Fraction(3)).values
    expected = _laplace(rows, weights, [-(10**4), 0, 1, 3, 4], Fraction(3)).values

    assert actual == pytest.approx(expected, rel=1e-12)


def test_whole_numbers_of_more_digits_than_floats_have():
    start = 2**62
    result = _laplace([[2, 1, 0], [0, 1, 2]], [2, 2, 2], [start, start + 1, start + 3], Fraction(2))
    shifted = _laplace([[2, 1, 0], [0, 1, 2]], [2, 2, 2], [0, 1, 3], Fraction(2))

    assert result.values.tolist() == shifted.values.tolist()


def test_a_single_value_and_the_tables_own_distribution_are_at_1():
    assert _laplace([[3], [1]], [4], [17], Fraction(2)).values.tolist() == [1.0, 1.0]
    result = _laplace([[1, 0, 2], [2, 0, 4], [2, 1, 4]], [3, 0, 6], [0, 1, 2], Fraction(2))

    assert result.values[:2].tolist() == [1.0, 1.0]
    assert result.compare(Fraction(1)).tolist() == [0, 0, 1]
    assert result.compare(Fraction(999, 1000)).tolist() == [1, 1, 1]


def test_one_that_differs_from_1_by_less_than_floats_show_is_above_1():
    result = _laplace([[10**9, 10**9 + 1]], [10**9, 10**9], [0, 1], Fraction(10**30))

    assert result.values.tolist() == [1.0]
    assert result.compare(Fraction(1)).tolist() == [1]
    assert result.compare(1 + Fraction(1, 10**40)).tolist() == [1]  # it is 1 + 2.5e-40
    assert result.compare(1 + Fraction(1, 10**39)).tolist() == [-1]


@pytest.mark.parametrize("digits", [12, 30, 70])
@pytest.mark.parametrize("values", [[0, 2, 5, 9], [-0.5, 0.1, 2.25, 7.0]])
def test_a_threshold_beside_the_supremum_is_decided_exactly(digits: int, values: list[float]):
    rows, weights, scale = [[2, 0, 1, 1], [1, 3, 0, 1]], [3, 3, 1, 2], Fraction(7, 3)
    result = _laplace([*rows, *rows], weights, values, scale)

    for position, row in enumerate(rows):
        exact = _supremum(row, weights, values, scale)
        below = Fraction(int(exact * 10**digits), 10**digits)
        assert result.compare(below)[[position, position + 2]].tolist() == [1, 1]
        assert result.compare(below + Fraction(1, 10**digits))[[position, position + 2]].tolist() == [-1, -1]


def _supremum(row: list[int], weights: list[int], values: list[float], scale: Fraction) -> Fraction:
    """The largest ratio at a data point, to about 100 digits."""
    with localcontext() as context:
        context.prec = 110

        def density(masses: list[int], x: float) -> Decimal:
            terms = []
            for mass, at in zip(masses, values, strict=True):
                distance = abs(Fraction(x) - Fraction(at)) / scale
                terms.append(mass * (-Decimal(distance.numerator) / Decimal(distance.denominator)).exp())
            return sum(terms, Decimal(0)) / sum(masses)

        pairs = [(density(row, x), density(weights, x)) for x in values]
        return Fraction(max(max(f / g, g / f) for f, g in pairs))


@given(st.data(), tables())
def test_more_noise_never_reveals_more(data: st.DataObject, table: tuple[Rows, list[int]]):
    """Laplace(2b) is Laplace(b), followed with probability 3/4 by further noise."""
    rows, weights = table
    values = data.draw(points(len(weights)))

    less, more = (_laplace(rows, weights, values, Fraction(b)).values for b in (3, 6))

    assert (more <= less * (1 + 1e-12)).all()


@given(st.data(), tables())
def test_merged_classes_are_never_farther_than_their_parts(data: st.DataObject, table: tuple[Rows, list[int]]):
    rows, weights = table
    values = data.draw(points(len(weights)))
    merged = [[sum(column) for column in zip(*rows, strict=True)]]

    assert _laplace(merged, weights, values, Fraction(3)).values[0] <= (
        _laplace(rows, weights, values, Fraction(3)).values.max() * (1 + 1e-12)
    )
    for retention in (Fraction(1, 3), Fraction(1)):
        assert _response(merged, weights, retention)[0] <= max(_response(rows, weights, retention))


@given(st.data(), tables())
def test_proposition_1_as_derived_bounds_every_mechanism(data: st.DataObject, table: tuple[Rows, list[int]]):
    rows = table[0]
    weights = [sum(column) for column in zip(*rows, strict=True)]
    values = data.draw(points(len(weights)))
    retention, m, total = Fraction(1, 3), len(weights), sum(weights)

    result = _laplace(rows, weights, values, Fraction(20)).values.tolist()
    answers = _response(rows, weights, retention)

    noise = math.exp(float(values[-1] - values[0]) / 20)
    response = 1 + retention * m / (1 - retention)
    for row, laplace, answer in zip(rows, result, answers, strict=True):
        share = Fraction(sum(row), total)
        assert laplace <= (float(share) + float(1 - share) * noise) * (1 + 1e-12)
        assert answer <= share + (1 - share) * response


# Randomised response


@settings(max_examples=100)
@given(tables(), RETENTIONS)
def test_randomised_response_is_that_of_the_definition(table: tuple[Rows, list[int]], retention: Fraction):
    rows, weights = table

    for row, match in zip(rows, _response(rows, weights, retention), strict=True):
        pairs = list(zip(_answers(row, retention), _answers(weights, retention), strict=True))
        ratios = [max(f / g, g / f) if f and g else math.inf for f, g in pairs if f or g]
        assert match == max(ratios)


def _answers(masses: list[int], retention: Fraction) -> list[Fraction]:
    return [retention * Fraction(mass, sum(masses)) + (1 - retention) / len(masses) for mass in masses]


@given(tables(), RETENTIONS, st.randoms(use_true_random=False))
def test_randomised_response_does_not_depend_on_labels(table: tuple[Rows, list[int]], retention: Fraction, random: Any):
    rows, weights = table
    order = random.sample(range(len(weights)), len(weights))

    relabelled = [[row[one] for one in order] for row in rows]

    assert _response(relabelled, [weights[one] for one in order], retention) == _response(rows, weights, retention)


@pytest.mark.parametrize("few", [1, 16])
@given(tables())
def test_the_heaviest_value_that_a_class_lacks(few: int, table: tuple[Rows, list[int]]):
    rows, weights = table

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tcdp_audit_plugins.checks.differential_privacy.extremes.FEW", few)
        result = heaviest_lacked(histogram(rows), ReferenceDistribution(np.array(weights))).tolist()

    lacked = ([weight for count, weight in zip(row, weights, strict=True) if not count] for row in rows)
    assert result == [max(some, default=0) for some in lacked]


def test_randomised_response_on_counts_beyond_64_bit_products():
    many = 2**40
    rows, weights = [[many, many + 1, 1]], [many, many, many]

    (actual,) = _response(rows, weights, Fraction(999_999_999, 10**9))

    answers, table = _answers(rows[0], Fraction(999_999_999, 10**9)), Fraction(1, 3)
    assert actual == max(max(f / table, table / f) for f in answers)


def test_fractions_that_floats_do_not_tell_apart():
    """Row 0: 10^17 / 10^17 against one that is larger by 1 in 10^17; row 1: infinity; row 2: equal ones."""
    big = 10**17
    rows = histogram([[1, 1, 1], [0, 1, 1], [1, 1, 0]])
    numerator, denominator = np.array([big, big + 1, big, 5, 9, 1, 2]), np.array([big, big, big + 1, 0, 1, 2, 4])

    assert [match.tolist() for match in extremes(rows, numerator, denominator)] == [[1, 3, 5], [2, 4, 5]]


def test_the_largest_of_several_fractions():
    from tcdp_audit.plugin.check import Ratios

    first, second = Ratios(np.array([1, 1]), np.array([3, 0])), Ratios(np.array([2, 7]), np.array([5, 1]))

    assert maximum(first, second).values.tolist() == [0.4, math.inf]


# From a policy


def _outcome(parameters: dict[str, Any], release: Any, **declaration: Any) -> Outcome:
    attributes = {
        "equivalence_class": {"role": "quasi_identifier"},
        "bucket": {"role": "insensitive"},
        "value": {"role": "sensitive", "scale": "numeric", **declaration},
    }
    policy = {"version": 1, "attributes": attributes, "expect": [{"stochastic_t_closeness": parameters}]}
    return audit(release, policy).expectations[0]


def test_geometric_noise_on_whole_numbers_is_laplace_on_its_lattice(data: Path):
    release = data / "papers" / "ds15_figure2.csv"
    laplace = _outcome({"mechanism": "laplace", "noise_scale": 3}, release)
    geometric = _outcome({"mechanism": "geometric", "epsilon": 2, "sensitivity": 6, "t": 3}, release)

    assert laplace.observed == geometric.observed == pytest.approx(2.194259588861361, rel=1e-12)
    assert (geometric.title, geometric.status) == ("Stochastic t-closeness, geometric", Status.PASSED)
    assert geometric.message == (
        "Under the assumptions of t-closeness on prior and posterior knowledge, and with geometric applied to "
        "'value' of the 12 records as declared, the likelihood of no output differs by more than the factor 2.19 "
        "between a group and the table. The policy allows a factor up to 3."
    )


def test_randomised_response_meets_its_threshold_exactly(data: Path):
    release = data / "papers" / "ds15_figure2.csv"
    parameters = {"mechanism": "randomised_response", "retention": "1/2", "t": 3}

    outcome = _outcome(parameters, release)  # at a value that a class of 4 has: (1/8 + 1/24) : (1/24 + 1/24)

    assert (outcome.observed, outcome.status) == (2.0, Status.PASSED)
    assert _outcome({**parameters, "t": 2}, release).status is Status.PASSED
    assert _outcome({**parameters, "t": "1.9999999999999999"}, release).status is Status.FAILED


def test_without_noise_a_class_that_lacks_a_value_is_infinitely_far(data: Path):
    outcome = _outcome({"mechanism": "randomised_response", "retention": 1}, data / "papers" / "ds15_figure2.csv")

    assert outcome.observed == math.inf
    assert "the outputs of a group and of the table differ without bound" in outcome.message


@pytest.mark.parametrize(
    ("values", "parameters", "sentence"),
    [
        ([0.5, 1.0], {"mechanism": "geometric", "noise_scale": 1}, "geometric noise is for whole numbers"),
        (
            [0, 10**9],
            {"mechanism": "laplace", "noise_scale": "1e-6"},
            "the noise is too small compared with the attribute's range",
        ),
    ],
)
def test_what_cannot_be_evaluated_is_an_error(values: list[float], parameters: dict[str, Any], sentence: str):
    outcome = _outcome(parameters, pa.table({"equivalence_class": ["a", "a"], "bucket": [1, 1], "value": values}))

    assert outcome.status is Status.ERROR
    assert sentence in outcome.message


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"mechanism": "laplace"}, "laplace takes `noise_scale`, or `epsilon` and `sensitivity`, and no retention"),
        ({"mechanism": "laplace", "noise_scale": 1, "epsilon": 1}, "laplace takes `noise_scale`, or"),
        ({"mechanism": "geometric", "epsilon": 1}, "geometric takes `noise_scale`, or"),
        ({"mechanism": "laplace", "noise_scale": "1e-101"}, "the scale of the noise is beyond"),
        ({"mechanism": "randomised_response"}, "randomised_response takes `retention`"),
        (
            {"mechanism": "randomised_response", "retention": 0.5, "noise_scale": 1},
            "randomised_response takes `retention`",
        ),
        ({"mechanism": "randomised_response", "retention": "0.12345678901"}, "too many digits"),
        ({"noise_scale": 1}, "mechanism"),
    ],
)
def test_parameters_of_a_mechanism_belong_together(parameters: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        _outcome(parameters, None)


def test_noise_is_for_numbers():
    with pytest.raises(PolicyError, match="to be numeric"):
        _outcome({"mechanism": "laplace", "noise_scale": 1}, None, scale="nominal")


@pytest.mark.parametrize("missing", ["excluded", "own_category"])
def test_from_python_and_without_missing_values_their_convention_changes_nothing(missing: str):
    frame = pa.table({"zip": ["a", "a", "b", "b"], "salary": [1, 2, 2, 3]})

    def figure(**parameters: Any) -> float | None:
        return measure(
            "stochastic_t_closeness",
            frame,
            quasi_identifiers=["zip"],
            attribute="salary",
            scale="numeric",
            conventions={"missing_sensitive": missing},
            **parameters,
        ).observed

    assert figure(mechanism="laplace", noise_scale=1) == pytest.approx((1 + math.e) / 2, rel=1e-14)
    assert figure(mechanism="randomised_response", retention=0.5) == 1.75  # (1/8 + 1/6) : 1/6
