"""The certainty penalty of labels that nobody has released yet, by the values that the attribute has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.hierarchy import load_hierarchy
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.information_loss.scales import penalty_of
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions

PLACES = {"anywhere": {"north": ["oslo", "turku"], "south": ["rome", "bari"]}}
GRADES = ["none", "low", "medium", "high", "severe"]


def domain_with(declaration: AttributeDeclaration, labels: list[str]) -> Domain:
    raw = RawDomain(np.array(sorted(labels), dtype=object), np.ones(len(labels), dtype=np.int64), 0)
    return domain_of("a", raw, declaration, Conventions())[0]


@pytest.mark.parametrize(
    ("declared", "values", "costs"),
    [
        (
            {"scale": "numeric"},
            ["20", "30", "60"],
            {"25": 0, "[20, 30)": 0.25, "[20, 60]": 1, ">=50": 0.25, "<10": 0, "[0, 100]": 1, "*": 1},
        ),
        ({"scale": "ordinal", "order": GRADES}, ["low", "high"], {"low": 0, "[low, high]": 0.5, "*": 1}),
        ({"scale": "nominal"}, ["a", "b", "c", "d", "*"], {"a": 0, "{a, b}": 0.5, "{a, b, c, d}": 1, "x": 0, "*": 1}),
        (
            {"scale": "nominal", "hierarchy": PLACES},
            ["oslo", "rome"],
            {"oslo": 0, "north": 0.5, "anywhere": 1, "narvik": 0, "*": 1},
        ),
    ],
)
def test_a_label_costs_the_part_of_the_attribute_that_it_leaves_open(
    declared: dict[str, Any], values: list[str], costs: dict[str, float]
) -> None:
    declaration = AttributeDeclaration.model_validate({"role": "quasi_identifier", **declared})
    hierarchy = None if declaration.hierarchy is None else load_hierarchy(declaration.hierarchy, None)
    labels = domain_with(declaration, list(costs))

    penalties = penalty_of(declaration, hierarchy, domain_with(declaration, values)).of(labels).tolist()

    assert dict(zip(labels.labels, penalties, strict=False)) == pytest.approx(costs)
    assert penalties[-1] == 1  # a missing value
