"""Columns that join rows though no policy says so, attributes that differ within units, records without a unit."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import Audit, Outcome, Severity, Status, audit, load_policy
from tcdp_audit.core.results.verdict import verdict_title
from tcdp_audit.core.results.written_verdict import title_in
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
QI, HARMLESS, SECRET = {"role": "quasi_identifier"}, {"role": "insensitive"}, {"role": "sensitive"}
VISITS = [("p", "c1", "x"), ("p", "c1", "y"), ("p", "c2", "x"), ("q", "c3", "x"), ("q", "c4", "y"), ("r", "c5", "x")]


def table(visits: list[tuple[Any, ...]] = VISITS, **further: list[Any]) -> pa.Table:
    named = zip(("patient", "case", "ward"), zip(*visits, strict=True), strict=True)
    return pa.table({**{name: [*cells] for name, cells in named}, **further})


def policy(unit: str | None = "patient", **more: Any) -> dict[str, Any]:
    declared = {"patient": HARMLESS, "case": HARMLESS, "ward": QI, **more.pop("attributes", {})}
    named = {} if unit is None else {"unit": unit}
    return {"version": 1, **named, "attributes": declared, "expect": [{"k_anonymity": {"k": 2}}], **more}


def finding(result: Audit, check: str) -> Outcome:
    return next(one for one in result.structure if one.check == check)


def linkable(release: pa.Table, **more: Any) -> Outcome:
    return finding(audit(release, policy(**more)), "linkable_rows")


# linkable_rows


def test_a_column_that_determines_the_unit_and_repeats_joins_rows() -> None:
    one = linkable(table())

    assert (one.status, one.severity, one.observed) == (Status.FAILED, Severity.WARNING, 1)
    assert one.details == {"columns": ["case"], "joins": {"case": {"values": 1, "records": 2, "units": 1}}}
    assert one.message == (
        "column 'case' is not a quasi-identifier and yet joins rows: 2 records of 1 patient; drop it before release, "
        "or declare it as quasi-identifiers if an intruder may know them"
    )


@pytest.mark.parametrize(
    ("release", "why"),
    [
        (table([("p", "c1", "x"), ("p", "c2", "y"), ("q", "c3", "x")]), "it does not repeat"),
        (table([("p", "c1", "x"), ("p", "c1", "y"), ("q", "c1", "x")]), "a value has two units"),
        (table([("p", None, "x"), ("p", None, "y"), ("q", "c1", "x")]), "a missing cell is no value"),
        (table([("p", "*", "x"), ("p", "*", "y"), ("q", "c1", "x")]), "a suppressed cell is no value"),
        (table([("p", "c1", "x"), ("q", "c2", "y"), ("r", "c3", "x")]), "each unit has one row"),
    ],
)
def test_other_columns_join_nothing(release: pa.Table, why: str) -> None:
    assert linkable(release).status is Status.PASSED, why


def test_a_secret_and_a_weight_join_rows_and_what_is_known_does_not() -> None:
    numeric = {"scale": "numeric"}
    weights = [1.5, 1.5, 1.5, 2.5, 2.5, 3.5]
    more = {"attributes": {"w": {**HARMLESS, **numeric}, "s": SECRET, "case": QI}, "weight": "w"}
    one = linkable(table(w=weights, s=[str(weight) for weight in weights]), **more)

    assert one.details["joins"] == {
        "s": {"values": 2, "records": 5, "units": 2},
        "w": {"values": 2, "records": 5, "units": 2},
    }
    assert "; drop them before release" in one.message


def test_a_household_is_what_rows_belong_to() -> None:
    one = linkable(table(), unit=None, household="patient")
    assert one.details["joins"]["case"]["units"] == 1
    assert "2 records of 1 household" in one.message


def test_a_unit_that_is_dropped_leaves_its_other_names() -> None:
    result = audit(table(), policy(unit_released=False))
    assert verdict_title(result) == "Fit once patient is dropped, but 'case' joins rows"
    assert (result.exit_code(), result.exit_code(fail_on_warning=True)) == (0, 1)
    assert title_in(json.loads(json.dumps(result.as_json()))) == verdict_title(result)


CASES = st.lists(
    st.tuples(st.sampled_from("pqr"), st.sampled_from(["a", "b", "c", "d", None]), st.sampled_from("xy")), min_size=1
)


@settings(deadline=None, max_examples=30)
@given(CASES)
def test_it_is_what_counting_distinct_pairs_gives(visits: list[tuple[Any, ...]]) -> None:
    units, sizes = defaultdict(set), Counter(case for _, case, _ in visits if case is not None)
    for patient, case, _ in visits:
        units[case].add(patient)
    repeated = [case for case, times in sizes.items() if times > 1]
    determines = all(len(units[case]) == 1 for case in sizes)
    joins = {
        "values": len(repeated),
        "records": sum(sizes[case] for case in repeated),
        "units": len({next(iter(units[case])) for case in repeated}),
    }
    text = pa.array([case for _, case, _ in visits], pa.string())
    release = table(visits).set_column(1, "case", text)
    one = linkable(release)

    assert (one.status is Status.FAILED) == (determines and bool(repeated))
    assert one.details.get("joins", {}).get("case") == (joins if one.status is Status.FAILED else None)


def test_without_a_unit_numbers_that_someone_has_join_rows() -> None:
    numbers = [f"A-{1000 + number // 2}" for number in range(40)]
    wards = ["x"] * 40
    declared = {"account_no": HARMLESS, "ward": QI}
    document = policy(None)
    document["attributes"] = declared
    result = audit(pa.table({"account_no": numbers, "ward": wards}), document)
    one = finding(result, "linkable_rows")

    assert one.details["joins"] == {"account_no": {"values": 20, "records": 40, "kind": "account numbers"}}
    assert one.message == (
        "column 'account_no' looks like account numbers and joins rows: 20 values stand in 40 records; drop it before "
        "release, or name it as `unit:`, so that whole histories are judged"
    )
    assert verdict_title(result) == "Fit, but 'account_no' looks like account numbers and 'account_no' joins rows"
    each = audit(pa.table({"account_no": [f"A-{number}" for number in range(40)], "ward": wards}), document)
    assert finding(each, "linkable_rows").status is Status.PASSED


def test_a_database_gives_the_same(tmp_path: Path) -> None:
    visits = [(f"p{n // 3}", f"c{n // 3 * 2 + (n % 3 > 1)}", "xy"[n * n % 7 % 2]) for n in range(300)]
    path = tmp_path / "visits.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE visits (patient TEXT, [case] TEXT, ward TEXT)")
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", visits)
        connection.commit()
    there = finding(audit(f"sqlite:///{path}?table=visits", policy()), "linkable_rows")

    assert there.details == linkable(table(visits)).details
    assert there.details["joins"] == {"case": {"values": 100, "records": 200, "units": 100}}


def test_no_cell_is_in_what_is_said() -> None:
    cell = "a case of one patient"
    visits = [("p", cell, "x"), ("p", cell, "y"), ("q", "c", "x")]
    assert cell not in audit(table(visits), policy()).to_json()


# not_constant


def test_an_attribute_of_units_that_differs_within_one_is_an_error() -> None:
    declared = {"attributes": {"case": {**HARMLESS, "of": "unit"}}}
    result = audit(table(), policy(**declared))
    one = finding(result, "not_constant")

    assert (one.status, one.severity, one.observed) == (Status.FAILED, Severity.ERROR, 1)
    assert one.details == {"columns": ["case"], "units": {"case": 2}}
    assert one.message == (
        "column 'case' differs within 2 patients, and is declared `of: unit`; correct these rows, or leave `of` out"
    )
    assert result.exit_code() == 1
    sexes = ["f", "f", "f", "m", "m", None]
    same = audit(table(sex=sexes), policy(attributes={"sex": {**QI, "of": "unit"}}))
    assert finding(same, "not_constant").status is Status.PASSED
    missing = audit(table(sex=["f", None, *sexes[2:]]), policy(attributes={"sex": {**QI, "of": "unit"}}))
    assert finding(missing, "not_constant").details["units"] == {"sex": 1}


def test_an_attribute_of_units_that_cannot_be_read_is_no_constant() -> None:
    lists = table(letters=[[1], [2], [1], [1], [1], [1]])
    result = audit(lists, policy(attributes={"letters": {**HARMLESS, "of": "unit"}}))
    one = finding(result, "not_constant")
    assert (one.status, one.details) == (Status.FAILED, {"columns": ["letters"]})
    assert "column 'letters' cannot be read, so that it may differ within patients" in one.message


# without_unit


def test_records_without_a_unit_count_as_one_and_are_said_to() -> None:
    visits = [*VISITS, (None, "c6", "x"), (None, "c7", "x")]
    one = finding(audit(table(visits), policy()), "without_unit")

    assert (one.status, one.severity) == (Status.FAILED, Severity.WARNING)
    assert one.details == {"columns": ["patient"], "records": {"patient": 2}}
    assert one.message == (
        "2 records without a patient count as one patient: give each its number, or leave these records out"
    )
    assert finding(audit(table(), policy()), "without_unit").status is Status.PASSED
    home = finding(audit(table(visits), policy(None, household="patient")), "without_unit")
    assert home.message.startswith("2 records without a household count as one household")


def test_the_outcomes_are_those_of_a_loaded_policy() -> None:
    document = load_policy(policy(), PLUGINS)
    assert [one.check for one in audit(table(), document).structure][-2:] == ["not_constant", "linkable_rows"]
