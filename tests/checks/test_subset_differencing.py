"""Subset differencing: the printed table, comparing counts in plain Python, and what is refused."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import Audit, Outcome, PolicyError, audit

KNOWN = {"role": "quasi_identifier", "scale": "nominal"}
Rows = Sequence[tuple[str, ...]]


def table(rows: Rows, names: str = "ward age") -> pa.Table:
    columns = {name: pa.array([row[n] for row in rows], pa.string()) for n, name in enumerate(names.split())}
    return pa.table(columns)


def policy(*expect: Mapping[str, Any], columns: Sequence[str] = ("ward", "age"), **more: Any) -> dict[str, Any]:
    attributes = dict.fromkeys(columns, KNOWN)
    tables = {"patients": {"attributes": attributes}, "treated": {"attributes": attributes}}
    return {"version": 1, "tables": tables, "expect": [*expect], **more}


def audited(patients: Rows, treated: Rows, given: Mapping[str, Any]) -> Audit:
    return audit({"patients": table(patients), "treated": table(treated)}, given)


def compared(patients: Rows, treated: Rows, **given: Any) -> Outcome:
    demand = {"subset_differencing": {"tables": ["patients", "treated"], **given}}
    (outcome,) = audited(patients, treated, policy(demand)).expectations
    return outcome


CELLS = [("1", "30"), ("1", "40"), ("2", "30")]
PATIENTS = [cell for cell, times in zip(CELLS, (6, 5, 4), strict=True) for _ in range(times)]
TREATED = [cell for cell, times in zip(CELLS, (5, 5, 4), strict=True) for _ in range(times)]


def test_one_patient_of_fifteen_was_not_treated() -> None:
    outcome = compared(PATIENTS, TREATED, k=3, subset=True)
    assert (outcome.status, outcome.observed) == ("failed", 1)
    assert outcome.classes is not None
    assert (outcome.classes.total, outcome.classes.failing) == (3, 1)
    assert (outcome.details["differing"], outcome.details["more_in_first"], outcome.details["more_in_second"]) == (
        1,
        1,
        0,
    )
    assert outcome.message == (
        "1 of 3 groups with the same 'age' and 'ward' has more or fewer records in 'patients' than in 'treated', by "
        "fewer than 3 records, which isolates 1 record; the smallest difference is 1 record."
    )
    assert compared(PATIENTS, TREATED, k=1, subset=True).status == "measured"  # every release keeps it


def test_a_table_with_more_people_is_no_subset() -> None:
    turned = compared(TREATED, PATIENTS, k=3, subset=True)
    assert turned.status == "error"
    assert "'treated' is no subset of 'patients': 1 class has 1 more there" in turned.message
    assert compared(TREATED, PATIENTS, k=3).observed == 1
    assert compared(TREATED, PATIENTS, k=3).details["more_in_second"] == 1


def test_equal_tables_differ_by_nothing() -> None:
    outcome = compared(PATIENTS, PATIENTS, k=5, subset=True)
    assert (outcome.status, outcome.observed) == ("passed", inf)
    assert outcome.message == (
        "No group with the same 'age' and 'ward' has more or fewer records in 'patients' than in 'treated'."
    )


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(one, marks=pytest.mark.long) for one in range(12, 36))])
def test_random_tables_equal_plain_python(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - the same tables every time
    patients = [(draw.choice("12"), draw.choice("345"), draw.choice("ab")) for _ in range(draw.randint(3, 30))]
    treated = draw.sample(patients, draw.randint(1, len(patients))) if seed % 2 else draw.choices(patients, k=9)
    demand = {"subset_differencing": {"tables": ["patients", "treated"], "k": 3, "subset": bool(seed % 2)}}
    given = policy(demand)
    given["tables"]["patients"] = {"attributes": {**given["tables"]["patients"]["attributes"], "sex": KNOWN}}
    tables = {"patients": table(patients, "ward age sex"), "treated": table(treated)}
    (outcome,) = audit(tables, given).expectations
    counts = Counter(row[:2] for row in patients)
    counts.subtract(row[:2] for row in treated)
    sizes = [abs(one) for one in counts.values() if one]
    assert outcome.observed == min(sizes, default=inf)
    assert outcome.records is not None
    assert outcome.records.failing == sum(one for one in sizes if one < 3)
    assert outcome.details["compared"] == ["age", "ward"]
    assert outcome.details["more_in_second"] == sum(one < 0 for one in counts.values())


def test_a_coarser_table_is_compared_with_all_classes_below_it() -> None:
    ages = ["30", "34", "36", "45", "45", "48"]
    demand = {"subset_differencing": {"tables": ["patients", "treated"], "k": 2, "subset": True}}
    given = policy(demand, columns=())
    numeric = {"attributes": {"age": {"role": "quasi_identifier", "scale": "numeric"}}}
    given["tables"] = {"patients": numeric, "treated": numeric}
    treated = pa.table({"age": ["[30, 40)", "[30, 40)", "[40, 50)", "[40, 50)", "[40, 50)"]})
    (outcome,) = audit({"patients": pa.table({"age": ages}), "treated": treated}, given).expectations
    assert (outcome.status, outcome.observed, outcome.details["differing"]) == ("failed", 1, 1)


def test_other_demands_need_a_policy_of_one_table() -> None:
    demand = {"subset_differencing": {"tables": ["patients", "treated"], "k": 1}}
    with pytest.raises(
        PolicyError, match=r"expect\[1\].k_anonymity: the policy names no `unit:` that links its tables"
    ):
        audited(PATIENTS, TREATED, policy(demand, {"k_anonymity": {"k": 2}}))
    result = audited(PATIENTS, TREATED, policy(demand))
    checks = {one.check for one in result.outcomes}
    assert not checks & {"orphan_rows", "repeated_unit"}  # there are no links


def test_a_column_that_joins_the_rows_is_an_error() -> None:
    demand = {"subset_differencing": {"tables": ["patients", "treated"], "k": 1}}
    given = policy(demand)
    number = {"attributes": {**given["tables"]["patients"]["attributes"], "number": {"role": "insensitive"}}}
    given["tables"] = {"patients": number, "treated": number}
    numbered = [(*row, str(n)) for n, row in enumerate(PATIENTS)]
    tables = {"patients": table(numbered, "ward age number"), "treated": table(numbered[1:], "ward age number")}
    (outcome,) = audit(tables, given).expectations
    assert outcome.status == "error"
    assert "column 'number' has another value in every row" in outcome.message


def test_an_empty_table_is_an_error() -> None:
    outcome = compared(PATIENTS, [], k=3, subset=True)
    assert outcome.status == "error"
    assert outcome.message.endswith("'treated' has no records, so nothing can be compared with it; give it its rows")


def test_missing_cells_are_values_or_an_error() -> None:
    patients, treated = [*PATIENTS, ("1", "")], [*TREATED, ("1", "")]
    demand = {"subset_differencing": {"tables": ["patients", "treated"], "k": 1}}
    (outcome,) = audited(patients, treated, policy(demand)).expectations
    assert outcome.classes is not None
    assert (outcome.observed, outcome.classes.total) == (1, 4)
    fails = policy(demand, conventions={"missing_quasi_identifier": "fail"})
    (outcome,) = audited(patients, treated, fails).expectations
    assert outcome.status == "error"
    with pytest.raises(PolicyError, match="must not overlap"):
        audited(patients, treated, policy(demand, conventions={"missing_quasi_identifier": "wildcard"}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tables": ["patients", "visits"]}, "no table 'visits'"),
        ({"tables": ["patients", "patients"]}, "compared with itself"),
        ({"tables": ["patients"]}, "name two tables"),
        ({"k": 0}, "at least 1"),
    ],
)
def test_two_tables_are_named(change: Mapping[str, Any], sentence: str) -> None:
    demand = {"subset_differencing": {"tables": ["patients", "treated"], "k": 3, **change}}
    with pytest.raises(PolicyError, match=sentence):
        audited(PATIENTS, TREATED, policy(demand))


def test_tables_are_declared_alike_and_have_something_in_common() -> None:
    demand = {"subset_differencing": {"tables": ["patients", "treated"], "k": 3}}
    given = policy(demand)
    given["tables"]["treated"] = {"attributes": {"ward": {**KNOWN, "scale": "numeric"}}}
    with pytest.raises(PolicyError, match="another scale, order or hierarchy"):
        audited(PATIENTS, TREATED, given)
    given["tables"]["treated"] = {"attributes": {"sex": KNOWN}}
    with pytest.raises(PolicyError, match="no quasi-identifier in common"):
        audited(PATIENTS, TREATED, given)


def test_one_file_is_not_compared_with_itself() -> None:
    given = policy({"subset_differencing": {"tables": ["patients", "treated"], "k": 3}})
    for name in given["tables"]:
        given["tables"][name] = {**given["tables"][name], "file": "patients.csv"}
    with pytest.raises(PolicyError, match="compared with itself"):
        audited(PATIENTS, TREATED, given)


def test_linked_tables_are_judged_as_whole_histories_instead() -> None:
    demand = {"subset_differencing": {"tables": ["patients", "treated"], "k": 3}}
    given = policy(demand, unit="patient")
    given["tables"]["treated"] = {**given["tables"]["treated"], "belongs_to": "patients"}
    with pytest.raises(PolicyError, match="which show more"):
        audited(PATIENTS, TREATED, given)
    with pytest.raises(PolicyError, match="names no `unit:`"):
        audited(PATIENTS, TREATED, {**given, "unit": None})
    one = {"version": 1, "attributes": {"ward": KNOWN}, "expect": [demand]}
    with pytest.raises(PolicyError, match="tables that nothing links"):
        audit(table(PATIENTS), one)
