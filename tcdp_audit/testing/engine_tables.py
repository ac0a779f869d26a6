"""Tables that every engine must hold as they are, and what an engine makes of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.api import domain_of
from tcdp_audit.plugin.detector import AttributeDeclaration, Conventions, Role
from tcdp_audit.plugin.engine import CountedCodes, Domain, Engine

Row = tuple[Any, ...]
MARKER = "zqcell"
CONVENTIONS = ("own_category", "wildcard", "fail")


def tables() -> Mapping[str, pa.Table]:
    """Tables of text, integers and decimal numbers, by what is remarkable in them."""
    draw = np.random.default_rng(7)
    n = 400
    zips = [f"{MARKER}0{one}" for one in draw.integers(0, 40, n)]
    ages = [None if one == 9 else int(one) for one in draw.integers(0, 10, n)]
    costs = [None if one == 5 else float(one) / 4 for one in draw.integers(0, 6, n)]
    answers = [("flu", "Flu", "flu ", "", None, "ça", "日本")[one] for one in draw.integers(0, 7, n)]
    return {
        "many records": _table(zips, ages, costs, answers),
        "one record": _table([f"{MARKER}1"], [1], [0.1], ["flu"]),
        "nothing but missing values": _table([None] * 3, [None] * 3, [None] * 3, [None] * 3),
        "large numbers": _table(
            ["a", "b"] * 2, [2**53, 2**53 + 1, -(2**62), 2**53], [1e308, 5e-324, 0.1, 0.1], ["x"] * 4
        ),
    }


def _table(zips: list[Any], ages: list[Any], costs: list[Any], answers: list[Any]) -> pa.Table:
    return pa.table(
        {
            "zip": pa.array(zips, pa.string()),
            "Age of person": pa.array(ages, pa.int64()),
            "cost": pa.array(costs, pa.float64()),
            "select": pa.array(answers, pa.string()),
        }
    )


def policies() -> Iterable[Mapping[str, Any]]:
    """Policies for such a table, one for each way to treat a missing quasi-identifier, and one with entities."""
    for convention in CONVENTIONS:
        yield _policy({"missing_quasi_identifier": convention}, {})
    yield _policy({"reference": "release"}, {"unit": "zip"})


def _policy(conventions: Mapping[str, str], further: Mapping[str, str]) -> Mapping[str, Any]:
    role = "insensitive" if further else "quasi_identifier"
    return {
        "version": 1,
        "attributes": {
            "zip": {"role": role},
            "Age of person": {"role": "quasi_identifier", "scale": "numeric"},
            "cost": {"role": "sensitive", "scale": "numeric"},
            "select": {"role": "sensitive"},
        },
        "conventions": dict(conventions),
        "expect": [
            {"k_anonymity": {"k": 3}},
            {"distinct_l_diversity": {"l": 2}},
            {"t_closeness": {"t": 0.4, "attribute": "cost", "distance": "ordered"}},
            {"sample_uniqueness": {"at_most": 0.1}},
        ],
        **further,
    }


def domains_of(engine: Engine) -> list[Domain]:
    """The domain of every column, as text and numbers stand there."""
    declared, conventions = AttributeDeclaration(role=Role.INSENSITIVE), Conventions(missing_tokens=[])
    return [domain_of(one.name, engine.domain(one.name), declared, conventions)[0] for one in engine.columns]


def cells_of(domains: Sequence[Domain], parts: Iterable[CountedCodes]) -> Counter[Row]:
    """How many records there are of each row of cells."""
    found: Counter[Row] = Counter()
    for rows in parts:
        columns = [[*one.values.tolist(), None] for one in domains]
        coded = [rows[one.attribute].tolist() for one in domains]
        for *codes, times in zip(*coded, rows.each.tolist(), strict=True):
            found[tuple(column[code] for column, code in zip(columns, codes, strict=True))] += times
    return found
