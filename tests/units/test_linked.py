"""Links between tables: what is wrong with them is an error with its count, and never a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

import tcdp_audit
from tcdp_audit import UsageError

KNOWN = {"role": "quasi_identifier", "scale": "nominal"}
CELL = "zqcellzq"
PATIENTS = pa.table({"patient": ["p", "q", CELL], "sex": ["f", "f", "f"]})
VISITS = pa.table({"patient": ["p", "q", CELL], "visit": [1, 2, 3], "month": ["1", "1", "1"]})


def policy(**more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "unit": "patient",
        "tables": {
            "patients": {"attributes": {"sex": KNOWN}},
            "visits": {"belongs_to": "patients", "attributes": {"month": KNOWN, "visit": {"role": "insensitive"}}},
        },
        "expect": [{"k_anonymity": {"k": 2}}],
        **more,
    }


def audited(**tables: Any) -> tcdp_audit.Audit:
    return tcdp_audit.audit({"patients": PATIENTS, "visits": VISITS, **tables}, policy())


def test_sound_links_are_judged() -> None:
    result = audited()
    assert result.passed
    assert result.exit_code() == 0
    assert set(result.as_json()["release"]["tables"]) == {"patients", "visits"}


@pytest.mark.parametrize(
    ("tables", "check", "sentence"),
    [
        ({"visits": VISITS.set_column(0, "patient", pa.array(["p", "x", CELL]))}, "orphan_rows", "1 row"),
        ({"patients": PATIENTS.set_column(0, "patient", pa.array(["p", "p", CELL]))}, "repeated_unit", ""),
        ({"visits": VISITS.set_column(0, "patient", pa.array([1, 2, 3]))}, "orphan_rows", "numbers"),
        ({"visits": VISITS.set_column(0, "patient", pa.array(["p", None, CELL]))}, "orphan_rows", "1 row"),
        ({"visits": VISITS.drop_columns(["patient"])}, "orphan_rows", "patient"),
    ],
)
def test_faulty_links_are_never_judged(tables: Mapping[str, Any], check: str, sentence: str) -> None:
    result = audited(**tables)
    failed = {one.check: one for one in result.outcomes if one.is_structural and one.status == "failed"}
    assert check in failed
    assert sentence in failed[check].message
    assert result.expectations[0].status == "error"
    assert result.exit_code() == 3
    assert CELL not in str(result.as_json())


def test_what_the_caller_gives_is_named_as_in_the_policy() -> None:
    with pytest.raises(UsageError, match="no table 'visit'; did you mean 'visits'"):
        tcdp_audit.audit({"visit": VISITS}, policy())
    with pytest.raises(UsageError, match=r"no table 'patients': name its `file:`"):
        tcdp_audit.audit({"visits": VISITS}, policy())
    with pytest.raises(UsageError, match="several tables need a policy with `tables:`"):
        tcdp_audit.audit({"a": VISITS}, {"version": 1, "attributes": {"month": KNOWN}, "expect": [{"k_anonymity": {}}]})


def test_a_missing_cell_matches_no_history_under_wildcard() -> None:
    visits = VISITS.set_column(2, "month", pa.array(["1", None, "1"]))
    tables = {"patients": PATIENTS, "visits": visits}
    result = tcdp_audit.audit(tables, policy(conventions={"missing_quasi_identifier": "wildcard"}))
    assert result.expectations[0].status == "error"
    fails = tcdp_audit.audit(tables, policy(conventions={"missing_quasi_identifier": "fail"}))
    assert fails.expectations[0].status == "failed"


def test_no_message_about_several_tables_shows_a_cell(tmp_path: Any) -> None:
    result = tmp_path / "result.json"
    result.write_text(audited().to_json(), encoding="utf-8")
    for given in (VISITS, VISITS.to_pandas(), VISITS.to_pylist()):
        with pytest.raises(UsageError) as error:
            tcdp_audit.verify(result, given, policy())
        assert CELL not in str(error.value)
    with pytest.raises(UsageError, match="tables in memory"):
        tcdp_audit.verify(result, None, policy())


def test_a_table_of_several_is_seen_at_a_level() -> None:
    """A column of a child table is judged at a level as if its table had been made so."""
    month = {**KNOWN, "hierarchy": {"any": {"winter": ["1", "2"], "spring": ["3", "4"]}}}
    asked = policy()
    asked["tables"]["visits"]["attributes"]["month"] = month
    visits = VISITS.set_column(2, "month", pa.array(["1", "2", "2"]))
    with tcdp_audit.open_session({"patients": PATIENTS, "visits": visits}, policy=asked) as session:
        assert session.audit().exit_code() == 1
        view = session.levels({"visits.month": 1})
        assert view.audit().exit_code() == 0
        assert (view.people_alone(["visits.month"]), view.people_alone(["patients.sex"])) == (0, 0)
        assert session.people_alone(["visits.month"]) == 1
