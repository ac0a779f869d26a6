"""The order of records: moments against those of all orders, sorted columns, an original, tables without an order."""

from __future__ import annotations

import random
from contextlib import closing
from fractions import Fraction
from itertools import pairwise, permutations
from math import erfc, sqrt
from pathlib import Path
from sqlite3 import connect
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, strategies as st

from tcdp_audit import Outcome, PolicyError, Status, audit
from tcdp_audit_plugins.checks.record_order import neighbours_of, order_of_column

GENERATOR = np.random.default_rng(8)
RECORDS = 400
TABLE = {
    "age": GENERATOR.integers(20, 80, RECORDS).tolist(),
    "sex": GENERATOR.choice(["f", "m"], RECORDS).tolist(),
    "town": [f"town {one}" for one in GENERATOR.integers(0, 30, RECORDS)],
}


def outcome(table: dict[str, Any], at_most: int | None = 0, before: Any = None, **policy: Any) -> Outcome:
    attributes = {name: {"role": "quasi_identifier"} for name in table}
    document = {"version": 1, "attributes": attributes, "expect": [{"record_order": {"at_most": at_most}}], **policy}
    tables = {"original": pa.table(before)} if before is not None else {}
    (one,) = audit(pa.table(table), document, **tables).expectations
    return one


def by(column: str, table: dict[str, Any] = TABLE) -> dict[str, Any]:
    order = np.argsort(np.array(table[column]), kind="stable")
    return {name: [cells[i] for i in order] for name, cells in table.items()}


def test_a_random_order_says_nothing():
    one = outcome(TABLE)
    assert (one.status, one.observed, one.details["looked_at"]) == (Status.PASSED, 0, 3)


@pytest.mark.parametrize("column", ["age", "sex", "town"])
def test_a_sorted_column_is_detected(column: str):
    one = outcome(by(column))
    assert (one.status, one.details["columns"]) == (Status.FAILED, [column])
    assert one.details["correlations"][column] > 0.8
    assert "shuffle them" in one.message


def test_groups_in_a_random_order_are_detected_by_their_runs():
    towns = sorted({*TABLE["town"]}, key=hash_of)
    rank = {town: place for place, town in enumerate(towns)}
    order = sorted(range(RECORDS), key=lambda i: rank[TABLE["town"][i]])
    one = outcome({name: [cells[i] for i in order] for name, cells in TABLE.items()})
    assert one.details["columns"] == ["town"]
    assert one.details["agreeing_neighbours"]["town"] > 0.9
    assert one.details["expected_neighbours"]["town"] < 0.1


def hash_of(town: str) -> int:
    return int(town.split()[1]) * 17 % 31


@given(st.lists(st.integers(0, 3), min_size=4, max_size=7))
def test_moments_are_those_over_all_orders(values: list[int]):
    assume(len({*values}) > 1)
    n = len(values)
    every = [*permutations(values)]
    runs = [1 + sum(a != b for a, b in pairwise(order)) for order in every]
    mean = sum(runs) / len(runs)
    variance = sum((one - mean) ** 2 for one in runs) / len(runs)
    result = order_of_column(np.array(values))
    own = 1 + sum(a != b for a, b in pairwise(values))

    assert result.expected == pytest.approx((n - mean) / (n - 1))
    ranks = [sum(b < a for b in values) + (values.count(a) + 1) / 2 for a in values]
    correlation = float(np.corrcoef(ranks, range(n))[0, 1])
    assert result.correlation == pytest.approx(correlation, abs=1e-12)
    z = abs(own - mean) / sqrt(variance) if variance > 1e-9 else 0.0
    larger = max(z, abs(correlation) * sqrt(n - 1))
    assert result.p_value == pytest.approx(erfc(larger / sqrt(2)))


@pytest.mark.parametrize(
    ("at_most", "status"),
    [(0, Status.FAILED), (1, Status.PASSED), (2, Status.PASSED), (3, Status.MEASURED), (None, Status.MEASURED)],
)
def test_the_threshold_is_a_number_of_columns(at_most: int | None, status: Status):
    assert outcome(by("age"), at_most).status is status


def test_rows_that_are_aligned_with_the_original_stand_at_their_places():
    one = outcome(TABLE, before=TABLE, rows_aligned=True)
    assert (one.status, one.observed, one.details["columns"]) == (Status.FAILED, 1, [])
    assert one.details["as_original"]
    assert (one.details["at_original_place"], one.details["original_correlation"]) == (1.0, pytest.approx(1.0))


def test_by_a_key_a_shuffled_release_is_distinguished_from_one_in_its_old_order():
    keys = [f"k{number:04}" for number in GENERATOR.permutation(RECORDS)]
    original = {**TABLE, "key": keys}
    order = GENERATOR.permutation(RECORDS)
    shuffled = {name: [cells[i] for i in order] for name, cells in original.items()}

    assert outcome(original, before=original, key="key").details["as_original"]
    one = outcome(shuffled, before=original, key="key")
    assert one.status is Status.PASSED
    places = [keys.index(key) for key in shuffled["key"]]
    assert one.details["at_original_place"] == Fraction(sum(i == place for i, place in enumerate(places)), RECORDS)


def test_few_records_and_a_table_without_an_order_are_errors():
    few = outcome({name: cells[:19] for name, cells in TABLE.items()})
    assert (few.status, "the release has 19 records" in few.message) == (Status.ERROR, True)


