"""Whole histories over linked tables: golden numbers, plain Python, and what no order or name changes."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tcdp_audit
from tcdp_audit import Outcome

KNOWN = {"role": "quasi_identifier", "scale": "nominal"}
SECRET = {"role": "sensitive", "scale": "nominal"}
People = Mapping[int, str]
Visits = Mapping[int, tuple[int, int]]  # person and quarter
Drugs = Sequence[tuple[int, str]]  # visit and drug


def numbers(seed: int) -> Iterator[int]:
    state = seed
    while True:
        state = (1103515245 * state + 12345) % 2**31
        yield state >> 8


def clinic(seed: int, people: int) -> tuple[People, Visits, Drugs]:
    draw = numbers(seed)
    persons: dict[int, str] = {}
    visits: dict[int, tuple[int, int]] = {}
    drugs: list[tuple[int, str]] = []
    for person in range(people):
        persons[person] = "fm"[next(draw) % 2]
        for _ in range(next(draw) % 4):
            visit = len(visits)
            visits[visit] = (person, next(draw) % 4)
            for _ in range(next(draw) % 3):
                drugs.append((visit, "ABCDE"[min(next(draw) % 5, next(draw) % 5)]))  # noqa: PERF401 - draws in turn
    return persons, visits, drugs


def tables_of(people: People, visits: Visits, drugs: Drugs, homes: Mapping[int, int] | None = None) -> dict[str, Any]:
    home = {} if homes is None else {"home": [str(homes[one]) for one in people]}
    return {
        "patients": pa.table({"patient": [str(one) for one in people], "sex": list(people.values()), **home}),
        "visits": pa.table(
            {
                "patient": pa.array([str(person) for person, _ in visits.values()], pa.string()),
                "visit": pa.array(list(visits), pa.int64()),
                "quarter": pa.array([str(quarter) for _, quarter in visits.values()], pa.string()),
            }
        ),
        "drugs": pa.table(
            {
                "visit": pa.array([visit for visit, _ in drugs], pa.int64()),
                "drug": pa.array([drug for _, drug in drugs], pa.string()),
            }
        ),
    }


def policy(*expect: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "unit": "patient",
        "tables": {
            "patients": {"attributes": {"sex": KNOWN}},
            "visits": {"belongs_to": "patients", "attributes": {"quarter": KNOWN}},
            "drugs": {"belongs_to": "visits", "by": "visit", "attributes": {"drug": KNOWN}},
        },
        "expect": list(expect) or [{"k_anonymity": {"k": 2}}],
        **more,
    }


def outcome_of(tables: Mapping[str, Any], asked: Mapping[str, Any], check: str = "k_anonymity") -> Outcome:
    return next(one for one in tcdp_audit.audit(tables, asked).outcomes if one.check == check)


def slowly(
    people: People, visits: Visits, drugs: Drugs, homes: Mapping[int, int] | None = None
) -> tuple[int, int, int]:
    """The smallest class, the number of classes, and the number of roots alone."""
    of_visit, of_person, of_home = defaultdict(list), defaultdict(list), defaultdict(list)
    for visit, drug in drugs:
        of_visit[visit].append(drug)
    for visit, (person, quarter) in visits.items():
        of_person[person].append((str(quarter), tuple(sorted(of_visit[visit]))))
    trees: dict[int, Any] = {one: (sex, tuple(sorted(of_person[one]))) for one, sex in people.items()}
    if homes is not None:
        for person, tree in trees.items():
            of_home[homes[person]].append(tree)
        trees = {home: tuple(sorted(own)) for home, own in of_home.items()}
    sizes = Counter(trees.values()).values()
    return min(sizes), len(sizes), sum(one == 1 for one in sizes)


def test_three_tables_that_are_each_alike_show_one_patient_alone() -> None:
    drawn = {"p": ("A", "B"), "q": ("B", "A"), "r": ("A", "B"), "t": ("AB", ""), "u": ("AB", "")}
    people = dict.fromkeys(range(5), "f")
    visits = {2 * one + month: (one, month) for one in range(5) for month in range(2)}
    drugs = [
        (2 * one + month, drug) for one, of in enumerate(drawn.values()) for month in range(2) for drug in of[month]
    ]
    outcome = outcome_of(tables_of(people, visits, drugs), policy())
    assert outcome.observed == 1
    assert outcome.classes is not None
    assert (outcome.classes.total, outcome.classes.failing) == (3, 1)
    assert outcome.details["per_row"]["patients"] == {"k": 5, "classes": 1}
    assert outcome.details["per_row"]["visits"] == {"k": 5, "classes": 2}


def test_the_generated_clinic() -> None:
    tables = tables_of(*clinic(3, 3000))
    outcome = outcome_of(tables, policy())
    assert outcome.classes is not None
    assert (outcome.observed, outcome.classes.total, outcome.classes.failing) == (1, 1388, 1152)
    linked = outcome_of(tables, policy(), "linked_rows")
    assert linked.details["alone_at_depth"] == [0, 0, 1152]
    assert outcome.details["per_row"]["patients"]["k"] == 1460


@pytest.mark.parametrize("seed", range(12))
def test_random_releases_equal_plain_python(seed: int) -> None:
    drawn = clinic(7919 * seed + 5, seed + 1)
    homes = {one: one % 3 for one in drawn[0]} if seed % 2 else None
    asked = policy() if homes is None else policy(household="home")
    outcome = outcome_of(tables_of(*drawn, homes), asked)
    assert outcome.classes is not None
    assert (outcome.observed, outcome.classes.total, outcome.classes.failing) == slowly(*drawn, homes)


def test_no_order_and_no_name_of_a_link_changes_anything() -> None:
    people, visits, drugs = clinic(11, 40)
    draw = random.Random(3)  # noqa: S311 - the same table every time
    names = dict(zip(people, draw.sample(range(1000), len(people)), strict=True))
    numbered = dict(zip(visits, draw.sample(range(1000), len(visits)), strict=True))
    shuffled = {name: people[one] for one, name in sorted(names.items(), key=lambda _: draw.random())}
    moved = {numbered[one]: (names[person], quarter) for one, (person, quarter) in visits.items()}
    given = [(numbered[visit], drug) for visit, drug in sorted(drugs, key=lambda _: draw.random())]
    before = outcome_of(tables_of(people, visits, drugs), policy())
    after = outcome_of(tables_of(shuffled, moved, given), policy())
    assert (before.observed, before.classes, before.records) == (after.observed, after.classes, after.records)


def test_two_tables_of_the_same_people_refine_each_other() -> None:
    tables = {
        "first": pa.table({"who": [*"abcdef"], "band": [*"xxxyyy"]}),
        "second": pa.table({"who": [*"abcdef"], "band": [*"uuvvww"]}),
    }
    asked = {
        "version": 1,
        "unit": "who",
        "tables": {
            "first": {"attributes": {"band": KNOWN}},
            "second": {"belongs_to": "first", "attributes": {"band": KNOWN}},
        },
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    outcome = outcome_of(tables, asked)
    assert outcome.observed == 1
    assert outcome.details["per_row"]["first"]["k"] == 3
    assert outcome.classes is not None
    assert outcome.classes.failing == 2  # c and d


def test_a_secret_of_a_child_table_is_one_of_its_rows() -> None:
    tables = {
        "patients": pa.table({"patient": [*"pqr"], "sex": [*"fff"]}),
        "visits": pa.table({"patient": [*"ppqqrr"], "illness": ["hiv", "flu", "hiv", "gout", "hiv", "asthma"]}),
    }
    asked = {
        "version": 1,
        "unit": "patient",
        "tables": {
            "patients": {"attributes": {"sex": KNOWN}},
            "visits": {"belongs_to": "patients", "attributes": {"illness": SECRET}},
        },
        "expect": [
            {"homogeneity": {"attribute": "illness", "at_most": 0}},
            {"distinct_l_diversity": {"attribute": "visits.illness", "l": 2}},
            {"alpha_k_anonymity": {"alpha": 1, "k": 2}},
        ],
    }
    certain, diverse, alpha = tcdp_audit.audit(tables, asked).expectations
    assert (certain.attribute, certain.observed, certain.details["victim_units"]) == ("visits.illness", 1, 3)
    assert (diverse.observed, alpha.observed) == (1, 1)


def test_rows_that_a_database_counts_stay_as_many_as_they_are(tmp_path: Path) -> None:
    """A database gives equal rows of a unit once, with their number: two visits to a ward are not one."""
    with closing(sqlite3.connect(tmp_path / "clinic.db")) as database, database:
        database.execute("create table visits (patient text, ward text)")
        database.executemany("insert into visits values (?, ?)", [("p", "1"), ("p", "1"), ("q", "1")])
    asked = {
        "version": 1,
        "unit": "patient",
        "tables": {"visits": {"belongs_to": "units", "attributes": {"ward": KNOWN}}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    result = tcdp_audit.audit({"visits": f"sqlite:///{tmp_path / 'clinic.db'}?table=visits"}, asked)
    assert (result.expectations[0].observed, result.exit_code()) == (1, 1)


def test_generalised_cells_of_rows_without_a_table_of_units_are_an_error() -> None:
    asked = {
        "version": 1,
        "unit": "patient",
        "tables": {
            "visits": {"belongs_to": "units", "attributes": {"age": {"role": "quasi_identifier", "scale": "numeric"}}}
        },
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    visits = pa.table({"patient": [*"ppqq"], "age": ["30", "30-39", "31", "30-39"]})
    result = tcdp_audit.audit({"visits": visits}, asked)
    assert "policy without `tables`" in result.expectations[0].message
    assert result.exit_code() == 3
