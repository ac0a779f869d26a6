"""(epsilon, delta) from a sampling rate and k: next to every number of trials, in fractions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from tcdp_audit import Outcome, PolicyError, Status, audit
from tcdp_audit.plugin.check import ClassEvidence
from tcdp_audit_plugins.checks.differential_privacy.from_epsilon import SampledParameters, binomial_tail, sampled_delta

ASKED: Mapping[str, Any] = {"beta": "0.1", "k": 5, "epsilon": 1, "levels": "without_data"}
ROLES = {"age": {"role": "quasi_identifier"}, "sex": {"role": "quasi_identifier"}}


def slow_delta(beta: Fraction, k: int, epsilon: Fraction) -> Fraction:
    """The definition: every n from k/gamma - 1 on, until Hoeffding's bound is below what was found."""
    gamma = 1 - (1 - beta) * _exp(-epsilon)
    trials, largest = math.ceil(k / gamma - 1), Fraction(0)
    while math.exp(-2 * trials * float(gamma - beta) ** 2) >= largest:
        weights = {one: math.comb(trials, one) * beta**one * (1 - beta) ** (trials - one) for one in range(trials + 1)}
        largest = max(largest, sum((one for number, one in weights.items() if number > gamma * trials), Fraction(0)))
        trials += 1
    return largest


def _exp(exponent: Fraction) -> Fraction:
    """e^x by its series, to forty digits."""
    term, total = Fraction(1), Fraction(1)
    for n in range(1, 80):
        term *= exponent / n
        total += term
    return Fraction(round(total * 10**40), 10**40)


def figure(beta: Any, k: int, epsilon: Any, sizes: list[int]) -> Any:
    parameters = SampledParameters(beta=beta, k=k, epsilon=epsilon, levels="without_data")
    return sampled_delta(ClassEvidence(size=np.array(sizes), records=sum(sizes)), parameters)


def _is_the_definition(beta: Fraction, k: int, epsilon: Fraction) -> None:
    exact = slow_delta(beta, k, epsilon)
    result = figure(beta, k, epsilon, [k, k + 3, k - 1])

    assert result.values[:2] == pytest.approx([float(exact)] * 2, rel=1e-12)
    assert result.values[2] == 1
    step = exact / 10**30
    assert [result.compare(exact + one).tolist() for one in (-step, 0, step)] == [[1, 1, 1], [0, 0, 1], [-1, -1, 1]]


SHORT = st.sampled_from([Fraction(1, 10), Fraction(1, 4), Fraction(1, 3)])


@settings(max_examples=15)
@given(SHORT, st.integers(2, 12), st.sampled_from([Fraction(1), Fraction(2), Fraction(5, 2)]))
def test_delta_is_the_largest_tail_of_all_numbers_of_trials(beta: Fraction, k: int, epsilon: Fraction) -> None:
    _is_the_definition(beta, k, epsilon)


@pytest.mark.long
@settings(max_examples=500)
@given(
    st.fractions(Fraction(1, 50), Fraction(2, 5), max_denominator=60),
    st.integers(2, 20),
    st.fractions(Fraction(3, 4), 4, max_denominator=20),
)
def test_delta_on_many_rates(beta: Fraction, k: int, epsilon: Fraction) -> None:
    _is_the_definition(beta, k, epsilon)


def searched_k(epsilon: float, delta: float) -> tuple[float, int]:
    """Beta and k by the search of SafePub: the largest beta, and the first k whose tails stay below delta.

    ARX adds 1 to k before it compares, so that its k is one more than this one.
    """
    beta = -math.expm1(-epsilon)
    gamma, k = 1 - (1 - beta) * math.exp(-epsilon), 1
    rate = gamma * math.log(gamma / beta) - (gamma - beta)

    @cache
    def tail(trials: int) -> float:
        return float(stats.binom.sf(math.floor(trials * gamma), trials, beta))

    while True:
        trials, largest = math.ceil(k / gamma - 1), 0.0
        while math.exp(-trials * rate) >= largest:
            largest, trials = max(largest, tail(trials)), trials + 1
        if largest <= delta:
            return beta, k
        k += 1


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"), [(2, "1e-5", 113), (1.5, "1e-6", 99), (1, "1e-6", 74), (math.log(3), "1e-8", 108)]
)
def test_k_is_that_of_the_search_of_safepub(epsilon: float, delta: str, k: int) -> None:
    """Under parameters of ARX's own tests, which publish no k."""
    beta, searched = searched_k(epsilon, float(delta))
    enough, too_few = (figure(repr(beta), one, repr(epsilon), [one]) for one in (k, k - 1))

    assert searched == k
    assert enough.compare(Fraction(delta)).tolist() == [-1]
    assert too_few.compare(Fraction(delta)).tolist() == [1]


