"""The expectations whose figures and verdicts are the same in every host: a class check of every family.

They are asked of the demonstration's release, once by `audit` and once by each host; `agreed` compares what came of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from io import StringIO
from typing import Any

import pandas as pd

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.demo import make_discharges

KNOWN = ["age", "sex", "postcode", "admission_month"]
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "discharge": {"role": "insensitive"},
    **{name: {"role": "quasi_identifier", "scale": "nominal"} for name in KNOWN},
    "diagnosis": {"role": "sensitive", "scale": "nominal"},
    "cost": {"role": "sensitive", "scale": "numeric"},
    "length_of_stay": {"role": "sensitive", "scale": "numeric"},
}
EXPECT: list[dict[str, dict[str, Any]]] = [
    {"k_anonymity": {"k": 10}},
    {"k_anonymity": {"k": 4}},
    {"reidentification_risk": {"at_most": 0.2}},
    {"sample_uniqueness": {"at_most": 0.01}},
    {"distinct_l_diversity": {"l": 3, "attribute": "diagnosis"}},
    {"entropy_l_diversity": {"l": 3, "attribute": "diagnosis"}},
    {"recursive_cl_diversity": {"c": 3, "l": 2, "attribute": "diagnosis"}},
    {"alpha_k_anonymity": {"alpha": 0.5, "k": 4, "attribute": "diagnosis"}},
    {"p_sensitive_k_anonymity": {"p": 2, "k": 4, "attribute": "diagnosis"}},
    {"t_closeness": {"t": 0.7, "attribute": "diagnosis", "distance": "equal"}},
    {"t_closeness": {"t": 0.2, "attribute": "cost", "distance": "ordered"}},
    {"t_closeness": {"t": 0.1, "attribute": "length_of_stay", "distance": "ordered", "severity": "warning"}},
    {"t_closeness": {"attribute": "cost", "distance": "numeric"}},
    {"basic_beta_likeness": {"beta": 20, "attribute": "diagnosis"}},
    {"enhanced_beta_likeness": {"beta": 20, "attribute": "diagnosis"}},
    {"delta_disclosure": {"delta": 2, "attribute": "length_of_stay"}},
    {"homogeneity": {"at_most": 0.1, "attribute": "diagnosis"}},
    {"skewness": {"at_most": 10, "attribute": "diagnosis"}},
    {"similarity": {"at_most": 0.5, "attribute": "cost", "width": 500}},
    {"background_knowledge": {"at_least": 1, "attribute": "diagnosis"}},
    {"implied_epsilon": {"attribute": "length_of_stay"}},
    {"expected_t_closeness": {"epsilon": 1}},
    {"t_from_epsilon": {"epsilon": 1, "at_most": 3}},
    {"entropy_l_diversity": {"attribute": "length_of_stay"}},
]


def policy(expect: Iterable[dict[str, dict[str, Any]]] = EXPECT) -> dict[str, Any]:
    """A policy of these expectations, as a mapping."""
    return {"version": 1, "attributes": ATTRIBUTES, "expect": list(expect)}


@cache
def text() -> str:
    """The demonstration's release as CSV."""
    return make_discharges()["discharges.csv"]


def frame() -> pd.DataFrame:
    """The demonstration's release, codes as text and measures as numbers."""
    types = {name: str for name in ATTRIBUTES if name not in {"cost", "length_of_stay"}}
    return pd.read_csv(StringIO(text()), dtype=types, keep_default_na=False)


@cache
def native() -> tuple[Outcome, ...]:
    """What `audit` says, one outcome an expectation."""
    return tuple(tcdp_audit.audit(frame(), policy()).expectations)


def judged(outcome: Outcome) -> tuple[Any, ...]:
    """What has to be the same: the check, its attribute, the figure to the last bit, the verdict and the counts."""
    return (
        outcome.check,
        outcome.attribute,
        outcome.observed,
        outcome.threshold,
        outcome.status,
        outcome.classes,
        outcome.records,
    )
