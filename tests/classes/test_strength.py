"""How well sets of columns tell records apart: printed figures, a slow reference, and samples beside exact figures."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.classes import strength, strength_measures
from tcdp_audit.core.classes.strength import Strengths, strengths, strengths_of
from tcdp_audit.core.engines.opening import open_engine

TOY = {  # Motwani and Xu's example: age, sex and state of five people
    "age": [20, 30, 40, 20, 40],
    "sex": ["F", "F", "M", "M", "M"],
    "state": ["CA", "CA", "TX", "NY", "CA"],
}
ADULT = (
    "age",
    "education",
    "marital-status",
    "native-country",
    "occupation",
    "race",
    "salary-class",
    "sex",
    "workclass",
)


def coded(rows: dict[str, list[object]]) -> dict[str, np.ndarray]:
    return {name: np.unique(np.array(cells, object), return_inverse=True)[1] for name, cells in rows.items()}


def unique_share(columns: list[list[object]]) -> Fraction:
    """Of records that no other agrees with, in plain Python."""
    rows = [*zip(*columns, strict=True)]
    return Fraction(sum(number == 1 for number in Counter(rows).values()), len(rows))


@pytest.mark.parametrize(
    ("attributes", "distinction", "separation"),
    [
        (["age"], "3/5", "4/5"),
        (["sex"], "2/5", "3/5"),
        (["state"], "3/5", "7/10"),
        (["age", "sex"], "4/5", "9/10"),
        (["age", "state"], "1", "1"),
        (["sex", "state"], "4/5", "9/10"),
    ],
)
def test_the_figures_of_the_example(attributes: list[str], distinction: str, separation: str):
    result = strengths(coded(TOY))

    one = result.of(*attributes)
    assert (str(one.distinction), str(one.separation)) == (distinction, separation)
    assert result.minimal_keys == (("age", "state"),)
    assert result.sample is None


def rounded(*figures: Fraction | float) -> tuple[float, ...]:
    return tuple(round(float(one), 6) for one in figures)


@pytest.mark.long
def test_the_figures_of_adult(data):
    with open_engine(data / "adult/adult.csv", 2**30) as engine:
        result = strengths_of(engine, ADULT)

    assert result.sample is None
    printed = {
        ("age",): (0.002387, 0.978117, 0.000033),
        ("occupation",): (0.000464, 0.894622, 0),
        ("education",): (0.000530, 0.807438, 0),
        ("native-country",): (0.001359, 0.167895, 0.000033),
        ("sex",): (0.000066, 0.438284, 0),
        ("age", "education", "occupation"): (0.167230, 0.999336, 0.063225),
        ADULT: (0.646575, 0.999906, 0.514290),
    }
    for names, figures in printed.items():
        one = result.of(*names)
        assert rounded(one.distinction, one.separation, one.unique) == figures
    assert result.whole.distinction * result.records == 19_502
    pairs = [one for one in result.sets if len(one.attributes) == 2]
    triples = [one for one in result.sets if len(one.attributes) == 3]
    by_distinction = max(pairs, key=lambda one: one.distinction)
    by_separation = max(pairs, key=lambda one: one.separation)
    assert (by_distinction.attributes, rounded(by_distinction.distinction)) == (("age", "native-country"), (0.039288,))
    assert (by_separation.attributes, rounded(by_separation.separation)) == (("age", "occupation"), (0.997504,))
    assert max(triples, key=lambda one: one.distinction).attributes == ("age", "education", "occupation")
    drops = {one.attribute: round(float(one.leave_one_out), 5) for one in result.contributions}
    assert drops == {
        "age": 0.36781,
        "occupation": 0.22117,
        "education": 0.22071,
        "marital-status": 0.11803,
        "workclass": 0.11733,
        "sex": 0.05441,
        "race": 0.05225,
        "salary-class": 0.04943,
        "native-country": 0.03388,
    }
    values = {one.attribute: round(one.shapley, 5) for one in result.contributions}
    assert (values["age"], values["education"], values["occupation"]) == (0.14195, 0.08751, 0.08671)
    assert round(sum(one.shapley for one in result.contributions), 5) == 0.51429


CELLS = st.integers(0, 3)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), min_size=2, max_size=12))
def test_exact_figures_are_those_of_plain_python(rows: list[tuple[int, ...]]):
    columns: list[list[object]] = [list(one) for one in zip(*rows, strict=True)]
    names = "abcd"
    result = strengths({name: np.array(one) for name, one in zip(names, columns, strict=True)})

    assert len(result.sets) == 4 + 6 + 4
    keys = []
    for size in (1, 2, 3):
        for places in combinations(range(4), size):
            chosen = [columns[place] for place in places]
            one = result.of(*(names[place] for place in places))
            classes = Counter(zip(*chosen, strict=True))
            together = sum(comb(number, 2) for number in classes.values())
            assert one.distinction == Fraction(len(classes), len(rows))
            assert one.separation == 1 - Fraction(together, comb(len(rows), 2))
            assert one.unique == unique_share(chosen)
            if len(classes) == len(rows) and not any({*key} <= {*places} for key in keys):
                keys.append(places)
    assert result.minimal_keys == tuple(tuple(names[place] for place in key) for key in keys)
    for place, one in enumerate(result.contributions):
        others = [column for other, column in enumerate(columns) if other != place]
        assert one.leave_one_out == unique_share(columns) - unique_share(others)
        assert one.shapley == pytest.approx(float(added_over_all_orders(columns, place)), abs=1e-12)


def added_over_all_orders(columns: list[list[object]], place: int) -> Fraction:
    added = []
    for order in permutations(range(len(columns))):
        before = [columns[other] for other in order[: order.index(place)]]
        known = unique_share(before) if before else Fraction(len(columns[0]) == 1)
        added.append(unique_share([*before, columns[place]]) - known)
    return sum(added, Fraction()) / len(added)


@pytest.fixture(scope="module")
def many() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(7)
    sizes = {"a": 3, "b": 40, "c": 900, "d": 12_000}
    skewed = {name: generator.zipf(1.6, 20_000) % size for name, size in sizes.items()}
    return {**skewed, "e": generator.permutation(20_000)}


@pytest.fixture
def sampled(many: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> Strengths:
    monkeypatch.setattr(strength, "VISITS", 0)
    monkeypatch.setattr(strength_measures, "DRAWN", 4_000)
    return strengths(many, seed=3)


def test_a_sample_says_so_and_is_within_its_errors(many: dict[str, np.ndarray], sampled: Strengths):
    exact = strengths(many, exact=True)

    assert exact.sample is None
    sample = sampled.sample
    assert sample is not None
    assert (sample.records, sample.orders, sample.seed) == (4_096, strength.ORDERS, 3)
    assert sample.share == pytest.approx(0.2, abs=2**-15)
    assert sampled.whole == exact.whole
    for one, true in zip(sampled.sets, exact.sets, strict=True):
        assert one.attributes == true.attributes
        for estimate, figure in ((one.distinction, true.distinction), (one.unique, true.unique)):
            assert abs(estimate - figure) <= 5 * sample.error(float(figure), 20_000) + 1e-12
        assert abs(one.separation - true.separation) <= 3 / 4_096**0.5
    assert sampled.minimal_keys == exact.minimal_keys == (("e",),)
    for one, true in zip(sampled.contributions, exact.contributions, strict=True):
        assert abs(one.shapley - true.shapley) <= 5 * one.error + 0.02
        assert abs(one.leave_one_out - true.leave_one_out) <= 5 * sample.error(1, 20_000)


def test_a_sample_estimates_without_bias(many: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(strength, "VISITS", 0)
    monkeypatch.setattr(strength_measures, "DRAWN", 1_000)
    few = {name: many[name] for name in ("b", "c")}
    true = strengths(few, order=2, exact=True).of("b", "c")
    estimates = [strengths(few, order=2, seed=seed).of("b", "c") for seed in range(60)]

    error = strength.StrengthSample(share=0.05, records=0, orders=0, seed=0).error(float(true.distinction), 20_000)
    mean = float(np.mean([float(one.distinction) for one in estimates]))
    assert abs(mean - true.distinction) < 4 * error / 60**0.5


def test_a_sample_does_not_depend_on_the_order_of_records(many: dict[str, np.ndarray], sampled: Strengths):
    order = np.random.default_rng(1).permutation(20_000)

    assert strengths({name: one[order] for name, one in many.items()}, seed=3) == sampled


def test_rows_that_stand_for_several_records_count_as_often(sampled: Strengths, monkeypatch: pytest.MonkeyPatch):
    assert sampled.records == 20_000
    codes = {"a": np.array([0, 0, 1, 2]), "b": np.array([0, 1, 1, 2])}
    times = np.array([3, 1, 2, 1])
    repeated = {name: np.repeat(one, times) for name, one in codes.items()}
    monkeypatch.setattr(strength, "VISITS", 10**6)

    assert strengths(codes, times) == strengths(repeated)
    assert strengths(codes, times).of("a", "b").unique == Fraction(2, 7)
    monkeypatch.setattr(strength, "VISITS", 0)
    assert strengths(codes, times) == strengths(repeated)


def test_a_set_that_was_not_measured_is_named():
    with pytest.raises(KeyError, match="colour"):
        strengths(coded(TOY)).of("age", "colour")


def test_a_missing_value_is_a_value():
    import pyarrow as pa

    table = pa.table({"a": ["x", "?", None, "x", ""], "b": [1, 1, 1, 2, 1]})
    with open_engine(table, 2**30) as engine:
        result = strengths_of(engine, ["a", "b"], missing=["?"])
    assert result.of("a").distinction == Fraction(2, 5)
    assert result.of("a", "b").unique == Fraction(2, 5)


def test_a_search_finds_the_best_set_of_a_correlated_survey(monkeypatch: pytest.MonkeyPatch):
    generator = np.random.default_rng(2)
    taste = generator.normal(size=(600, 3))
    weights = generator.normal(size=(3, 14))
    answers = np.digitize(taste @ weights + generator.normal(size=(600, 14)), [-2, -1, 0, 1, 2])
    codes = {f"q{place}": answers[:, place] for place in range(14)}
    every = strengths(codes, exact=True)
    monkeypatch.setattr(strength, "VISITS", 0)
    monkeypatch.setattr(strength_measures, "DRAWN", 10**9)
    steps: list[tuple[int, int]] = []
    searched = strengths(codes, beam=8, progress=lambda done, total: steps.append((done, total)))

    assert searched.searched
    assert not every.searched
    assert len(searched.sets) < len(every.sets)
    best, outcome = (max(one.sets, key=lambda each: float(each.unique)) for one in (every, searched))
    assert outcome.attributes == best.attributes
    assert float(outcome.unique) == pytest.approx(float(best.unique), rel=0.01)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert {total for _, total in steps} == {steps[0][1]}


def test_a_search_is_made_of_few_records_of_many_columns_too():
    """Each set costs something however few its rows are: sixty records of a hundred columns are no small work."""
    generator = np.random.default_rng(5)
    codes = {f"q{place}": generator.integers(0, 4, 60) for place in range(100)}

    assert strengths(codes, beam=8).searched
    assert not strengths({name: codes[name] for name in [*codes][:12]}, beam=8).searched


def test_a_long_set_is_measured_as_all_columns_less_the_others():
    generator = np.random.default_rng(3)
    rows = [generator.integers(0, 2, 3_000) for _ in range(24)]
    measure = strength_measures.SampledMeasure(rows, np.ones(3_000, np.int64), 1)
    for absent in (0, 11, 23):
        subset = tuple(place for place in range(24) if place != absent)
        drawn, keys = measure._without([absent])
        hashes = sum((measure.hashes[place].astype(np.uint64) for place in subset), np.zeros(3_000, np.uint64))
        assert np.array_equal(drawn, np.flatnonzero(hashes % strength_measures.SPAN < measure.bound))
        expected = np.zeros(len(drawn), np.uint64)
        for place in subset:
            expected += measure.numbers[place][rows[place][drawn]]
        assert np.array_equal(keys, expected)