def test_a_delta_by_hand() -> None:
    """gamma = 1 - 0.9/e = 0.6689: seven trials, five successes: 21 p^5 q^2 + 7 p^6 q + p^7."""
    result = figure("0.1", 5, 1, [5])

    assert result.compare(Fraction(1765, 10**7)).tolist() == [0]
    assert binomial_tail(7, 5, Fraction(1, 10)) == Fraction(1765, 10**7)


def test_it_falls_with_k_and_epsilon_and_grows_with_the_rate() -> None:
    def delta(beta: str, k: int, epsilon: str) -> float:
        return float(figure(beta, k, epsilon, [k]).values[0])

    assert delta("0.1", 20, "1") < delta("0.1", 10, "1") < delta("0.1", 5, "1")
    assert delta("0.1", 10, "2") < delta("0.1", 10, "1") < delta("0.1", 10, "1/2")
    assert delta("0.05", 10, "1") < delta("0.1", 10, "1") < delta("0.3", 10, "1")


def outcome(ages: list[int], asked: Mapping[str, Any], **policy: Any) -> Outcome:
    table = pa.table({"age": ages, "sex": ["m"] * len(ages)})
    given = {"version": 1, "attributes": ROLES, "expect": [{"sampled_k_anonymity": dict(asked)}], **policy}
    return audit(table, given).expectations[0]


def test_from_a_policy() -> None:
    above = outcome([1] * 5 + [2] * 9, {**ASKED, "delta": "1e-3"})
    at_it = outcome([1] * 5 + [2] * 9, {**ASKED, "delta": "0.0001765"})
    missed = outcome([1] * 5 + [2] * 9, {**ASKED, "delta": "0.000176499"})
    small = outcome([1] * 4 + [2] * 9, {**ASKED, "delta": "0.5"})

    assert [one.status for one in (above, at_it)] == [Status.PASSED] * 2
    assert [one.status for one in (missed, small)] == [Status.FAILED] * 2
    assert above.observed == pytest.approx(0.0001765)
    assert small.observed == 1
    assert "differentially private with epsilon = 1 and delta = " in above.message
    assert "nothing follows, because a group has fewer than 5 records" in small.message


@pytest.mark.parametrize(
    ("asked", "policy", "sentence"),
    [
        ({**ASKED, "epsilon": "0.1"}, {}, r"no delta follows below -ln\(1 - beta\) = 0.1054"),
        (ASKED, {"attributes": {**ROLES, "sex": {"role": "sensitive", "scale": "nominal"}}}, "'sex' is no quasi-ident"),
        (
            ASKED,
            {"attributes": {**ROLES, "sex": {"role": "insensitive"}}},
            "whole records, so every column must be one",
        ),
        (ASKED, {"unit": "person"}, "one record for each person"),
        (ASKED, {"conventions": {"missing_quasi_identifier": "wildcard"}}, "classes must not overlap"),
        (ASKED, {"sampling_fraction": "0.2"}, "not the policy's `sampling_fraction`"),
        ({name: one for name, one in ASKED.items() if name != "levels"}, {}, "levels"),
        ({**ASKED, "levels": "searched"}, {}, "levels"),
    ],
)
def test_what_certifies_nothing_is_refused(asked: dict[str, Any], policy: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError, match=sentence):
        outcome([1, 1], asked, **policy)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Crowd-blending privacy", "a release shows one output on one table"),
        ("Post-randomisation towards t-closeness", "the matrix is a choice of the data holder"),
    ],
)
def test_constructions_without_a_check_are_named_with_the_reason(name: str, reason: str) -> None:
    page = " ".join((Path(__file__).parents[2] / "docs" / "outside-an-auditors-reach.md").read_text("utf-8").split())

    assert name in page
    assert reason in page
