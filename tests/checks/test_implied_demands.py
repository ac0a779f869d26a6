"""What a check says to follow from its demands follows in every table."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import audit
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
