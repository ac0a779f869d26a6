"""A released unit joins its records: whole histories are judged, or the verdict says for whom the release is fit."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import Audit, audit, fix, load_policy
from tcdp_audit.core.base.errors import PolicyError, ResultError
from tcdp_audit.core.results.verdict import verdict_title
from tcdp_audit.core.results.written import read_audit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.verification.signature import attest

PLUGINS = Plugins.load(external=False)
VISITS = 2  # of each patient
PATIENTS = 60
WARDS = np.random.default_rng(3).integers(0, 3, PATIENTS * VISITS).astype(str)
TABLE = pa.table({"patient_id": np.repeat(np.arange(PATIENTS), VISITS).astype(str), "ward": WARDS})
WARD = {"ward": {"role": "quasi_identifier"}}


def policy(role: str | None = "insensitive", **more: Any) -> dict[str, Any]:
    declared = WARD if role is None else {**WARD, "patient_id": {"role": role}}
    plain = {"version": 1, "unit": "patient_id", "attributes": declared, "expect": [{"k_anonymity": {"k": 20}}]}
    return {**plain, **more}


def finding(result: Audit) -> Any:
    return next(one for one in result.structure if one.check == "linked_rows")


ONE_ROW = {"conventions": {"known_rows": "one"}}
HISTORIES = Counter(tuple(sorted(WARDS[i : i + VISITS])) for i in range(0, len(WARDS), VISITS))
LEAST, OF_ROWS = min(HISTORIES.values()), 20  # patients of the rarest history; fewer than those of the rarest ward
ALIKE = f"patient_id joins the rows, and with all of theirs as few as {LEAST} patients are alike"
FIGURES = {
    "units": PATIENTS,
    "units_with_several_records": PATIENTS,
    "most_records": VISITS,
    "whole_histories": {"k": LEAST, "classes": len(HISTORIES), "alone": 0},
}


def test_whole_histories_are_judged_where_the_policy_says_nothing() -> None:
    result = audit(TABLE, policy())
    (size,) = result.expectations
    assert (size.status.value, size.observed, size.conventions["known_rows"]) == ("failed", LEAST, "all")
    assert LEAST < OF_ROWS <= size.details["per_row"]["k"]
    assert (result.status, result.exit_code(), verdict_title(result)) == ("failed", 1, "Not fit for release")
    linked = finding(result)
    assert (linked.status.value, linked.observed, linked.message) == ("passed", 0, "")
    assert linked.title == "Demands judge what the unit joins"
    assert linked.details == {"columns": [], "per_row": size.details["per_row"], **FIGURES}
    met = audit(TABLE, policy(expect=[{"k_anonymity": {"k": LEAST}}]))
    assert (met.exit_code(fail_on_warning=True), verdict_title(met)) == (0, "Fit for release")


def test_a_policy_that_claims_one_row_is_fit_for_those_people_only(tmp_path: Path) -> None:
    result = audit(TABLE, policy(**ONE_ROW))
    assert (result.exit_code(), result.exit_code(fail_on_warning=True)) == (0, 1)
    assert verdict_title(result) == f"Fit for people of whom one row is known: {ALIKE}"
    linked = finding(result)
    assert {name: linked.details[name] for name in FIGURES} == FIGURES
    assert linked.message == (
        "column 'patient_id' joins the rows of each patient: 60 of 60 patients have more than one. By all of their "
        f"rows together as few as {LEAST} patients are alike, which no demand limits. Deleting the column "
        "changes no other value, but rows can then no longer be joined by patient; otherwise have whole patients "
        "judged: take `known_rows: one` out of the policy, or add the demand `known_events`, "
        "which asks how many patients are alike to someone who knows a few rows of one"
    )
    for text in (result.render(".md"), result.render(".html"), result.to_json()):
        assert "Fit for release" not in text
    assert result.as_json()["conventions"]["known_rows"] == "one"
    done = fix(TABLE, policy(**ONE_ROW), output=tmp_path / "f.csv")
    assert verdict_title(done.after) == f"Fit for people of whom one row is known: {ALIKE}"


def test_a_unit_that_is_not_released_is_judged_and_dropped(tmp_path: Path) -> None:
    asked = policy(unit_released=False)
    result = audit(TABLE, asked)
    assert (result.exit_code(), result.exit_code(fail_on_warning=True)) == (0, 1)
    assert verdict_title(result) == "Fit once patient_id is dropped"
    assert "Should not be in a published file: patient&#95;id." in result.render(".md")
    done = fix(TABLE, asked, output=tmp_path / "f.csv")
    assert verdict_title(done.after) == "Fit for release"
    assert [(one.name, one.why) for one in done.log.dropped] == [("patient_id", "unit")]
    assert (done.released.column_names, done.log.order) == (["ward"], "shuffled")
    (size,) = done.after.expectations
    assert (size.observed, size.details["judged_with_columns"]) == (result.expectations[0].observed, ["patient_id"])
    assert (finding(done.after).status.value, done.log.judged_with_columns) == ("passed", ("patient_id",))
    alone = audit(tmp_path / "f.csv", asked)
    assert (alone.exit_code(), [one.check for one in alone.structure if one.status != "passed"]) == (3, [])
    assert alone.expectations[0].message == (
        "cannot be evaluated: column 'patient_id' is not in the release, and is what the audit counts by; audit the "
        "copy that has it"
    )


def test_people_are_counted_by_the_unit_that_is_dropped(tmp_path: Path) -> None:
    """Each class has the records of one person: counted by records it would pass."""
    table = pa.table({"patient_id": ["a"] * 30 + ["b"] * 30, "ward": ["1"] * 30 + ["2"] * 30})
    done = fix(table, policy(unit_released=False, remedy=[{"suppression": {}}]), output=tmp_path / "f.csv")
    assert (done.passed, done.written) == (False, None)
    assert done.after.expectations[0].observed < 20


@pytest.mark.parametrize("role", ["identifier", "insensitive", None])
def test_a_unit_that_is_not_released_is_never_plainly_fit_while_it_is_there(role: str | None) -> None:
    single = pa.table({"patient_id": [str(number) for number in range(40)], "ward": ["1"] * 40})
    result = audit(single, policy(role, unit_released=False))
    assert (result.passed, verdict_title(result)) == (True, "Fit once patient_id is dropped")
    assert finding(result).title == "The unit is still in the release"
    assert "it is declared as not released, and each patient has one record" in finding(result).message


def test_a_unit_with_one_record_each_joins_nothing() -> None:
    single = pa.table({"patient_id": [str(number) for number in range(40)], "ward": ["1"] * 40})
    result = audit(single, policy())
    assert (verdict_title(result), finding(result).status.value) == ("Fit for release", "passed")
    assert audit(TABLE.select(["ward"]), {**policy(None), "unit": None}).passed


def test_an_identifier_stays_an_error_while_it_is_there_and_fix_drops_it() -> None:
    result = audit(TABLE, policy("identifier"))
    assert result.exit_code() == 1
    failed = [(one.check, one.severity.value) for one in result.structure if one.status == "failed"]
    assert failed == [("present_identifiers", "error"), ("linked_rows", "warning")]
    done = fix(TABLE, policy("identifier"))
    assert verdict_title(done.after) == "Fit for release"
    assert [(one.name, one.why) for one in done.log.dropped] == [("patient_id", "identifier")]


@pytest.mark.parametrize("inside", [False, True])
def test_a_unit_that_is_the_key_too(*, inside: bool) -> None:
    asked = policy(key="patient_id", internal_only=inside)
    assert verdict_title(audit(TABLE, asked)) == (
        "Not fit for release" if inside else "Fit once its key is dropped: patient_id"
    )
    assert verdict_title(fix(TABLE, asked).after) == "Fit for release"
    retained = {**asked, "keep_key": True, **ONE_ROW, "internal_only": True}
    title = f"Fit to stay inside: the key is in the file, for people of whom one row is known: {ALIKE}"
    assert verdict_title(audit(TABLE, retained)) == title
    assert not audit(TABLE, {**retained, "conventions": {}}).passed
    judged = {**retained, "conventions": {}, "expect": [{"k_anonymity": {"k": LEAST}}]}
    assert verdict_title(audit(TABLE, judged)) == "Fit to stay inside: the key is in the file"


def test_fix_makes_histories_fit_by_new_pseudonyms() -> None:
    done = fix(TABLE, policy())  # a ward is as coarse as it can be
    assert (done.passed, verdict_title(done.after)) == (True, "Fit for release")
    assert [step.remedy for step in done.log.steps] == ["redraw_pseudonym"]
    assert not {*done.released["patient_id"].to_pylist()} & {*TABLE["patient_id"].to_pylist()}
    assert done.after.expectations[0].observed == min(Counter(WARDS).values())


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"unit": None}, "unit_released: the policy names no `unit:` that could be dropped"),
        ({"key": "patient_id", "keep_key": True}, "unit_released: the unit is the key as well, which `keep_key: true`"),
    ],
)
def test_what_cannot_be_dropped_is_a_fault_of_the_policy(more: dict[str, Any], fault: str) -> None:
    with pytest.raises(PolicyError, match=fault):
        load_policy(policy(unit_released=False, **more))


cells = st.lists(st.sampled_from(["a", "b", "c", "d", "", None]), min_size=1, max_size=7)


@pytest.mark.long
@settings(max_examples=60)
@given(units=cells, dropped=st.booleans(), known=st.sampled_from(["all", "one"]))
def test_as_counted_slowly(units: list[str | None], dropped: bool, known: str) -> None:
    """Records without a unit are one unit together; an empty text is no value."""
    table = pa.table({"patient_id": pa.array(units, pa.string()), "ward": ["1"] * len(units)})
    asked = policy(unit_released=not dropped, conventions={"known_rows": known}, expect=[{"k_anonymity": {"k": 2}}])
    sizes = Counter(unit or None for unit in units)
    several = sum(size > 1 for size in sizes.values())
    linked = finding(audit(table, asked))
    assert (linked.status == "failed") == (dropped or (several > 0 and known == "one"))
    assert linked.is_warning == (linked.status == "failed")
    if linked.status == "failed":
        counted = (
            linked.details["units"],
            linked.details["units_with_several_records"],
            linked.details["most_records"],
        )
        assert counted == (len(sizes), several, max(sizes.values()))


def test_a_table_in_a_database_is_asked_too(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE visits (patient_id TEXT, ward TEXT)")
        rows = [tuple(one.values()) for one in TABLE.to_pylist()]
        connection.executemany("INSERT INTO visits VALUES (?, ?)", rows)
        connection.commit()
    stored = audit(f"sqlite:///{tmp_path / 't.db'}?table=visits", policy())
    assert finding(stored).details == finding(audit(TABLE, policy())).details
    assert stored.exit_code() == 1


def test_what_is_fit_once_a_column_is_dropped_is_not_signed(tmp_path: Path) -> None:
    pytest.importorskip("securesystemslib")
    from securesystemslib.signer import CryptoSigner

    (tmp_path / "v.csv").write_text("patient_id,ward\n" + "".join(f"{n // 2},1\n" for n in range(60)), encoding="utf-8")
    signer = CryptoSigner.generate_ed25519()
    audit(tmp_path / "v.csv", policy(unit_released=False)).write(tmp_path / "result.json")
    with pytest.raises(ResultError, match="but once patient_id is dropped; nothing was signed"):
        attest(read_audit(tmp_path / "result.json"), tmp_path / "v.csv", signer, PLUGINS)
    audit(tmp_path / "v.csv", policy(**ONE_ROW)).write(tmp_path / "result.json")
    signed = attest(read_audit(tmp_path / "result.json"), tmp_path / "v.csv", signer, PLUGINS)
    assert "payload" in signed


def test_blanks_around_a_unit_make_no_other_unit() -> None:
    rows = pa.table({"patient_id": ["p", "p ", " q", "r", " ", None], "ward": ["1"] * 6})
    result = audit(rows, policy(expect=[{"k_anonymity": {"k": 2}}]))
    details = finding(result).details
    assert (details["units"], details["units_with_several_records"]) == (4, 2)  # p, and the two rows without a patient
    assert result.expectations[0].observed == 2
    assert audit(rows.slice(0, 4), policy(expect=[{"k_anonymity": {"k": 2}}])).expectations[0].observed == 1
    by_rows = policy(expect=[{"k_anonymity": {"k": 4, "known_rows": "one"}}])
    assert audit(rows.slice(0, 4), by_rows).expectations[0].observed == 3


def test_a_key_that_is_the_unit_is_dropped_and_reads_no_cell() -> None:
    """Without the column nobody joins its rows: a suppressed cell is alone in its class."""
    rows = pa.table({"id": ["a", "a", "b", "b", "c", "c"], "q": ["x", "*", "x", "x", "x", "x"]})
    attributes = {"q": {"role": "quasi_identifier"}}
    declared = {
        "version": 1,
        "unit": "id",
        "key": "id",
        "attributes": attributes,
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    (size,) = audit(rows, declared).expectations
    assert (size.observed, size.status.value) == (1, "failed")
