"""DuckDB files: types, refusals, and that nothing beside the file is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from tcdp_audit import DataError, UsageError
from tcdp_audit_plugins.engines import open_database

MEMORY = 2**28


def made(folder: Path, *statements: str) -> str:
    with duckdb.connect(folder / "r.duckdb") as connection:
        for statement in statements:
            connection.execute(statement)
    return f"duckdb:///{folder}/r.duckdb?table=t"


def values(address: str, column: str = "a") -> tuple[list[Any], list[int]]:
    with open_database(address, "release", MEMORY) as engine:
        domain = engine.domain(column)
        return domain.values.tolist(), domain.counts.tolist()


LARGE = 2**127 - 1
TYPES: dict[str, tuple[str, Any]] = {
    "TINYINT": ("(1), (2), (2)", ([1, 2], [1, 2])),
    "FLOAT": ("(0.1), (0.2), (0.2)", ([0.1, 0.2], [1, 2])),
    "UBIGINT": (f"({2**64 - 1}), ({2**64 - 2})", ([str(2**64 - 2), str(2**64 - 1)], [1, 1])),
    "HUGEINT": (f"({LARGE}), (1)", (["1", str(LARGE)], [1, 1])),
    "DECIMAL(38,2)": ("(1234567890123456789012345678.01), (2)", (["1234567890123456789012345678.01", "2.00"], [1, 1])),
    "DATE": ("('2020-01-01'), ('2020-01-02'), ('2020-01-02')", (["2020-01-01", "2020-01-02"], [1, 2])),
    "INTERVAL": ("('1 month'), ('30 days')", (["1 month", "30 days"], [1, 1])),
    "BOOLEAN": ("(true), (false), (true)", (["false", "true"], [1, 2])),
    "VARCHAR COLLATE NOCASE": ("('Flu'), ('flu'), ('flu')", (["Flu", "flu"], [1, 2])),
    "ENUM ('b', 'a')": ("('b'), ('a'), ('a')", (["a", "b"], [2, 1])),
}


@pytest.mark.parametrize("kind", TYPES)
def test_types_keep_their_cells_apart(kind: str, tmp_path: Path) -> None:
    cells, expected = TYPES[kind]
    assert values(made(tmp_path, f"CREATE TABLE t (a {kind})", f"INSERT INTO t VALUES {cells}")) == expected


@pytest.mark.parametrize("kind", ["INTEGER[]", "STRUCT(x INTEGER)", "BLOB", "MAP(VARCHAR, INTEGER)", "JSON"])
def test_nested_and_binary_cells_are_refused(kind: str, tmp_path: Path) -> None:
    address = made(tmp_path, f"CREATE TABLE t (a {kind}, b INTEGER)", "INSERT INTO t (b) VALUES (1)")
    with pytest.raises(DataError, match=r"^t: column 'a' holds nested or binary data"):
        values(address)
    assert values(address, "b") == ([1], [1])


def test_a_query_reads_nothing_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = made(tmp_path, "CREATE TABLE t AS SELECT 1 AS a")
    (tmp_path / "secret.csv").write_text("a\n5\n")
    monkeypatch.chdir(tmp_path)
    for query in ("SELECT * FROM 'secret.csv'", "SELECT * FROM read_csv('secret.csv')", "SELECT * FROM address"):
        (tmp_path / "q.sql").write_text(query)
        with pytest.raises((UsageError, DataError)):
            values(address.replace("table=t", "query_file=q.sql"))
    (tmp_path / "q.sql").write_text("SELECT a + 1 AS a FROM t; -- more")
    with pytest.raises(UsageError, match="the query is not one SELECT statement"):
        values(address.replace("table=t", "query_file=q.sql"))
    (tmp_path / "q.sql").write_text("SELECT a + 1 AS a FROM t;\n")
    assert values(address.replace("table=t", "query_file=q.sql")) == ([2], [1])


def test_a_file_or_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        values(f"duckdb:///{tmp_path}/none.duckdb?table=t")
    with pytest.raises(UsageError, match="no such table or view"):
        values(made(tmp_path, "CREATE TABLE u (a INTEGER)"))
    (tmp_path / "no.duckdb").write_text("zip,age\n" * 2000)
    with pytest.raises(UsageError, match="no intact database"):
        values(f"duckdb:///{tmp_path}/no.duckdb?table=t")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["no.duckdb", "r.duckdb"]


def test_release_and_original_may_be_in_one_file(tmp_path: Path) -> None:
    address = made(tmp_path, "CREATE TABLE t AS SELECT 1 AS a", "CREATE TABLE o AS SELECT 2 AS a")
    with open_database(address, "original", 2 * MEMORY) as original:
        assert values(address) == ([1], [1])
        with pytest.raises(UsageError, match="no such table or view"):
            values(address.replace("table=t", "table=u"))
        with open_database(address.replace("table=t", "table=o"), "release", MEMORY) as release:
            original.close()
            assert release.domain("a").values.tolist() == [2]
    made(tmp_path, "CREATE TABLE v AS SELECT 1 AS a")  # which nobody could while the file is open for reading
