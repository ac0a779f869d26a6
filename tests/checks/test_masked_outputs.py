"""Stochastic t-closeness under matrices, rounded and Gaussian noise and products: next to every output, tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from mechanism_tables import Rows, histogram, log_ratio, points, tables
from scipy import stats

from tcdp_audit import Outcome, PolicyError, Status, audit
from tcdp_audit.plugin.check import ReferenceDistribution
from tcdp_audit_plugins.checks.differential_privacy.gaussian import gaussian_distance
from tcdp_audit_plugins.checks.differential_privacy.laplace import laplace_distance
from tcdp_audit_plugins.checks.differential_privacy.masked_outputs import (
    OutputChannel,
    channel_distance,
    laplace_channel,
    matrix_channel,
    response_channel,
    rounded_channel,
)

Matrix = list[list[Fraction]]
FEW, MANY = 30, 500


def marginal(weights: Sequence[int]) -> ReferenceDistribution:
    return ReferenceDistribution(np.array(weights))


def distances(rows: Rows, weights: Sequence[int], *channels: OutputChannel, codes: Any = None) -> Any:
    own = [np.arange(len(weights))] if codes is None else codes
    return channel_distance(histogram(rows), marginal(weights), channels, own)


def exact_ratio(row: Sequence[int], weights: Sequence[int], outputs: Matrix) -> Fraction | float:
    """The largest ratio over all outputs, each a line of probabilities under every value."""
    largest: Fraction | float = Fraction(1)
    for line in outputs:
        own, table = (
            sum((one * mass for one, mass in zip(line, masses, strict=True)), Fraction(0)) / sum(masses)
            for masses in (row, weights)
        )
        if own or table:
            largest = max(largest, own / table, table / own) if own and table else math.inf
    return largest


def is_exact(figure: Any, place: int, expected: Fraction | float) -> None:
    """A figure is a fraction, and compares with it and its neighbours as the fraction does."""
    assert figure.values[place] == pytest.approx(float(expected), rel=1e-11)
    if expected != math.inf:
        exact, near = Fraction(expected), Fraction(1, 10**40)
        assert [int(figure.compare(exact + step)[place]) for step in (-near, 0, near)] == [1, 0, -1]


@st.composite
def matrices(draw: st.DrawFn, size: int) -> Matrix:
    """A matrix of rational transition probabilities: for every value a line of those of some outputs."""
    outputs = draw(st.integers(1, 5))
    line = st.lists(st.sampled_from([0, 0, 1, 1, 2, 5, 11]), min_size=outputs, max_size=outputs).filter(any)
    whole = draw(st.lists(line, min_size=size, max_size=size))
    return [[Fraction(one, sum(own)) for one in own] for own in whole]


def declared(matrix: Matrix) -> OutputChannel:
    labels = [f"v{number}" for number in range(len(matrix))]
    lines = {
        label: {f"o{place}": one for place, one in enumerate(line)} for label, line in zip(labels, matrix, strict=True)
    }
    return matrix_channel(lines, "it", labels, np.ones(len(labels), dtype=bool))


# Matrices


@st.composite
def under_matrices(draw: st.DrawFn) -> tuple[Rows, list[int], Matrix]:
    rows, weights = draw(tables())
    return rows, weights, draw(matrices(len(weights)))


def _is_the_largest_of_all_outputs(case: tuple[Rows, list[int], Matrix]) -> None:
    rows, weights, matrix = case
    figure = distances(rows, weights, declared(matrix))
    outputs = [list(line) for line in zip(*matrix, strict=True)]
    for place, row in enumerate(rows):
        is_exact(figure, place, exact_ratio(row, weights, outputs))


@settings(max_examples=FEW)
@given(under_matrices())
def test_a_matrix_is_the_largest_ratio_of_all_outputs(case: tuple[Rows, list[int], Matrix]) -> None:
    _is_the_largest_of_all_outputs(case)


@pytest.mark.long
@settings(max_examples=MANY)
@given(under_matrices())
def test_a_matrix_on_many_tables(case: tuple[Rows, list[int], Matrix]) -> None:
    _is_the_largest_of_all_outputs(case)


def test_a_worked_matrix() -> None:
    """Half of the yes become no. Class a says yes to 2/3, the table to 1/3: 1/3 to 1/6, and 2/3 to 5/6."""
    rows, half = [[2, 1], [0, 3]], Fraction(1, 2)
    figure = distances(rows, [2, 4], declared([[half, half], [Fraction(0), Fraction(1)]]))

    assert figure.values.tolist() == [2.0, math.inf]
    assert figure.compare(Fraction(2)).tolist() == [0, 1]


# Products


@st.composite
def products(draw: st.DrawFn) -> tuple[Rows, list[int], list[tuple[int, int]], Matrix, Fraction]:
    """Classes over some of the combinations of two attributes, a matrix for one and a retention for the other."""
    sizes = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    every = list(itertools.product(range(sizes[0]), range(sizes[1])))
    some = draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    row = st.lists(st.sampled_from([0, 1, 2, 5]), min_size=len(some), max_size=len(some)).filter(any)
    rows = draw(st.lists(row, min_size=1, max_size=3))
    weights = [sum(column) + 1 for column in zip(*rows, strict=True)]
    return rows, weights, sorted(some), draw(matrices(sizes[0])), draw(st.sampled_from([Fraction(0), Fraction(2, 7)]))


def _is_the_product(case: tuple[Rows, list[int], list[tuple[int, int]], Matrix, Fraction]) -> None:
    rows, weights, combinations, matrix, retention = case
    size = 1 + max(1, *(two for _, two in combinations))
    codes = [np.array(own) for own in zip(*combinations, strict=True)]
    figure = distances(rows, weights, declared(matrix), response_channel(size, retention), codes=codes)
    answers = [[retention * (one == two) + (1 - retention) / size for two in range(size)] for one in range(size)]
    outputs = [
        [matrix[one][first] * answers[two][second] for one, two in combinations]
        for first in range(len(matrix[0]))
        for second in range(size)
    ]
    for place, row in enumerate(rows):
        is_exact(figure, place, exact_ratio(row, weights, outputs))


@settings(max_examples=FEW)
@given(products())
def test_a_product_is_the_largest_ratio_of_all_pairs_of_outputs(case: Any) -> None:
    _is_the_product(case)


@pytest.mark.long
@settings(max_examples=MANY)
@given(products())
def test_a_product_on_many_tables(case: Any) -> None:
    _is_the_product(case)


def _noise_and_answers(case: Any, numbers: list[int], scale: Fraction) -> None:
    """Laplace noise next to answers: no real output, also between and beyond the values, has a larger ratio."""
    rows, weights, combinations, _, retention = case
    size, values = 1 + max(1, *(two for _, two in combinations)), np.array(numbers)
    codes = [np.array(own) for own in zip(*combinations, strict=True)]
    figure = distances(rows, weights, laplace_channel(values, scale), response_channel(size, retention), codes=codes)
    outputs = np.unique([*np.linspace(min(numbers) - 9, max(numbers) + 9, 200), *numbers])
    likelihood = [
        [math.exp(-abs(x - numbers[one]) / float(scale)) * (retention * (two == said) + (1 - retention) / size)
         for one, two in combinations]
        for x in outputs
        for said in range(size)
    ]  # fmt: skip
    table = np.array(likelihood, dtype=float) @ np.array(weights) / sum(weights)
    for place, row in enumerate(rows):
        own = np.array(likelihood, dtype=float) @ np.array(row) / sum(row)
        assert figure.values[place] == pytest.approx(np.maximum(own / table, table / own).max(), rel=1e-9)


@settings(max_examples=15)
@given(products(), st.sampled_from([Fraction(1, 2), Fraction(3)]))
def test_noise_beside_answers(case: Any, scale: Fraction) -> None:
    _noise_and_answers(case, [-2, 0, 5], scale)


@pytest.mark.long
@settings(max_examples=MANY)
@given(products(), st.sampled_from([Fraction(1, 2), Fraction(3)]), st.sampled_from([[-2, 0, 5], [0, 1, 2]]))
def test_noise_beside_answers_on_many_tables(case: Any, scale: Fraction, numbers: list[int]) -> None:
    _noise_and_answers(case, numbers, scale)


def test_equality_of_noise_that_cancels_is_decided() -> None:
    """All have the same number, so that the noise cancels and the answers alone decide: 7/4 exactly."""
    channels = laplace_channel(np.array([3]), Fraction(2)), response_channel(3, Fraction(1, 2))
    codes = [np.zeros(3, dtype=np.int64), np.arange(3)]

    figure = distances([[1, 1, 0], [0, 1, 1]], [1, 2, 1], *channels, codes=codes)

    is_exact(figure, 0, Fraction(5, 4) * Fraction(7, 5))


@settings(max_examples=FEW)
@given(st.data(), tables())
def test_laplace_noise_by_its_outputs_is_laplace_noise(data: st.DataObject, table: tuple[Rows, list[int]]) -> None:
    rows, weights = table
    values, scale = data.draw(points(len(weights))), Fraction(7, 2)

    by_outputs = distances(rows, weights, laplace_channel(values, scale))
    directly = laplace_distance(histogram(rows), marginal(weights), values, scale)

    assert by_outputs.values == pytest.approx(directly.values, rel=1e-10)
    for near in directly.values.tolist():
        for threshold in (Fraction(near) * (1 + Fraction(step, 10**12)) for step in (-1, 0, 1)):
            assert by_outputs.compare(threshold).tolist() == directly.compare(threshold).tolist()


# Rounded noise


def _rounded(rows: Rows, weights: list[int], values: Any, scale: Fraction, base: Fraction) -> None:
    figure = distances(rows, weights, rounded_channel(values, scale, base))
    step, at = float(base), np.array(values, dtype=float)
    first, last = math.floor(at[0] / step) - 4, math.ceil(at[-1] / step) + 4
    edges = (np.arange(first, last + 2) - 0.5) * step
    noise = stats.laplace(scale=float(scale))
    mass = np.array([
        [noise.cdf(high - v) - noise.cdf(low - v) if high <= v else noise.sf(low - v) - noise.sf(high - v) for v in at]
        for low, high in itertools.pairwise(edges)
    ])  # fmt: skip
    table = mass @ np.array(weights) / sum(weights)
    for place, row in enumerate(rows):
        own = mass @ np.array(row) / sum(row)
        assert figure.values[place] == pytest.approx(np.maximum(own / table, table / own).max(), rel=1e-8)
        assert figure.compare(Fraction(figure.values[place] * (1 + 1e-11)))[place] == -1


BASES = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3), Fraction(10)])


@settings(max_examples=20)
@given(st.data(), tables(), BASES)
def test_rounded_noise_is_the_largest_ratio_of_all_multiples(data: st.DataObject, table: Any, base: Fraction) -> None:
    _rounded(*table, data.draw(points(len(table[1]))), Fraction(4), base)


@pytest.mark.long
@settings(max_examples=MANY)
@given(st.data(), tables(), BASES, st.sampled_from([Fraction(4), Fraction(30)]))
def test_rounded_noise_on_many_tables(data: st.DataObject, table: Any, base: Fraction, scale: Fraction) -> None:
    _rounded(*table, data.draw(points(len(table[1]))), scale, base)


@settings(max_examples=20)
@given(st.data(), tables(), BASES)
def test_rounding_never_reveals_more(data: st.DataObject, table: Any, base: Fraction) -> None:
    (rows, weights), values = table, data.draw(points(len(table[1])))
    plain = laplace_distance(histogram(rows), marginal(weights), values, Fraction(4)).values

    assert (distances(rows, weights, rounded_channel(values, Fraction(4), base)).values <= plain * (1 + 1e-9)).all()


# Gaussian noise


def _gaussian(rows: Rows, weights: list[int], values: Any, deviation: Fraction, delta: str) -> Any:
    return gaussian_distance(histogram(rows), marginal(weights), np.asarray(values), deviation, Fraction(delta))


def test_the_tails_make_the_factor_infinite() -> None:
    rows, weights = [[1, 1, 0], [1, 0, 1], [2, 2, 4]], [2, 2, 4]
    figure = _gaussian(rows, weights, [0, 1, 2], Fraction(2), "0")

    assert figure.values[0] == math.inf
    assert 1.5 < figure.values[1] < 3
    assert figure.values[2] == 1
    assert figure.compare(Fraction(1)).tolist() == [1, 1, 0]


def _supremum(rows: Rows, weights: list[int], values: Any, deviation: float) -> None:
    at = np.array(values, dtype=float) / deviation
    figures = _gaussian(rows, weights, values, Fraction(deviation), "0").values
    known = np.flatnonzero(weights)
    near, far = np.arange(at[0] - 10, at[-1] + 10, 0.02), np.arange(10, 150, 0.1)  # beyond the values it hardly bends
    x = np.concatenate((at[0] - far[::-1], near, at[-1] + far))

    def density(masses: Sequence[int]) -> Any:
        with np.errstate(divide="ignore"):
            terms = np.log(np.array(masses) / sum(masses)) + x[:, None] * at - at**2 / 2
        return np.logaddexp.reduce(terms, axis=1)

    for figure, row in zip(figures, rows, strict=True):
        own = np.flatnonzero(row)
        if (own[0], own[-1]) != (known[0], known[-1]):
            assert figure == math.inf
            continue
        highest = math.exp(np.abs(density(row) - density(weights)).max())
        assert highest * (1 - 1e-9) <= figure
        assert figure <= highest * (1 + 1e-3)  # the grid misses the top by so much


@settings(max_examples=15)
@given(st.data(), tables(values=4))
def test_the_supremum_under_gaussian_noise(data: st.DataObject, table: Any) -> None:
    numbers = sorted(data.draw(st.sets(st.integers(0, 9), min_size=len(table[1]), max_size=len(table[1]))))
    _supremum(*table, numbers, 3.0)


@pytest.mark.long
@settings(max_examples=MANY)
@given(st.data(), tables(), st.sampled_from([2.0, 5.0]))
def test_the_supremum_under_gaussian_noise_on_many_tables(data: st.DataObject, table: Any, deviation: float) -> None:
    numbers = sorted(data.draw(st.sets(st.integers(0, 15), min_size=len(table[1]), max_size=len(table[1]))))
    _supremum(*table, numbers, deviation)


def _with_delta(rows: Rows, weights: list[int], values: Any, deviation: float, delta: str) -> None:
    """The excess is exactly delta at the figure, where it is above 1: by trapezoids over a fine grid."""
    figures = _gaussian(rows, weights, values, Fraction(deviation), delta).values
    at = np.array(values, dtype=float)
    x = np.linspace(at[0] - 10 * deviation, at[-1] + 10 * deviation, 40_001)
    kernel = stats.norm.pdf((x[:, None] - at) / deviation) / deviation
    table = kernel @ np.array(weights) / sum(weights)
    for figure, row in zip(figures, rows, strict=True):
        own = kernel @ np.array(row) / sum(row)
        excess = max(np.trapezoid(np.maximum(one - figure * two, 0), x) for one, two in ((own, table), (table, own)))
        assert excess <= float(Fraction(delta)) + 1e-8
        if figure > 1:
            assert excess == pytest.approx(float(Fraction(delta)), abs=1e-7)


@settings(max_examples=4)
@given(st.data(), tables(values=4, classes=2), st.sampled_from(["1/20", "1/1000"]))
def test_delta_is_what_exceeds_the_factor(data: st.DataObject, table: Any, delta: str) -> None:
    numbers = sorted(data.draw(st.sets(st.integers(0, 9), min_size=len(table[1]), max_size=len(table[1]))))
    _with_delta(*table, numbers, 3.0, delta)


@pytest.mark.long
@settings(max_examples=MANY)
@given(
    st.data(), tables(values=3, classes=1), st.sampled_from(["1/20", "1/1000", "1/100000"]), st.sampled_from([2.0, 6.0])
)
def test_delta_on_many_tables(data: st.DataObject, table: Any, delta: str, deviation: float) -> None:
    numbers = sorted(data.draw(st.sets(st.integers(0, 15), min_size=len(table[1]), max_size=len(table[1]))))
    _with_delta(*table, numbers, deviation, delta)


def test_two_values_under_gaussian_noise_in_closed_form() -> None:
    """Class 0, table 0 and 1 equally: f_T / f_E = 1/2 + e^(x - 1/2)/2, so that t and delta follow from Phi."""
    t = _gaussian([[1, 0]], [1, 1], [0, 1], Fraction(1), "1/1000").values[0]
    place = math.log(2 * t - 1) + 0.5
    excess = stats.norm.sf(place) / 2 + stats.norm.sf(place - 1) / 2 - t * stats.norm.sf(place)

    assert excess == pytest.approx(0.001, abs=1e-10)


def test_values_far_apart_under_gaussian_noise_in_closed_form() -> None:
    """Five deviations apart the factor is of 10^12, which multiplies probabilities of 10^-15; rounding keeps them."""
    t = _gaussian([[0, 1]], [1, 0], [0, 10], Fraction(2), "1/1000").values[0]
    place = (math.log(t) + 12.5) / 5
    excess = stats.norm.sf(place - 5) - t * stats.norm.sf(place)

    assert excess == pytest.approx(0.001, rel=1e-8)


def test_a_flat_ratio_under_gaussian_noise_is_bounded_at_once() -> None:
    """Class and table agree on all values but one, so that the ratio hardly moves for many deviations."""
    rows, weights = [[1, 1, 0, 0], [2, 2, 1, 7]], [3, 3, 1, 7]

    _supremum(rows, weights, [1, 3, 9, 14], 2.0)


# From a policy

ATTRIBUTES: Mapping[str, Any] = {
    "zip": {"role": "quasi_identifier"},
    "job": {"role": "sensitive", "scale": "nominal"},
    "pay": {"role": "sensitive", "scale": "numeric"},
}
TABLE = pa.table(
    {"zip": list("aaabbb"), "job": ["x", "x", "y", "y", "y", "x"], "pay": pa.array([1, 2, 2, 2, 3, 3], pa.int64())}
)
SWAP: Mapping[str, Mapping[str, str]] = {"x": {"x": "0.75", "y": "0.25"}, "y": {"x": "0.25", "y": "0.75"}}

PRAM: Mapping[str, Any] = {"mechanism": "pram", "matrix": SWAP}


def outcome(parameters: Mapping[str, Any], table: pa.Table = TABLE, **more: Any) -> Outcome:
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [{"stochastic_t_closeness": dict(parameters)}], **more}
    return audit(table, policy).expectations[0]


def test_a_matrix_in_a_policy() -> None:
    """Class a: x 2/3, released 7/12; the table: x 1/2, released 1/2."""
    pram = {"attribute": "job", "mechanism": "pram", "matrix": SWAP, "t": "7/6"}

    one = outcome({**pram, "t": "6/5"})

    assert (one.observed, one.status, one.parameters["matrix"]) == (pytest.approx(1.2), Status.PASSED, "2 values")
    assert outcome(pram).status is Status.FAILED
    assert one.message.startswith(
        "Under the assumptions of t-closeness on prior and posterior knowledge, and with post-randomisation applied to "
        "'job' of the 6 records as declared, the likelihood of no output differs by more than the factor 1.20"
    )


def test_a_matrix_in_a_file_beside_the_policy(tmp_path: Path) -> None:
    (tmp_path / "job.csv").write_text(",x,y\nx,0.75,0.25\ny,0.25,0.75\n")
    (tmp_path / "table.csv").write_text("zip,job,pay\na,x,1\na,x,2\na,y,2\nb,y,2\nb,y,3\nb,x,3\n")
    (tmp_path / "policy.tcdp.yaml").write_text(
        "version: 1\nattributes:\n  zip: {role: quasi_identifier}\n  job: {role: sensitive, scale: nominal}\n"
        "  pay: {role: insensitive}\n"
        "expect:\n  - stochastic_t_closeness: {mechanism: pram, matrix: job.csv, attribute: job, t: 1.2}\n"
    )
    result = audit(tmp_path / "table.csv", tmp_path / "policy.tcdp.yaml")

    assert result.expectations[0].observed == pytest.approx(1.2)
    assert result.expectations[0].status is Status.PASSED
    (tmp_path / "job.csv").write_text(",x,y\nx,0.75,0.25\n")
    refused = audit(tmp_path / "table.csv", tmp_path / "policy.tcdp.yaml").expectations[0]
    assert refused.status is Status.ERROR
    assert "has no row for 1 value" in refused.message


def test_attributes_are_masked_jointly() -> None:
    """Each attribute next to the table is closer than both together."""
    factors = {
        "job": {"mechanism": "pram", "matrix": SWAP},
        "pay": {"mechanism": "randomised_response", "retention": "1/2"},
    }

    joint = outcome({"mechanism": "product", "factors": factors})
    alone = [outcome({"attribute": name, **one}).observed for name, one in factors.items()]

    assert joint.attribute == "job × pay"
    assert joint.observed is not None
    assert max(one for one in alone if one is not None) < joint.observed
    combinations = [("x", 1), ("x", 2), ("y", 2), ("y", 3), ("x", 3)]
    rows, weights = [[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]], [1, 1, 2, 1, 1]
    outputs = [
        [Fraction(SWAP[job][said]) * (Fraction(1, 6) + Fraction(number == pay, 2)) for job, pay in combinations]
        for said in "xy"
        for number in (1, 2, 3)
    ]
    assert joint.observed == pytest.approx(float(max(exact_ratio(row, weights, outputs) for row in rows)), rel=1e-12)
    assert joint.parameters["factors"]["job"]["matrix"] == "2 values"


def test_noise_on_a_sum_of_attributes() -> None:
    factors = {"job": {"mechanism": "pram", "matrix": SWAP}, "pay": {"mechanism": "laplace", "noise_scale": 2}}

    joint = outcome({"mechanism": "product", "factors": factors, "t": 2})

    assert joint.status is Status.PASSED
    assert 1 < (joint.observed or 0) < 2


def test_rounded_and_gaussian_noise_in_a_policy() -> None:
    plain = outcome({"attribute": "pay", "mechanism": "laplace", "noise_scale": 1})
    rounded = outcome({"attribute": "pay", "mechanism": "laplace", "noise_scale": 1, "rounded_to": 5})
    endless = outcome({"attribute": "pay", "mechanism": "gaussian", "deviation": 1, "t": 1000})
    bounded = outcome({"attribute": "pay", "mechanism": "gaussian", "deviation": 2, "t": 3, "delta": "1e-3"})

    assert rounded.observed == pytest.approx(plain.observed)  # in the tails, rounding changes no ratio
    assert (endless.observed, endless.status) == (math.inf, Status.FAILED)
    assert "without bound in the tails of the noise: declare `delta`" in endless.message
    assert bounded.status is Status.PASSED
    assert (
        "except for outputs of a probability of 0.001, the likelihood of no output differs by more" in bounded.message
    )


def test_a_matrix_that_lacks_a_value_is_an_error() -> None:
    one = outcome({"attribute": "job", "mechanism": "pram", "matrix": {"x": {"x": 1}}})

    assert one.status is Status.ERROR
    assert "the matrix of 'job' has no row for 1 value" in one.message


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"mechanism": "pram"}, "pram takes `matrix`"),
        ({"mechanism": "pram", "matrix": {"x": {"x": "0.5"}}}, "must add up to 1, and 1 do not"),
        ({"mechanism": "gaussian", "noise_scale": 1}, "gaussian takes `deviation`, and no noise_scale"),
        ({"mechanism": "geometric", "noise_scale": 1, "rounded_to": 5}, "and no rounded_to"),
        ({"mechanism": "laplace", "noise_scale": 1, "delta": "0.1"}, "and no delta"),
        ({"mechanism": "product", "factors": {"job": {"mechanism": "pram", "matrix": SWAP}}}, "must not be empty"),
        (
            {
                "mechanism": "product",
                "factors": {name: {"mechanism": "laplace", "noise_scale": 1} for name in ("job", "pay")},
            },
            "'job': laplace adds to numbers",
        ),
        (
            {
                "attribute": "job",
                "mechanism": "product",
                "factors": {name: {"mechanism": "randomised_response", "retention": 1} for name in ("job", "pay")},
            },
            "leave `attribute` out",
        ),
        (
            {"mechanism": "product", "factors": dict.fromkeys(("job", "age"), PRAM)},
            "no attribute 'age'",
        ),
    ],
)
def test_parameters_that_do_not_go_together(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError, match=sentence):
        outcome(parameters)


def test_missing_values() -> None:
    """A missing value that counts as one stays missing under a matrix; a product has no place for it."""
    table = TABLE.set_column(1, "job", pa.array(["x", "x", None, "y", "y", "x"]))
    own = {"conventions": {"missing_sensitive": "own_category"}}

    unmasked = outcome({"attribute": "job", "mechanism": "pram", "matrix": SWAP}, table, **own)
    factors = {name: {"mechanism": "randomised_response", "retention": "1/2"} for name in ("job", "pay")}
    refused = outcome({"mechanism": "product", "factors": factors}, table, **own)

    assert unmasked.observed == math.inf  # class b has no missing value
    assert refused.status is Status.ERROR
    assert "set `missing_sensitive: excluded`" in refused.message


def test_no_cell_is_named_and_too_much_is_refused() -> None:
    tiny = outcome({"attribute": "pay", "mechanism": "laplace", "noise_scale": "1/1000", "rounded_to": 1})
    wide = outcome({"attribute": "pay", "mechanism": "gaussian", "deviation": "1/1000"})

    assert [one.status for one in (tiny, wide)] == [Status.ERROR] * 2
    assert "the noise is too small" in tiny.message
    assert "more than 1,000 standard deviations" in wide.message


@pytest.mark.parametrize("shards", [1, 3])
def test_shards_change_nothing(shards: int) -> None:
    expect = [{"stochastic_t_closeness": {"mechanism": "product", "factors": {
        "job": {"mechanism": "pram", "matrix": SWAP}, "pay": {"mechanism": "laplace", "noise_scale": 2}}}}]  # fmt: skip
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": expect}

    assert audit(TABLE, policy, shards=shards).expectations[0].observed == audit(TABLE, policy).expectations[0].observed


def test_laplace_ratios_are_those_of_the_definition() -> None:
    rows, weights, numbers = [[2, 0, 1]], [3, 1, 2], [0, 2, 9]

    figure = distances(rows, weights, laplace_channel(np.array(numbers), Fraction(2))).values[0]

    assert math.log(figure) == pytest.approx(max(log_ratio(rows[0], weights, numbers, x, 2.0) for x in numbers))
