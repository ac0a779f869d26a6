"""Whole histories: what was read for one question answers no other, and what is constant in units divides no class."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import tcdp_audit
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.units.histories import Histories

KNOWN = {"role": "quasi_identifier"}
SECRET = {"role": "sensitive"}
STAY = {"role": "insensitive", "scale": "numeric"}
VISITS = pa.table({"id": [*"aabbccdd"], "area": [*"12121212"], "day": [*"34345667"]})
HIDDEN = pa.table({"id": [*"aabbcc"], "ward": [*"1212**"], "day": [*"343456"]})
PEOPLE = pa.table({"id": [*"abcdefgh"], "ward": [*"12121212"], "home": [*"hhiigghj"]})
TABLES = {
    "people": pa.table({"id": [*"abc"], "sex": [*"ff*"], "age": [*"331"]}),
    "visits": pa.table({"id": [*"aabbcc"], "ward": [*"1212**"], "day": [*"343556"]}),
}


def asked(of: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "unit": "id", "attributes": dict(of), "expect": [{"k_anonymity": {"k": 2}}], **more}


def linked(of: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The same of two tables."""
    tables = {
        "people": {"attributes": {"sex": KNOWN, "age": of.get("age", STAY)}},
        "visits": {"belongs_to": "people", "attributes": {"ward": KNOWN, "day": of["day"]}},
    }
    return {"version": 1, "unit": "id", "tables": tables, "expect": [{"k_anonymity": {"k": 2}}], **more}


EXEMPT = {"conventions": {"suppressed": "exempt"}}
SECRET_DAY, STAYING = {"role": "sensitive", "scale": "numeric"}, {"day": STAY}


@pytest.mark.parametrize(
    ("table", "policies"),
    [
        (VISITS, [asked({"area": KNOWN, "day": one}) for one in (SECRET, KNOWN)]),
        (HIDDEN, [asked({"ward": KNOWN, "day": one}, **EXEMPT) for one in (SECRET_DAY, STAY)]),
        (PEOPLE, [asked({"ward": KNOWN}, unit="home"), asked({"ward": KNOWN}, household="home")]),
        (TABLES, [linked({"day": one}) for one in (SECRET, KNOWN)]),
        (TABLES, [linked({"day": one}, **EXEMPT) for one in (SECRET_DAY, STAY)]),
    ],
)
def test_a_session_reads_histories_anew_where_a_column_has_another_role(
    table: Any, policies: Sequence[Mapping[str, Any]]
) -> None:
    fresh = [tcdp_audit.audit(table, one).as_json()["outcomes"] for one in policies]
    assert fresh[0] != fresh[1]
    with tcdp_audit.open_session(table, policies[0]) as session:
        for one, answer in zip((*policies, *policies), (*fresh, *fresh), strict=True):
            assert session.audit(one).as_json()["outcomes"] == answer


@pytest.mark.parametrize("show_values", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_classes_by_what_divides_them_are_those_by_all_columns(
    monkeypatch: pytest.MonkeyPatch, seed: int, show_values: bool
) -> None:
    """The area is the same in all rows of a unit, so that a history determines it; the day is not."""
    draw = random.Random(seed)  # noqa: S311 - example data
    units = [draw.randrange(12) for _ in range(60)]
    columns = {
        "area": [str(unit % 3) if unit else None for unit in units],
        "day": [draw.choice([*"12", None]) for _ in units],
        "illness": [draw.choice([*"xyz", None]) for _ in units],
    }
    of: dict[str, Any] = {"area": KNOWN, "illness": SECRET} | ({"day": KNOWN} if seed % 2 else {})
    demands: list[dict[str, Any]] = [
        {"k_anonymity": {"k": 2}},
        {"distinct_l_diversity": {"l": 2}},
        {"homogeneity": {"at_most": 0.1}},
        {"t_closeness": {"t": 0.3, "distance": "equal"}},
    ]
    table = pa.table({"id": [str(unit) for unit in units], **{name: columns[name] for name in of}})
    by_column, determined = Histories.column, set[frozenset[str]]()

    def audited() -> list[Any]:
        outcomes: list[Any] = tcdp_audit.audit(table, asked(of, expect=demands), show_values=show_values).as_json()[
            "outcomes"
        ]
        return outcomes

    def without(histories: Histories, known: tuple[str, ...] = ()) -> Domain:
        if known not in histories._domains:
            column = by_column(histories, known)
            determined.add(column.determines)
            histories._domains[known] = replace(column, determines=frozenset())
        return histories._domains[known]

    outcomes = audited()
    monkeypatch.setattr(Histories, "column", without)
    assert audited() == outcomes
    assert frozenset(["area"]) in determined
    assert len([one for one in outcomes if one["details"].get("distribution")]) == len(demands)
