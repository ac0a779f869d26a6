"""Every remedy that perturbs values names the attack of somebody who knows how it was done, with what was done."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from masked import PLUGINS, Masked, masked

NUMBERS = {"age": "numeric", "wage": "numeric"}
GAPS = pa.table({"age": [None, *range(21, 40)], "wage": [*range(19), None]})
MATRIX = {"sex": {"f": {"f": Fraction(1)}, "m": {"f": Fraction(1, 4), "m": Fraction(3, 4)}}}
LINES = {"sex": {"f": {"f": 1}, "m": {"f": 0.25, "m": 0.75}}}
KNOWN: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("rank_swapping", {"percent": 20}, "rank_swap_attack", {"p": 20}),
    (
        "rank_swapping",
        {"percent": 20, "variant": "p_distribution"},
        "noise_attack",
        {"scores": "ranks", "sd": pytest.approx(20 * sqrt(6)), "limit": 40_000},
    ),
    (
        "data_shuffling",
        {"proximity": 0.6},
        "noise_attack",
        {
            "scores": "normal",
            "sd": pytest.approx(400 / 3),
            "shape": "correlated",
            "rescaled": True,
            "limit": 40_000,
        },
    ),
    ("data_shuffling", {"proximity": 0}, "noise_attack", {"scores": "normal", "limit": 40_000}),
    ("rounding", {"base": 5}, "microaggregation_attack", {"method": "known_groups"}),
    ("microaggregation", {"k": 4}, "microaggregation_attack", {"method": "known_groups"}),
    (
        "correlated_noise",
        {"percent": 20},
        "noise_attack",
        {"sd": 20, "shape": "correlated", "rescaled": False, "limit": 40_000},
    ),
]


def numbers() -> pa.Table:
    random = np.random.default_rng(3)
    return pa.table({"age": random.integers(20, 60, 40), "wage": random.integers(0, 99, 40)})


@pytest.mark.parametrize(("remedy", "parameters", "check", "known"), KNOWN)
def test_the_attack_knows_what_was_done(remedy: str, parameters: Any, check: str, known: Any) -> None:
    ((name, given),) = masked(numbers(), NUMBERS, remedy, **parameters).attack.items()
    assert (name, given) == (check, {"attributes": ["age", "wage"], **known})
    assert PLUGINS.checks[check].parameters.model_validate(dict(given)).attributes == ["age", "wage"]


def test_of_blocks_and_declared_covariances_it_has_what_the_policy_says() -> None:
    blocks = masked(numbers(), NUMBERS, "microaggregation", k=4, blocks=[["wage"], ["age"]]).attack
    assert blocks == {"microaggregation_attack": {"method": "known_groups", "blocks": [["wage"], ["age"]]}}
    covariance = {"age": {"age": 4}}
    noise = masked(numbers(), NUMBERS, "correlated_noise", covariance=covariance).attack["noise_attack"]
    assert noise == {"attributes": ["age"], "covariance": covariance, "limit": 40_000}


def test_beside_missing_cells_noise_with_covariances_is_not_reported() -> None:
    noise = masked(GAPS, NUMBERS, "correlated_noise", percent=20).attack["noise_attack"]
    assert noise["shape"] == "independent"
    shuffled = masked(GAPS, NUMBERS, "data_shuffling", proximity=0.5).attack["noise_attack"]
    assert (shuffled["estimate"], shuffled.keys() & {"sd", "shape"}) == ("variances", set())
    stays = masked(numbers(), NUMBERS, "data_shuffling", proximity=0.5, attributes=["age"]).attack["noise_attack"]
    assert stays == {"attributes": ["age"], "scores": "normal", "limit": 40_000}


def test_post_randomisation_reports_its_probabilities() -> None:
    table = pa.table({"sex": ["m", "f"] * 10, "job": ["a", "b", "c", "a"] * 5})
    declared = {"sex": "nominal", "job": "nominal"}
    drawn = masked(table, declared, "pram", retention=0.75, matrix=LINES, attributes=["job", "sex"], invariant=True)
    assert drawn.attack["pram_attack"] == {
        "attributes": ["job", "sex"],
        "retention": {"job": Fraction(3, 4)},
        "matrix": MATRIX,
        "invariant": True,
        "limit": 40_000,
    }


def private(mechanism: str, ages: list[int], **bounds: Any) -> Masked:
    pytest.importorskip("opendp")
    given = {"attribute": "age", "mechanism": mechanism, "epsilon": 4, **bounds}
    return masked(pa.table({"age": ages}), {"age": "numeric"}, "noise", **given)


@pytest.mark.long
@pytest.mark.parametrize(("mechanism", "deviation"), [("laplace", sqrt(2) * 15), ("geometric", sqrt(2) * 15)])
def test_noise_of_differential_privacy_reports_its_standard_deviation(mechanism: str, deviation: float) -> None:
    ages = [10, 20, 20, 30, 40] * 4
    known = private(mechanism, ages, bounds=[0, 60]).attack["noise_attack"]
    percent = pytest.approx(100 * deviation / float(np.std(ages, ddof=1)), rel=1e-3)
    assert known == {"attributes": ["age"], "limit": 40_000, "sd": percent}
    assert "sd" not in private(mechanism, [20, 20, 20], bounds=[0, 60]).attack["noise_attack"]


@pytest.mark.long
def test_answers_at_random_tell_how_probably_a_value_stays() -> None:
    done = private("randomised_response", [10, 20, 20, 30, 40] * 4)
    retention = done.notes["retention"]
    assert float(done.attack["pram_attack"]["retention"]) == pytest.approx(retention + (1 - retention) / 4)


def test_remedies_that_only_generalise_name_none_and_all_others_say_what_an_intruder_does() -> None:
    perturb = {"rank_swapping", "data_shuffling", "rounding", "microaggregation", "correlated_noise", "pram", "noise"}
    assert {name for name, one in PLUGINS.remedies.items() if one.guide.attack} == perturb | {"t_by_noise"}
