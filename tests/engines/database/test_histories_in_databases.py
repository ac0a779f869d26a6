"""Whole histories compared in a database: the same answer as in memory, and no record and no unit's value travels."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from answers import PLUGINS, answer
from loaded import Loaded, into_postgresql
from postgres_server import Server

from tcdp_audit import load_policy
from tcdp_audit.core.auditor import summed_units
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit_plugins.engines.database import duckdb_file

QUASI = {"role": "quasi_identifier"}
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "ward": QUASI,
    "month": {**QUASI, "scale": "numeric", "label": "month of the visit"},
    "weight": {**QUASI, "scale": "numeric"},
    "stage": {"role": "sensitive"},
    "illness": {"role": "sensitive"},
    "note": {"role": "insensitive"},
    "case": {"role": "insensitive"},
    "patient": {"role": "insensitive"},
}
SIZES: list[dict[str, Any]] = [{"k_anonymity": {"k": 2}}, {"sample_uniqueness": {}}, {"reidentification_risk": {}}]
SECRETS: list[dict[str, Any]] = [
    {"distinct_l_diversity": {"l": 2}},
    {"entropy_l_diversity": {"l": 1.5}},
    {"recursive_cl_diversity": {"c": 2, "l": 2}},
    {"t_closeness": {"t": 0.2}},
    {"homogeneity": {}},
    {"alpha_k_anonymity": {"k": 2, "alpha": 0.5}},
    {"skewness": {}},
    {"basic_beta_likeness": {"beta": 1}},
    {"background_knowledge": {}},
]
CONVENTIONS = [{}, {"missing_quasi_identifier": "fail", "missing_sensitive": "own_category"}]


def events(seed: int, *, rows: int = 150, units: int = 150) -> pa.Table:
    """Short histories of few labels, so that many are alike; missing cells, odd texts, and rows of no one."""
    draw = np.random.default_rng(seed)
    of = draw.integers(0, units, rows)

    def some(values: list[Any], missing: float = 0.05) -> list[Any]:
        return [
            None if gone else one
            for one, gone in zip(draw.choice(values, rows).tolist(), draw.random(rows) < missing, strict=True)
        ]

    stages = [None if one % 7 == 0 else "early" if one % 3 else "late" for one in range(units)]
    return pa.table(
        {
            "patient": [None if one == 0 and seed % 2 else f"p{one}" for one in of],
            "ward": some(["1:a", "", "ä"][: 1 + seed % 3]),
            "month": pa.array(some([1]), pa.int64()),
            "weight": pa.array(some([0.1, 0.1 + 2**-56, -0.0, 0.0][2 * (seed % 2) :], 0), pa.float64()),
            "stage": [stages[one] for one in of],
            "illness": some(["flu", "gout", "hiv"][: 1 + seed % 3], 0.15 * (seed % 2)),
            "note": ["x"] * rows,
            "case": [f"c{one}" for one in of],
        }
    )


def policy(expect: list[dict[str, Any]], conventions: dict[str, Any] | None = None, **changes: Any) -> Policy:
    document = {"version": 1, "unit": "patient", "attributes": ATTRIBUTES, "expect": expect}
    return load_policy({**document, "conventions": conventions or {}, **changes}, PLUGINS)


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often histories were compared where the table is, and how often not."""
    seen: Counter[str] = Counter()
    compared = summed_units._summed

    def counted(*given: Any) -> Any:
        engine = compared(*given)
        seen[type(engine).__name__] += 1
        return engine

    monkeypatch.setattr(summed_units, "_summed", counted)
    return seen


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_a_duckdb_file_gives_the_same_answer(seed: int, loaded: Loaded, kinds: Counter[str]) -> None:
    table = events(seed)
    address = loaded.duckdb(table)
    for expect in (SIZES, SECRETS):
        asked = policy(expect, CONVENTIONS[seed % 2])
        assert answer(address, asked) == answer(table, asked)
    assert kinds == {"SummedUnits": 2}


