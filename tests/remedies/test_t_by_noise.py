"""Stochastic t-closeness by noise: the epsilon that a t gives, the classes, and the certificate computed again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError

import tcdp_audit
from tcdp_audit import PolicyError
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit_plugins.remedies.noise import T_BY_NOISE
from tcdp_audit_plugins.remedies.noise.closeness import solved_epsilon

ROLES: Mapping[str, Any] = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "pay": {"role": "sensitive", "scale": "numeric"},
    "job": {"role": "sensitive", "scale": "nominal"},
}
PAY: Mapping[str, Any] = {"mechanism": "laplace", "bounds": [0, 100]}
JOB: Mapping[str, Any] = {"mechanism": "randomised_response"}
BOTH: Mapping[str, Any] = {"t": 3, "attributes": {"pay": PAY, "job": JOB}}
ALONE: Mapping[str, Any] = {"t": 3, "attributes": {"pay": PAY}}


def people(records: int = 60) -> pa.Table:
    random = np.random.default_rng(4)
    return pa.table(
        {
            "age": random.integers(20, 40, records),
            "pay": random.integers(-20, 120, records),
            "job": random.choice(list("xyz"), records),
        }
    )


def fixed(given: Mapping[str, Any], table: pa.Table | None = None, *, job: bool = True, k: int = 5) -> Any:
    roles = ROLES if job else {**ROLES, "job": {"role": "insensitive"}}
    policy = {
        "version": 1,
        "attributes": roles,
        "expect": [{"k_anonymity": {"k": k}}],
        "remedy": [{"t_by_noise": dict(given)}],
    }
    return tcdp_audit.fix(people() if table is None else table, policy)


@settings(max_examples=30)
@given(st.integers(1001, 20_000), st.integers(1, 999))
def test_epsilon_is_the_largest_of_nine_places_under_which_t_holds(thousandths: int, share: int) -> None:
    t, a = Fraction(thousandths, 1000), Fraction(share, 1000)
    epsilon = solved_epsilon(t, a)

    assert epsilon.denominator <= 10**9
    assert float(a) + float(1 - a) * math.exp(epsilon) <= float(t) * (1 + 1e-15)
    assert float(a) + float(1 - a) * math.exp(epsilon + Fraction(1, 10**9)) > float(t) * (1 - 1e-15)


def test_an_epsilon_in_closed_form() -> None:
    """A third of the records in the smallest class, t = 2: ln((2 - 1/3) / (2/3)) = ln(5/2)."""
    assert float(solved_epsilon(Fraction(2), Fraction(1, 3))) == pytest.approx(math.log(2.5), abs=1e-9)


def test_where_no_epsilon_follows() -> None:
    with pytest.raises(RemedyError, match="one class is the whole table"):
        solved_epsilon(Fraction(2), Fraction(1))
    with pytest.raises(RemedyError, match="so close to 1"):
        solved_epsilon(1 + Fraction(1, 10**12), Fraction(1, 2))


@pytest.mark.parametrize("partition", ["mondrian", "microaggregation"])
def test_its_certificate_is_computed_again(partition: str) -> None:
    """From the released classes and the true values: k, the bound of proposition 1, and the factor of the noise."""
    table = people()
    done = fixed({**ALONE, "partition": partition}, table, job=False)
    notes, released = done.log.steps[0].notes, done.released
    labels = released["age"].to_pylist()
    sizes = {label: labels.count(label) for label in labels}
    least = min(sizes.values()) / len(labels)

    assert done.passed
    assert notes["smallest"] == min(sizes.values()) >= notes["k"] == 5
    assert notes["classes"] == len(sizes)
    assert least + (1 - least) * math.exp(notes["epsilon"]) == pytest.approx(3, abs=1e-7)
    assert notes["t"] == 3.0
    assert notes["epsilon_of_person"] == notes["epsilon"]
    assert 1 < notes["stochastic_t"] <= 3
    assert "k_anonymity: {k: 5}" in done.log.lines
    assert "t_from_epsilon: {epsilon: " in done.log.lines
    assert not {*released["pay"].to_pylist()} & {*table["pay"].to_pylist()}
    roles = {**ROLES, "job": {"role": "insensitive"}}
    again = tcdp_audit.audit(
        released, {"version": 1, "attributes": roles, "expect": yaml.safe_load(done.log.lines)["expect"]}
    )
    passed = {one.check: one.status.value for one in again.expectations}
    assert passed["k_anonymity"] == passed["t_from_epsilon"] == "passed"


def _largest(groups: Mapping[str, list[float]], scale: float) -> float:
    """The largest factor between a group's Laplace mixture and everyone's, at every value."""
    everyone = [one for group in groups.values() for one in group]

    def density(values: list[float], x: float) -> float:
        return math.fsum(math.exp(-abs(x - one) / scale) for one in values) / len(values)

    ratios = [density(group, x) / density(everyone, x) for group in groups.values() for x in everyone]
    return max(max(one, 1 / one) for one in ratios)


def test_the_factor_is_that_of_true_values_clamped() -> None:
    table = pa.table({"age": [1] * 4 + [2] * 4, "pay": [-5, 10, 20, 30, 60, 70, 80, 500], "job": list("xxyyxxyy")})
    notes = _applied({**ALONE, "partition": "none", "k": 4}, table).notes
    scale = 100 / notes["epsilon"]
    groups = {"one": [0.0, 10.0, 20.0, 30.0], "two": [60.0, 70.0, 80.0, 100.0]}

    assert notes["epsilon"] == pytest.approx(math.log(5), abs=1e-9)  # (3 - 1/2) / (1/2)
    assert notes["stochastic_t"] == pytest.approx(_largest(groups, scale), rel=1e-9)


def _is_certified(seed: int) -> None:
    """A small random table: the epsilon of the bound, and the factor of all outputs, computed from the records."""
    random = Random(seed)  # noqa: S311 - the same tables every time
    sizes = [random.randint(2, 5) for _ in range(random.randint(2, 4))]
    pays = [[random.randint(-30, 130) for _ in range(size)] for size in sizes]
    ages = [age for age, size in enumerate(sizes) for _ in range(size)]
    table = pa.table({"age": ages, "pay": [pay for own in pays for pay in own], "job": ["x"] * len(ages)})
    t = Fraction(random.randint(11, 90), 10)

    notes = _applied({**ALONE, "t": str(t), "partition": "none", "k": 2}, table).notes

    a = min(sizes) / sum(sizes)
    assert notes["smallest"] == min(sizes)
    assert notes["epsilon"] == pytest.approx(math.log((float(t) - a) / (1 - a)), abs=2e-9)
    clamped = {str(place): [float(min(max(pay, 0), 100)) for pay in own] for place, own in enumerate(pays)}
    assert notes["stochastic_t"] == pytest.approx(_largest(clamped, 100 / notes["epsilon"]), rel=1e-9)
    assert notes["stochastic_t"] <= float(t)


def test_a_certificate_is_that_of_the_records() -> None:
    for seed in range(10):
        _is_certified(seed)


@pytest.mark.long
def test_a_certificate_is_that_of_the_records_on_500_more_tables() -> None:
    for seed in range(1000, 1500):
        _is_certified(seed)


def test_means_are_masked_with_the_noise_of_one_person_in_a_class() -> None:
    """Epsilon 2 for a person and 4 records a class: b = 100 / (4 * 2); all of a class release one number."""
    table = pa.table({"age": [1] * 4 + [2] * 4, "pay": [-5, 10, 20, 30, 60, 70, 80, 500], "job": list("xxyyxxyy")})
    given = {"epsilon": 2, "attributes": {"pay": PAY}, "microaggregated": True, "partition": "none", "k": 4}
    treatment = _applied(given, table)
    released = treatment.columns["pay"]

    assert [len({*released.codes[some].tolist()}) for some in (slice(4), slice(4, 8))] == [1, 1]
    assert (treatment.notes["epsilon"], treatment.notes["epsilon_of_person"]) == (8.0, 2.0)
    groups = {"one": [15.0] * 4, "two": [77.5] * 4}
    assert treatment.notes["stochastic_t"] == pytest.approx(_largest(groups, 12.5), rel=1e-9)
    assert treatment.notes["t"] == pytest.approx(0.5 + 0.5 * math.exp(8))


def test_means_under_a_t_protect_a_person_more() -> None:
    given = {"t": 3, "attributes": {"pay": PAY}, "microaggregated": True, "k": 5}
    done = fixed(given, job=False)
    notes = done.log.steps[0].notes

    assert done.passed
    assert notes["epsilon_of_person"] == pytest.approx(notes["epsilon"] / 5)
    assert notes["stochastic_t"] <= 3


@pytest.mark.long
def test_the_scale_of_means_is_as_said() -> None:
    """The mean deviation of Laplace noise is its scale: 12.5, within seven standard deviations."""
    table = pa.table({"age": [1] * 4 + [2] * 4, "pay": [-5, 10, 20, 30, 60, 70, 80, 500], "job": list("xxyyxxyy")})
    given = {"epsilon": 2, "attributes": {"pay": PAY}, "microaggregated": True, "partition": "none", "k": 4}
    drawn = [_applied(given, table).columns["pay"] for _ in range(300)]
    deviations = [abs(one.cells[one.codes[place]] - mean) for one in drawn for place, mean in ((0, 15), (4, 77.5))]

    assert abs(np.mean(deviations) - 12.5) < 7 * 12.5 / math.sqrt(len(deviations))


def test_several_attributes_share_epsilon() -> None:
    done = fixed(BOTH)
    notes, lines = done.log.steps[0].notes, done.log.lines

    assert done.passed
    scale = float(lines.split("noise_scale: ")[1].split("}")[0])
    assert 100 / scale == pytest.approx(notes["epsilon"] / 2)
    assert "mechanism: randomised_response" in lines


def _applied(given: Mapping[str, Any], table: pa.Table, **more: Any) -> Any:
    from tcdp_audit.core.engines.opening import open_engine
    from tcdp_audit.core.release.release import Release
    from tcdp_audit.core.remedy.view import RemedyView
    from tcdp_audit.core.session.registry import Plugins

    roles = {**ROLES, "job": {"role": "insensitive"}}
    policy = {"version": 1, "attributes": roles, "expect": [{"k_anonymity": {"k": 2}}], **more}
    with open_engine(table, 2**28) as engine:
        loaded = tcdp_audit.load_policy(policy, Plugins.load(external=False))
        view = RemedyView(Release(engine, loaded), (), 0, lambda _: ())
        return T_BY_NOISE.apply(view, T_BY_NOISE.parameters.model_validate(given))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"attributes": {"pay": PAY}}, "give either `t`"),
        ({**ALONE, "epsilon": 1}, "give either `t`"),
        ({"epsilon": 1, "attributes": {"pay": PAY}}, "goes with `microaggregated: true`"),
        ({**BOTH, "microaggregated": True}, "every mechanism is laplace"),
        ({**ALONE, "aggregated": ["age"]}, "goes with `partition: microaggregation`"),
        ({"t": 3, "attributes": {"pay": {"mechanism": "laplace"}}}, "takes `bounds"),
    ],
)
def test_parameters_that_do_not_go_together(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        T_BY_NOISE.parameters.model_validate(given)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (ALONE, "'job' is sensitive and would stay as it is"),
        ({"t": 3, "attributes": {"age": PAY, "pay": PAY, "job": JOB}}, "'age' is no sensitive attribute"),
        ({"t": 3, "attributes": {"pay": PAY, "job": PAY}}, "'job': laplace adds to numbers"),
    ],
)
def test_faults_that_the_policy_shows(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError, match=sentence):
        fixed(given)


def test_classes_that_are_too_small_are_refused() -> None:
    with pytest.raises(RemedyError, match="the smallest class has 1 record, and k is 5"):
        _applied({**ALONE, "partition": "none", "k": 5}, people())


def test_it_is_never_proposed() -> None:
    policy = {
        "version": 1,
        "attributes": ROLES,
        "expect": [{"k_anonymity": {"k": 5}}, {"stochastic_t_closeness": {
            "attribute": "pay", "mechanism": "laplace", "noise_scale": 1000, "t": 2}}],
    }  # fmt: skip
    done = tcdp_audit.fix(people(), policy)

    assert done.passed
    assert all(step.remedy != "t_by_noise" for step in (*done.log.steps, *done.log.tried))
