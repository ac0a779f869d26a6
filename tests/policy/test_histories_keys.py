"""Households, their weights, times and attributes of units in a policy: what they need of the rest of it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tcdp_audit import PolicyError, load_policy
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
DECLARED = {
    "a": {"role": "quasi_identifier"},
    "w": {"role": "insensitive", "scale": "numeric"},
    "home": {"role": "insensitive"},
}


def policy(**more: Any) -> dict[str, Any]:
    attributes = {**DECLARED, **more.pop("attributes", {})}
    return {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 2}}], **more}


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"household": "a"}, "the household joins people, so it cannot be a quasi-identifier as well"),
        ({"household": "home", "unit": "home"}, "the household is the unit as well"),
        ({"household_weight": "w"}, "the policy names no `household:` that could have a weight"),
        ({"household": "home", "household_weight": "a"}, "'a' is not declared as numeric; a weight is: `a:"),
        ({"time": "day", "unit": "p"}, "'day' is not declared under `attributes`"),
        ({"time": "w"}, "the policy names no `unit:` whose rows have a time"),
        ({"attributes": {"s": {"role": "sensitive", "of": "unit"}}}, "the policy names no `unit:` whose rows could"),
    ],
)
def test_what_is_wrong_is_said(more: dict[str, Any], fault: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(fault)):
        load_policy(policy(**more), PLUGINS)


def test_a_policy_of_households_is_read() -> None:
    document = load_policy(policy(household="home", household_weight="w", weight="w"), PLUGINS).document
    assert (document.root, document.household, document.household_weight) == ("home", "home", "w")