@pytest.mark.long
def test_many_random_tables(tmp_path: Any) -> None:
    for seed in range(8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        table = events(seed, rows=60 + 20 * seed, units=60 + 20 * seed)
        address = Loaded(folder).duckdb(table)
        asked = policy([*SIZES, *SECRETS], CONVENTIONS[seed % 2])
        assert answer(address, asked) == answer(table, asked), seed


@pytest.mark.usefixtures("transport")
def test_postgresql_gives_the_same_answer(server: Server, kinds: Counter[str]) -> None:
    for seed in (1, 2, 5):
        table = events(seed)
        address = into_postgresql(server, table, "events")
        for convention in CONVENTIONS:
            asked = policy([*SIZES, *SECRETS], convention)
            assert answer(address, asked) == answer(table, asked)
    assert kinds == {"SummedUnits": 6}


@pytest.fixture
def travelled(monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """For every statement the number of rows that it gives, and all their cells."""
    cells: list[list[Any]] = []
    stream = duckdb_file.DuckDBFile.stream

    def noting(self: Any, statement: Any, schema: Any) -> Any:
        cells.append([0])
        for batch in stream(self, statement, schema):
            cells[-1][0] += batch.num_rows
            cells[-1] += [one for column in batch.columns for one in column.to_pylist()]
            yield batch

    monkeypatch.setattr(duckdb_file.DuckDBFile, "stream", noting)
    return cells


def test_no_events_travel_and_of_pseudonyms_only_a_glimpse(loaded: Loaded, travelled: list[list[Any]]) -> None:
    draw = np.random.default_rng(7)
    units = [f"p{one:04}" for one in range(1500) for _ in range(3)]
    columns = {"ward": draw.choice(["a", "b"], 4500), "illness": draw.choice(["flu", "gout", "hiv"], 4500)}
    table = pa.table({"patient": units, **columns})
    attributes = {name: ATTRIBUTES[name] for name in table.column_names}
    address = loaded.duckdb(table)
    sizes, secrets = (policy(expect, attributes=attributes) for expect in (SIZES, SECRETS))
    assert answer(address, sizes) == answer(table, sizes)
    assert max(rows for rows, *_ in apart(travelled, units)) == 4  # histories: one size of class each
    assert answer(address, secrets) == answer(table, secrets)
    # two histories of one ward, two of both: values of six cells
    assert max(rows for rows, *_ in apart(travelled, units)) == 18
    glimpses = [cells for _, *cells in travelled if {*cells} & {*units}]
    assert len(glimpses) == 2  # one an audit, for addresses and numbers of people
    assert all({*cells} <= {*units} for cells in glimpses)  # without what is known of anyone


def apart(travelled: list[list[Any]], units: list[str]) -> list[list[Any]]:
    """The statements that bring no pseudonym."""
    return [one for one in travelled if not {*one[1:]} & {*units}]


@pytest.mark.parametrize(
    "change",
    [
        "blanks around a unit",
        "a unit in two cases",
        "a unit beyond ASCII",
        "one number written twice",
        "a suppressed cell",
        "each unit once",
    ],
)
def test_what_only_the_auditor_can_read_is_read_here(change: str, loaded: Loaded, kinds: Counter[str]) -> None:
    table = events(2)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    attributes = ATTRIBUTES
    if change == "blanks around a unit":
        columns["patient"][3:6] = ["p1 ", "\u2003p1", "p1"]
    elif change == "a unit in two cases":
        columns["patient"][3:5] = ["P1", "p1"]
    elif change == "a unit beyond ASCII":
        columns["patient"][3:5] = ["pä1", "pÄ1"]
    elif change == "one number written twice":
        columns["ward"] = ["1" if place % 2 else "1.0" for place in range(len(table))]
        attributes = {**ATTRIBUTES, "ward": {**QUASI, "scale": "numeric"}}
    elif change == "a suppressed cell":
        columns["ward"][:9] = ["*"] * 9
    else:
        columns["patient"] = [f"p{place}" for place in range(len(table))]
    changed = pa.table({name: pa.array(column, table.schema.field(name).type) for name, column in columns.items()})
    asked = policy([*SIZES, *SECRETS], attributes=attributes)
    assert answer(loaded.duckdb(changed), asked) == answer(changed, asked)
    assert "SummedUnits" not in kinds
    assert kinds


@pytest.mark.parametrize(
    ("expect", "conventions"),
    [
        ([{"k_anonymity": {"k": 2, "known_rows": "one"}}, *SIZES], {}),
        ([{"known_events": {"m": 2, "k": 2}}], {}),
        (SIZES, {"missing_quasi_identifier": "wildcard"}),
        (SECRETS[:1], {"multiple_sensitive": "others_as_quasi_identifiers"}),
        (SECRETS[:1], {"multiple_sensitive": "joint"}),
    ],
)
def test_demands_on_rows_read_rows(
    expect: list[dict[str, Any]], conventions: dict[str, Any], loaded: Loaded, kinds: Counter[str]
) -> None:
    table = events(1)
    asked = policy(expect, conventions)
    assert answer(loaded.duckdb(table), asked) == answer(table, asked)
    assert not kinds


def test_rows_are_read_where_cells_are_hardly_fewer(loaded: Loaded, kinds: Counter[str]) -> None:
    table = events(1, rows=200, units=20)
    address = loaded.duckdb(table)
    for expect in (SIZES, SECRETS):
        asked = policy(expect)
        assert answer(address, asked) == answer(table, asked)
    assert kinds == {"SummedUnits": 1, "DatabaseEngine": 1}


def test_labels_are_not_mistaken_for_others(loaded: Loaded) -> None:
    """Texts that look like lengths and hyphens: joined without care, two histories would be one."""
    rows = [("p", "1:a", "-"), ("p", "-", "a"), ("q", "1:a-", ""), ("q", "-", "a"), ("r", "1", ":a-"), ("r", "-a", "-")]
    table = pa.table(dict(zip(["patient", "ward", "street"], map(list, zip(*rows, strict=True)), strict=True)))
    asked = policy(SIZES, {"missing_tokens": ["?"]}, attributes={"ward": QUASI, "street": QUASI})
    expected = answer(table, asked)
    assert next(one["observed"] for one in expected["outcomes"] if one["check"] == "k_anonymity") == 1
    assert answer(loaded.duckdb(table), asked) == expected


def test_tokens_that_are_numbers_hide_no_unit(loaded: Loaded, kinds: Counter[str]) -> None:
    table = pa.table({"patient": [f"p{one // 2}" for one in range(40)], "ward": ["a", "b"] * 20})
    asked = policy(SIZES, {"missing_tokens": ["", "99", "100", "105"]}, attributes={"ward": QUASI})
    assert answer(loaded.duckdb(table), asked) == answer(table, asked)
    assert kinds == {"SummedUnits": 1}
