"""What is drawn has the distribution that is declared. Every bound is seven standard deviations wide.

A false alarm of one of them has a probability below 1e-11, so a failure is a defect. None of the draws has a seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies.noise import NOISE

WIDE = 7.0  # standard deviations
N = 20_000


def _masked(values: Sequence[Any], scale: str, **given: Any) -> NDArray[Any]:
    roles: Mapping[str, Any] = {"q": {"role": "quasi_identifier"}, "s": {"role": "sensitive", "scale": scale}}
    policy = load_policy(
        {"version": 1, "attributes": roles, "expect": [{"k_anonymity": {"k": 2}}]}, Plugins.load(external=False)
    )
    with open_engine(pa.table({"q": ["a"] * len(values), "s": values}), 2**28) as engine:
        view = RemedyView(Release(engine, policy), (), 0, lambda _: ())
        column = NOISE.apply(view, NOISE.parameters.model_validate({"attribute": "s", **given})).columns["s"]
    return column.cells[column.codes]


def _require_share(outcome: NDArray[np.bool_], probability: float) -> None:
    deviation = sqrt(probability * (1 - probability) / len(outcome))
    assert abs(outcome.mean() - probability) < WIDE * deviation


def test_laplace() -> None:
    """Pr(|x| > z) = e^(-z/b); |x| has mean and standard deviation b."""
    noise = _masked([50] * N, "numeric", mechanism="laplace", epsilon=2, bounds=[0, 100]) - 50
    assert abs(np.abs(noise).mean() - 50) < WIDE * 50 / sqrt(N)
    _require_share(noise > 0, 1 / 2)
    for scales in (0.1, 1, 3):
        _require_share(np.abs(noise) > 50 * scales, exp(-scales))


def test_geometric() -> None:
    """With a = e^(-1/b), Pr(x = 0) = (1 - a)/(1 + a), and Pr(|x| >= z) = 2 a^z / (1 + a)."""
    noise = _masked([5] * N, "numeric", mechanism="geometric", epsilon=5, bounds=[0, 10]) - 5
    a = exp(-1 / 2)
    assert noise.dtype == np.int64
    _require_share(noise == 0, (1 - a) / (1 + a))
    _require_share(noise > 0, a / (1 + a))
    for least in (1, 2, 5):
        _require_share(np.abs(noise) >= least, 2 * a**least / (1 + a))


@pytest.mark.parametrize("epsilon", [0.5, 2.5])  # keeping is rarer than answering at random, and the other way round
def test_randomised_response(epsilon: float) -> None:
    """A value is answered with e^epsilon / (e^epsilon + m - 1) if true, and 1 / (e^epsilon + m - 1) if not."""
    truth = np.array(["a", "b", "c", "d"])[np.arange(N) % 4]
    answers = _masked(truth.tolist(), "nominal", mechanism="randomised_response", epsilon=epsilon)
    for value in "abcd":
        for other in "abcd":
            weight = exp(epsilon) if value == other else 1
            _require_share(answers[truth == value] == other, weight / (exp(epsilon) + 3))


def test_records_are_masked_independently() -> None:
    noise = _masked([50] * N, "numeric", mechanism="laplace", epsilon=2, bounds=[0, 100]) - 50
    _require_share((noise[1::2] > 0) == (noise[::2] > 0), 1 / 2)
    truth = ["a", "b"] * (N // 2)
    lies = _masked(truth, "nominal", mechanism="randomised_response", epsilon=0.1) != np.array(truth)
    lie = 1 / (exp(0.1) + 1)
    _require_share(lies[1::2] & lies[::2], lie * lie)


def test_values_beyond_the_bounds_are_masked_as_the_bounds() -> None:
    """Noise that is tiny beside the distance to the bounds shows where it was added."""
    noisy = _masked([-1e9, 5.0, 1e9], "numeric", mechanism="laplace", epsilon=100, bounds=[0, 10])
    assert np.abs(noisy - np.array([0, 5, 10])).max() < 0.1 * 40  # e^-40 is below 1e-17
    whole = _masked([-(2**62), 5, 2**62], "numeric", mechanism="geometric", epsilon=10, bounds=[0, 10])
    assert np.abs(whole - np.array([0, 5, 10])).max() < 45


def test_no_two_draws_are_the_same() -> None:
    draws = [_masked([50] * 100, "numeric", mechanism="laplace", epsilon=2, bounds=[0, 100]) for _ in range(2)]
    assert (draws[0] != draws[1]).all()
