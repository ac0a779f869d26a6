"""Microaggregation per block of attributes, and clusters as small as a demand beside the original allows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from masked import PLUGINS, masked, paired_policy

from tcdp_audit import PolicyError, fix, load_policy
from tcdp_audit_plugins.remedies.microaggregation.apply import SIZES

NAMES = ("age", "height", "wage")
DECLARED = {name: {"role": "quasi_identifier", "scale": "numeric"} for name in NAMES}


def people(n: int = 40) -> pa.Table:
    random = np.random.default_rng(8)
    return pa.table({name: random.normal(50, 10, n).round(2) for name in NAMES})


def test_every_block_is_what_it_is_by_itself() -> None:
    table = people()
    done = masked(table, DECLARED, "microaggregation", k=4, blocks=[["age", "height"], ["wage"]])
    for block in (["age", "height"], ["wage"]):
        alone = masked(table.select(block), {one: DECLARED[one] for one in block}, "microaggregation", k=4)
        for name in block:
            assert done.column(name) == alone.column(name)
        rows = Counter(zip(*(done.column(name) for name in block), strict=True))
        assert min(rows.values()) >= 4
    assert done.notes["blocks"] == 2
    assert done.notes["smallest"] >= 4


def test_what_is_in_no_block_stays() -> None:
    table = people(20)
    done = masked(table, DECLARED, "microaggregation", k=4, blocks=[["age"]])
    assert done.column("wage") == table["wage"].to_pylist()
    assert done.column("age") != table["age"].to_pylist()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"blocks": [["age"], ["age", "wage"]]}, "in two blocks"),
        ({"blocks": [["age"]], "attributes": ["wage"]}, "not both"),
        ({"blocks": [["age"]], "closeness": "merge"}, "leave `closeness`"),
        ({"blocks": [["town"]]}, "'town' is no quasi-identifier"),
    ],
)
def test_blocks_that_a_policy_cannot_name(parameters: dict[str, Any], sentence: str) -> None:
    remedy = [{"microaggregation": {"k": 3, **parameters}}]
    with pytest.raises(PolicyError, match=sentence):
        load_policy(paired_policy(DECLARED, {"exact_match_rate": {"at_most": 0}}, remedy=remedy), PLUGINS)


@pytest.mark.long
@pytest.mark.parametrize("parameters", [{}, {"blocks": [["age", "height"], ["wage"]]}], ids=["all", "blocks"])
def test_clusters_grow_until_linkage_holds(parameters: dict[str, Any]) -> None:
    table = people()
    demand = {"distance_record_linkage": {"at_most": 0.2}}
    policy = paired_policy(DECLARED, demand, remedy=[{"microaggregation": parameters}])
    done = fix(table, policy, table, plugins=PLUGINS)
    assert done.passed
    k = done.log.steps[0].notes["k"]
    assert k > 2
    smaller = max(one for one in SIZES if one < k)
    less = {**policy, "remedy": [{"microaggregation": {**parameters, "k": smaller}}]}
    assert not fix(table, less, table, plugins=PLUGINS).passed
    assert fix(done.released, policy, table, plugins=PLUGINS).log.is_unchanged
