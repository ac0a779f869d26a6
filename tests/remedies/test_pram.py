"""PRAM: what is drawn, with which probabilities, and the margins that stay as they are."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from masked import PLUGINS, masked, paired_policy

from tcdp_audit import PolicyError, fix, load_policy
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit_plugins.checks.masking_attacks.channel import invariant
from tcdp_audit_plugins.remedies.pram import LARGEST, declared_matrix, drawn, retaining

SEX = {"sex": {"role": "quasi_identifier", "scale": "nominal"}}
HANDBOOK = {"male": {"male": 0.9, "female": 0.1}, "female": {"female": 0.9, "male": 0.1}}


def slow_invariant(matrix: list[list[Fraction]], counts: list[int]) -> list[list[Fraction]]:
    """R_il = sum_k P_ik P_lk t_l / sum_j P_jk t_j, element by element."""
    m = range(len(counts))
    back = [sum((matrix[j][k] * counts[j] for j in m), Fraction()) for k in m]
    return [
        [sum((matrix[i][k] * matrix[one][k] * counts[one] / back[k] for k in m), Fraction()) for one in m] for i in m
    ]


@settings(max_examples=30)
@given(st.lists(st.integers(1, 40), min_size=2, max_size=5), st.data())
def test_invariant_probabilities_are_those_of_the_two_steps(counts: list[int], data: st.DataObject) -> None:
    values = len(counts)
    weights = [data.draw(st.lists(st.integers(1, 9), min_size=values, max_size=values)) for _ in counts]
    matrix = [[Fraction(weight, sum(line)) for weight in line] for line in weights]
    exact = slow_invariant(matrix, counts)
    for column in range(values):
        assert sum(counts[i] * exact[i][column] for i in range(values)) == counts[column]
    result = invariant(np.array(matrix, dtype=float), np.array(counts, dtype=float))
    assert result == pytest.approx(np.array(exact, dtype=float), abs=1e-12)
    assert result.sum(axis=1) == pytest.approx(1)


def test_a_value_that_no_one_has_does_not_come_back() -> None:
    result = invariant(retaining(0.8, 3), np.array([5.0, 0.0, 15.0]))
    assert result[[0, 2], 1].tolist() == [0, 0]
    assert np.array([5.0, 0.0, 15.0]) @ result == pytest.approx([5, 0, 15])


def test_the_handbook_expects_108_males_and_invariance_110() -> None:
    matrix = declared_matrix(
        {a: {b: Fraction(str(p)) for b, p in line.items()} for a, line in HANDBOOK.items()}, ["male", "female"]
    )
    counts = np.array([110.0, 90.0])
    assert (counts @ matrix)[0] == pytest.approx(108)
    assert counts @ invariant(matrix, counts) == pytest.approx([110, 90])


def test_shares_of_what_is_drawn_are_near_the_probabilities() -> None:
    matrix = np.array([[0.5, 0.3, 0.2], [0.0, 1.0, 0.0], [0.25, 0.0, 0.75]])
    codes = np.repeat([0, 1, 2], 20_000)
    released = drawn(matrix, codes, np.random.default_rng(2))
    shares = np.array([np.bincount(released[codes == code], minlength=3) for code in range(3)]) / 20_000
    assert shares == pytest.approx(matrix, abs=0.02)
    assert (shares[matrix == 0] == 0).all()


def test_a_single_value_is_retained() -> None:
    assert retaining(0.3, 1).tolist() == [[1]]


TOWNS = pa.table({"town": ["a", "b", "c", "d"] * 50, "note": [f"{i:03}" for i in range(200)]})
TOWN = {"town": "nominal", "note": {"role": "insensitive"}}


def test_cells_are_released_as_others_and_nothing_else_changes() -> None:
    done = masked(TOWNS, TOWN, "pram", retention=Fraction(1, 2))
    assert done.column("note") == TOWNS["note"].to_pylist()
    changed = sum(a != b for a, b in zip(done.column("town"), TOWNS["town"].to_pylist(), strict=True))
    assert done.notes == {"retention": 0.5, "changed": changed, "without_value": 0, "margin_shift": 0}
    assert 60 < changed < 140
    assert set(done.column("town")) == set("abcd")


@pytest.mark.long
def test_margins_of_an_invariant_release_stay_on_average() -> None:
    table = pa.table({"town": ["a"] * 150 + ["b"] * 40 + ["c"] * 10})
    runs = 40
    total = {True: Counter[str](), False: Counter[str]()}
    for invariance, counter in total.items():
        for seed in range(runs):
            done = masked(table, {"town": "nominal"}, "pram", retention=0.7, invariant=invariance, seed=seed)
            counter.update(done.column("town"))
    assert [total[True][one] / runs for one in "abc"] == pytest.approx([150, 40, 10], abs=4)
    assert [total[False][one] / runs for one in "abc"] == pytest.approx([112.5, 52, 35.5], abs=4)


def test_missing_and_suppressed_cells_stay() -> None:
    cells = ["a", None, "b", "*", "c", None, "a", "*"]
    done = masked(pa.table({"town": cells}), {"town": "nominal"}, "pram", retention=0.4, seed=1)
    assert [one in (None, "*") for one in done.column("town")] == [one in (None, "*") for one in cells]
    assert [one for one in done.column("town") if one in (None, "*")] == [None, "*", None, "*"]
    assert done.notes["without_value"] == 4


def test_a_declared_matrix_may_release_what_the_column_had_not() -> None:
    table = pa.table({"code": [1, 1, 2, 2] * 10})
    matrix = {"code": {"1": {"3": 1}, "2": {"2": 1}, "3": {"3": 1}}}
    done = masked(table, {"code": "nominal"}, "pram", matrix=matrix)
    assert [str(one) for one in done.column("code")] == ["3", "3", "2", "2"] * 10
    assert done.notes["margin_shift"] == 0.5
    assert done.notes["retention"] == 0


def test_the_seed_decides_and_the_order_of_records_does_not_matter() -> None:
    random = np.random.default_rng(4)
    table = pa.table({"town": random.choice(list("abc"), 40), "sex": random.choice(list("fm"), 40)})
    declared, order = {"town": "nominal", "sex": "nominal"}, random.permutation(40)
    one, again, other = (masked(table, declared, "pram", retention=0.6, seed=seed).table for seed in (1, 1, 2))
    assert one.equals(again)
    assert not one.equals(other)
    shuffled = masked(table.take(order), declared, "pram", retention=0.6, seed=1).table
    keys = [("town", "ascending"), ("sex", "ascending")]
    assert one.sort_by(keys).equals(shuffled.sort_by(keys))


@pytest.mark.parametrize(
    ("cells", "parameters", "sentence"),
    [
        (["a", "b", "c"], {"retention": 0.2}, "of the 3 values of 'town' would be likelier .* the least is 1/3"),
        (["a", "a"], {"retention": 0.9}, "'town' has one value only"),
        (["*", "*"], {"retention": 0.9}, "'town' has no value in any record"),
        (["a", "b"], {"matrix": {"town": {"a": {"a": 1}}}}, "the matrix of 'town' has no line for 1 of its values"),
        (["a", "b"], {}, "compare the release with its original.*nothing fails"),
        ([f"{i}" for i in range(LARGEST + 1)], {"retention": 0.9}, "2,001 values, and 2,000 can be had"),
    ],
)
def test_what_cannot_be_done_is_refused(cells: list[str], parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RemedyError, match=sentence):
        masked(pa.table({"town": cells}), {"town": "nominal"}, "pram", **parameters)


def test_numbers_are_not_categories() -> None:
    with pytest.raises(RemedyError, match="every quasi-identifier is numeric"):
        masked(pa.table({"age": [1, 2]}), {"age": "numeric"}, "pram", retention=0.9)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"matrix": {"sex": {"male": {"male": 0.9}}}}, "must add up to 1"),
        ({"matrix": {"sex": {"male": {"female": 1}}}}, "releases a value that has no line"),
        ({"matrix": {"sex": HANDBOOK}, "retention": 0.9}, "leave retention, or name `attributes`"),
        ({"matrix": {"sex": HANDBOOK}, "attributes": ["town"], "retention": 0.9}, "is not among `attributes`"),
        ({"attributes": ["age"], "retention": 0.9}, "'age' is numeric"),
        ({"attributes": ["name"], "retention": 0.9}, "neither a quasi-identifier nor a sensitive attribute"),
        ({"matrix": {"name": HANDBOOK}}, "neither a quasi-identifier nor a sensitive attribute"),
    ],
)
def test_what_a_policy_cannot_say(parameters: dict[str, Any], sentence: str) -> None:
    declared = {
        **SEX,
        "town": {"role": "quasi_identifier", "scale": "nominal"},
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "name": {"role": "identifier"},
    }
    policy = paired_policy(declared, {"exact_match_rate": {"at_most": 0.1}}, remedy=[{"pram": parameters}])
    with pytest.raises(PolicyError, match=sentence):
        load_policy(policy, PLUGINS)


@pytest.mark.long
def test_a_failing_linkage_is_met_by_the_largest_retention_that_does() -> None:
    random = np.random.default_rng(5)
    columns = {name: random.choice(list("abcde"), 150) for name in ("town", "job", "party", "sex")}
    table = pa.table(columns)
    declared = {name: {"role": "quasi_identifier", "scale": "nominal"} for name in columns}
    demand = {"distance_record_linkage": {"at_most": 0.15}}
    done = fix(table, paired_policy(declared, demand, remedy=[{"pram": {"invariant": True}}]), table, plugins=PLUGINS)
    assert done.passed
    assert 0.2 < done.log.steps[0].notes["retention"] < 0.95
    assert done.log.steps[0].notes["margin_shift"] == 0
    planned = fix(table, paired_policy(declared, demand), table, plugins=PLUGINS)
    assert planned.passed
    assert [one.remedy for one in planned.log.steps] == ["pram"]
