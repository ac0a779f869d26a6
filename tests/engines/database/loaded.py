"""Arrow tables as tables of databases."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pymysql
from mariadb_server import MariaDB
from postgres_server import PASSWORD, USER, Server
from psycopg import sql

POSTGRESQL = {pa.int64(): "bigint", pa.string(): "text", pa.float64(): "double precision"}
MARIADB = {pa.int64(): "bigint", pa.string(): "text", pa.float64(): "double"}
SQLITE = {pa.int64(): "integer", pa.string(): "text", pa.float64(): "real"}


def _rows(table: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Loaded:
    """Loads tables into files of a folder."""

    folder: Path

    def sqlite(self, table: pa.Table, name: str = "release") -> str:
        """The address of a table in SQLite."""
        path = self.folder / "r.db"
        with sqlite3.connect(path) as connection:
            columns = ", ".join(f"{quoted(field.name)} {SQLITE[field.type]}" for field in table.schema)
            connection.execute(f"CREATE TABLE {name} ({columns})")
            marks = ", ".join("?" * table.num_columns)
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", _rows(table))
        connection.close()
        return f"sqlite:///{path}?table={name}"

    def duckdb(self, table: pa.Table, name: str = "release") -> str:
        """The address of a table in a DuckDB file."""
        path = self.folder / "r.duckdb"
        with duckdb.connect(path) as connection:
            connection.register("given", table)
            connection.execute(f"CREATE TABLE {name} AS FROM given")
        return f"duckdb:///{path}?table={name}"


def into_postgresql(server: Server, table: pa.Table, name: str) -> str:
    """The address of a new table in PostgreSQL, in the place of one of that name."""
    columns = sql.SQL(", ").join(
        sql.SQL("{} " + POSTGRESQL[field.type]).format(sql.Identifier(field.name)) for field in table.schema
    )
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(name), columns))
        with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))) as copy:
            for row in _rows(table):
                copy.write_row(row)
    return server.url(name)


def into_mariadb(server: MariaDB, table: pa.Table, name: str) -> str:
    """The address of a new table in MariaDB, in the place of one of that name."""
    columns = ", ".join(f"`{field.name}` {MARIADB[field.type]}" for field in table.schema)
    server.run(f"CREATE OR REPLACE TABLE `{name}` ({columns})")
    marks = ", ".join(["%s"] * table.num_columns)
    given: dict[str, Any] = {"unix_socket": f"{server.folder}/s", "charset": "utf8mb4", "autocommit": False}
    with pymysql.connect(user=USER, password=PASSWORD, database="audits", **given) as connection:
        connection.cursor().executemany(f"INSERT INTO `{name}` VALUES ({marks})", _rows(table))
        connection.commit()
    return server.url(name)