def test_a_database_has_no_order_to_speak_of(tmp_path: Path):
    path = tmp_path / "people.sqlite"
    with closing(connect(path)) as connection:
        connection.execute("CREATE TABLE people (age INTEGER, sex TEXT, town TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", zip(*TABLE.values(), strict=True))
        connection.commit()
    attributes = {name: {"role": "quasi_identifier"} for name in TABLE}
    policy = {"version": 1, "attributes": attributes, "expect": [{"record_order": {"at_most": 0}}]}

    (one,) = audit(f"sqlite:///{path}?table=people", policy).expectations

    assert one.status is Status.ERROR
    assert "its records have no order where they are" in one.message


def test_an_original_needs_a_pairing():
    with pytest.raises(PolicyError, match="is not declared"):
        outcome(TABLE, original="original.csv")


def test_a_column_called_the_original_is_not_taken_for_it():
    released, retained = (np.random.default_rng(seed).permutation(RECORDS).tolist() for seed in (5, 6))
    one = outcome({"key": released, "the original": sorted(TABLE["age"])}, before={"key": retained}, key="key")
    assert (one.status, one.details["columns"], one.details["as_original"]) == (Status.FAILED, ["the original"], False)


def with_patients(rows: int, *, together: bool) -> dict[str, Any]:
    """Patients of `rows` rows each, whose rows stand together or anywhere; the other columns are in no order."""
    patients = np.repeat(np.arange(RECORDS // rows), rows)
    shuffled = patients if together else np.random.default_rng(4).permutation(patients)
    return {**TABLE, "patient": [str(one) for one in shuffled]}


def of_patients(table: dict[str, Any], **more: Any) -> Outcome:
    roles = {name: {"role": "quasi_identifier"} for name in TABLE}
    declared = {**roles, **more.pop("patient", {"patient": {"role": "insensitive"}})}
    document = {"version": 1, "attributes": declared, "expect": [{"record_order": {"at_most": 0}}], **more}
    (one,) = audit(pa.table(table), document).expectations
    return one


DROPPED = [
    {"unit_released": False},
    {"patient": {"patient": {"role": "identifier"}}},
    {"patient": {}, "unit_released": False},
    {},
    {"unit": None, "household": "patient"},
]


@pytest.mark.parametrize("policy", DROPPED, ids=["not released", "identifier", "undeclared", "released", "household"])
def test_rows_of_one_unit_that_stand_together_are_joined_by_their_places(policy: dict[str, Any]):
    noun = "household" if "household" in policy else "patient"
    one = of_patients(with_patients(4, together=True), **{"unit": "patient", **policy})

    assert (one.status, one.observed, one.details["joins"]) == (Status.FAILED, 1, True)
    assert (one.details["unit_neighbours"], one.details["neighbours"]) == (300, 399)
    assert one.details["unit_neighbours_by_chance"] == 3
    assert one.details["joined_by"] == "patient"
    assert f"300 of 399 pairs of neighbours are of one {noun}, where chance gives 3; shuffle them" in one.message


def test_rows_of_one_unit_that_stand_anywhere_are_not():
    one = of_patients(with_patients(4, together=False), unit="patient", unit_released=False)

    assert (one.status, one.observed, one.details["joins"]) == (Status.PASSED, 0, False)
    assert one.details["unit_neighbours"] < 12
    assert "of one patient, where chance gives 3." in one.message
    each = of_patients(with_patients(1, together=True), unit="patient", unit_released=False)
    assert "unit_neighbours" not in each.details


@pytest.mark.parametrize("rows", [1, 2])
def test_rows_of_one_household_that_stand_together_are_joined_where_units_are_not(rows: int):
    homes = np.repeat(np.arange(RECORDS // 4), 4)
    people = [f"{home} {place % (4 // rows)}" for place, home in enumerate(homes)]  # never next to each other
    table = {**TABLE, "patient": people, "home": [str(one) for one in homes]}
    one = of_patients(table, unit="patient", unit_released=False, patient={}, household="home")

    assert (one.status, one.observed, one.details["joined_by"]) == (Status.FAILED, 1, "home")
    assert (one.details["joins"], one.details["unit_neighbours"]) == (True, 300)
    assert "300 of 399 pairs of neighbours are of one household" in one.message


@given(st.lists(st.integers(0, 3), min_size=4, max_size=7))
def test_neighbours_by_chance_are_the_mean_over_all_orders(units: list[int]):
    every = [*permutations(units)]
    mean = Fraction(sum(a == b for order in every for a, b in pairwise(order)), len(every))
    result = neighbours_of(np.array(units))

    if len({*units}) == len(units):
        assert result is None
    else:
        assert result is not None
        assert (result.observed, result.expected) == (sum(a == b for a, b in pairwise(units)), mean)


def test_the_table_of_the_definitions():
    random.seed(5)
    patients = [patient for patient in range(2000) for _ in range(_visits())]
    result = neighbours_of(np.array(patients))

    assert result is not None
    assert (result.observed, result.pairs, float(round(result.expected, 1))) == (2977, 4976, 2.0)


def _visits() -> int:
    """How many visits a patient has, of `f1()`: drawn as there, with what else a visit draws."""
    visits = random.randint(1, 4)  # noqa: S311 - the generator of the definitions
    for _ in range(visits):
        random.randint(1, 12)  # noqa: S311
        random.choice(["north", "south"])  # noqa: S311
    return visits
