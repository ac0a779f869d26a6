"""Correlated noise: what stays on average, what a policy cannot ask, and that the order of records plays no part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings, strategies as st
from masked import PLUGINS, masked, paired_policy

from tcdp_audit import PolicyError, fix, load_policy
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit_plugins.remedies._shared.masking import correlations, normal_noise
from tcdp_audit_plugins.remedies.correlated_noise import covariance_of

AGES = {"age": "numeric", "wage": "numeric"}


def related(n: int = 20_000) -> pa.Table:
    random = np.random.default_rng(3)
    age = random.normal(40, 10, n)
    return pa.table({"age": age, "wage": 100 * age + random.normal(0, 800, n)})


def columns(table: pa.Table) -> Any:
    return np.array([table[name].to_numpy() for name in table.column_names]).T


def test_noise_has_the_covariance_that_it_was_drawn_with() -> None:
    asked = np.array([[4.0, 3.0, 0.0], [3.0, 9.0, 0.0], [0.0, 0.0, 0.0]])
    drawn = normal_noise(asked, 50_000, np.random.default_rng(5))
    assert covariance_of(drawn) == pytest.approx(asked, abs=0.15)
    assert (drawn[:, 2] == 0).all()


@pytest.mark.parametrize(
    ("parameters", "variance", "correlation"),
    [
        ({}, 1.25, 1.0),
        ({"rescaled": True}, 1.0, 1.0),
        ({"shape": "independent"}, 1.25, 0.8),
        ({"shape": "independent", "rescaled": True}, 1.0, 0.8),
    ],
)
def test_variances_and_correlations_are_those_of_the_method(
    parameters: dict[str, Any], variance: float, correlation: float
) -> None:
    table = related()
    done = masked(table, AGES, "correlated_noise", percent=50, **parameters)
    before, after = columns(table), columns(done.table)
    assert after.mean(axis=0) == pytest.approx(before.mean(axis=0), rel=0.01)
    assert after.var(axis=0) / before.var(axis=0) == pytest.approx(variance, rel=0.03)
    assert correlations(after)[0, 1] / correlations(before)[0, 1] == pytest.approx(correlation, abs=0.02)
    assert done.notes["correlation_change"] == pytest.approx(
        abs(correlations(after) - correlations(before)).max(), abs=1e-4
    )


def test_a_declared_matrix_is_the_noise() -> None:
    table = related()
    matrix = {"age": {"age": 4, "wage": 30}, "wage": {"wage": 900}}
    done = masked(table, AGES, "correlated_noise", covariance=matrix)
    noise = columns(done.table) - columns(table)
    assert np.cov(noise.T) == pytest.approx(np.array([[4, 30], [30, 900]]), rel=0.05)
    assert done.notes["percent"] == 0


def test_whole_numbers_stay_whole_and_what_reveals_nothing_stays() -> None:
    table = pa.table({"age": pa.array([20, 30, None, 41, 55, 60]), "wage": ["1.25", "*", "2.50", "3.75", "", "4.00"]})
    done = masked(table, AGES, "correlated_noise", percent=80, seed=2)
    assert done.table.schema.field("age").type == pa.int64()
    assert done.column("age")[2] is None
    assert (done.column("wage")[1], done.column("wage")[4]) == ("*", table["wage"][4].as_py())
    assert all(len(one.partition(".")[2]) <= 2 for one in done.column("wage") if one not in ("*", ""))
    assert done.notes["changed"] > 5


@settings(max_examples=10)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=20), st.randoms())
def test_the_seed_decides_and_the_order_of_records_does_not_matter(rows: list[Any], random: Any) -> None:
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(AGES)})
    order = list(range(len(rows)))
    random.shuffle(order)
    one, again = (masked(table, AGES, "correlated_noise", percent=60, seed=1).table for _ in range(2))
    turned = masked(table.take(order), AGES, "correlated_noise", percent=60, seed=1).table
    keys = [(name, "ascending") for name in AGES]
    assert one.equals(again)
    assert one.sort_by(keys).equals(turned.sort_by(keys))


@pytest.mark.parametrize(
    ("ages", "parameters", "sentence"),
    [
        ([1, 2, 3], {}, "compare the release with its original"),
        (["1-5", "6-9", "7"], {"percent": 5}, "has ranges, and noise is added to numbers; add it before generalising"),
        (
            [1, 2, 3],
            {"covariance": {"age": {"age": 1, "wage": 9}, "wage": {"wage": 1}}},
            "larger than the variances of its attributes allow",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(ages: list[Any], parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RemedyError, match=sentence):
        masked(pa.table({"age": ages, "wage": [1, 2, 3]}), AGES, "correlated_noise", **parameters)


def test_without_a_numeric_quasi_identifier_there_is_nothing_to_mask() -> None:
    with pytest.raises(RemedyError, match="no numeric quasi-identifier; name the `attributes`"):
        masked(pa.table({"town": ["a", "b"]}), {"town": "nominal"}, "correlated_noise", percent=5)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"covariance": {"age": {"age": 1}}, "percent": 5}, "percent: `covariance` says all of the noise"),
        ({"covariance": {"age": {"age": 1, "wage": 1}}}, "'wage' is in `covariance` or gets noise, and not both"),
        ({"covariance": {"age": {"wage": 1}, "wage": {"wage": 1}}}, "'age' has no variance of its own above 0"),
        (
            {"covariance": {"age": {"age": 1, "wage": 0.5}, "wage": {"wage": 1, "age": 0.25}}},
            "'age' with 'wage' is another number than 'wage' with 'age'",
        ),
        ({"attributes": ["grade"], "percent": 5}, "'grade' is ordinal, and noise is added to numbers"),
        ({"attributes": ["name"], "percent": 5}, "'name' is neither a quasi-identifier nor a sensitive attribute"),
    ],
)
def test_what_a_policy_cannot_ask(parameters: dict[str, Any], sentence: str) -> None:
    roles = {name: {"role": "quasi_identifier", "scale": "numeric"} for name in AGES}
    roles |= {"grade": {"role": "sensitive", "scale": "ordinal", "order": ["low", "high"]}}
    roles |= {"name": {"role": "identifier"}}
    policy = paired_policy(roles, {"exact_match_rate": {"at_most": 0}}, remedy=[{"correlated_noise": parameters}])
    with pytest.raises(PolicyError) as caught:
        load_policy(policy, PLUGINS)
    assert sentence in str(caught.value)


@pytest.mark.long
def test_census_is_masked_as_little_as_will_do(data: Path) -> None:
    census = pyarrow.csv.read_csv(data / "casc" / "census.csv")
    attributes = {name: {"role": "quasi_identifier", "scale": "numeric"} for name in census.column_names}
    demands = [{"distance_record_linkage": {"at_most": 0.1}}]
    policy = paired_policy(attributes, *demands, remedy=[{"correlated_noise": {}}], seed=7)
    done = fix(census, policy, census, plugins=PLUGINS)
    assert done.passed
    assert 0 < done.log.steps[0].notes["percent"] <= 300
    assert done.log.steps[0].notes["correlation_change"] < 0.2
