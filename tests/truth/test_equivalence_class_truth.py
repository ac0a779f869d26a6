"""The figures of Adult and of free1 agree with independent ground truth, integers and infinities exactly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit import Outcome, audit

TOLERANCE = 1e-12
ROLES = ("adult_A1", "adult_A2", "adult_A3", "adult_A4", "free1")
C = ("1.5", "2", "3", "4", "5", "10")

NAMED: Mapping[str, dict[str, dict[str, Any]]] = {  # by their names in the truth
    "alpha": {"alpha_k_anonymity": {}},
    "p_sensitive_p": {"p_sensitive_k_anonymity": {}},
    "basic_beta": {"basic_beta_likeness": {}},
    "enhanced_beta": {"enhanced_beta_likeness": {}},
    "delta_disclosure_ln_q_pos": {"delta_disclosure": {"absent_values": "ignored"}},
    "delta_disclosure_log2_q_pos": {"delta_disclosure": {"absent_values": "ignored", "log_base": 2}},
    "delta_disclosure_strict": {"delta_disclosure": {}},
}
FIGURES = {
    **NAMED,
    **{f"recursive {l}": {"recursive_cl_diversity": {"l": l}} for l in range(2, 11)},
    **{f"recursive {l} {c}": {"recursive_cl_diversity": {"l": l, "c": c}} for l in (2, 3, 5, 7, 9) for c in C},
    "homogeneity": {"homogeneity": {}},
    "background_knowledge": {"background_knowledge": {}},
}


@cache
def truth_of(data: Path, role: str) -> Mapping[str, Any]:
    text = (data / "truth" / "equivalence_class_checks.json").read_text(encoding="utf-8")
    return json.loads(text)[role]


@cache
def outcomes_of(data: Path, role: str) -> dict[tuple[str, str], Outcome]:
    truth = truth_of(data, role)
    file = data / truth["file"]
    header = file.read_text(encoding="utf-8").splitlines()[0].replace('"', "").split(",")
    sensitive = {one["name"]: "numeric" if one["type"] == "num" else "nominal" for one in truth["roles"]["sa"]}
    attributes: dict[str, Any] = {name: {"role": "insensitive"} for name in header}
    attributes |= {name: {"role": "quasi_identifier"} for name in truth["qi"]}
    attributes |= {name: {"role": "sensitive", "scale": scale} for name, scale in sensitive.items()}
    wanted = [(figure, name) for name in sensitive for figure in FIGURES]
    expect = [
        {check: {**given, "attribute": name}} for figure, name in wanted for check, given in FIGURES[figure].items()
    ]
    outcomes = audit(file, {"version": 1, "attributes": attributes, "expect": expect}).expectations
    return dict(zip(wanted, outcomes, strict=True))


def sensitive_of(data: Path, role: str) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Outcome]]]:
    outcomes = outcomes_of(data, role)
    for name, truth in truth_of(data, role)["sa"].items():
        yield name, truth, {figure: outcomes[figure, name] for figure in FIGURES}


def agrees(observed: float | None, expected: Any) -> bool:
    if expected == "Infinity":
        return observed == inf
    if isinstance(expected, int):
        return observed == expected
    return observed == pytest.approx(expected, abs=TOLERANCE, rel=TOLERANCE)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("figure", NAMED)
def test_figure(data: Path, role: str, figure: str):
    for name, truth, outcomes in sensitive_of(data, role):
        assert agrees(outcomes[figure].observed, truth[figure]), name


@pytest.mark.parametrize("role", ROLES)
def test_the_least_c_of_every_l(data: Path, role: str):
    for name, truth, outcomes in sensitive_of(data, role):
        for l, infimum in truth["recursive_c_infimum_by_l"].items():
            assert agrees(outcomes[f"recursive {l}"].observed, infimum), (name, l)


@pytest.mark.parametrize("role", ROLES)
def test_the_largest_l_of_every_c(data: Path, role: str):
    for name, truth, outcomes in sensitive_of(data, role):
        for c, largest in truth["recursive_max_l_by_c"].items():
            for l in (2, 3, 5, 7, 9):
                expected = "passed" if l <= largest else "failed"
                assert outcomes[f"recursive {l} {c}"].status.value == expected, (name, c, l)


@pytest.mark.parametrize("role", ROLES)
def test_the_classes_that_no_beta_allows(data: Path, role: str):
    for name, truth, outcomes in sensitive_of(data, role):
        details = outcomes["enhanced_beta"].details
        assert details["unsatisfiable_classes"] == truth["enhanced_beta_violating_classes"], name
        assert (outcomes["enhanced_beta"].observed < inf) is truth["enhanced_beta_feasible"]


@pytest.mark.parametrize("role", ROLES)
def test_k_and_homogeneity_agree_with_the_truth_of_other_models(data: Path, role: str):
    k = truth_of(data, role)["k"]
    for name, truth, outcomes in sensitive_of(data, role):
        assert outcomes["alpha"].details["k"] == outcomes["p_sensitive_p"].details["k"] == k
        assert (outcomes["homogeneity"].observed > 0) is (truth["distinct_l"] == 1), name
        assert (outcomes["background_knowledge"].observed == 0) is (truth["distinct_l"] == 1), name
