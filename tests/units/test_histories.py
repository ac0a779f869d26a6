"""Whole histories in a session: what was read for one question answers no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

import tcdp_audit

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
