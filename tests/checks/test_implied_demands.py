"""What a check says to follow from its demands follows in every table."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import audit
from tcdp_audit.core.check.demands import required_class_size, sufficient_class_size
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
ATTRIBUTES = {"zip": {"role": "quasi_identifier"}, "pain": {"role": "sensitive", "scale": "nominal"}}
rows = st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from("abcde")), min_size=1, max_size=14)


def measured(table: pa.Table, name: str, **parameters: Any) -> Any:
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [{name: parameters}]}
    return audit(table, policy, plugins=PLUGINS).expectations[0]


def met_at_most(table: pa.Table, name: str) -> dict[str, Any]:
    """The strictest parameters that a table keeps."""
    result = measured(table, name)
    if name == "alpha_k_anonymity":
        return {"k": int(result.details["k"])}
    if name == "p_sensitive_k_anonymity":
        return {"p": int(result.observed), "k": int(result.details["k"])}
    return {"l": floor(result.observed * 1000) / 1000 if name == "entropy_l_diversity" else int(result.observed)}


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "follow"),
    [
        ("distinct_l_diversity", 1),
        ("entropy_l_diversity", 1),
        ("alpha_k_anonymity", 1),
        ("p_sensitive_k_anonymity", 2),
    ],
)
@settings(max_examples=10, deadline=None)  # an audit takes a while
@given(rows)
def test_what_is_said_to_follow_is_retained(name: str, follow: int, records: list[tuple[str, str]]) -> None:
    table = pa.table({"zip": [one for one, _ in records], "pain": [two for _, two in records]})
    parameters = {key: max(value, 1) for key, value in met_at_most(table, name).items()}
    document = read_policy({"version": 1, "attributes": ATTRIBUTES, "expect": [{name: parameters}]}, PLUGINS)
    (strong,) = document.expectations
    demands = list(strong.check.implies(strong.parameters, document.document))
    assert len(demands) == follow
    for weak, asked in demands:
        outcome = measured(table, weak, **{key: one for key, one in asked.items() if one is not None})
        assert outcome.threshold == Fraction(asked.get("k", asked.get("l", 0)))
        assert outcome.status.value == ("measured" if outcome.unfailable else "passed")


SIZED = [
    {"k_anonymity": {"k": "K"}},
    {"reidentification_risk": {"at_most": "1/K"}},
    {"reidentification_risk": {"at_most": "1/K", "measure": "average"}},
    {"reidentification_risk": {"at_most": "1/K", "measure": "average", "scenario": "marketer"}},
    {"reidentification_risk": {"at_most": 0, "measure": "share_above", "threshold_risk": "1/K"}},
    {"sample_uniqueness": {"at_most": 0}},
    {"population_uniqueness": {"at_most": 0, "estimator": "zayatz"}},
    {"suda": {"at_most": 0}},
]
CONVENTIONS = st.sampled_from(["own_category", "wildcard"])
people = st.lists(
    st.tuples(st.sampled_from(["x", "y", None]), st.sampled_from("ab"), st.sampled_from("12345678")),
    min_size=1,
    max_size=12,
)


@pytest.mark.long
@settings(max_examples=20, deadline=None)  # an audit takes a while
@given(people, CONVENTIONS, st.booleans(), st.integers(1, 4))
def test_classes_of_a_size_keep_what_they_are_said_to_keep(
    records: list[tuple[str, str, str]], missing: str, entities: bool, k: int
) -> None:
    table = pa.table({name: [one[place] for one in records] for place, name in enumerate(("zip", "sex", "person"))})
    roles = {
        "zip": {"role": "quasi_identifier"},
        "sex": {"role": "quasi_identifier"},
        "person": {"role": "insensitive"},
    }
    document: dict[str, Any] = {
        "version": 1,
        "attributes": roles,
        "sampling_fraction": 0.5,
        "conventions": {"missing_quasi_identifier": missing, "known_rows": "one"},
        **({"unit": "person", "unit_released": False} if entities else {}),
    }
    expect = [
        {name: {key: _of_size(value, k) for key, value in parameters.items()}}
        for one in SIZED
        for name, parameters in one.items()
        if not (name in ("suda", "population_uniqueness") and (entities or missing == "wildcard"))
    ]
    policy = read_policy({**document, "expect": expect}, PLUGINS)
    outcomes = audit(table, policy, plugins=PLUGINS).expectations
    least = int(outcomes[0].observed or 0)
    for one, outcome in zip(policy.expectations, outcomes, strict=True):
        holds = outcome.status.value == "passed" or outcome.unfailable
        required, enough = (size(one, policy.document) for size in (required_class_size, sufficient_class_size))
        assert holds or enough is None or least < enough
        assert not holds or required is None or least >= required


def _of_size(value: Any, k: int) -> Any:
    return k if value == "K" else f"1/{k}" if value == "1/K" else value
