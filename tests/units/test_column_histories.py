"""What each column adds to the risk of whole histories, against plain Python over all orders of the columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import permutations
from math import isclose
from typing import Any

import pyarrow as pa
import pytest
from test_trees import Drugs, People, Visits, clinic, numbers, policy, slowly, tables_of

import tcdp_audit
from tcdp_audit.core.classes.column_risk import ColumnRisk
from tcdp_audit.core.results.written import read_audit

COLUMNS = ("patients.sex", "visits.quarter", "drugs.drug")


def alone(people: People, visits: Visits, drugs: Drugs, homes: Any, known: frozenset[str]) -> int:
    """How many are alone where only some columns are known."""
    sexes = people if "patients.sex" in known else dict.fromkeys(people, "")
    quarters = {
        visit: (person, quarter if "visits.quarter" in known else 0) for visit, (person, quarter) in visits.items()
    }
    taken = [(visit, drug if "drugs.drug" in known else "") for visit, drug in drugs]
    return slowly(sexes, quarters, taken, homes)[2]


def shapley(score: Any, columns: tuple[str, ...]) -> dict[str, float]:
    """The mean of what each adds over all orders, as a share of what all add."""
    added, orders = Counter[str](), [*permutations(columns)]
    for order in orders:
        for place, column in enumerate(order):
            added[column] += score(frozenset(order[: place + 1])) - score(frozenset(order[:place]))
    total = sum(added.values())
    return {one: added[one] / total for one in columns}


def risks(tables: Any, asked: Any) -> dict[str, ColumnRisk]:
    return {one.column: one for one in tcdp_audit.audit(tables, asked, column_risks=True).column_risks}


@pytest.mark.parametrize("homes", [False, True])
@pytest.mark.parametrize("seed", [2, 5, 8])
def test_columns_of_linked_tables(seed: int, *, homes: bool) -> None:
    drawn = clinic(seed, 150)
    home = {one: one // 2 for one in drawn[0]} if homes else None
    actual = risks(tables_of(*drawn, home), policy(household="home") if homes else policy())

    def score(known: frozenset[str]) -> int:
        return alone(*drawn, home, known)

    every = frozenset(COLUMNS)
    expected = shapley(score, COLUMNS)
    assert {*actual} == every
    for name, one in actual.items():
        assert one.unique == score(every)
        assert one.unique_without == score(every - {name})
        assert isclose(one.share, expected[name], abs_tol=1e-9)
        assert one.noun == ("household" if homes else "patient")
    assert score(every) > score(frozenset())  # otherwise no column would add anything


def test_columns_of_one_table_whose_unit_joins_rows() -> None:
    draw = numbers(4)
    rows = [(person, next(draw) % 3, next(draw) % 2) for person in range(40) for _ in range(1 + person % 3)]
    table = pa.table({name: [str(row[place]) for row in rows] for place, name in enumerate(("id", "month", "ward"))})
    asked = {
        "version": 1,
        "unit": "id",
        "unit_released": True,
        "attributes": {name: {"role": "quasi_identifier"} for name in ("month", "ward")},
        "expect": [{"k_anonymity": {"k": 2}}],
    }

    def score(known: frozenset[str]) -> int:
        histories: dict[int, list[Any]] = defaultdict(list)
        for person, month, ward in rows:
            histories[person].append((month if "month" in known else "", ward if "ward" in known else ""))
        return sum(one == 1 for one in Counter(tuple(sorted(own)) for own in histories.values()).values())

    actual, expected = risks(table, asked), shapley(score, ("month", "ward"))
    assert {name: (one.unique, one.unique_without) for name, one in actual.items()} == {
        "month": (score(frozenset({"month", "ward"})), score(frozenset({"ward"}))),
        "ward": (score(frozenset({"month", "ward"})), score(frozenset({"month"}))),
    }
    assert all(isclose(one.share, expected[name], abs_tol=1e-9) for name, one in actual.items())


def test_the_result_says_of_whom(tmp_path: Any) -> None:
    made = tcdp_audit.audit(tables_of(*clinic(2, 30)), policy(), column_risks=True)
    path = tmp_path / "result.json"
    path.write_text(made.to_json(), encoding="utf-8")
    assert {one["of"] for one in read_audit(path).result["column_risks"]} == {"patient"}


def test_nothing_is_measured_where_it_would_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tcdp_audit.core.auditor.history_figures.affordable", lambda columns, rows: (columns, rows) < (0, 0)
    )
    assert risks(tables_of(*clinic(2, 30)), policy()) == {}
