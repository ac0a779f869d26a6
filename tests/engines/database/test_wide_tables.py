"""Tables of as many columns as a database has: each ends in figures, or in one sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from answers import answer
from loaded import Loaded, into_mariadb, into_postgresql
from mariadb_server import MariaDB
from postgres_server import Server

from tcdp_audit import DataError, audit
from tcdp_audit_plugins.engines.database.engine import DatabaseEngine

pytestmark = pytest.mark.long


def table(columns: int, records: int) -> pa.Table:
    """Three kinds of records, which differ late."""
    kinds = [["x", "y", "z"][record % 3] for record in range(records)]
    return pa.table({f"c{i}": kinds if i > columns // 2 else ["same"] * records for i in range(columns)})


def asked(columns: int, role: str) -> dict[str, Any]:
    named = {f"c{i}": {"role": role} for i in range(columns)}
    if role == "insensitive":
        order = ["same", "x", "y", "z"]
        named = {name: {**one, "scale": "ordinal", "order": order} for name, one in named.items()}
    named[f"c{columns - 1}"] = {"role": "quasi_identifier"}
    return {"version": 1, "attributes": named, "expect": [{"k_anonymity": {"k": 20}}]}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that asks for rows."""
    statements: list[str] = []
    batches = DatabaseEngine._batches

    def recorded(self: DatabaseEngine, statement: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        statements.append(str(statement))
        return batches(self, statement, schema)

    monkeypatch.setattr(DatabaseEngine, "_batches", recorded)
    return statements


@cache
def embedded(columns: int, role: str) -> Any:
    """The answer of the embedded engine."""
    return answer(table(columns, 60), asked(columns, role))


@pytest.mark.xdist_group("1598 columns")
@pytest.mark.parametrize("role", ["quasi_identifier", "insensitive"])
@pytest.mark.usefixtures("transport")
def test_postgresql_has_1598_columns_and_counts_no_rows_of_them(role: str, server: Server, sent: list[str]) -> None:
    address = into_postgresql(server, table(1598, 60), "wide")
    assert answer(address, asked(1598, role)) == embedded(1598, role)
    if role == "quasi_identifier":
        assert ["GROUP BY" in one for one in sent] == [False]
    else:
        assert len(sent) <= 1 + 32 + 1598 // 65 + 1


@pytest.mark.parametrize("columns", [64, 65, 300])
def test_rows_that_are_not_counted_there_are_counted_here(columns: int, loaded: Loaded, mariadb: MariaDB) -> None:
    wide = table(columns, 60)
    for address in (loaded.sqlite(wide), loaded.duckdb(wide), into_mariadb(mariadb, wide, "wide")):
        assert answer(address, asked(columns, "quasi_identifier")) == embedded(columns, "quasi_identifier")


def test_sqlite_is_asked_for_some_columns_at_a_time(loaded: Loaded) -> None:
    wide = table(800, 60)
    assert answer(loaded.sqlite(wide), asked(800, "quasi_identifier")) == answer(wide, asked(800, "quasi_identifier"))


def test_more_columns_than_a_statement_of_sqlite_may_have(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "r.db") as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(f'c{i} TEXT' for i in range(2000))})")
        connection.execute("INSERT INTO t (c0) VALUES ('x')")
    connection.close()
    with pytest.raises(DataError, match=r"^t: the database's limits are too low for so many columns; audit fewer"):
        audit(f"sqlite:///{tmp_path}/r.db?table=t", asked(2000, "quasi_identifier"))


@pytest.mark.parametrize(("records", "statements"), [(19_998, 35), (21_000, 49)])
def test_a_long_table_of_few_columns_is_asked_for_one_after_the_other(
    records: int, statements: int, loaded: Loaded, sent: list[str]
) -> None:
    audit(loaded.sqlite(table(49, records)), asked(49, "insensitive"))
    assert len(sent) == statements
