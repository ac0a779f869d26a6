"""Tables and columns whose names are words of SQL: the same answer as from a frame."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from answers import answer
from loaded import Loaded, into_mariadb, into_postgresql, quoted
from mariadb_server import MariaDB
from postgres_server import Server

# reserved in MariaDB; everywhere; three in DuckDB; in PostgreSQL; in SQLite
WORDS = ["release", "order", "qualify", "lambda", "summarize", "lateral", "returning"]


def table_of(word: str) -> tuple[pa.Table, dict[str, Any]]:
    """Columns whose names are words too, and a policy on them."""
    columns = {
        word: ["a", "a", "b", "b", "b"],
        "select": [1, 1, 2, 2, 3],
        "show": ["x", "y", "x", "y", "z"],
        "group": [1, 2, 3, 3, 4],
    }
    attributes: dict[str, dict[str, Any]] = {
        word: {"role": "quasi_identifier"},
        "select": {"role": "quasi_identifier", "scale": "numeric"},
        "show": {"role": "sensitive"},
        "group": {"role": "insensitive"},
    }
    expect = [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2}}]
    return pa.table(columns), {"version": 1, "attributes": attributes, "expect": expect}


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_in_files_of_databases(database: str, word: str, loaded: Loaded) -> None:
    table, policy = table_of(word)
    address = getattr(loaded, database)(table, quoted(word)).replace(quoted(word), word)
    for asked in (policy, {**policy, "unit": "group"}):
        assert answer(address, asked) == answer(table, asked)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.usefixtures("transport")
def test_in_postgresql(word: str, server: Server) -> None:
    table, policy = table_of(word)
    address = into_postgresql(server, table, word)
    for asked in (policy, {**policy, "unit": "group"}):
        assert answer(address, asked) == answer(table, asked)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
def test_in_mariadb(dialect: str, word: str, mariadb: MariaDB) -> None:
    table, policy = table_of(word)
    address = into_mariadb(mariadb, table, word).replace("mariadb:", f"{dialect}:")
    for asked in (policy, {**policy, "unit": "group"}):
        assert answer(address, asked) == answer(table, asked)
